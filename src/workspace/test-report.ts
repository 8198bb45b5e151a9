import { stripVTControlCharacters } from "node:util";
import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { visible } from "./path-rules.ts";

/** A test that failed, or a test file that did. */
export interface TestFailure {
  readonly name: string;
  /** Relative to the project; empty when unknown. */
  readonly file: string;
  /** At most some thousand characters, with the places in the project's files. */
  readonly message: string;
}

export interface ReporterResult {
  /** True when the runner reached its end. Without it the counts are those of the results that were heard. */
  readonly isComplete: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly TestFailure[];
  readonly ended: readonly string[];
  /** The first output of the tests. */
  readonly output: string;
}

const OUTPUT_LENGTH = 16_000;
export const FAILURES = 100;

/** The first failures and, of each file, at least one, in their order: no file with a failed test looks as if it had passed. */
export function firstOfEach<F extends { readonly file: string }>(failures: readonly F[], most: number): F[] {
  const seen = new Set<string>();
  return failures.filter(({ file }, at) => {
    const isFirst = !seen.has(file);
    seen.add(file);
    return isFirst || at < most;
  });
}

/** Reads the reporter's lines. Lines of any other form are ignored: nothing that is printed can be taken for a result. */
export function readTestReport(text: string): ReporterResult {
  const count = { passed: 0, failed: 0, skipped: 0 };
  const failures: TestFailure[] = [];
  const ended: string[] = [];
  let end: typeof count | undefined;
  let empty = 0;
  let output = "";
  for (const entry of entriesIn(text)) {
    switch (entry["type"]) {
      case "passed":
        count.passed += 1;
        break;
      case "skipped":
        count.skipped += 1;
        break;
      case "failed":
        count.failed += 1;
        failures.push({ name: textIn(entry["name"]), file: textIn(entry["file"]), message: messageIn(entry["message"]) });
        break;
      case "empty":
        empty += 1;
        failures.push(emptyFile(textIn(entry["file"])));
        break;
      case "ended":
        ended.push(textIn(entry["file"]));
        break;
      case "output":
        output = (output + messageIn(entry["text"])).slice(0, OUTPUT_LENGTH);
        break;
      case "end":
        end = { passed: numberIn(entry["passed"]), failed: numberIn(entry["failed"]), skipped: numberIn(entry["skipped"]) };
        break;
    }
  }
  const counts = end ?? count;
  return {
    ...counts,
    failed: counts.failed + empty,
    isComplete: end !== undefined,
    failures: firstOfEach(failures, FAILURES),
    ended,
    output,
  };
}

function emptyFile(file: string): TestFailure {
  return { name: file, file, message: "It ran no test. Declare tests with test() or it() of node:test." };
}

function* entriesIn(text: string): Generator<Readonly<Record<string, unknown>>> {
  for (const line of text.split("\n")) {
    // The output limit may have cut a line. Then its content and the end are missing, and the reader reports that.
    const json = line.startsWith("{") ? parsedJson(line) : undefined;
    if (isRecord(json)) yield json;
  }
}

function textIn(value: unknown): string {
  return visible(typeof value === "string" ? value : "", 400);
}

/** Keeps line breaks and tabs; what a terminal would obey, colours for one, goes. */
function messageIn(value: unknown): string {
  return stripVTControlCharacters(typeof value === "string" ? value : "").replace(/[^\P{Cc}\n\t]/gu, "");
}

function numberIn(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : 0;
}

/**
 * A reporter and a watcher inside Node's test runner. Both texts are modules given to `node` as `data:` URLs, so they need no file in the
 * sandbox. They work with Node 20.19 and later.
 *
 * The reporter runs in the runner's process, which runs no test: a test that prints reports of its own prints them as output. Each line
 * it writes is a JSON object; see test-report.ts for the reader. Its bounds keep all lines together, every character escaped, below what
 * a sandbox keeps of a command's output: the last line must arrive.
 */
