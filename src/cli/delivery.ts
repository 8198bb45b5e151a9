import { z } from "zod";
import { labelled } from "../../actions/markdown.ts";
import type { Message } from "../message/message.ts";
import { type Fact, plural, shown, type Style } from "./screen/text.ts";

const VerificationReportSchema = z.object({
  verdicts: z.array(
    z.object({
      id: z.string(),
      priority: z.enum(["P0", "P1", "P2"]),
      outcome: z.enum(["proven", "failed", "judged", "not checked"]),
      by: z.string(),
      evidence: z.string(),
    }),
  ),
  suites: z.array(
    z.object({
      language: z.string(),
      kind: z.enum(["passed", "failed", "timeout", "not run"]),
      total: z.number(),
      passed: z.number(),
      failed: z.number(),
      skipped: z.number(),
      reason: z.string().optional(),
    }),
  ),
  faults: z.array(z.object({ kind: z.string(), file: z.string().optional(), command: z.string().optional(), message: z.string() })),
  notChecked: z.string().optional(),
});

/** The parts of a delivery that are shown. A record may come from elsewhere: only data of this shape is one. */
const DeliveryReportSchema = z.object({
  kind: z.literal("delivery"),
  name: z.string(),
  size: z.enum(["S", "M", "L"]),
  stack: z.string(),
  isDone: z.boolean(),
  verification: VerificationReportSchema,
  complaints: z.array(z.object({ id: z.string(), text: z.string(), state: z.enum(["failing", "answered", "unproven"]) })),
  assumptions: z.array(z.string()),
  uncovered: z.array(z.string()).optional(),
  summary: z.string(),
  round: z.number(),
  reason: z.string().optional(),
  unmerged: z
    .array(z.object({ id: z.string(), title: z.string(), by: z.string().optional(), why: z.string(), keptIn: z.string().optional() }))
    .optional(),
});

export type DeliveryReport = z.infer<typeof DeliveryReportSchema>;

/** The newest delivery among messages; undefined when there is none, or when a user said something after it. */
export function deliveryOf(messages: readonly Message[]): DeliveryReport | undefined {
  for (const { instructContent, sentFrom } of messages.toReversed()) {
    const parsed = DeliveryReportSchema.safeParse(instructContent);
    if (parsed.success) return parsed.data;
    if (sentFrom === "") return undefined;
  }
  return undefined;
}

const NamedSchema = z.object({ kind: z.enum(["order", "delivery"]), name: z.string().min(1).max(100) });

export function productName(messages: readonly Pick<Message, "instructContent">[]): string | undefined {
  return messages.map(({ instructContent }) => NamedSchema.safeParse(instructContent).data?.name).findLast((name) => name !== undefined);
}

/** The results of checks in the form of a delivery, for work that no company has done. */
export function proofReport(verification: unknown, isDone: boolean): DeliveryReport {
  const none = { complaints: [], assumptions: [], summary: "", round: 0 };
  return { kind: "delivery", name: "", size: "S", stack: "", isDone, verification: VerificationReportSchema.parse(verification), ...none };
}

export function outcomesText({ verification: { verdicts } }: Pick<DeliveryReport, "verification">): string {
  const outcomes = ["proven", "failed", "judged", "not checked"] as const;
  const counts = outcomes.map((outcome) => [outcome, verdicts.filter((verdict) => verdict.outcome === outcome).length] as const);
  return counts
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ");
}

const TestsReportSchema = z.looseObject({
  tests: z.enum(["passed", "failed", "not run", "none"]),
  total: z.number(),
  passed: z.number(),
  failed: z.number(),
  failures: z.array(z.object({ name: z.string() })).optional(),
  hint: z.string().optional(),
});
export type TestsReport = z.infer<typeof TestsReportSchema>;

export function testsOf(messages: readonly Message[]): TestsReport | undefined {
  return messages.map(({ instructContent }) => TestsReportSchema.safeParse(instructContent).data).findLast((tests) => tests !== undefined);
}

const EVIDENCE = 240;
const SHOWN = 12;

type Outcome = DeliveryReport["verification"]["verdicts"][number]["outcome"];

const ORDER: readonly Outcome[] = ["failed", "not checked", "judged", "proven"];

/** @param name of the product, which begins the sentence. A project that is changed or proven has its own */
export function unprovenText(delivery: DeliveryReport | undefined, name?: string): string {
  const notDone = name === undefined ? "Not done" : `${shown(name, 60)} is not done`;
  if (delivery === undefined) return `${notDone}: the company did not come as far as a delivery.`;
  const { verification, complaints } = delivery;
  const { verdicts, faults, suites, notChecked } = verification;
  if (notChecked !== undefined) return labelled("Not checked", shown(notChecked, EVIDENCE));
  const failed = verdicts.filter(({ outcome }) => outcome === "failed").map(({ id }) => shown(id, 20));
  const missing = verdicts.filter(({ priority, outcome }) => priority === "P0" && (outcome === "not checked" || outcome === "judged"));
  const open = complaints.filter(({ state }) => state !== "answered").length;
  const tests = suites.filter(({ kind }) => kind !== "passed").map(({ language, kind }) => `tests in ${language} ${kind}`);
  const parts = [
    ...(failed.length === 0 ? [] : [`${failed.join(", ")} failed`]),
    ...(missing.length === 0 ? [] : [`${missing.map(({ id }) => shown(id, 20)).join(", ")} not proven`]),
    ...tests,
    ...(faults.length === 0 ? [] : [plural(faults.length, "fault")]),
    ...(open === 0 ? [] : [plural(open, "open objection")]),
  ];
  return `${notDone}: ${parts.length === 0 ? "no criterion of priority P0 is proven" : parts.join("; ")}.`;
}

