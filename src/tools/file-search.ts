import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { throwIfAborted } from "../kernel/abort.ts";
import { nextMacrotask } from "../kernel/clock.ts";
import { defined } from "../kernel/value-kind.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { visible } from "../workspace/path-rules.ts";
import { surveyFiles } from "../workspace/survey.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { linesOf } from "./text-edit.ts";
import { readText, reasonOf } from "./tool-files.ts";

export interface FileSearchOptions {
  readonly workspace: Workspace;
  /** Names of folders that are not searched. Default: those that builds and installers make. */
  readonly ignore?: readonly string[];
}

const fileSearchOptions: Known<FileSearchOptions> = { workspace: kinds.workspace, ignore: kinds.texts };

const IGNORED: readonly string[] = "dist build out target coverage vendor __pycache__ .venv venv .next .cache".split(" ");
const MAX_RESULTS = 200;
const MAX_PER_FILE = 20;
const MAX_TEXT = 500;
const MAX_LINE = 300;
const MAX_BYTES = 64 * 1024 ** 2;

const parameters = z.object({
  name: z.string().optional().describe("Pattern of paths, as *.ts or src/**/*.test.ts. `*` stays inside a folder, `**` crosses folders."),
  text: z.string().optional().describe("Text to find in the files, as it is: no regular expression, one line."),
  ignoreCase: z.boolean().default(false),
  under: z.string().optional().describe("Folder to search, relative to the project. Default: all of it."),
  limit: z.number().int().min(1).max(MAX_RESULTS).default(50).describe("Limit on the results."),
});

type FileSearchArguments = z.infer<typeof parameters>;

/** Makes a tool that finds files of a workspace by path, by text, or both. No words of a model become a regular expression. */
export function fileSearchTool(options: FileSearchOptions): Tool {
  checkGivenOptions("fileSearchTool", options, fileSearchOptions);
  const { workspace, ignore = IGNORED } = options;
  const ignored = new Set(ignore);
  return defineTool({
    name: "file_search",
    description:
      "Finds files of the project by a pattern of their paths, by a text they hold, or by both; results read path or path:line: text. " +
      `Binary files, .git and node_modules are passed over, and so are ${[...ignored].join(", ")} unless \`under\` leads into one.`,
    parameters,
    effect: "read",
    maxOutput: 20_000,
    execute: (args, ctx) => search(workspace, ignored, args, ctx),
  });
}

async function search(
  workspace: Workspace,
  ignored: ReadonlySet<string>,
  args: FileSearchArguments,
  ctx: ToolContext,
): Promise<ToolResult> {
  const fault = faultOf(args);
  if (fault !== undefined) return toolFailure(fault);
  const under = args.under === undefined || /^\.?\/?$/.test(args.under) ? undefined : args.under.replace(/\/+$/, "");
  let all: readonly string[];
  try {
    all = (await surveyFiles(workspace, { under, signal: ctx.signal })).paths;
  } catch (error) {
    return toolFailure(reasonOf(error));
  }
  const skip = under === undefined ? 0 : under.length + 1;
  const foldersOf = (path: string): readonly string[] => path.slice(skip).split("/").slice(0, -1);
  const isSearched = (path: string): boolean => !foldersOf(path).some((folder) => ignored.has(folder));
  const paths = all.filter((path) => isSearched(path) && (args.name === undefined || fitsPath(path, args.name)));
  const shown = (): string[] => paths.map((path) => visible(path));
  if (args.text === undefined) return listed(shown(), args.limit, "files");
  return searchTexts(workspace, args.text, args, paths, ctx.signal);
}

function faultOf({ name, text }: FileSearchArguments): string | undefined {
  if (name === undefined && text === undefined) return "Expected `name`, `text` or both.";
  if (text !== undefined && (text === "" || text.length > MAX_TEXT)) return `Expected a text of 1 to ${MAX_TEXT} characters.`;
  if (text !== undefined && /[\r\n]/.test(text)) return "Expected a text of one line: lines are searched one by one.";
  return name === undefined ? undefined : patternFault(name);
}

