import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { visible } from "./path-rules.ts";

/** A test that failed, or a test file that did. */
export interface TestFailure {
  readonly name: string;
  /** Relative to the project; empty when unknown. */
  readonly file: string;
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
 * The arguments that make `node` run test files and report in the form of this file. The runner of Node.js 20 holds a whole file to its
 * time limit and says little, so there the guard comes first; newer ones name the test. Since 21 the arguments are patterns.
 */
export function testArguments(files: readonly string[], limit: number, major: number, drivers: string): string[] {
  return [
    "--test",
    "--test-concurrency=2",
    `--test-timeout=${major < 22 ? limit + 1_000 : limit}`,
    `--import=${pathToFileURL(join(drivers, "guard.mjs")).href}?limit=${major < 22 ? limit : limit + 1_000}`,
    `--test-reporter=${join(drivers, "reporter.mjs")}`,
    "--test-reporter-destination=stdout",
    ...files.map((file) => `./${major < 21 ? file : file.replace(/[[\]{}()!+@]/g, "?")}`),
  ];
}
