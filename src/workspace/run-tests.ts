import { kinds } from "../kernel/option-kinds.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { aText, object, takes } from "../kernel/argument.ts";
import { isHidden, visible } from "./path-rules.ts";
import { MAX_TIMEOUT } from "./process.ts";
import { endText, type Sandbox, SANDBOX_TIMEOUT, type SandboxResult } from "./sandbox.ts";
import { driverIn } from "./sandbox-mounts.ts";
import { FAILURES, firstOfEach, readTestReport, testArguments, type TestFailure, type ReporterResult } from "./test-report.ts";
import { ioError, walkFiles } from "./folders.ts";
import { LISTED_FILES } from "./workspace.ts";

export interface ProjectTestsRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  /** The only test files to run, as paths below the root; those that are not there are left out. Default: all of the project's. */
  readonly files?: readonly string[];
  /** Milliseconds for all of them. Default 60,000. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

const projectTestsRequest: Known<ProjectTestsRequest> = {
  root: kinds.text,
  sandbox: kinds.sandbox,
  files: kinds.texts,
  timeout: kinds.milliseconds,
  signal: kinds.signal,
};

export interface TestTally {
  /** The test files to run, relative to the project, sorted. */
  readonly files: readonly string[];
  readonly tests: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly TestFailure[];
  /** The first 16,000 characters of what the tests printed. */
  readonly output: string;
}

/**
 * The result of a project's tests. `passed`: at least one passed, none failed, every file ran some and the runner agrees. `none`: there
 * are no test files. `timeout`: the time was up before the end. `not run`: the sandbox refused, or could not start them.
 */
export type ProjectTests =
  | (TestTally & { readonly kind: "passed" | "failed" | "none" })
  | (TestTally & { readonly kind: "timeout"; readonly ms: number })
  | (TestTally & { readonly kind: "not run"; readonly reason: string; readonly hint: string });

/** The share of the time for one test file, so that a file that hangs is named and does not use up all of it. */
const FILE_SHARE = 0.4;

const SCRIPT = "typescript" in process.features && process.features.typescript !== false ? "[cm]?[jt]s" : "[cm]?js";
const TEST_NAME = new RegExp(`\\.(test|spec)\\.${SCRIPT}$`);
/** As Node.js names them, and in test folders. */
const MAY_BE_TEST = new RegExp(`(^|/)((tests?|__tests__)/.*|[^/]*[-_](test|spec)|test(-[^/]*)?)\\.${SCRIPT}$`);
/** Bytes of a file in a test folder that is searched for an import of `node:test`. */
const SEARCHED_BYTES = 1_000_000;

/** The test files that `node --test` can run: those named `*.test.js` or `*.spec.js`, and others of Node's names and in test folders that import `node:test`. */
export async function findTestFiles(root: string, signal?: AbortSignal): Promise<string[]> {
  const { files } = await walkFiles(root, { skip: isHidden, limit: LISTED_FILES, signal });
  const found: string[] = [];
  for (const file of files) if (TEST_NAME.test(file) || (MAY_BE_TEST.test(file) && (await importsTests(root, file)))) found.push(file);
  return found;
}

/** True for a file that names `node:test`. */
export async function importsTests(root: string, file: string): Promise<boolean> {
  try {
    const { size } = await stat(join(root, file));
    return size <= SEARCHED_BYTES && /["'`]node:test["'`]/.test(await readFile(join(root, file), "utf8"));
  } catch (error) {
    throw ioError(error, `read ${file}`, file);
  }
}

/**
 * Runs the project's test files with `node --test` in a sandbox. The result is the runner's own record; output cannot pass for it.
 *
 * @throws ControlError when the signal aborts.
 * @throws WorkspaceError when the project cannot be read.
 */
export async function runProjectTests(request: ProjectTestsRequest): Promise<ProjectTests> {
  checkGivenOptions("runProjectTests", request, projectTestsRequest);
  takes("runProjectTests", "request", request, object("an object with root and sandbox", { root: aText, sandbox: kinds.sandbox }));
  const { root, sandbox, signal } = request;
  const timeout = Math.min(request.timeout ?? SANDBOX_TIMEOUT, MAX_TIMEOUT);
  const found = await findTestFiles(root, signal);
  const wanted = request.files === undefined ? undefined : new Set(request.files);
  const files = found.filter((file) => wanted?.has(file) !== false);
  if (files.length === 0) return { ...tallyOf(files, readTestReport("")), kind: "none" };
  const major = Number(process.versions.node.split(".")[0]);
  const limit = Math.max(1, Math.floor(timeout * FILE_SHARE));
  const { path, mounts } = driverIn(sandbox, "workspace");
  const result = await sandbox.run({ root, command: ["node", ...testArguments(files, limit, major, path)], mounts, timeout, signal });
  return judge(files, result, signal);
}

function judge(files: readonly string[], result: SandboxResult, signal: AbortSignal | undefined): ProjectTests {
  const report = readTestReport("stdout" in result ? result.stdout : "");
  const tally = tallyOf(files, report);
  if (result.kind === "exited") return judgeExit(tally, report, result.code, result.stderr);
  if (result.kind === "refused") return { ...tally, kind: "not run", reason: result.reason, hint: result.hint };
  const end = endText(result, signal);
  if (!("stdout" in result)) return { ...tally, kind: "not run", reason: `the test runner ${end}`, hint: "Mend that, then try again." };
  if (result.kind !== "timeout") return failed(tally, `The test runner ${end}.`);
  return { ...withUnended(tally, report, "No result of it had come when the time was up."), kind: "timeout", ms: result.ms };
}

function judgeExit(tally: TestTally, report: ReporterResult, code: number, stderr: string): ProjectTests {
  const said = stderr.trim() === "" ? "" : `\n${stderr.trim().slice(-2000)}`;
  const all = report.isComplete ? withUnended(tally, report, "The test runner did not run it.") : tally;
  if (all.failed > 0) return { ...all, kind: "failed" };
  if (code !== 0) return failed(all, `The test runner ended with exit code ${code}.${said}`);
  if (!report.isComplete) return failed(all, `The test runner ended without its report.${said}`);
  if (all.passed === 0) return failed(all, "No test passed: all of them are skipped.");
  return { ...all, kind: "passed" };
}

function withUnended(tally: TestTally, report: ReporterResult, message: string): TestTally {
  const reported = new Set([...report.ended, ...report.failures.map((failure) => failure.file)]);
  const missing = tally.files.filter((file) => !reported.has(file)).map((file) => ({ name: file, file, message }));
  return withFailures(tally, missing);
}

function failed(tally: TestTally, message: string): ProjectTests {
  return { ...withFailures(tally, [{ name: "node --test", file: "", message }]), kind: "failed" };
}

function withFailures(tally: TestTally, more: readonly TestFailure[]): TestTally {
  const failures = firstOfEach([...tally.failures, ...more], FAILURES);
  return { ...tally, tests: tally.tests + more.length, failed: tally.failed + more.length, failures };
}

function tallyOf(files: readonly string[], report: ReporterResult): TestTally {
  const { passed, failed: broken, skipped, failures, output } = report;
  const shown = files.map((file) => visible(file, 400));
  return { files: shown, tests: passed + broken + skipped, passed, failed: broken, skipped, failures, output };
}
