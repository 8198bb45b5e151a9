import { basename } from "node:path";
import { visible, visibleLines } from "../workspace/path-rules.ts";
import { findTestFiles, importsTests, type ProjectTests, runProjectTests } from "../workspace/run-tests.ts";
import { firstOfEach } from "../workspace/test-report.ts";
import { type Sandbox, SANDBOX_TIMEOUT } from "../workspace/sandbox.ts";
import { emptyReport, type SuiteReport } from "./verification.ts";
import { z } from "zod";
import { runDriver } from "./driver.ts";
import { projectCommands, runCommands } from "./project-commands.ts";
import { filesIn, textIn } from "./project-text.ts";

export interface SuitesRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  /** The languages whose tests to run. Default: all, and the project's own commands. */
  readonly languages?: readonly ("javascript" | "python")[] | undefined;
  /** Milliseconds for the tests of one language. Default 60,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const MAX_FAILURES = 50;
const MESSAGE_LENGTH = 2_000;
const COMPILED_TEST = /\.(test|spec)\.([cm]?tsx?|jsx)$/;

/** Runs all the tests of a project in the sandbox: `node --test`, pytest or unittest, and commands that its files name. "not run" without their needs. */
export async function runSuites(request: SuitesRequest): Promise<SuiteReport[]> {
  const { root, sandbox, languages, timeout = SANDBOX_TIMEOUT, signal } = request;
  const files = await filesIn(root, signal);
  const [all, named] = [{ root, sandbox, timeout, signal }, await projectCommands(root)];
  const isAsked = (language: "javascript" | "python"): boolean => languages?.includes(language) !== false;
  const python = isAsked("python") ? await pythonTests(root, files) : undefined;
  const isNamed = named.some(({ file }) => file === "package.json");
  return [
    ...(isAsked("javascript") ? await javaScriptReports(all, files, isNamed) : []),
    ...(python === undefined ? [] : [await runPythonTests(all, python)]),
    ...(languages === undefined ? await runCommands({ ...all, commands: named }) : []),
  ];
}

async function javaScriptReports(
  { root, sandbox, timeout, signal }: SuitesRequest,
  files: readonly string[],
  isNamed: boolean,
): Promise<SuiteReport[]> {
  const tests = await findTestFiles(root, signal);
  const ours: string[] = [];
  for (const file of tests) if (!isNamed || (await importsTests(root, file))) ours.push(file);
  const compiled = files.filter((file) => COMPILED_TEST.test(file) && !tests.includes(file));
  const limits = { ...(timeout === undefined ? {} : { timeout }), ...(signal === undefined ? {} : { signal }) };
  const ran = ours.length === 0 ? undefined : await runProjectTests({ root, sandbox, files: ours, ...limits });
  return [
    ...(ran === undefined || ran.kind === "none" ? [] : [reportOf(ran, ran.kind)]),
    ...(compiled.length === 0 || isNamed
      ? []
      : [
          emptyReport(
            "javascript",
            compiled,
            "not run",
            `Node.js ${process.versions.node} runs no TypeScript and no JSX, and package.json names no command for tests.`,
          ),
        ]),
  ];
}

function reportOf(tests: ProjectTests, kind: SuiteReport["kind"]): SuiteReport {
  const { files, tests: total, passed, failed, skipped } = tests;
  const failures = firstOfEach(tests.failures, MAX_FAILURES).map(shownFailure);
  const late = tests.kind === "timeout" ? `They did not end within ${tests.ms} ms.` : undefined;
  const reason = tests.kind === "not run" ? `${tests.reason}. ${tests.hint}`.trim() : late;
  return { language: "javascript", kind, total, passed, failed, skipped, files, failures, ...(reason === undefined ? {} : { reason }) };
}

/** Characters kept of what the tests and their runner print. */
const SHOWN = 4_000;
const RESULT_BYTES = 4_000_000;
/** Milliseconds for finding the runner. */
const START_TIME = 15_000;

const Report = z.union([
  z.object({ lacks: z.enum(["python3", "pytest"]) }),
  z.object({
    runner: z.enum(["pytest", "unittest"]),
    code: z.int().nullable(),
    signal: z.string().max(20).nullable(),
    timedOut: z.boolean(),
    hasEnd: z.boolean(),
    output: z.string().max(SHOWN),
    running: z.object({ name: z.string(), file: z.string() }).nullable(),
    passed: z.int().min(0),
    failed: z.int().min(0),
    skipped: z.int().min(0),
    failures: z.array(z.object({ name: z.string(), file: z.string(), message: z.string() })),
    empty: z.array(z.string()),
  }),
]);
type Ran = Exclude<z.infer<typeof Report>, { lacks: string }>;
type Failure = SuiteReport["failures"][number];

interface PythonTests {
  readonly files: readonly string[];
  /** The project is made for pytest: unittest would run another set of tests, or the same without its fixtures. */
  readonly needsPytest: boolean;
}