const CHECK_EVIDENCE = 160;
const CHECK_PROBLEMS = 3;

/** The result of a project's checks in one line, such as `4 of 5 proven; A3 failed: ...`; undefined for other values and empty results. */
export function checksText(value: unknown) {
  const parsed = VerificationReportSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { verdicts, suites, faults, notChecked } = parsed.data;
  if (notChecked !== undefined) return { isGreen: false, text: labelled("not checked", shown(notChecked, CHECK_EVIDENCE)) };
  const proven = verdicts.filter(({ outcome }) => outcome === "proven").length;
  const problems = [
    ...verdicts
      .filter(({ outcome }) => outcome === "failed")
      .map(({ id, evidence }) => labelled(`${shown(id, 20)} failed`, shown(inOneLine(evidence), CHECK_EVIDENCE).replace(/\.$/, ""))),
    ...suites
      .filter(({ kind }) => kind !== "passed")
      .map(({ language, kind, failed, total, reason }) => {
        const why = isBlank(reason) ? "" : `, ${shown(inOneLine(reason ?? ""), CHECK_EVIDENCE)}`;
        return `tests in ${language}: ${kind === "failed" ? `${failed} of ${total} failed` : `${kind}${why}`}`;
      }),
    ...faults.map((fault) => labelled(faultName(fault), shown(inOneLine(fault.message), CHECK_EVIDENCE))),
  ];
  const passed = suites.filter(({ kind }) => kind === "passed").reduce((sum, suite) => sum + suite.passed, 0);
  const parts = [
    ...(verdicts.length === 0 ? [] : [`${proven} of ${verdicts.length} proven`]),
    ...problems.slice(0, CHECK_PROBLEMS),
    ...(problems.length > CHECK_PROBLEMS ? [`and ${problems.length - CHECK_PROBLEMS} more`] : []),
    ...(passed === 0 ? [] : [`${plural(passed, "test")} passed`]),
  ];
  const isGreen = problems.length === 0 && proven === verdicts.length;
  return parts.length === 0 ? undefined : { isGreen, text: parts.join("; ") };
}

export function deliveryRows(delivery: DeliveryReport, style: Style): readonly Fact[] {
  const { verification, complaints, assumptions, uncovered = [], reason, unmerged = [] } = delivery;
  const { verdicts, suites, faults } = verification;
  const rules = uncovered.filter((rule) => !isBlank(rule)).map(inOneLine);
  const sorted = verdicts.toSorted((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome));
  const isAllProven = verdicts.every(({ outcome }) => outcome === "proven");
  const paint = (outcome: Outcome): ((text: string) => string) =>
    outcome === "proven" ? style.good : outcome === "failed" ? style.bad : style.warn;
  return [
    ...(isBlank(reason) ? [] : [["Ended", style.warn(shown(inOneLine(reason ?? ""), EVIDENCE))] as Fact]),
    ["Criteria", verdicts.length === 0 ? undefined : (isAllProven ? style.good : style.warn)(outcomesText(delivery))],
    ...sorted
      .slice(0, SHOWN)
      .map(({ id, outcome, evidence }): Fact => [
        "",
        `${paint(outcome)(`${shown(id, 20)} ${outcome}`)} ${shown(inOneLine(evidence), EVIDENCE)}`.trimEnd(),
      ]),
    ...(sorted.length > SHOWN ? [["", `and ${sorted.length - SHOWN} more, see docs/acceptance.json`] as Fact] : []),
    ...suites.map((suite): Fact => ["Tests", suiteText(suite, style)]),
    ...faults.map((fault): Fact => ["Fault", style.bad(shown(labelled(faultName(fault), inOneLine(fault.message)), EVIDENCE))]),
    ...complaints
      .filter(({ state }) => state !== "answered")
      .map(({ id, text, state }): Fact => ["Objection", style.warn(shown(labelled(`${id} (${state})`, inOneLine(text)), EVIDENCE))]),
    ...unmerged.map((task): Fact => ["Not merged", style.warn(shown(unmergedText(task), EVIDENCE))]),
    ...(rules.length === 0 ? [] : [["No check", style.warn(shown(`rules ${rules.join("; ")}`, EVIDENCE))] as Fact]),
    ...assumptions.filter((text) => !isBlank(text)).map((text): Fact => ["Assumed", shown(text, EVIDENCE)]),
  ];
}

function isBlank(text: string | undefined): boolean {
  return (text ?? "").trim() === "";
}

function unmergedText({ id, title, by, why, keptIn }: NonNullable<DeliveryReport["unmerged"]>[number]): string {
  return labelled(
    `${id}, ${title}${by === undefined ? "" : `, by ${by}`}${keptIn === undefined ? "" : `, kept in ${keptIn}`}`,
    inOneLine(why),
  );
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
  return style.bad(labelled(`${counts}; ${kind}`, shown(reason ?? "", EVIDENCE)));
}

/** Evidence quotes output, which a check may have escaped: line ends become bars, tabs and returns get their usual escapes. */
function inOneLine(text: string): string {
  return text
    .trim()
    .replace(/\s*(\r?\n|(\\u\{d\})?\\u\{a\})\s*/g, " | ")
    .replace(/\t|\\u\{9\}/g, String.raw`\t`)
    .replace(/\\u\{d\}/g, String.raw`\r`);
}
