import { type DeliveryReport, outcomesText } from "../delivery-report.ts";
import { type Fact, shown, type Style } from "./text.ts";

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

/** The delivery as rows of the summary: each criterion with its evidence, then tests, faults and objections. */
export function deliveryRows(delivery: DeliveryReport, style: Style): readonly Fact[] {
  const { verification, complaints, assumptions } = delivery;
  const { verdicts, suites, faults } = verification;
  const sorted = verdicts.toSorted((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome));
  const isAllProven = verdicts.every(({ outcome }) => outcome === "proven");
  const paint = (outcome: Outcome): ((text: string) => string) =>
    outcome === "proven" ? style.good : outcome === "failed" ? style.bad : style.warn;
  return [
    ["Criteria", (isAllProven ? style.good : style.warn)(outcomesText(delivery))],
    ...sorted
      .slice(0, SHOWN)
      .map(({ id, outcome, evidence }): Fact => ["", `${paint(outcome)(`${shown(id, 20)} ${outcome}`)} ${shown(evidence, EVIDENCE)}`]),
    ...(sorted.length > SHOWN ? [["", `and ${sorted.length - SHOWN} more, see docs/acceptance.json`] as Fact] : []),
    ...suites.map((suite): Fact => ["Tests", suiteText(suite, style)]),
    ...faults.map(({ kind, file, message }): Fact => [
      "Fault",
      style.bad(shown(`${kind}${file === undefined ? "" : ` in ${file}`}: ${message}`, EVIDENCE)),
    ]),
    ...complaints
      .filter(({ state }) => state !== "answered")
      .map(({ id, text, state }): Fact => ["Objection", style.warn(shown(`${id} (${state}): ${text}`, EVIDENCE))]),
    ...assumptions.map((text): Fact => ["Assumed", shown(text, EVIDENCE)]),
  ];
}

function suiteText(
  { language, kind, total, passed, skipped, reason }: DeliveryReport["verification"]["suites"][number],
  style: Style,
): string {
  const counts = `${language}: ${passed} of ${total} passed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
  if (kind === "passed") return style.good(counts);
  return style.bad(`${counts}; ${kind}${reason === undefined ? "" : `: ${shown(reason, EVIDENCE)}`}`);
}
