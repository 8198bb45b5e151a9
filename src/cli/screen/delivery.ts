import { type DeliveryReport, outcomesText, VerificationReportSchema } from "../delivery-report.ts";
import type { Fact } from "./layout.ts";
import { shown, type Style } from "./text.ts";

/** Characters of the evidence for one criterion, and of a fault. */
const EVIDENCE = 240;
/** Criteria that are shown one by one; those that are not proven come first. */
const SHOWN = 12;

type Outcome = DeliveryReport["verification"]["verdicts"][number]["outcome"];

const ORDER: readonly Outcome[] = ["failed", "not checked", "judged", "proven"];

/** Why a product is not done, in one line. */
export function unprovenText(delivery: DeliveryReport | undefined): string {
  if (delivery === undefined) return "Not done: the company did not come as far as a delivery.";
  const { verification, complaints } = delivery;
  const { verdicts, faults, suites, notChecked } = verification;
  if (notChecked !== undefined) return `Not checked: ${shown(notChecked, EVIDENCE)}`;
  const failed = verdicts.filter(({ outcome }) => outcome === "failed").map(({ id }) => shown(id, 20));
  const missing = verdicts.filter(({ priority, outcome }) => priority === "P0" && (outcome === "not checked" || outcome === "judged"));
  const open = complaints.filter(({ state }) => state !== "answered").length;
  const tests = suites.filter(({ kind }) => kind !== "passed").map(({ language, kind }) => `tests in ${language} ${kind}`);
  const parts = [
    ...(failed.length === 0 ? [] : [`${failed.join(", ")} failed`]),
    ...(missing.length === 0 ? [] : [`${missing.map(({ id }) => shown(id, 20)).join(", ")} not proven`]),
    ...tests,
    ...(faults.length === 0 ? [] : [`${faults.length} ${faults.length === 1 ? "fault" : "faults"}`]),
    ...(open === 0 ? [] : [`${open} open ${open === 1 ? "objection" : "objections"}`]),
  ];
  return `Not done: ${parts.length === 0 ? "no criterion of priority P0 is proven" : parts.join("; ")}.`;
}

/** Characters of the evidence in a line about checks that have just run. */
const CHECK_EVIDENCE = 160;
const CHECK_PROBLEMS = 3;

export interface ChecksText {
  readonly isGreen: boolean;
  readonly text: string;
}

/** The result of a project's checks in one line, such as `4 of 5 proven; A3 failed: ...`; undefined for what is none, or says nothing. */
export function checksText(value: unknown): ChecksText | undefined {
  const parsed = VerificationReportSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { verdicts, suites, faults, notChecked } = parsed.data;
  if (notChecked !== undefined) return { isGreen: false, text: `not checked: ${shown(notChecked, CHECK_EVIDENCE)}` };
  const proven = verdicts.filter(({ outcome }) => outcome === "proven").length;
  const problems = [
    ...verdicts
      .filter(({ outcome }) => outcome === "failed")
      .map(({ id, evidence }) => `${shown(id, 20)} failed: ${shown(inOneLine(evidence), CHECK_EVIDENCE).replace(/\.$/, "")}`),
    ...suites
      .filter(({ kind }) => kind !== "passed")
      .map(({ language, kind, failed, total }) => `tests in ${language}: ${kind === "failed" ? `${failed} of ${total} failed` : kind}`),
    ...faults.map((fault) => `${faultName(fault)}: ${shown(inOneLine(fault.message), CHECK_EVIDENCE)}`),
  ];
  const passed = suites.filter(({ kind }) => kind === "passed").reduce((sum, suite) => sum + suite.passed, 0);
  const parts = [
    ...(verdicts.length === 0 ? [] : [`${proven} of ${verdicts.length} proven`]),
    ...problems.slice(0, CHECK_PROBLEMS),
    ...(problems.length > CHECK_PROBLEMS ? [`and ${problems.length - CHECK_PROBLEMS} more`] : []),
    ...(passed === 0 ? [] : [`${passed} ${passed === 1 ? "test" : "tests"} passed`]),
  ];
  const isGreen = problems.length === 0 && proven === verdicts.length;
  return parts.length === 0 ? undefined : { isGreen, text: parts.join("; ") };
}

export function deliveryRows(delivery: DeliveryReport, style: Style): readonly Fact[] {
  const { verification, complaints, assumptions, unmerged = [] } = delivery;
  const { verdicts, suites, faults } = verification;
  const sorted = verdicts.toSorted((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome));
  const isAllProven = verdicts.every(({ outcome }) => outcome === "proven");
  const paint = (outcome: Outcome): ((text: string) => string) =>
    outcome === "proven" ? style.good : outcome === "failed" ? style.bad : style.warn;
  return [
    ["Criteria", (isAllProven ? style.good : style.warn)(outcomesText(delivery))],
    ...sorted
      .slice(0, SHOWN)
      .map(({ id, outcome, evidence }): Fact => [
        "",
        `${paint(outcome)(`${shown(id, 20)} ${outcome}`)} ${shown(inOneLine(evidence), EVIDENCE)}`,
      ]),
    ...(sorted.length > SHOWN ? [["", `and ${sorted.length - SHOWN} more, see docs/acceptance.json`] as Fact] : []),
    ...suites.map((suite): Fact => ["Tests", suiteText(suite, style)]),
    ...faults.map((fault): Fact => ["Fault", style.bad(shown(`${faultName(fault)}: ${inOneLine(fault.message)}`, EVIDENCE))]),
    ...complaints
      .filter(({ state }) => state !== "answered")
      .map(({ id, text, state }): Fact => ["Objection", style.warn(shown(`${id} (${state}): ${inOneLine(text)}`, EVIDENCE))]),
    ...unmerged.map((task): Fact => ["Not merged", style.warn(shown(unmergedText(task), EVIDENCE))]),
    ...assumptions.map((text): Fact => ["Assumed", shown(text, EVIDENCE)]),
  ];
}

/** The place comes first: the reason may be long. */
function unmergedText({ id, title, by, why, keptIn }: NonNullable<DeliveryReport["unmerged"]>[number]): string {
  const place = keptIn === undefined ? "" : `, kept in ${keptIn}`;
  return `${id}, ${title}${by === undefined ? "" : `, by ${by}`}${place}: ${inOneLine(why)}`;
}

function faultName({ kind, file }: { readonly kind: string; readonly file?: string | undefined }): string {
  return `${shown(kind, 60)}${file === undefined ? "" : ` in ${shown(file, 100)}`}`;
}

function suiteText(
  { language, kind, total, passed, skipped, reason }: DeliveryReport["verification"]["suites"][number],
  style: Style,
): string {
  const counts = `${language}: ${passed} of ${total} passed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
  if (kind === "passed") return style.good(counts);
  return style.bad(`${counts}; ${kind}${reason === undefined ? "" : `: ${shown(reason, EVIDENCE)}`}`);
}

/**
 * Evidence quotes what was printed, and a check may have made it fit for a terminal before: line ends become bars, and other characters get
 * the names that programmers know.
 */
function inOneLine(text: string): string {
  return text
    .trim()
    .replace(/\s*(\r?\n|(\\u\{d\})?\\u\{a\})\s*/g, " | ")
    .replace(/\t|\\u\{9\}/g, String.raw`\t`)
    .replace(/\\u\{d\}/g, String.raw`\r`);
}
