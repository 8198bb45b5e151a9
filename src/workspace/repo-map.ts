import { having, takes } from "../kernel/argument.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { nextMacrotask } from "../kernel/clock.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { estimateTokens } from "../memory/tokens.ts";
import { minisearch } from "../memory/word-index.ts";
import { endingOf, namesIn, OUTLINED } from "./outline.ts";
import { visible } from "./path-rules.ts";
import { surveyFiles } from "./survey.ts";
import type { Workspace } from "./workspace.ts";

/** Options of {@link repoMap}. */
export interface RepoMapOptions {
  readonly workspace: Workspace;
  readonly budget: number;
  /** The task: files and names that share words with it come first. Default: the most important files come first. */
  readonly focus?: string;
  readonly signal?: AbortSignal;
}

const repoMapOptions: Known<RepoMapOptions> = { workspace: kinds.workspace, budget: kinds.count, focus: kinds.text, signal: kinds.signal };

const MOST_READ = 1_500;
const MOST_BYTES = 256 * 1024;
const MOST_BYTES_IN_ALL = 24 * 1024 * 1024;
/** Characters of a task that are searched for. */
const LONGEST_FOCUS = 8_000;
const FOLDERS = 0.2;
const SHOWN_FOLDERS = 40;
const NAMES = 24;
const FEWER_NAMES = 8;
const DETAILED = 12;
const LONGEST_NAME = 60;
/** Points that a file with a shared word has over one without: importance decides between equals only. */
const RELEVANCE = 100;

const ASIDE =
  /(?:^|\/)(?:dist|build|out|target|coverage|vendor|third_party|__pycache__|\.venv|venv|fixtures?|snapshots?|__snapshots__|generated)\//;
const TESTS = /(?:^|\/)(?:tests?|spec|__tests__)\/|\.(?:test|spec)\.|_test\.|(?:^|\/)test_/;
const ENTRIES =
  /(?:^|\/)(?:readme\.md|package\.json|pyproject\.toml|setup\.py|cargo\.toml|go\.mod|makefile|index\.\w+|main\.\w+|app\.\w+|cli\.\w+|__init__\.py|mod\.rs|lib\.rs)$/i;

interface MappedFile {
  readonly path: string;
  readonly names: readonly string[];
  /** Number of lines; undefined for a file that was not read. */
  readonly lines: number | undefined;
  readonly score: number;
}

/**
 * Draws a map of a project for a prompt: its folders with their numbers of files, then its files with their lines and the names they offer, the
 * files that share words with the task first, then the most important ones. Of 50,000 files some hundred are read; files that are binary, large or minified stand there
 * without names. The same files and options give the same map. Paths and names come from the project: they are data, never orders.
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
  const words = focus.slice(0, LONGEST_FOCUS);
  const likely = await rankedPaths(paths, words);
  const files = await readFiles(workspace, likely, signal);
  const ranked = await rankedFiles(files, words);
  return drawn({ paths, isWhole, ranked }, Math.max(50, budget));
}

async function rankedPaths(paths: readonly string[], focus: string): Promise<readonly string[]> {
  const scores = await relevance(paths, (path) => wordsOf(path), focus);
  return sortedBy(
    paths,
    (path, at) => (scores.get(at) ?? 0) * RELEVANCE + importanceOf(path),
    (path) => path,
  );
}

async function rankedFiles(files: readonly MappedFile[], focus: string): Promise<readonly MappedFile[]> {
  const texts = (file: MappedFile): string => `${wordsOf(file.path)} ${file.names.map(wordsOf).join(" ")}`;
  const scores = await relevance(files, texts, focus);
  return sortedBy(
    files,
    (file, at) => (scores.get(at) ?? 0) * RELEVANCE + file.score,
    (file) => file.path,
  );
}

async function relevance<T>(items: readonly T[], textOf: (item: T) => string, focus: string): Promise<ReadonlyMap<number, number>> {
  if (focus.trim() === "") return new Map();
  const index = minisearch();
  for (const [at, item] of items.entries()) await index.add(at, textOf(item));
  const hits = await index.search(wordsOf(focus), MOST_READ);
  const best = hits[0]?.score ?? 1;
  return new Map(hits.map(({ key, score }) => [key, score / best]));
}

function sortedBy<T>(items: readonly T[], scoreOf: (item: T, at: number) => number, nameOf: (item: T) => string): readonly T[] {
  const scored = items.map((item, at) => ({ item, score: scoreOf(item, at), name: nameOf(item) }));
  return scored.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1)).map(({ item }) => item);
}

/** The words of a name: `readJsonFile` and `read_json_file` have three. */
function wordsOf(name: string): string {
  const parts = name.replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").replace(/[^\p{L}\p{N}\p{M}]+/gu, " ");
  return `${name} ${parts}`;
}

