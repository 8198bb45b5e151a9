import { takes } from "../kernel/argument.ts";
import { checkVerification, type Fault, type SuiteReport, type Verdict, type Verification, verdictsShape } from "./verification.ts";

/** Characters of the whole text, of one piece of evidence, and of one failing test. */
const MAX_TEXT = 14_000;
const EVIDENCE = 1_600;
const FAILURES = 10;
/** Characters of the evidence in a line for a person. */
const LINE_LENGTH = 160;

/** A verification for a model: what failed first, then the counts. At most 15,000 characters. @throws UsageError `ARGUMENT_INVALID` */
export function renderVerification(verification: Verification): string {
  checkVerification("renderVerification", verification);
  const { verdicts, suites, faults, notChecked } = verification;
  const failed = verdicts.filter(({ outcome }) => outcome === "failed");
  const unchecked = notChecked === undefined ? verdicts.filter(({ outcome }) => outcome === "not checked") : [];
  const parts = [
    ...(notChecked === undefined ? [] : [`Nothing was run: ${notChecked}`]),
    ...failed.map(({ id, priority, evidence }) => `FAILED ${id} (${priority}): ${cut(evidence)}`),
    ...faults.map(faultText),
    ...suites.flatMap(failureTexts),
    ...uncheckedTexts(unchecked),
  ];
  const counts = [...suites.map(suiteText), ...(verdicts.length === 0 ? [] : [`Criteria: ${countText(verdicts)}.`])];
  return [...withinBounds(parts), ...counts].join("\n\n");
}

function withinBounds(parts: readonly string[]): string[] {
  let length = 0;
  const end = parts.findIndex((part) => (length += part.length) > MAX_TEXT);
  return end === -1 ? [...parts] : [...parts.slice(0, end), `${parts.length - end} more failures are left out here.`];
}

function uncheckedTexts(verdicts: readonly Verdict[]): string[] {
  const reasons = [...new Set(verdicts.map(({ evidence }) => evidence))];
  return reasons.map((reason) => {
    const names = verdicts.filter(({ evidence }) => evidence === reason).map(({ id, priority }) => `${id} (${priority})`);
    return `NOT CHECKED ${names.join(", ")}: ${cut(reason)}`;
  });
}

function faultText({ kind, file, command, message }: Fault): string {
  const place = [...(file === undefined ? [] : [file]), ...(command === undefined ? [] : [`\`${command}\``])].join(", ");
  return `FAULT (${kind})${place === "" ? "" : ` ${place}`}: ${cut(message)}`;
}

function failureTexts({ failures }: SuiteReport): string[] {
  const shown = failures
    .slice(0, FAILURES)
    .map(({ name, file, message }) => `FAILED TEST ${file === "" || file === name ? "" : `${file}: `}${name}: ${cut(message)}`);
  return [...shown, ...(failures.length > FAILURES ? [`And ${failures.length - FAILURES} more failing tests.`] : [])];
}

function suiteText({ language, kind, total, passed, failed, skipped, reason }: SuiteReport): string {
  const why = reason === undefined ? "" : ` (${reason})`;
  return `Tests in ${language}: ${kind}, ${passed} of ${total} passed, ${failed} failed, ${skipped} skipped${why}.`;
}

function countText(verdicts: readonly Verdict[]): string {
  const outcomes = ["proven", "failed", "judged", "not checked"] as const;
  const found = outcomes.map((outcome) => [outcome, verdicts.filter((verdict) => verdict.outcome === outcome).length] as const);
  return found
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ");
}

function cut(text: string, limit = EVIDENCE): string {
  return text.length <= limit ? text : `${text.slice(0, limit)} ...`;
}

/** One line for each criterion, for a person. @throws UsageError `ARGUMENT_INVALID` */
export function renderVerdicts(verdicts: readonly Verdict[]): string[] {
  takes("renderVerdicts", "verdicts", verdicts, verdictsShape);
  const width = Math.max(0, ...verdicts.map(({ id }) => id.length));
  return verdicts.map(
    ({ id, priority, outcome, evidence }) =>
      `${id.padEnd(width)} ${priority} ${outcome}: ${cut(evidence.replace(/\s*\n\s*/g, " "), LINE_LENGTH)}`,
  );
}
