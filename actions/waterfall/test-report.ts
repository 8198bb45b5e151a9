import { z } from "zod";
import { inFence, bullets, sections, shortened } from "../markdown.ts";

/** The result of a project's tests. */
export interface TestReport {
  /** `not run`: the sandbox refused; `hint` says how to allow it. `none`: there are no tests. */
  readonly tests: "passed" | "failed" | "not run" | "none";
  /** The number of rounds of debugging before it. */
  readonly round: number;
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly TestReportFailure[];
  /** The output of failing tests, cut to size. */
  readonly output?: string | undefined;
  readonly hint?: string | undefined;
}

/** A test that failed, or a test file that did. */
export interface TestReportFailure {
  readonly name: string;
  readonly file?: string | undefined;
  readonly message: string;
}

/** Guards a {@link TestReport}. */
export const TestReportSchema: z.ZodType<TestReport> = z.object({
  tests: z.enum(["passed", "failed", "not run", "none"]),
  round: z.int().min(0),
  total: z.int().min(0),
  passed: z.int().min(0),
  failed: z.int().min(0),
  failures: z.array(z.object({ name: z.string(), file: z.string().optional(), message: z.string() })),
  output: z.string().optional(),
  hint: z.string().optional(),
});

const SHOWN_FAILURES = 20;
const SHOWN_MESSAGE = 1_500;
const SHOWN_OUTPUT = 4_000;

export function renderTestReport(report: TestReport): string {
  const left = report.failures.length - SHOWN_FAILURES;
  const failures = report.failures.slice(0, SHOWN_FAILURES).map(failureText);
  if (left > 0) failures.push(`${left} more failures`);
  return sections("Tests", [
    ["Result", `${resultOf(report)}${report.hint === undefined ? "" : `\n\n${report.hint}`}`],
    ["Failures", bullets(failures)],
    ["Output", report.output === undefined || report.output === "" ? "" : inFence(shortened(report.output, SHOWN_OUTPUT))],
  ]);
}

function resultOf({ tests, total, passed, failed }: TestReport): string {
  switch (tests) {
    case "passed":
      return `All ${passed} tests passed${total > passed ? `, ${total - passed} were skipped` : ""}.`;
    case "failed":
      return `${failed} of ${total} tests failed.`;
    case "not run":
      return "The tests were not run.";
    case "none":
      return "There are no tests.";
  }
}

function failureText({ name, file, message }: TestReportFailure): string {
  const where = file === undefined || file === name ? "" : ` in ${file}`;
  return `${name}${where}\n${inFence(shortened(message, SHOWN_MESSAGE))}`;
}

/** The diagnosis of failing tests, and the files that were written again. */
export interface DebugReport {
  /** From 1. */
  readonly round: number;
  readonly analysis: string;
  readonly files: readonly string[];
}

/** Guards a {@link DebugReport}. */
export const DebugReportSchema: z.ZodType<DebugReport> = z.object({
  round: z.int().min(1),
  analysis: z.string(),
  files: z.array(z.string()),
});

/** The question about failing tests: why, and which of the given files must change. */
export function diagnosisSchema(paths: readonly string[]): z.ZodType<{ readonly analysis: string; readonly files: readonly string[] }> {
  return z.object({
    analysis: z.string().describe("why the tests fail, and what must change where"),
    files: z
      .array(z.enum(paths))
      .min(1)
      .transform((files) => [...new Set(files)])
      .describe("the files to write again, as few as possible; tests only if they contradict the requirements"),
  });
}

export function renderDebugReport({ round, analysis, files }: DebugReport): string {
  return sections(`Debugging, round ${round}`, [
    ["Analysis", analysis],
    ["Files written again", bullets(files)],
  ]);
}
