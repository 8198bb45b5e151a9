import { aText, listOf, object, type Shape, takes } from "../kernel/argument.ts";
import { visible } from "../workspace/path-rules.ts";
import type { Criterion } from "./acceptance.ts";

/** The result of one criterion. A judgement is never a proof. */
export type Outcome = "proven" | "failed" | "judged" | "not checked";

/** The result of one criterion with its evidence. Plain JSON. */
export interface Verdict {
  readonly id: string;
  readonly priority: Criterion["priority"];
  readonly outcome: Outcome;
  readonly by: "command" | "browser" | "test" | "judgement" | "nothing";
  readonly evidence: string;
}

export interface Fault {
  readonly kind: "syntax" | "tests" | "weak tests" | "readme" | "plan" | "page";
  readonly file?: string | undefined;
  readonly command?: string | undefined;
  readonly message: string;
}

export interface SuiteReport {
  /** `javascript`, `python`, or the command that the project names, such as `make test`. */
  readonly language: string;
  readonly kind: "passed" | "failed" | "timeout" | "not run";
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly files: readonly string[];
  readonly failures: readonly { readonly name: string; readonly file: string; readonly message: string }[];
  readonly reason?: string | undefined;
}

/** A report without results. @internal */
export function emptyReport(language: string, files: readonly string[], kind: SuiteReport["kind"], reason?: string): SuiteReport {
  const counts = { total: 0, passed: 0, failed: 0, skipped: 0 };
  const shown = files.map((file) => visible(file, 400));
  return { language, kind, ...counts, files: shown, failures: [], ...(reason === undefined ? {} : { reason }) };
}

/** The results of running a project. Plain JSON. */
export interface Verification {
  readonly verdicts: readonly Verdict[];
  /** Empty where the project has no tests. */
  readonly suites: readonly SuiteReport[];
  readonly faults: readonly Fault[];
  readonly notChecked?: string | undefined;
}

/** The shape of verdicts. @internal */
export const verdictsShape: Shape = listOf(
  object("a verdict with id, priority, outcome and evidence", { id: aText, priority: aText, outcome: aText, evidence: aText }),
);

const verificationShape = object("a verification with verdicts, suites and faults", {
  verdicts: verdictsShape,
  suites: listOf(object("a report of tests", { kind: aText, files: listOf(aText), failures: listOf(object("a failure")) })),
  faults: listOf(object("a fault with kind and message", { kind: aText, message: aText })),
});

export function checkVerification(door: string, value: unknown): void {
  takes(door, "verification", value, verificationShape);
}

/** True when every criterion of P0 is proven, nothing is at fault, and every suite has passed. @throws UsageError `ARGUMENT_INVALID` */
export function isProven(verification: Verification): boolean {
  checkVerification("isProven", verification);
  const { verdicts, suites, faults } = verification;
  const must = verdicts.filter(({ priority }) => priority === "P0");
  return (
    must.length > 0 &&
    must.every(({ outcome }) => outcome === "proven") &&
    verdicts.every(({ outcome }) => outcome !== "failed") &&
    faults.length === 0 &&
    suites.every(({ kind }) => kind === "passed")
  );
}

/** True when something that ran has failed, so that there is something to repair. @throws UsageError `ARGUMENT_INVALID` */
export function isRed(verification: Verification): boolean {
  checkVerification("isRed", verification);
  const { verdicts, suites, faults } = verification;
  const hasFailed = ({ kind }: SuiteReport): boolean => kind === "failed" || kind === "timeout";
  return verdicts.some(({ outcome }) => outcome === "failed") || faults.length > 0 || suites.some(hasFailed);
}
