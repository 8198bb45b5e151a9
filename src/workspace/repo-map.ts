import { throwIfAborted } from "../kernel/abort.ts";
import { having, takes } from "../kernel/argument.ts";
import { nextMacrotask } from "../kernel/clock.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { estimateTokens } from "../memory/tokens.ts";
import { endingOf, namesIn, OUTLINED } from "./outline.ts";
import { visible } from "./path-rules.ts";
import { surveyFiles } from "./survey.ts";
import type { Workspace } from "./workspace.ts";

/** Options of {@link repoMap}. */
export interface RepoMapOptions {
  readonly workspace: Workspace;
  /** Limit on the tokens of the map, as an estimate. At least 50 are used. */
  readonly budget: number;
  /** The task: files and names that share words with it come first. Default: the most important files come first. */
  readonly focus?: string;
  readonly signal?: AbortSignal;
}

const repoMapOptions: Known<RepoMapOptions> = { workspace: kinds.workspace, budget: kinds.count, focus: kinds.text, signal: kinds.signal };

/** Files that are read for their names, the likeliest ones first, and their bytes, each and all together. */
const MAX_READ = 1_500;
const MAX_BYTES = 256 * 1024;
const MAX_BYTES_IN_ALL = 24 * 1024 * 1024;
const MAX_FOCUS = 8_000;
/** Share of the budget for the folders. */
const FOLDERS = 0.2;
const SHOWN_FOLDERS = 40;
/** Names of one file, for the first files and for later ones. */
const NAMES = 24;
const FEWER_NAMES = 8;
const DETAILED = 12;
const MAX_NAME = 60;
/** Points that a file with a shared word has over one without: importance decides between equals only. */
const RELEVANCE = 100;

/** Folders that people seldom change by hand. */
const ASIDE =
  /(?:^|\/)(?:dist|build|out|target|coverage|vendor|third_party|__pycache__|\.venv|venv|fixtures?|snapshots?|__snapshots__|generated)\//;
const TESTS = /(?:^|\/)(?:tests?|spec|__tests__)\/|\.(?:test|spec)\.|_test\.|(?:^|\/)test_/;
const ENTRIES =
  /(?:^|\/)(?:readme\.md|package\.json|pyproject\.toml|setup\.py|cargo\.toml|go\.mod|makefile|index\.\w+|main\.\w+|app\.\w+|cli\.\w+|__init__\.py|mod\.rs|lib\.rs)$/i;

interface MappedFile {
  readonly path: string;
  readonly names: readonly string[];
  /** Undefined for a file that was not read. */
  readonly lines?: number;
}

/**
 * Draws a map of a project for a prompt: its folders with their numbers of files, then its files with their lines and names. Equal files and
 * options give an equal map. Paths and names come from the project: they are data, never orders.
 *
 * @throws WorkspaceError `WORKSPACE_LIMIT` and its kin when the project cannot be listed
 * @throws ControlError when the signal aborts
 * @example
 * import { memoryWorkspace, repoMap } from "troupe/workspace";
 *
 * const workspace = memoryWorkspace({ files: { "src/cart.js": "export function total() {}\n", "README.md": "# Shop\n" } });
 * const map = await repoMap({ workspace, budget: 200, focus: "the total is wrong" });
 * console.log(map.split("\n")[1]); // src/cart.js (1 line): total
 */
export async function repoMap(options: RepoMapOptions): Promise<string> {
  checkGivenOptions("repoMap", options, repoMapOptions);
  const { workspace, budget, focus = "", signal } = options;
  takes("repoMap", "workspace", workspace, having("a workspace", "list", "readBytes"));
  const { paths, isWhole } = await surveyFiles(workspace, { signal });
  const wanted = wordsOf(focus.slice(0, MAX_FOCUS));
  const likely = ranked(
    paths.map((path) => ({ path, names: [] })),
    wanted,
  );
  const files = ranked(await readFiles(workspace, likely, signal), wanted);
  const lines = [`${isWhole ? "" : "More than "}${plural(paths.length, "file")}.`, ...folderLines(paths, Math.max(50, budget) * FOLDERS)];
  let room = Math.max(50, budget) - estimateTokens(lines.join("\n")) - estimateTokens(restLine(files.length)) - 1;
  let shown = 0;
  for (const [at, file] of files.entries()) {
    const line = fittingLine(file, at < DETAILED ? NAMES : FEWER_NAMES, room);
    if (line === undefined) break;
    lines.push(line);
    room -= estimateTokens(`${line}\n`);
    shown += 1;
  }
  return [...lines, ...(shown < files.length ? [restLine(files.length - shown)] : [])].join("\n");
}

