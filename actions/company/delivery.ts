import { type Criterion, isProven, type Verdict, type Verification } from "../../src/checks/index.ts";
import { CheckSchema } from "../../src/checks/acceptance.ts";
import { stackNames } from "../../src/checks/stacks.ts";
import { isRed } from "../../src/checks/verification.ts";
import type { Message } from "../../src/index.ts";
import { z } from "zod";
import { bullets, sections } from "../markdown.ts";
import type { GateRequest } from "./project-gate.ts";
import { forkFolder, isDelivery, isOrder, type WorkOrder, WorkOrderSchema } from "./work-order.ts";

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
  review: z.object({ reasons: z.string(), accepts: z.boolean() }).optional(),
  assumptions: z.array(z.string()),
  /** The engineer's summary, or why the work was not done. */
  summary: z.string(),
  round: z.number(),
  /** Tasks of a product of size L that were left to the last engineer. */
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
  readonly earlier: readonly Delivery[];
}

/**
 * The order for the user's present words, joined from all messages, and the deliveries since. A colleague who changes an order has not seen
 * what all others added: whoever corrects a check knows no design.
 */
export function workSoFar(memory: { get(): readonly Message[] }): WorkSoFar | undefined {
  const all = memory.get();
  const orders = all.flatMap(({ instructContent }, at) =>
    isOrder(instructContent) ? [{ at, order: WorkOrderSchema.parse(instructContent) }] : [],
  );
  const newest = orders.at(-1);
  if (newest === undefined) return undefined;
  const present = orders.filter(({ order }) => order.feedback.length === newest.order.feedback.length);
  const since = all.slice(present[0]?.at).filter(({ instructContent }) => isDelivery(instructContent));
  return {
    order: present.map(({ order }) => order).reduce(joined),
    earlier: since.map(({ instructContent }) => DeliverySchema.parse(instructContent)),
  };
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
  const { name, isDone, verification, complaints, review, assumptions, summary, unmerged = [] } = delivery;
  const { verdicts, suites, faults, notChecked } = verification;
  const open = complaints.filter(({ state }) => state !== "answered");
  return sections(`${name}: ${isDone ? "done" : "not done"}`, [
    ["Not checked", notChecked ?? ""],
    ["Acceptance criteria", bullets(verdicts.map(verdictLine))],
    [
      "Tests",
      bullets(
        suites.map(
          ({ language, kind, passed, total, skipped }) => `${language}: ${kind}, ${passed} of ${total} passed, ${skipped} skipped`,
        ),
      ),
    ],
    ["Faults", bullets(faults.map(({ kind, file, message }) => `${kind}${file === undefined ? "" : ` in ${file}`}: ${message}`))],
    ["Open objections", bullets(open.map(({ id, text, state }) => `${id} (${state}): ${text}`))],
    ["Review", review === undefined ? "" : `${review.reasons} ${review.accepts ? "Accepted." : "Not accepted."}`],
    ["Not merged", bullets(unmerged.map(unmergedLine))],
    ["Assumptions", bullets(assumptions)],
    ["Work", summary],
  ]);
}

export function unmergedTasks({ tasks = [] }: WorkOrder, isDone: boolean): UnmergedTask[] {
  return tasks.flatMap(({ id, title, by, state, note = "", keptIn }) =>
    state === "stuck" ? [{ id, title, by, why: note, keptIn: isDone || keptIn === undefined ? undefined : forkFolder(keptIn) }] : [],
  );
}

function unmergedLine({ id, title, by, why, keptIn }: UnmergedTask): string {
  const place = keptIn === undefined ? "" : ` What there is of it is in ${keptIn}.`;
  return `${id}, "${title}"${by === undefined ? "" : ` by ${by}`}: ${why}${place}`;
}

function verdictLine({ id, priority, outcome, by, evidence }: Verdict): string {
  return `${id} (${priority}) ${outcome}${by === "nothing" ? "" : ` by ${by}`}: ${evidence}`;
}
