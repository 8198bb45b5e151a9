import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { visible } from "./path-rules.ts";

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
  // The output limit may have cut a line. Then its content and the end are missing, and the result says that.
  const entries = text.split("\n").flatMap((line) => {
    const json = line.startsWith("{") ? parsedJson(line) : undefined;
    return isRecord(json) ? [json] : [];
  });
  const of = (type: string): typeof entries => entries.filter((entry) => entry["type"] === type);
  const end = of("end").at(-1);
  const count = (type: "passed" | "failed" | "skipped"): number => (end === undefined ? of(type).length : numberIn(end[type]));
  const failures = entries.flatMap((entry): TestFailure[] => {
    const file = textIn(entry["file"]);
    if (entry["type"] === "failed") return [{ name: textIn(entry["name"]), file, message: messageIn(entry["message"]) }];
    const message = "It ran no test. Declare tests with test() or it() of node:test.";
    return entry["type"] === "empty" ? [{ name: file, file, message }] : [];
  });
  const output = of("output").reduce((all, entry) => (all + messageIn(entry["text"])).slice(0, OUTPUT_LENGTH), "");
  return {
    isComplete: end !== undefined,
    passed: count("passed"),
    failed: count("failed") + of("empty").length,
    skipped: count("skipped"),
    failures: firstOfEach(failures, FAILURES),
    ended: of("ended").map((entry) => textIn(entry["file"])),
    output,
  };
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
 * The arguments by which `node` reports in the form of this file. Node.js 20 holds a whole file to its time limit, so the guard comes first;
 * newer ones name the test. Since 21 the arguments are patterns.
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