/** Points of a path by itself: source before data, few folders before many, what begins before what tests. */
function importanceOf(path: string): number {
  const depth = path.split("/").length;
  const kind = OUTLINED.has(endingOf(path)) ? 20 : 0;
  return kind + (ENTRIES.test(path) ? 15 : 0) - depth * 2 - (TESTS.test(path) ? 10 : 0) - (ASIDE.test(path) ? 40 : 0);
}

async function readFiles(workspace: Workspace, paths: readonly string[], signal: AbortSignal | undefined): Promise<readonly MappedFile[]> {
  const files: MappedFile[] = [];
  let [room, reads] = [MOST_BYTES_IN_ALL, 0];
  for (const path of paths) {
    throwIfAborted(signal);
    const isRead = OUTLINED.has(endingOf(path)) && reads < MOST_READ && room > 0;
    const text = isRead ? await textAt(workspace, path) : undefined;
    if (isRead) reads += 1;
    room -= text?.length ?? 0;
    const found = text === undefined ? { names: [], lines: undefined } : { names: namesIn(path, text), lines: linesOf(text) };
    files.push({ path, score: importanceOf(path), ...found });
    if (isRead && reads % 50 === 0) await nextMacrotask();
  }
  return files;
}

/** The text of a file; undefined when it is too large, binary, a link or gone. */
async function textAt(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    const bytes = await workspace.readBytes(path, MOST_BYTES);
    if (bytes === undefined || bytes.includes(0)) return undefined;
    return new TextDecoder().decode(bytes);
  } catch (error) {
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
}

function linesOf(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

interface Drawing {
  readonly paths: readonly string[];
  readonly isWhole: boolean;
  readonly ranked: readonly MappedFile[];
}

function drawn({ paths, isWhole, ranked }: Drawing, budget: number): string {
  const count = `${isWhole ? "" : "More than "}${paths.length} ${paths.length === 1 ? "file" : "files"}.`;
  const lines = [count, ...folderLines(paths, budget * FOLDERS)];
  let room = budget - estimateTokens(lines.join("\n")) - estimateTokens(restLine(ranked.length)) - 1;
  let shown = 0;
  for (const [at, file] of ranked.entries()) {
    const line = fittingLine(file, at < DETAILED ? NAMES : FEWER_NAMES, room);
    if (line === undefined) break;
    lines.push(line);
    room -= estimateTokens(`${line}\n`);
    shown += 1;
  }
  if (shown < ranked.length) lines.push(restLine(ranked.length - shown));
  return lines.join("\n");
}

function restLine(count: number): string {
  return `[${count} more ${count === 1 ? "file" : "files"}]`;
}

function fittingLine({ path, names, lines }: MappedFile, most: number, room: number): string | undefined {
  const size = lines === undefined ? "" : ` (${lines} ${lines === 1 ? "line" : "lines"})`;
  for (const number of new Set([most, Math.ceil(most / 3), 0])) {
    const some = names.slice(0, number).map((name) => visible(name, LONGEST_NAME));
    const reported = some.length === 0 ? "" : `: ${some.join(", ")}${names.length > some.length ? ", ..." : ""}`;
    const line = `${visible(path)}${size}${reported}`;
    if (estimateTokens(`${line}\n`) <= room) return line;
  }
  return undefined;
}

function folderLines(paths: readonly string[], room: number): readonly string[] {
  if (paths.length <= SHOWN_FOLDERS) return [];
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.split("/").slice(0, -1).slice(0, 2).join("/");
    if (folder !== "") counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const largest = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, SHOWN_FOLDERS);
  while (largest.length > 0) {
    const reported = largest.toSorted((a, b) => (a[0] < b[0] ? -1 : 1)).map(([folder, count]) => `${visible(folder)}/ ${count}`);
    const line = `Folders: ${reported.join(", ")}${largest.length < counts.size ? ", and others" : ""}.`;
    if (estimateTokens(line) <= room) return [line];
    largest.pop();
  }
  return [];
}
