import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "../kernel/system-error.ts";
import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { ioError, walkFiles } from "../workspace/folders.ts";
import { isHidden, visible, visibleLines } from "../workspace/path-rules.ts";
import { findTestFiles, type ProjectTests, runProjectTests } from "../workspace/run-tests.ts";
import { firstOfEach } from "../workspace/test-report.ts";
import { type Sandbox, SANDBOX_TIMEOUT } from "../workspace/sandbox.ts";
import { LISTED_FILES } from "../workspace/workspace.ts";
import { isPythonTest, runPythonTests } from "./python-tests.ts";
import type { SuiteReport } from "./verification.ts";

/** A project whose tests to run. */
export interface SuitesRequest {
  /** The project's folder. */
  readonly root: string;
  readonly sandbox: Sandbox;
  /** The languages whose tests to run. Default: all. */
  readonly languages?: readonly SuiteReport["language"][] | undefined;
  /** Milliseconds for the tests of one language. Default 60,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Most failures of a report besides the first of each file, and characters of the message of one. */
const MOST_FAILURES = 50;
const MESSAGE_LENGTH = 2_000;
/** Names of test files that need a compiler or another runner. */
const COMPILED_TEST = /\.(test|spec)\.([cm]?tsx?|jsx)$/;

/** Runs all the tests of a project in the sandbox, with `node --test` and pytest. Tests that need something else are "not run". */
export async function runSuites(request: SuitesRequest): Promise<SuiteReport[]> {
  const { root, sandbox, languages = ["javascript", "python"], timeout = SANDBOX_TIMEOUT, signal } = request;
  const { files } = await walkFiles(root, { skip: isHidden, limit: LISTED_FILES, signal });
  const python = languages.includes("python") ? files.filter(isPythonTest) : [];
  return [
    ...(languages.includes("javascript") ? await javaScriptReports({ root, sandbox, timeout, signal }, files) : []),
    ...(python.length === 0 ? [] : [await runPythonTests({ root, sandbox, files: python, timeout, signal })]),
  ];
}

async function javaScriptReports({ root, sandbox, timeout, signal }: SuitesRequest, files: readonly string[]): Promise<SuiteReport[]> {
  const tests = await findTestFiles(root, signal);
  const other = await otherRunner(root);
  const ours = other === undefined ? tests : await withNodeTest(root, tests);
  const foreign = tests.filter((file) => !ours.includes(file));
  const compiled = files.filter((file) => COMPILED_TEST.test(file) && !tests.includes(file));
  const limits = { ...(timeout === undefined ? {} : { timeout }), ...(signal === undefined ? {} : { signal }) };
  const ran = ours.length === 0 ? undefined : await runProjectTests({ root, sandbox, files: ours, ...limits });
  return [
    ...(ran === undefined || ran.kind === "none" ? [] : [reportOf(ran, ran.kind)]),
    ...(foreign.length === 0
      ? []
      : [notRun(foreign, `package.json runs its tests by "${visible(other ?? "", 100)}"; only tests of node:test are run here.`)]),
    ...(compiled.length === 0
      ? []
      : [notRun(compiled, `Node.js ${process.versions.node} runs no TypeScript and no JSX; nothing compiles them here.`)]),
  ];
}

/** The script `test` of package.json, where it is another runner than `node --test`. */
async function otherRunner(root: string): Promise<string | undefined> {
  const manifest = parsedJson((await textIn(root, "package.json")) ?? "");
  const scripts = isRecord(manifest) ? manifest["scripts"] : undefined;
  const script = isRecord(scripts) ? scripts["test"] : undefined;
  if (typeof script !== "string" || script.trim() === "" || /\bnode\b.*--test\b|no test specified/.test(script)) return undefined;
  return script;
}

async function withNodeTest(root: string, files: readonly string[]): Promise<string[]> {
  const ours: string[] = [];
  for (const file of files) if (/["'`]node:test["'`]/.test((await textIn(root, file)) ?? "")) ours.push(file);
  return ours;
}

async function textIn(root: string, file: string): Promise<string | undefined> {
  try {
    return await ifThere(readFile(join(root, file), "utf8"));
  } catch (error) {
    throw ioError(error, `read ${file}`, file);
  }
}

function notRun(files: readonly string[], reason: string): SuiteReport {
  const shown = files.map((file) => visible(file, 400));
  return { language: "javascript", kind: "not run", total: 0, passed: 0, failed: 0, skipped: 0, files: shown, failures: [], reason };
}

function reportOf(tests: ProjectTests, kind: SuiteReport["kind"]): SuiteReport {
  const { files, tests: total, passed, failed, skipped } = tests;
  const failures = firstOfEach(tests.failures, MOST_FAILURES).map(({ name, file, message }) => ({
    name: visible(name, 300),
    file,
    message: visibleLines(message, MESSAGE_LENGTH),
  }));
  const reason = reasonOf(tests);
  return { language: "javascript", kind, total, passed, failed, skipped, files, failures, ...(reason === undefined ? {} : { reason }) };
}

function reasonOf(tests: ProjectTests): string | undefined {
  if (tests.kind === "not run") return `${tests.reason}. ${tests.hint}`.trim();
  return tests.kind === "timeout" ? `They did not end within ${tests.ms} ms.` : undefined;
}
