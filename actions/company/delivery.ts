import { type Criterion, isProven, renderVerification, type Verdict, type Verification } from "../../src/checks/index.ts";
import { CheckSchema } from "../../src/checks/acceptance.ts";
import { stackNames } from "../../src/checks/stacks.ts";
import { isRed } from "../../src/checks/verification.ts";
import type { Message } from "../../src/index.ts";
import { z } from "zod";
import { bullets, labelled, sections } from "../markdown.ts";
import type { GateRequest } from "./project-gate.ts";
import { forkFolder, isDelivery, isOrder, newestOrder, type WorkOrder, WorkOrderSchema, type WorkTask } from "./work-order.ts";

const ComplaintSchema = z.object({
  id: z.string(),
  text: z.string(),
  /** Fails as long as the objection stands. */
  check: CheckSchema.optional(),
  /** `unproven`: it has no check, or the check could not be run. */
  state: z.enum(["failing", "answered", "unproven"]),
});

export type Complaint = z.infer<typeof ComplaintSchema>;

const UnmergedTaskSchema = z.object({
  id: z.string(),
  title: z.string(),
  /** Name of the engineer; undefined where no one began it. */
  by: z.string().optional(),
  why: z.string(),
  /** The folder of the unfinished work; undefined without any, or when the product is done without it. */
  keptIn: z.string().optional(),
});
type UnmergedTask = z.infer<typeof UnmergedTaskSchema>;

/** Guards a {@link Delivery}. */
export const DeliverySchema = z.object({
  kind: z.literal("delivery"),
  name: z.string(),
  size: z.enum(["S", "M", "L"]),
  stack: z.enum(stackNames),
  /** Every criterion of priority P0 is proven, nothing is at fault, and no objection stands. */
  isDone: z.boolean(),
  verification: z.custom<Verification>((value) => typeof value === "object" && value !== null),
  complaints: z.array(ComplaintSchema),
  /** The last one: the reviewer looks again after a repair. */
  review: z.object({ reasons: z.string(), accepts: z.boolean(), look: z.number() }).optional(),
  assumptions: z.array(z.string()),
  /** Rules of the user's words that no criterion covers, so that nothing is known about them. */
  uncovered: z.array(z.string()).optional(),
  /** The engineer's summary, or why the work was not done. */
  summary: z.string(),
  round: z.number(),
  /** The reason why the work ended although it is not done. */
  reason: z.string().optional(),
  /** The user lets a run continue from it: earlier rounds and reviews do not count. */
  continued: z.boolean().optional(),
  /** Tasks of a product of size L that were left to the last engineer, and whose work is not in the project. */
  unmerged: z.array(UnmergedTaskSchema).optional(),
});

/** The product's state with its evidence, not the words of its authors. Plain JSON. */
export type Delivery = z.infer<typeof DeliverySchema>;

export function isDeliverable(verification: Verification, complaints: readonly Complaint[], accepts: boolean): boolean {
  const stands = complaints.some(({ state }) => state === "failing" || (state === "unproven" && !accepts));
  return isProven(verification) && !isRed(verification) && !stands;
}

export function complaintCriteria(complaints: readonly Complaint[]): readonly Criterion[] {
  return complaints.flatMap(({ id, text, check }) =>
    check === undefined ? [] : [{ id, priority: "P1", given: "the review", when: "its check runs", then: text, check } as const],
  );
}

export function gateRequest(order: WorkOrder, complaints: readonly Complaint[]): GateRequest {
  return {
    criteria: [...order.criteria, ...complaintCriteria(complaints)],
    planned: [...(order.design?.files.map(({ path }) => path) ?? []), ...(order.tests ?? [])],
    stack: order.stack,
    failedBefore: order.failedBefore,
    depth: "whole",
  };
}

export interface WorkSoFar {
  readonly order: WorkOrder;
  /** Since the run was continued, with the delivery that it was continued from. */
  readonly earlier: readonly Delivery[];
}

