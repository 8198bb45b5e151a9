import { stripVTControlCharacters } from "node:util";
import { visible } from "./path-rules.ts";

/** A test that failed, or a test file that did. */
export interface TestFailure {
  readonly name: string;
  /** Relative to the project; empty when unknown. */
  readonly file: string;
  /** At most some thousand characters, with the places in the project's files. */
  readonly message: string;
}

/** The content of a test reporter's lines. */
export interface ReporterResult {
  /** True when the runner reached its end. Without it the counts are those of the results that were heard. */
  readonly isComplete: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly TestFailure[];
  /** The files that were run to their end. */
  readonly ended: readonly string[];
  /** The first output of the tests. */
  readonly output: string;
}

/** Characters kept of what tests print. */
const OUTPUT_LENGTH = 16_000;
/** How many failures are told one by one. */
export const FAILURES = 100;

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
  return { ...counts, failed: counts.failed + empty, isComplete: end !== undefined, failures: failures.slice(0, FAILURES), ended, output };
}

function emptyFile(file: string): TestFailure {
  return { name: file, file, message: "It ran no test. Declare tests with test() or it() of node:test." };
}

function* entriesIn(text: string): Generator<Readonly<Record<string, unknown>>> {
  for (const line of text.split("\n")) {
    if (!line.startsWith("{")) continue;
    try {
      yield JSON.parse(line) as Record<string, unknown>;
    } catch {
      // A line cut by the output's limit; what it said is missing, and so is the end, which the reader reports.
    }
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