async function searchTexts(
  workspace: Workspace,
  text: string,
  { limit, ignoreCase }: FileSearchArguments,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ToolResult> {
  const fold = (one: string): string => (ignoreCase ? one.toLowerCase() : one);
  const wanted = fold(text);
  const found: string[] = [];
  let [bytes, unread] = [0, 0];
  const result = (note: string | undefined): ToolResult => ({ ...listed(found, limit, "lines"), ...defined({ system: note }) });
  for (const [index, path] of paths.entries()) {
    throwIfAborted(signal);
    if (found.length > limit) break;
    if (bytes > MAX_BYTES)
      return result(`The search ended after ${index} of ${paths.length} files: too much to read. Say \`name\` or \`under\`.`);
    const file = await readText(workspace, path);
    if (file.kind === "unfit") unread += 1;
    if (file.kind === "text") {
      bytes += file.text.length;
      found.push(...hitsIn(path, file.text, wanted, fold));
    }
    if (index % 50 === 49) await nextMacrotask();
  }
  return result(unread === 0 ? undefined : `${unread} binary or large files were passed over.`);
}

function hitsIn(path: string, text: string, wanted: string, fold: (text: string) => string): readonly string[] {
  if (!fold(text).includes(wanted)) return [];
  const hits = linesOf(text).flatMap((line, index) => (fold(line).includes(wanted) ? [{ line: line.trim(), number: index + 1 }] : []));
  const shown = hits.slice(0, MAX_PER_FILE).map(({ line, number }) => {
    return `${visible(path)}:${number}: ${visible(around(line, fold(line).indexOf(wanted)), MAX_LINE + 50)}`;
  });
  return hits.length > MAX_PER_FILE ? [...shown, `${visible(path)}: ${hits.length - MAX_PER_FILE} more lines`] : shown;
}

function around(line: string, index: number): string {
  if (line.length <= MAX_LINE) return line;
  const start = Math.max(0, index - 100);
  return `${start === 0 ? "" : "..."}${line.slice(start, start + MAX_LINE)}...`;
}

function listed(found: readonly string[], limit: number, what: string): ToolResult {
  if (found.length === 0) return toolOutput(`No ${what} found.`);
  const rest = found.length > limit ? `\n[the first ${limit} ${what}; there are more: narrow the search]` : "";
  return toolOutput(found.slice(0, limit).join("\n") + rest);
}

const MAX_PATTERN = 200;
const MAX_STARS = 20;

/** `*` fits characters but `/`, `?` one, `**` as a segment folders. A pattern without `/` fits in every folder. The time is bounded. */
export function fitsPath(path: string, pattern: string): boolean {
  const segments = path.split("/");
  return fitsSegments(
    pattern.includes("/") ? segments : segments.slice(-1),
    pattern.split("/").filter((segment) => segment !== "." && segment !== ""),
  );
}

export function patternFault(pattern: string): string | undefined {
  if (pattern === "") return "Expected a pattern such as *.ts or src/**/*.ts, got nothing.";
  if (pattern.length > MAX_PATTERN) return `Expected a pattern of at most ${MAX_PATTERN} characters, got ${pattern.length}.`;
  if (pattern.split("*").length - 1 > MAX_STARS) return `Expected at most ${MAX_STARS} stars in a pattern.`;
  if (pattern.startsWith("/") || pattern.split("/").includes(".."))
    return "Expected a pattern of paths inside the project, without .. and without / at its start.";
  return undefined;
}

function fitsSegments(segments: readonly string[], patterns: readonly string[]): boolean {
  return fitsAll(segments, patterns, "**", fitsSegment);
}

function fitsSegment(text: string, pattern: string): boolean {
  return fitsAll(Array.from(text), Array.from(pattern), "*", (character, wanted) => wanted === "?" || wanted === character);
}

function fitsAll(
  parts: readonly string[],
  pattern: readonly string[],
  star: string,
  fits: (part: string, wanted: string) => boolean,
): boolean {
  let row = [true, ...parts.map(() => false)];
  for (const wanted of pattern) {
    const next = [wanted === star && row[0] === true];
    for (const [index, part] of parts.entries()) {
      const isStarred = wanted === star && (next[index] === true || row[index + 1] === true);
      next.push(isStarred || (wanted !== star && row[index] === true && fits(part, wanted)));
    }
    row = next;
  }
  return row.at(-1) === true;
}