/** The failures to repair, with the checks of objections. */
export function evidenceOf({ complaints, verification }: Pick<Delivery, "complaints" | "verification">): string {
  const objections = complaints
    .filter(({ state }) => state !== "answered")
    .map(
      ({ id, text, check }) =>
        `${id}, an objection of the review: ${text}${check === undefined ? "" : ` Its check: ${JSON.stringify(check)}`}`,
    );
  return [...objections, renderVerification(verification)].join("\n\n");
}

/**
 * The order for the user's present words, joined from all messages, and the deliveries since. A colleague who changes an order has not seen
 * what all others added: whoever corrects a check knows no design.
 */
export function workSoFar(memory: { get(): readonly Message[] }): WorkSoFar | undefined {
  const all = memory.get();
  const orders = all.flatMap(({ instructContent }) => (isOrder(instructContent) ? [WorkOrderSchema.parse(instructContent)] : []));
  const newest = orders.at(-1);
  if (newest === undefined) return undefined;
  const present = orders.filter(({ feedback }) => feedback.length === newest.feedback.length);
  const since = presentMessages(memory).filter(({ instructContent }) => isDelivery(instructContent));
  return {
    order: present.reduce(joined),
    earlier: since.map(({ instructContent }) => DeliverySchema.parse(instructContent)),
  };
}

/** Since the user's present words, or since the user let the run continue. */
export function presentMessages(memory: { get(): readonly Message[] }): readonly Message[] {
  const all = memory.get();
  const later = newestOrder(memory)?.feedback.length;
  const first = all.findIndex(
    ({ instructContent }) => isOrder(instructContent) && (instructContent as WorkOrder).feedback.length === later,
  );
  const isContinued = ({ instructContent }: Message): boolean =>
    isDelivery(instructContent) && (instructContent as Delivery).continued === true;
  return all.slice(Math.max(first, all.findLastIndex(isContinued), 0));
}

function joined(before: WorkOrder, next: WorkOrder): WorkOrder {
  const isOlder = (before.corrected ?? []).length > (next.corrected ?? []).length;
  const { criteria, corrected } = isOlder ? before : next;
  const assumptions = [...new Set([...before.assumptions, ...next.assumptions])];
  return { ...before, ...next, criteria, assumptions, ...(corrected === undefined ? {} : { corrected }) };
}

export function restated(complaints: readonly Complaint[], { verdicts }: Pick<Verification, "verdicts">): Complaint[] {
  const outcomes = new Map(verdicts.map(({ id, outcome }) => [id, outcome]));
  return complaints.map((complaint) => {
    const outcome = complaint.check === undefined ? undefined : outcomes.get(complaint.id);
    return { ...complaint, state: outcome === "proven" ? "answered" : outcome === "failed" ? "failing" : "unproven" };
  });
}

/** Two rounds with equal marks have made no progress. */
export function failureMarks({ verdicts, suites, faults }: Verification): readonly string[] {
  const failed = verdicts.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
  const tests = suites.flatMap(({ failures }) => failures.map(({ name, file }) => `${file} ${name}`));
  return [...failed, ...tests, ...faults.map(({ kind, file = "" }) => `${kind} ${file}`)].sort();
}

export function renderDelivery(delivery: Delivery): string {
  const { name, isDone, verification, complaints, review, assumptions, uncovered = [], summary, reason = "", unmerged = [] } = delivery;
  const { verdicts, suites, faults, notChecked } = verification;
  const open = complaints.filter(({ state }) => state !== "answered");
  return sections(`${name}: ${isDone ? "done" : "not done"}`, [
    ["Not checked", notChecked ?? ""],
    ["Why the work ended", reason],
    ["Acceptance criteria", bullets(verdicts.map(verdictLine))],
    [
      "Tests",
      bullets(
        suites.map(
          ({ language, kind, passed, total, skipped }) => `${language}: ${kind}, ${passed} of ${total} passed, ${skipped} skipped`,
        ),
      ),
    ],
    ["Faults", bullets(faults.map(({ kind, file, message }) => labelled(`${kind}${file === undefined ? "" : ` in ${file}`}`, message)))],
    ["Open objections", bullets(open.map(({ id, text, state }) => labelled(`${id} (${state})`, text)))],
    ["Review", review === undefined ? "" : `${review.reasons.trim()} ${review.accepts ? "Accepted." : "Not accepted."}`],
    ["Not merged", bullets(unmerged.map(unmergedLine))],
    ["Covered by no criterion", bullets(uncovered)],
    ["Assumptions", bullets(assumptions)],
    ["Work", summary],
  ]);
}

