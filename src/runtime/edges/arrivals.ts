import type { FaultCounts } from "../record/run-state.ts";
import type { Json } from "../../kernel/json.ts";
import type { Message } from "../../message/message.ts";
import type { Sent, Arrival, EdgeFault } from "../record/event.ts";

/*
 * The messages that reach a recipient, derived from the recorded faults.
 *
 * Arrivals.R1 (`arrivedMessage`) an unchanged message is the sent object. A changed one keeps its id, so an answer names it as its parent;
 * a copy has its own id, because a mailbox holds an id once.
 */

/** Calls `visit` for each recipient of a message, with its arrivals there: {@link whole} for a recipient without a fault. */
export function eachRecipient({ to, faults }: Sent, visit: (name: string, arrives: readonly Arrival[]) => void): void {
  let next = 0;
  for (const name of to) {
    const fault = faults?.[next];
    if (fault?.to !== name) {
      visit(name, whole);
      continue;
    }
    next += 1;
    visit(name, fault.arrives);
  }
}

export const whole: readonly Arrival[] = Object.freeze([Object.freeze({})]);

export function countAtOnce(arrives: readonly Arrival[]): number {
  return arrives === whole ? 1 : arrives.filter(({ due }) => due === undefined).length;
}

export function timesFor(sent: Sent, recipient: string): number {
  if (sent.faults === undefined) return sent.to.includes(recipient) ? 1 : 0;
  let times = 0;
  eachRecipient(sent, (name, arrives) => void (times += name === recipient ? countAtOnce(arrives) : 0));
  return times;
}

export function arrivedMessage(message: Message, { copy, reads }: Arrival): Message {
  if (copy === undefined && reads === undefined) return message;
  const { instructContent: _payload, ...rest } = message;
  const arrived: Message = Object.freeze({ ...rest, id: arrivedId(message.id, { copy }), ...(reads ?? contentOf(message)) });
  sentAs.set(arrived, message);
  return arrived;
}

/** The sent messages, by the messages that arrived instead. */
const sentAs = new WeakMap<Message, Message>();

export function sentMessage(arrived: Message): Message {
  return sentAs.get(arrived) ?? arrived;
}

export function arrivedId(id: string, { copy }: Pick<Arrival, "copy"> | { readonly copy: undefined }): string {
  return copy === undefined ? id : `${id}*${copy}`;
}

export function contentOf({ content, instructContent }: Message): NonNullable<Arrival["reads"]> {
  return instructContent === undefined ? { content } : { content, instructContent: instructContent as Json };
}

export function countFaults(before: FaultCounts, faults: readonly EdgeFault[]): FaultCounts {
  const counts: { -readonly [Name in keyof FaultCounts]: FaultCounts[Name] } = { ...before };
  for (const { arrives } of faults) {
    if (arrives.length === 0) counts.lost += 1;
    for (const { copy, reads, due } of arrives) {
      if (copy !== undefined) counts.copied += 1;
      if (reads !== undefined) counts.rewritten += 1;
      if (due !== undefined) counts.delayed += 1;
    }
  }
  return counts;
}