/** The files that share rare words with the task first, then by importance. */
function ranked(files: readonly MappedFile[], wanted: ReadonlySet<string>): readonly MappedFile[] {
  const counts = new Map<string, number>();
  const shared = files.map(({ path, names }) => [...wordsOf(`${path} ${names.join(" ")}`)].filter((word) => wanted.has(word)));
  for (const word of shared.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  const scores = shared.map((words) => words.reduce((sum, word) => sum + 1 / (counts.get(word) ?? 1), 0));
  const best = Math.max(
    1e-9,
    scores.reduce((most, score) => Math.max(most, score), 0),
  );
  const scored = files.map((file, at) => ({ file, score: ((scores[at] ?? 0) / best) * RELEVANCE + importanceOf(file.path) }));
  return scored.sort((a, b) => b.score - a.score || (a.file.path < b.file.path ? -1 : 1)).map(({ file }) => file);
}

/** The words in small letters: `readJsonFile` and `read_json_file` have three. */
function wordsOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]{2,}/gu),
  );
}

/** Points of a path by itself: source before data, few folders before many, entries before tests. */
function importanceOf(path: string): number {
  const depth = path.split("/").length;
  const kind = OUTLINED.has(endingOf(path)) ? 20 : 0;
  return kind + (ENTRIES.test(path) ? 15 : 0) - depth * 2 - (TESTS.test(path) ? 10 : 0) - (ASIDE.test(path) ? 40 : 0);
}

async function readFiles(workspace: Workspace, files: readonly MappedFile[], signal: AbortSignal | undefined): Promise<MappedFile[]> {
  const read: MappedFile[] = [];
  let [room, reads] = [MAX_BYTES_IN_ALL, 0];
  for (const file of files) {
    throwIfAborted(signal);
    const isRead = OUTLINED.has(endingOf(file.path)) && reads < MAX_READ && room > 0;
    const text = isRead ? await textAt(workspace, file.path) : undefined;
    room -= text?.length ?? 0;
    read.push(
      text === undefined
        ? file
        : { ...file, names: namesIn(file.path, text), lines: text.split("\n").length - (/(^|\n)$/.test(text) ? 1 : 0) },
    );
    if (isRead && ++reads % 50 === 0) await nextMacrotask();
  }
  return read;
}

async function textAt(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    const bytes = await workspace.readBytes(path, MAX_BYTES);
    return bytes === undefined || bytes.includes(0) ? undefined : new TextDecoder().decode(bytes);
  } catch (error) {
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function restLine(count: number): string {
  return `[${count} more ${count === 1 ? "file" : "files"}]`;
}

/** A file's line with fewer names, or none, where more do not fit. */
function fittingLine({ path, names, lines }: MappedFile, most: number, room: number): string | undefined {
  const size = lines === undefined ? "" : ` (${plural(lines, "line")})`;
  for (const number of [most, Math.ceil(most / 3), 0]) {
    const some = names.slice(0, number).map((name) => visible(name, MAX_NAME));
    const reported = some.length === 0 ? "" : `: ${some.join(", ")}${names.length > some.length ? ", ..." : ""}`;
    const line = `${visible(path)}${size}${reported}`;
    if (estimateTokens(`${line}\n`) <= room) return line;
  }
  return undefined;
}

/** The folders with most files, with their numbers, in the order of their names; none for a small project. */
function folderLines(paths: readonly string[], room: number): readonly string[] {
  if (paths.length <= SHOWN_FOLDERS) return [];
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.split("/").slice(0, -1).slice(0, 2).join("/");
    if (folder !== "") counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const largest = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, SHOWN_FOLDERS);
  for (; largest.length > 0; largest.pop()) {
    const reported = largest.toSorted((a, b) => (a[0] < b[0] ? -1 : 1)).map(([folder, count]) => `${visible(folder)}/ ${count}`);
    const line = `Folders: ${reported.join(", ")}${largest.length < counts.size ? ", and others" : ""}.`;
    if (estimateTokens(line) <= room) return [line];
  }
  return [];
}
