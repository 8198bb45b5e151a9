import { readFile, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import type { AnyNode, Program } from "acorn";
import { z } from "zod";
import { ifThere } from "../kernel/system-error.ts";
import { ioError } from "../workspace/folders.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { weakTestsIn } from "./assertions.ts";
import { runDriver } from "./driver.ts";
import { isNode, nodesIn, parseJavaScript, stringIn } from "./javascript.ts";

/** A function of a source file that tests lead to. */
export interface SourceFunction {
  readonly file: string;
  readonly name: string;
  /** The place of its body in the text of the file, in code units of UTF-16. */
  readonly start: number;
  readonly end: number;
  /** A body that does nothing. */
  readonly replacement: string;
  /** True when a test file has its name. */
  readonly isNamed: boolean;
}

/** The facts read from the tests of one language and from the files they lead to. */
export interface Inspection {
  readonly weak: readonly { readonly file: string; readonly name: string }[];
  readonly functions: readonly SourceFunction[];
  /** True for tests that lead to no other file, and start or read none in a way that is not looked up. */
  readonly isAlone: boolean;
}

/** Bytes of a file that is read, most files, and most functions of one inspection. */
const FILE_BYTES = 300_000;
const MOST_FILES = 200;
const MOST_FUNCTIONS = 2_000;

/** Names that a test uses to reach other programs, or files whose names are made while it runs. */
const REACHING = /child_process|worker_threads|createRequire|\breadFile|\bvm\b|\bimport\s*\(|\brequire\s*\(|\bfetch\s*\(/;

const SCRIPT = /\.[cm]?js$/;

/** Reads test files, and the source files that they import or name, and so on. Nothing is run. */
export async function inspectJavaScript(root: string, tests: readonly string[]): Promise<Inspection> {
  const programs = new Map<string, { readonly text: string; readonly program: Program }>();
  const open = [...tests];
  const seen = new Set(open);
  for (const file of open) {
    const text = programs.size < MOST_FILES ? await textOf(root, file) : undefined;
    const program = text === undefined ? undefined : await parseJavaScript(text);
    if (text === undefined || program === undefined) continue;
    programs.set(file, { text, program });
    for (const next of filesNamedIn(file, program)) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  const isTest = new Set(tests);
  const words = wordsIn(tests.flatMap((file) => programs.get(file)?.text ?? []));
  const weak = tests.flatMap((file) => {
    const found = programs.get(file);
    return found === undefined ? [] : weakTestsIn(found.program).map((name) => ({ file, name }));
  });
  const sources = [...programs].filter(([file]) => !isTest.has(file) && !/(^|\/)(tests?|__tests__)\//.test(file));
  const functions = sources.flatMap(([file, { program }]) => functionsIn(file, program, words)).slice(0, MOST_FUNCTIONS);
  const texts = tests.flatMap((file) => programs.get(file)?.text ?? []);
  const isAlone = texts.length === tests.length && sources.length === 0 && !texts.some((text) => REACHING.test(text));
  return { weak, functions, isAlone };
}

function wordsIn(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => text.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu) ?? []));
}

/** The scripts whose relative addresses, or paths from the root, are in a program. */
function filesNamedIn(file: string, program: Program): Set<string> {
  const found = new Set<string>();
  for (const node of nodesIn(program)) {
    const address = stringIn(node);
    if (address === undefined || !/^[\w./-]{1,300}$/.test(address) || address.startsWith("/")) continue;
    const besides = posix.join(posix.dirname(file), address);
    const isImport = address.startsWith(".");
    for (const path of isImport ? [besides, posix.normalize(address)] : [posix.normalize(address)]) {
      if (path.startsWith("..")) continue;
      if (SCRIPT.test(path)) found.add(path);
      else if (isImport) for (const name of [`${path}.js`, `${path}.cjs`, `${path}/index.js`]) found.add(name);
    }
  }
  return found;
}

/** The functions that have a name and do something. */
function functionsIn(file: string, program: Program, words: ReadonlySet<string>): SourceFunction[] {
  const found: SourceFunction[] = [];
  for (const node of nodesIn(program)) {
    const named = namedFunction(node);
    if (named === undefined) continue;
    const { name, value } = named;
    const { body } = value;
    const isBlock = body.type === "BlockStatement";
    if ((isBlock && body.body.length === 0) || name === "constructor") continue;
    const replacement = isBlock ? "{ return undefined; }" : "undefined";
    found.push({ file, name, start: body.start, end: body.end, replacement, isNamed: words.has(name) });
  }
  return found;
}

type Callable = Extract<AnyNode, { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }>;

function namedFunction(node: AnyNode): { readonly name: string; readonly value: Callable } | undefined {
  if (node.type === "FunctionDeclaration") return isNode(node.id) ? { name: node.id.name, value: node } : undefined;
  const [key, value] =
    node.type === "VariableDeclarator"
      ? [node.id, node.init]
      : node.type === "MethodDefinition" || node.type === "Property" || node.type === "PropertyDefinition"
        ? [node.key, node.value]
        : node.type === "AssignmentExpression" && node.left.type === "MemberExpression"
          ? [node.left.property, node.right]
          : [undefined, undefined];
  if (key?.type !== "Identifier" || !isNode(value)) return undefined;
  return value.type === "FunctionExpression" || value.type === "ArrowFunctionExpression" ? { name: key.name, value } : undefined;
}

async function textOf(root: string, file: string): Promise<string | undefined> {
  const path = join(root, file);
  try {
    const stats = await ifThere(stat(path));
    return stats?.isFile() === true && stats.size <= FILE_BYTES ? await readFile(path, "utf8") : undefined;
  } catch (error) {
    throw ioError(error, `read ${file}`, file);
  }
}

const place = z.int().min(0);
const Report = z.object({
  weak: z.array(z.object({ file: z.string(), name: z.string() })).max(500),
  functions: z
    .array(
      z.object({
        file: z.string(),
        name: z.string(),
        start: place,
        end: place,
        replacement: z.literal("return None"),
        isNamed: z.boolean(),
      }),
    )
    .max(2_000),
  isAlone: z.boolean(),
});
/** Milliseconds. */
const LIMIT = 30_000;

/** Does the same for Python, in the sandbox. Without `python3` there the result is empty. */
export async function inspectPython(
  root: string,
  tests: readonly string[],
  { sandbox, signal }: { readonly sandbox: Sandbox; readonly signal?: AbortSignal | undefined },
): Promise<Inspection> {
  const report = await runDriver({ root, sandbox, driver: "inspect_python.py", order: { tests }, timeout: LIMIT, signal });
  const values = report.kind === "ended" ? report.values : [];
  return values.flatMap((value) => Report.safeParse(value).data ?? [])[0] ?? { weak: [], functions: [], isAlone: false };
}