/** Without those whose work the last engineer has taken into the project or has done: all is proven, or all their tests pass. */
export function unmergedTasks(
  { tasks = [] }: WorkOrder,
  { isDone, taken, suites }: Pick<Delivery, "isDone"> & Pick<Verification, "suites"> & { readonly taken: ReadonlySet<string> },
): UnmergedTask[] {
  const passed = passedFiles(suites);
  const isMerged = ({ id, tests }: WorkTask): boolean => taken.has(id) || (tests.length > 0 && tests.every((file) => passed.has(file)));
  const left = isDone ? [] : tasks.filter((task) => task.state === "stuck" && !isMerged(task));
  return left.map(({ id, title, by, note = "", keptIn }) => ({ id, title, by, why: note, keptIn: keptIn && forkFolder(keptIn) }));
}

/** Test files that ran, and in which no test failed. */
export function passedFiles(suites: Verification["suites"]): ReadonlySet<string> {
  const ran = suites.filter(({ kind }) => kind === "passed" || kind === "failed");
  const failed = new Set(ran.flatMap(({ failures }) => failures.map(({ file }) => file)));
  return new Set(ran.flatMap(({ files }) => files).filter((file) => !failed.has(file)));
}

const MOST_NAMED = 3;
const LONGEST_NAMED = 200;

/** Returns what the verifier says of what it found. It has the words of the review that was just made. */
export function spokenDelivery({ verification, complaints, review, reason, isDone }: Delivery, isReviewed: boolean): string {
  const { verdicts, suites, faults, notChecked } = verification;
  const proven = verdicts.filter(({ outcome }) => outcome === "proven").length;
  const [passed, total] = suites.reduce(([ok, all], suite) => [ok + suite.passed, all + suite.total], [0, 0]);
  const wrong = [
    ...verdicts.filter(({ outcome }) => outcome === "failed").map(({ id, evidence }) => `${id} fails: ${evidence}`),
    ...suites.flatMap(({ failures }) => failures.map(({ name }) => `The test "${name}" fails`)),
    ...faults.map(({ message }) => message),
    ...complaints.filter(({ state }) => state === "failing").map(({ text }) => `I object: ${text}`),
  ].map((line) => `${shortLine(line).replace(/[.:\s]+$/, "")}.`);
  const more = wrong.length > MOST_NAMED ? [`And ${wrong.length - MOST_NAMED} more.`] : [];
  return [
    notChecked === undefined ? `I ran it: ${proven} of ${verdicts.length} criteria are proven` : `I could not check it: ${notChecked}`,
    ...(total === 0 ? [] : [`, and ${passed} of ${total} tests pass`]),
    ". ",
    [...wrong.slice(0, MOST_NAMED), ...more].join(" "),
    isReviewed && review !== undefined ? ` ${review.reasons.trim()}` : "",
    isDone ? " It is done." : reason === undefined ? " Please repair it." : ` I end the work: ${reason}`,
  ]
    .join("")
    .replace(/ {2,}/g, " ");
}

function shortLine(line: string): string {
  const flat = line.replace(/\s+/g, " ").trim();
  return flat.length <= LONGEST_NAMED ? flat : `${flat.slice(0, LONGEST_NAMED).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function unmergedLine({ id, title, by, why, keptIn }: UnmergedTask): string {
  const place = keptIn === undefined ? "" : `What there is of it is in ${keptIn}.`;
  return labelled(`${id}, "${title}"${by === undefined ? "" : ` by ${by}`}`, `${why.trim()} ${place}`);
}

function verdictLine({ id, priority, outcome, by, evidence }: Verdict): string {
  return labelled(`${id} (${priority}) ${outcome}${by === "nothing" ? "" : ` by ${by}`}`, evidence);
}
