import { isRecord } from "../../kernel/value-kind.ts";
import type { Message } from "../../message/message.ts";
import type { SentFact } from "./run-facts.ts";
import type { RunTimeline } from "./run-timeline.ts";

export type RunOutcome = NonNullable<ReturnType<typeof outcomeAt>>;

/** Returns the result after an event: the newest delivery of a company with its evidence, or else what the run gave out. */
export function outcomeAt(timeline: RunTimeline, shown: number) {
  const { sent } = timeline.record;
  const found = sent.findLast(({ seq, message }) => seq <= shown && isRecord(payloadOf(message, "delivery")["verification"]));
  if (found !== undefined) return { message: found.message, delivery: deliveryIn(sent, found, shown) };
  const { outputs, lastSaid } = timeline.stateAt(shown);
  const message = outputs.at(-1) ?? lastSaid;
  return message === undefined || message.sentFrom === "" ? undefined : { message, delivery: undefined };
}

/** A record may come from elsewhere: a part of another form is left out. */
function deliveryIn(sent: readonly SentFact[], { index, message }: SentFact, shown: number) {
  const delivery = payloadOf(message, "delivery");
  const verification = delivery["verification"] as Fields;
  const orders = sent.slice(0, index).map((one) => payloadOf(one.message, "order"));
  const criteria = listIn(orders.findLast((order) => "criteria" in order) ?? {}, "criteria");
  return {
    name: text(delivery, "name"),
    isDone: delivery["isDone"] === true,
    /** People have said more since. */
    isPast: sent.some((one) => one.index > index && one.seq <= shown && one.message.sentFrom === ""),
    reason: text(delivery, "reason") || text(verification, "notChecked"),
    verdicts: listIn(verification, "verdicts").map((verdict) => {
      const criterion = criteria.find((one) => one["id"] === verdict["id"]);
      const words = criterion && `When ${text(criterion, "when")}, then ${text(criterion, "then")}.`;
      return { id: text(verdict, "id"), outcome: text(verdict, "outcome"), evidence: text(verdict, "evidence"), words };
    }),
    tests: listIn(verification, "suites").map((one) => `${text(one, "language")}: ${text(one, "passed")} of ${text(one, "total")} passed`),
    wrong: [
      ...listIn(verification, "faults").map((one) => `${text(one, "kind")} ${text(one, "file")}: ${text(one, "message")}`),
      ...listIn(delivery, "complaints")
        .filter(({ state }) => state !== "answered")
        .map((one) => `Objection ${text(one, "id")} (${text(one, "state")}): ${text(one, "text")}`),
      ...listIn(delivery, "unmerged").map((one) => `Not merged: ${text(one, "title")}. ${text(one, "why")}`),
    ],
  };
}

type Fields = Readonly<Record<string, unknown>>;

function payloadOf({ instructContent }: Message, kind: string): Fields {
  return isRecord(instructContent) && instructContent["kind"] === kind ? instructContent : {};
}

function listIn(of: Fields, name: string): readonly Fields[] {
  const value = of[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

const LONGEST = 2_000;

/** Line ends of quoted output, which a check has escaped, become bars. */
function text(of: Fields, name: string): string {
  const value = of[name];
  return typeof value === "string" || typeof value === "number"
    ? String(value)
        .slice(0, LONGEST)
        .replace(/\s*(?:\n|(?:\\u\{d\})?\\u\{a\})\s*/g, " | ")
    : "";
}