const PYTEST_FILES = [
  "pytest.ini",
  "pyproject.toml",
  "setup.cfg",
  "tox.ini",
  "requirements.txt",
  "requirements-dev.txt",
  "dev-requirements.txt",
];
const OTHERS = /(^|\/)(\.?venv|site-packages|\.packages)\//;

/** The Python tests by the usual names, and by those that the project gives to pytest; undefined where there are none. */
async function pythonTests(root: string, files: readonly string[]): Promise<PythonTests | undefined> {
  const own = files.filter((file) => file.endsWith(".py") && !OTHERS.test(file));
  if (own.length === 0) return undefined;
  const texts = await Promise.all(
    PYTEST_FILES.filter((file) => files.includes(file)).map(async (file) => (await textIn(root, file)) ?? ""),
  );
  const [, named = ""] = /^python_files\s*=\s*(\[[^\]]*\]|.*(?:\n[ \t]+\S.*)*)/m.exec(texts.join("\n")) ?? [];
  const patterns = ["test_*.py", "*_test.py", ...(named.match(/[\w*?.-]+/g) ?? [])].map(
    (glob) => new RegExp(`^${glob.replaceAll(".", "\\.").replaceAll("*", ".*").replaceAll("?", ".")}$`),
  );
  const tests = own.filter((file) => patterns.some((pattern) => pattern.test(basename(file))));
  const isNamed = texts.some((text) => /\bpytest\b/.test(text));
  const needsPytest = isNamed || files.includes("pytest.ini") || own.some((file) => basename(file) === "conftest.py");
  return tests.length === 0 ? undefined : { files: tests, needsPytest };
}

async function runPythonTests(
  { root, sandbox, timeout = SANDBOX_TIMEOUT, signal }: SuitesRequest,
  { files, needsPytest }: PythonTests,
): Promise<SuiteReport> {
  const order = { files, needsPytest, limit: timeout, shown: SHOWN, resultBytes: RESULT_BYTES, mostFailures: MAX_FAILURES };
  const report = await runDriver({ root, sandbox, driver: "python-tests.mjs", order, timeout: timeout + START_TIME, signal });
  const empty = (kind: SuiteReport["kind"], reason?: string): SuiteReport => emptyReport("python", files, kind, reason);
  if (report.kind === "not run") return empty("not run", report.reason);
  const found = report.values.flatMap((value) => Report.safeParse(value).data ?? []);
  const [ran] = found;
  if (ran === undefined || found.length > 1 || report.kind === "broken") {
    const reason = report.kind === "broken" ? report.reason : "ended without a report";
    const failure = { name: "python3", file: "", message: `The test run ${reason}.` };
    return { ...empty("failed"), total: 1, failed: 1, failures: [failure] };
  }
  if (!("lacks" in ran)) return judge(ran, empty("failed"), timeout);
  const what = ran.lacks === "pytest" ? "pytest, which these tests need" : ran.lacks;
  return empty("not run", `The sandbox has no ${what}. Install it, on Debian and Ubuntu with: apt-get install python3-pytest`);
}

function judge(ran: Ran, report: SuiteReport, timeout: number): SuiteReport {
  const more = moreFailures(ran);
  const failures = firstOfEach([...ran.failures, ...more], MAX_FAILURES).map(shownFailure);
  const failed = ran.failed + more.length;
  const counted = { ...report, total: ran.passed + ran.skipped + failed, passed: ran.passed, failed, skipped: ran.skipped, failures };
  if (ran.timedOut) return { ...counted, kind: "timeout", reason: `They did not end within ${timeout} ms.` };
  return failed === 0 ? { ...counted, kind: "passed" } : counted;
}

function moreFailures(ran: Ran): Failure[] {
  const { running, runner } = ran;
  const name = `python3 -m ${runner}`;
  if (ran.timedOut) {
    return running === null ? [] : [{ ...running, message: "It was running when the time was up." }];
  }
  if (!ran.hasEnd || (ran.code !== 0 && ran.failed === 0)) {
    const end = ran.signal === null ? `with exit code ${ran.code ?? ""}` : `by ${ran.signal}`;
    const during = running === null ? "" : ` in ${running.name}`;
    const isEmpty = ran.code === 5 && ran.empty.length > 0;
    return isEmpty
      ? ran.empty.map(emptyFile)
      : [{ name, file: running?.file ?? "", message: `The test run ended ${end}${during}.\n${ran.output}` }];
  }
  const none = ran.passed + ran.failed === 0 && ran.empty.length === 0;
  const why = ran.skipped > 0 ? "all of them are skipped" : "none of them ran";
  return [...ran.empty.map(emptyFile), ...(none ? [{ name, file: "", message: `No test passed: ${why}.` }] : [])];
}

function emptyFile(file: string): Failure {
  return { name: file, file, message: "It ran no test. Declare tests as functions named test_..., or as methods of a unittest.TestCase." };
}

function shownFailure({ name, file, message }: Failure): Failure {
  return { name: visible(name, 300), file: visible(file, 400), message: visibleLines(message, MESSAGE_LENGTH) };
}
