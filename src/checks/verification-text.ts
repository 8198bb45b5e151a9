import type { Fault, SuiteReport, Verdict, Verification } from "./verification.ts";

/** Characters of one piece of evidence, and of one failing test. */
const EVIDENCE = 1_200;
/** Failing tests of one suite that are shown. */
const FAILURES = 10;

/** A verification as a model reads it: what failed first, with its evidence, then the counts. */
export function renderVerification({ verdicts, suites, faults, notChecked }: Verification): string {
  const failed = verdicts.filter(({ outcome }) => outcome === "failed");
  const lines = [
    ...(notChecked === undefined ? [] : [`Nothing was run: ${notChecked}`]),
    ...failed.map(verdictText),
    ...faults.map(faultText),
    ...suites.flatMap(suiteTexts),
    verdicts.length === 0 ? "" : `Criteria: ${counts(verdicts)}.`,
  ];
  return lines.filter((line) => line !== "").join("\n\n");
}

function verdictText({ id, priority, evidence }: Verdict): string {
  return `FAILED ${id} (${priority}): ${cut(evidence)}`;
}

function faultText({ kind, file, command, message }: Fault): string {
  const place = [...(file === undefined ? [] : [file]), ...(command === undefined ? [] : [`\`${command}\``])].join(", ");
  return `FAULT (${kind})${place === "" ? "" : ` ${place}`}: ${cut(message)}`;
}

function suiteTexts({ language, kind, total, passed, failed, skipped, failures, reason }: SuiteReport): readonly string[] {
  const head = `Tests in ${language}: ${kind}, ${passed} of ${total} passed, ${failed} failed, ${skipped} skipped${reason === undefined ? "" : ` (${reason})`}.`;
  const shown = failures
    .slice(0, FAILURES)
    .map(({ name, file, message }) => `FAILED TEST ${file === "" ? "" : `${file}: `}${name}: ${cut(message)}`);
  const more = failures.length > FAILURES ? [`And ${failures.length - FAILURES} more failing tests.`] : [];
  return [...shown, ...more, head];
}

function counts(verdicts: readonly Verdict[]): string {
  const outcomes = ["proven", "failed", "judged", "not checked"] as const;
  const found = outcomes.map((outcome) => [outcome, verdicts.filter((verdict) => verdict.outcome === outcome).length] as const);
  return found
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ");
}

function cut(text: string): string {
  return text.length <= EVIDENCE ? text : `${text.slice(0, EVIDENCE)} ...`;
}