const REPORTER = String.raw`
import { resolve } from "node:path";
const here = process.cwd() + "/";
const show = (text, limit) => {
  const plain = String(text).replaceAll("file://" + here, "").replaceAll(here, "");
  return plain.length > limit ? plain.slice(0, limit) + "..." : plain;
};
const line = (value) => JSON.stringify(value) + "\n";
const textOf = (error) => {
  const cause = error?.cause ?? error;
  if (typeof cause !== "object" || cause === null) return String(cause);
  const stack = typeof cause.stack === "string" ? cause.stack.split("\n").filter((at) => !/^\s+at (.*\()?node:/.test(at)).join("\n") : "";
  return stack.includes(String(cause.message)) ? stack : [cause.message, stack].filter(Boolean).join("\n");
};
export default async function* report(source) {
  const errors = new Map();
  const told = new Set();
  let room = 16000, lines = 4000, failures = 40;
  let passed = 0, failed = 0, skipped = 0;
  for await (const { type, data } of source) {
    if (type === "test:stdout" || type === "test:stderr") {
      const key = resolve(data.file ?? "");
      if (type === "test:stderr") errors.set(key, ((errors.get(key) ?? "") + data.message).slice(-4000));
      if (room > 0) {
        const text = show(data.message, room);
        room -= text.length;
        yield line({ type: "output", text });
      }
      continue;
    }
    if (type !== "test:complete" && type !== "test:pass" && type !== "test:fail") continue;
    const error = data.details?.error;
    const isFile = data.nesting === 0 && resolve(data.name) === resolve(data.file ?? "");
    if (type === "test:complete") {
      if (isFile) yield line({ type: "ended", file: show(data.file, 400) });
      continue;
    }
    const isSuite = data.details?.type === "suite";
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    const isEcho = error?.failureType === "subtestsFailed";
    // A suite that is skipped hides its tests: nothing tells of them.
    if (isEcho || (isSuite && type === "test:pass" && !isSkipped)) continue;
    const file = show(data.file ?? "", 400);
    const name = show(data.name, 300);
    if (isSkipped) {
      skipped += 1;
      if (lines-- > 0) yield line({ type: "skipped" });
    } else if (type === "test:fail") {
      failed += 1;
      const status = isFile && error?.exitCode ? "it ended with exit code " + error.exitCode : isFile && error?.signal ? "it was ended by " + error.signal : "";
      const said = isFile ? errors.get(resolve(data.file)) ?? "" : "";
      const message = status === "" ? textOf(error) : status + (said === "" ? "" : "\n" + said);
      if (failures-- > 0 || !told.has(file)) yield line({ type: "failed", name: isFile ? file : name, file, message: show(message, 2000) });
      told.add(file);
    } else if (isFile) {
      yield line({ type: "empty", file });
    } else {
      passed += 1;
      if (lines-- > 0) yield line({ type: "passed" });
    }
  }
  yield line({ type: "end", passed, failed, skipped });
}
`;

/**
 * Loaded into each test file's process before the file. A file that ends its process itself with code 0 hides the tests that had not run
 * yet, and one that leaves a server or a timer open never ends: both become a failure that says so.
 */
const GUARD = String.raw`
import { writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
// Programs that a test starts inherit its environment, and this module with it.
const isTestFile = process.env.NODE_TEST_CONTEXT === "child-v8" && process.env.TROUPE_TEST_FILE === undefined;
if (isMainThread && isTestFile) {
  process.env.TROUPE_TEST_FILE = process.argv[1] ?? "";
  const leave = process.reallyExit;
  process.reallyExit = (code) => {
    if (!code) writeSync(2, "The file called process.exit(0). A test file has to end by itself, or tests are lost.\n");
    leave.call(process, code || 1);
  };
  setTimeout(() => {
    writeSync(2, "The file did not end within LIMIT ms: a test, an open server or a timer keeps it running.\n");
    leave.call(process, 1);
  }, LIMIT).unref();
}
`;

/**
 * The arguments that make `node` run test files and report in the form test-report.ts reads.
 *
 * @param files paths relative to the working folder
 * @param limit milliseconds one file may take. The runner of Node 20 holds a whole file to its time limit and says little, so there the
 * guard comes first; newer ones hold each test to it and name it, so there the guard comes second.
 * @param major the version of Node.js; since 21 its runner takes its arguments for patterns, so there a ? stands for each character that
 * has a meaning in them. Whether each file was run is checked afterwards.
 */
export function testArguments(files: readonly string[], limit: number, major: number): string[] {
  return [
    "--test",
    "--test-concurrency=2",
    `--test-timeout=${major < 22 ? limit + 1_000 : limit}`,
    `--import=${moduleUrl(GUARD.replaceAll("LIMIT", String(major < 22 ? limit : limit + 1_000)))}`,
    `--test-reporter=${moduleUrl(REPORTER)}`,
    "--test-reporter-destination=stdout",
    ...files.map((file) => `./${major < 21 ? file : file.replace(/[[\]{}()!+@]/g, "?")}`),
  ];
}

function moduleUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
