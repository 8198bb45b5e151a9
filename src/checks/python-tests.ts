import { z } from "zod";
import { visible, visibleLines } from "../workspace/path-rules.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { firstOfEach } from "../workspace/test-report.ts";
import { runDriver } from "./driver.ts";
import type { SuiteReport } from "./verification.ts";

export interface PythonTestsRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  /** Paths of the test files, relative to the root. */
  readonly files: readonly string[];
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** Most failures of a report besides the first of each file, and characters of the message of one. */
const MOST_FAILURES = 50;
const MESSAGE_LENGTH = 2_000;
/** Characters kept of what the tests and their runner print. */
const SHOWN = 4_000;
/** Bytes of the results that the runner writes. */
const RESULT_BYTES = 4_000_000;
/** Milliseconds for finding the runner. */
const START_TIME = 15_000;

const Report = z.union([
  z.object({ tool: z.enum(["none", "no pytest"]) }),
  z.object({
    tool: z.enum(["pytest", "unittest"]),
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
type Ran = Exclude<z.infer<typeof Report>, { tool: "none" | "no pytest" }>;
type Failure = SuiteReport["failures"][number];

/** True for the path of a file that pytest takes for tests. */
export function isPythonTest(path: string): boolean {
  return /(^|\/)(test_[^/]*|[^/]*_test)\.py$/.test(path) && !/(^|\/)(\.?venv|site-packages|\.packages)\//.test(path);
}

/** Runs Python test files in the sandbox: by pytest where it is installed, else by unittest where all of them are tests of unittest. */
export async function runPythonTests({ root, sandbox, files, timeout, signal }: PythonTestsRequest): Promise<SuiteReport> {
  const order = { files, limit: timeout, shown: SHOWN, resultBytes: RESULT_BYTES, mostFailures: MOST_FAILURES };
  const report = await runDriver({ root, sandbox, driver: "python-tests.mjs", order, timeout: timeout + START_TIME, signal });
  const shown = files.map((file) => visible(file, 400));
  if (report.kind === "not run") return emptyReport(shown, "not run", report.reason);
  const found = report.values.flatMap((value) => Report.safeParse(value).data ?? []);
  const [ran] = found;
  if (ran === undefined || found.length > 1 || report.kind === "broken") {
    const reason = report.kind === "broken" ? report.reason : "ended without a report";
    const failure = { name: "python3 -m pytest", file: "", message: `The test run ${reason}.` };
    return { ...emptyReport(shown, "failed", undefined), total: 1, failed: 1, failures: [failure] };
  }
  if (!("passed" in ran)) return emptyReport(shown, "not run", reasonFor(ran.tool));
  return judge(ran, shown, timeout);
}

function reasonFor(tool: "none" | "no pytest"): string {
  return tool === "none"
    ? "The sandbox has no python3. Install it, on Debian and Ubuntu with: apt-get install python3 python3-pytest"
    : "The tests need pytest, which the system's Python does not have. Install it, on Debian and Ubuntu with: apt-get install python3-pytest";
}

function emptyReport(files: readonly string[], kind: SuiteReport["kind"], reason: string | undefined): SuiteReport {
  const counts = { total: 0, passed: 0, failed: 0, skipped: 0 };
  return { language: "python", kind, ...counts, files, failures: [], ...(reason === undefined ? {} : { reason }) };
}

function judge(ran: Ran, files: readonly string[], timeout: number): SuiteReport {
  const more = moreFailures(ran);
  const failures = firstOfEach([...ran.failures, ...more], MOST_FAILURES).map(shownFailure);
  const failed = ran.failed + more.length;
  const counts = { total: ran.passed + ran.skipped + failed, passed: ran.passed, failed, skipped: ran.skipped };
  if (ran.timedOut) {
    return { language: "python", kind: "timeout", ...counts, files, failures, reason: `They did not end within ${timeout} ms.` };
  }
  return { language: "python", kind: failed === 0 ? "passed" : "failed", ...counts, files, failures };
}

/** The faults besides failed tests. */
function moreFailures(ran: Ran): Failure[] {
  const { running } = ran;
  if (ran.timedOut) {
    return running === null ? [] : [{ ...running, message: "It was running when the time was up." }];
  }
  const command = ran.tool === "pytest" ? "python3 -m pytest" : "python3 -m unittest";
  if (!ran.hasEnd || (ran.code !== 0 && ran.failed === 0)) {
    const end = ran.signal === null ? `with exit code ${ran.code ?? ""}` : `by ${ran.signal}`;
    const during = running === null ? "" : ` in ${running.name}`;
    const isEmpty = ran.code === 5 && ran.empty.length > 0;
    return isEmpty
      ? ran.empty.map(emptyFile)
      : [{ name: command, file: running?.file ?? "", message: `The test run ended ${end}${during}.\n${ran.output}` }];
  }
  const none = ran.passed + ran.failed === 0 && ran.empty.length === 0;
  const why = ran.skipped > 0 ? "all of them are skipped" : "none of them ran";
  return [...ran.empty.map(emptyFile), ...(none ? [{ name: command, file: "", message: `No test passed: ${why}.` }] : [])];
}

function emptyFile(file: string): Failure {
  return { name: file, file, message: "It ran no test. Declare tests as functions named test_..., or as methods of a unittest.TestCase." };
}

function shownFailure({ name, file, message }: Failure): Failure {
  return { name: visible(name, 300), file: visible(file, 400), message: visibleLines(message, MESSAGE_LENGTH) };
}
