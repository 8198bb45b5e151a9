import { readFile, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import type { AnyNode } from "acorn";
import { z } from "zod";
import { contentHash } from "../kernel/json.ts";
import { ioError } from "../workspace/folders.ts";
import { isNormalPath, visible } from "../workspace/path-rules.ts";
import { copyProject } from "../workspace/project-copy.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { runDriver } from "./driver.ts";
import { filesIn, textIn } from "./project-text.ts";
import { isNode, nodesIn, parseJavaScript } from "./javascript.ts";
import { runSuites } from "./suites.ts";
import type { Fault, SuiteReport } from "./verification.ts";

export interface SpotCheckRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  readonly suites: readonly SuiteReport[];
  /** Chooses the functions; an equal seed chooses equal ones. Default 0. */
  readonly seed?: number | undefined;
  /** Milliseconds for one run of the tests. Default 60,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface SourceFunction {
  readonly file: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

type Language = "javascript" | "python";

const TRIES = 3;
const MAX_FILES = 200;
const MAX_FUNCTIONS = 2_000;
const FILE_BYTES = 300_000;
/** Milliseconds for reading Python. */
const READ_TIME = 30_000;

const SOURCES: Readonly<Record<Language, RegExp>> = {
  javascript: /(?<!\.config)\.[cm]?js$/,
  python: /(?<!(^|\/)(setup|conftest|__init__))\.py$/,
};
const TEST_FILE = /(^|\/)(tests?|__tests__|spec)\/|\.(test|spec)\.[cm]?js$|(^|\/)(test_[^/]*|[^/]*_test)\.py$/;

/** Empties a function in a copy of the project, and expects that the tests fail; up to three functions when they do not. */
export async function spotCheck(request: SpotCheckRequest): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const { language, files, kind } of request.suites) {
    if (kind !== "passed" || files.length === 0 || !isLanguage(language)) continue;
    const chosen = chosenFrom(await functionsOf(request, language), await wordsIn(request.root, files), request.seed ?? 0);
    if (chosen.length === 0 || (await isAnyNoticed(request, language, chosen))) continue;
    const names = chosen.map(({ name, file }) => `${visible(name, 120)} (${visible(file, 200)})`).join(", ");
    const message = `All tests still pass when the body of ${chosen.length === 1 ? "this function is" : "each of these functions is"} emptied: ${names}.`;
    faults.push({ kind: "weak tests", message });
  }
  return faults;
}

function isLanguage(name: string): name is Language {
  return Object.hasOwn(SOURCES, name);
}

async function functionsOf({ root, sandbox, signal }: SpotCheckRequest, language: Language): Promise<readonly SourceFunction[]> {
  const files = await filesIn(root, signal);
  const sources = files.filter((file) => SOURCES[language].test(file) && !TEST_FILE.test(file) && isNormalPath(file)).slice(0, MAX_FILES);
  if (language === "javascript") return javaScriptFunctions(root, sources);
  const order = { files: sources, fileBytes: FILE_BYTES, most: MAX_FUNCTIONS };
  const report = await runDriver({ root, sandbox, driver: "functions_python.py", order, timeout: READ_TIME, signal });
  const values = report.kind === "ended" ? report.values : [];
  const found = values.flatMap((value) => PythonFunctions.safeParse(value).data ?? []);
  return found.map((each) => ({ ...each, replacement: "return None" })).filter(({ file }) => sources.includes(file));
}

const position = z.int().min(0);
const PythonFunctions = z.array(z.object({ file: z.string(), name: z.string(), start: position, end: position })).max(MAX_FUNCTIONS);

async function javaScriptFunctions(root: string, files: readonly string[]): Promise<readonly SourceFunction[]> {
  const found: SourceFunction[] = [];
  for (const file of files) {
    const program = await parseJavaScript((await textIn(root, file, FILE_BYTES)) ?? "");
    for (const node of program === undefined ? [] : nodesIn(program)) {
      const named = namedFunction(node);
      if (named === undefined || named.name === "constructor") continue;
      const { type, start, end } = named.body;
      if (named.body.type === "BlockStatement" && named.body.body.length === 0) continue;
      found.push({ file, name: named.name, start, end, replacement: type === "BlockStatement" ? "{ return undefined; }" : "undefined" });
    }
  }
  return found.slice(0, MAX_FUNCTIONS);
}

function namedFunction(node: AnyNode): { readonly name: string; readonly body: AnyNode } | undefined {
  if (node.type === "FunctionDeclaration") return isNode(node.id) ? { name: node.id.name, body: node.body } : undefined;
  const [key, value] =
    node.type === "VariableDeclarator"
      ? [node.id, node.init]
      : node.type === "MethodDefinition" || node.type === "Property" || node.type === "PropertyDefinition"
        ? [node.key, node.value]
        : node.type === "AssignmentExpression" && node.left.type === "MemberExpression"
          ? [node.left.property, node.right]
          : [undefined, undefined];
  if (key?.type !== "Identifier" || !isNode(value)) return undefined;
  return value.type === "FunctionExpression" || value.type === "ArrowFunctionExpression" ? { name: key.name, body: value.body } : undefined;
}

/** The words of test files: a function that they name is a better choice than another. */
async function wordsIn(root: string, files: readonly string[]): Promise<ReadonlySet<string>> {
  const words = new Set<string>();
  for (const file of files)
    for (const word of (await textIn(root, file, FILE_BYTES))?.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu) ?? []) words.add(word);
  return words;
}

/** The functions to empty: those that tests name, else those of files that tests name, else any; one of each file before a second of it. */
function chosenFrom(functions: readonly SourceFunction[], words: ReadonlySet<string>, seed: number): readonly SourceFunction[] {
  const named = functions.filter(({ name }) => words.has(name));
  const near = functions.filter(({ file }) => isNamed(file, words));
  const mixed = (named.length > 0 ? named : near.length > 0 ? near : functions)
    .map((each) => ({ each, key: contentHash([seed, each.file, each.name, each.start]) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ each }) => each);
  const turns = mixed.map((each, at) => ({ each, turn: mixed.slice(0, at).filter(({ file }) => file === each.file).length }));
  const inTurn = turns.sort((a, b) => a.turn - b.turn);
  return inTurn.slice(0, TRIES).map(({ each }) => each);
}

/** True for `src/to-do.mjs` where the words have "to" and "do". */
function isNamed(file: string, words: ReadonlySet<string>): boolean {
  const stem = posix.parse(file).name.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu) ?? [];
  return stem.length > 0 && stem.every((word) => words.has(word));
}

async function isAnyNoticed(
  { root, sandbox, timeout, signal }: SpotCheckRequest,
  language: Language,
  chosen: readonly SourceFunction[],
): Promise<boolean> {
  const copy = await copyProject(root, { signal });
  try {
    for (const each of chosen) {
      const path = join(copy.project, each.file);
      const text = await readFile(path, "utf8");
      await writeFile(path, text.slice(0, each.start) + each.replacement + text.slice(each.end));
      const reports = await runSuites({ root: copy.project, sandbox, timeout, signal, languages: [language] });
      await writeFile(path, text);
      if (reports.some((report) => report.language === language && (report.kind === "failed" || report.kind === "timeout"))) return true;
    }
    return false;
  } catch (error) {
    throw ioError(error, "empty a function in a copy of the project", "");
  } finally {
    await copy.remove();
  }
}
