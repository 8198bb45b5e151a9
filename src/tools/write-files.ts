import { z } from "zod";
import { checkGivenOptions } from "../kernel/known-options.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { checkPath, visible } from "../workspace/path-rules.ts";
import { checkWritten, editingOf, type EditHistory, type EditOptions, editOptions, type EditRules } from "./edit-history.ts";
import { EDIT_TIME } from "./editor.ts";
import { wholeText } from "./text-edit.ts";
import { reasonOf, ToolFiles } from "./tool-files.ts";

const MAX_FILES = 100;

const parameters = z.object({
  files: z
    .array(
      z.object({
        path: z.string().describe("Relative to the project, as src/app.js."),
        content: z.string().describe("All of the file, ready to use: nothing left out, no fence around it."),
      }),
    )
    .min(1)
    .max(MAX_FILES),
});

type GivenFile = z.infer<typeof parameters>["files"][number];

/** Makes a tool that writes whole text files. A file keeps its line ends. One that the agent has not seen stays as it is, and the others are written. */
export function writeFilesTool(options: EditOptions): Tool {
  checkGivenOptions("writeFilesTool", options, editOptions);
  const { workspace, ...rules } = options;
  const files = new ToolFiles(workspace);
  const { turns, histories } = editingOf("writeFilesTool", workspace);
  return defineTool({
    name: "write_files",
    description:
      "Writes whole text files of the project, many in one call; folders are made. A file that is there must have been read before. " +
      "Files that cannot be written are reported, and the others are written. To change a part of a large file, use another tool.",
    parameters,
    effect: "write",
    idempotent: true,
    again: true,
    parallel: false,
    timeout: EDIT_TIME,
    execute: ({ files: given }, ctx) => turns.take(() => writeFiles({ files, history: histories.of(ctx), ctx, rules }, given)),
  });
}

type Written =
  | { readonly kind: "new" | "changed" | "same"; readonly path: string }
  | { readonly kind: "refused"; readonly path: string; readonly reason: string };

interface Call {
  readonly files: ToolFiles;
  readonly history: EditHistory;
  readonly ctx: ToolContext;
  readonly rules: EditRules;
}

async function writeFiles(call: Call, given: readonly GivenFile[]): Promise<ToolResult> {
  const all: Written[] = [];
  const taken = new Set<string>();
  for (const file of given)
    all.push(await written(call, file, taken).catch((error: unknown) => refused(visible(file.path), reasonOf(error))));
  const changed = all.filter(({ kind }) => kind === "new" || kind === "changed").map(({ path }) => path);
  return resultOf(all, await checkWritten(call.rules, call.ctx, changed));
}

async function written({ files, history, ctx, rules }: Call, { path: asked, content }: GivenFile, taken: Set<string>): Promise<Written> {
  const path = checkPath(asked);
  if (taken.has(path)) return refused(path, "Expected each file once in a call; the first one counts.");
  taken.add(path);
  const refusal = rules.refuse?.(path);
  if (refusal !== undefined) return refused(path, refusal);
  const found = await files.read(ctx, path);
  if (found.kind === "unfit") return refused(path, found.reason);
  const before = found.kind === "text" ? found.text : undefined;
  const text = wholeText(content, before);
  if (text === before) {
    history.see(path, text);
    return { kind: "same", path };
  }
  history.seeFirst(path, rules.shown?.(path));
  const fault = before === undefined ? undefined : history.overwriteFault(path, before);
  if (fault !== undefined) return refused(path, fault);
  await files.write(ctx, path, text, found.kind === "text" && found.fromRecord);
  history.record(path, before, text);
  return { kind: before === undefined ? "new" : "changed", path };
}

function refused(path: string, reason: string): Written {
  return { kind: "refused", path, reason };
}

function resultOf(all: readonly Written[], faults: string | undefined): ToolResult {
  const pathsOf = (kind: Written["kind"]): string[] => all.filter((one) => one.kind === kind).map(({ path }) => path);
  const lines = [
    ["New", pathsOf("new")],
    ["Changed", pathsOf("changed")],
    ["The same as before", pathsOf("same")],
  ] as const;
  const output = lines.flatMap(([what, paths]) => (paths.length === 0 ? [] : [`${what}: ${paths.join(", ")}.`])).join("\n");
  const reasons = all.flatMap((one) => (one.kind === "refused" ? [`Not written: ${one.path}: ${one.reason}`] : []));
  const data = { written: [...pathsOf("new"), ...pathsOf("changed")], refused: pathsOf("refused") };
  const error = [...reasons, ...(faults === undefined ? [] : [faults])].join("\n");
  if (error === "") return toolOutput(output, { data });
  return toolFailure(error, output === "" ? { data } : { data, output });
}
