import { UsageError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { ROUTE_TO_NONE } from "../../message/address.ts";
import { createMessage, type Message } from "../../message/message.ts";
import { arrivedId, eachRecipient } from "../edges/arrivals.ts";
import { inOrderOfTicks } from "../record/delivery.ts";
import type { ForkPoint, HiredRole, RunEvent, RunStarted, Sent, EdgeFault } from "../record/event.ts";
import { settledMore } from "../record/lost-tries.ts";
import type { RunState } from "../record/run-state.ts";

/** A change of a message in the shared past: in the fork it has other contents, or was never delivered. */
export interface MessageChange {
  /** Sequence number of the event with the message: a `message`, or an `act.ended`. */
  readonly seq: number;
  /** Index of the message in the event. Default 0. */
  readonly nth?: number;
  /** Delivers it to no role. */
  readonly drop?: boolean;
  /** Default: unchanged. */
  readonly content?: string;
  /** Default: unchanged, or none when the content changes. */
  readonly instructContent?: unknown;
}

export interface ForkCopy {
  readonly runId: string;
  readonly parent: ForkPoint;
  /** The roles for an event that adds roles, with their present definitions. */
  readonly roles: readonly HiredRole[];
  /** Micro-dollars. Undefined: the budget with which the parent began. */
  readonly budget: number | undefined;
  /** Undefined: the seed of the parent. */
  readonly seed?: string | undefined;
  /** Undefined: the value that the parent keeps. */
  readonly about?: Json | undefined;
  readonly changes: readonly MessageChange[];
}

/** Returns a copy of an event of the parent with the id of the fork, without costs, and with the changed messages. */
export function forkedEvent(event: RunEvent, copy: ForkCopy): RunEvent {
  const { runId } = copy;
  switch (event.type) {
    case "run.started": {
      const budget = copy.budget === undefined ? {} : { budget: copy.budget };
      const about = copy.about === undefined ? {} : { about: copy.about };
      const { seed = event.seed } = copy;
      const { pastSeeds: _pastSeeds, ...rest } = event;
      return { ...rest, ...pastSeeds(event, copy), runId, seed, roles: copy.roles, parent: copy.parent, ...budget, ...about };
    }
    case "run.resumed": {
      const { budget: _budget, roles: _roles, ...rest } = event;
      const saved = event.uncertain.reduce((sum, { hold }) => sum + hold, event.saved ?? 0);
      return { ...rest, runId, uncertain: [], ...(saved === 0 ? {} : { saved }) };
    }
    case "role.hired":
      return { ...event, runId, roles: copy.roles };
    case "step.started": {
      const { reused: _reused, unpriced: _unpriced, ...rest } = event;
      return { ...rest, runId, hold: 0 };
    }
    case "step.ended": {
      const { usage: _usage, settles, ...rest } = event;
      const saved = (event.saved ?? event.cost ?? 0) + settledMore(settles).known;
      return { ...rest, runId, cost: 0, basis: "none", saved };
    }
    case "run.settled":
      return { ...event, runId, settles: [], saved: (event.saved ?? 0) + settledMore(event.settles).known };
    case "message":
      return { ...event, ...changed(event, changeOf(copy, event.seq, 0)), runId };
    case "act.ended":
      return { ...event, runId, said: event.said.map((sent, nth) => changed(sent, changeOf(copy, event.seq, nth))) };
    default:
      return { ...event, runId };
  }
}

function pastSeeds({ arrival, seed, pastSeeds: past = [] }: RunStarted, copy: ForkCopy): Pick<RunStarted, "pastSeeds"> {
  const { at } = copy.parent;
  const then = past.find(({ to }) => at <= to)?.seed ?? seed;
  const isOther = arrival === "shuffled" && then !== (copy.seed ?? seed);
  const seeds = [...past.filter(({ to }) => to < at), ...(isOther ? [{ to: at, seed: then }] : [])];
  return seeds.length === 0 ? {} : { pastSeeds: seeds };
}

/** Refuses a change of a message that a role has read: the shared past contains the reaction to it. @throws UsageError `FORK_CHANGE` */
export function assertUnread(change: MessageChange, sent: Sent, state: RunState): void {
  const readers: string[] = [];
  eachRecipient(sent, (name, arrives) => {
    const { id } = sent.message;
    const isRead = arrives.some((arrival) => {
      const arrived = arrivedId(id, arrival);
      return !isUnderWay(state, name, arrival.due === undefined ? id : arrived) && !isWaiting(state, name, arrived);
    });
    if (isRead) readers.push(name);
  });
  if (readers.length === 0) return;
  throw new UsageError(
    "FORK_CHANGE",
    `Expected a message that no role has read at event ${state.seq - 1}, but ${readers.join(", ")} has read that of event ${change.seq}. Fork at ${change.seq}.`,
  );
}

/** Refuses two changes of one message. @throws UsageError `FORK_CHANGE` */
export function assertDistinct(changes: readonly MessageChange[]): void {
  const known = new Set<string>();
  for (const { seq, nth = 0 } of changes) {
    const name = `${seq} ${nth}`;
    if (!known.has(name)) known.add(name);
    else
      throw new UsageError("FORK_CHANGE", `Expected one change for a message, got two for message ${nth} of event ${seq}. Combine them.`);
  }
}

export function changedMessage(event: RunEvent, { seq, nth = 0 }: MessageChange): Sent {
  const sent = event.type === "message" ? [event] : event.type === "act.ended" ? event.said : [];
  const found = sent[nth];
  if (found?.dropped === true)
    throw new UsageError(
      "FORK_CHANGE",
      `Expected a sent message, but the message of event ${seq} was dropped in a fork. Fork the run that it was dropped from.`,
    );
  if (found !== undefined) return found;
  throw new UsageError(
    "FORK_CHANGE",
    `Expected event ${seq} to have a message number ${nth}, counted from 0, but it is "${event.type}" and has ${sent.length}.`,
  );
}

function isUnderWay(state: RunState, role: string, id: string): boolean {
  return [...state.pending, ...inOrderOfTicks(state)].some(({ sent }) => sent.to.includes(role) && sent.message.id === id);
}

function isWaiting(state: RunState, role: string, id: string): boolean {
  const { mailbox, open } = state.roles.get(role) ?? {};
  const index = mailbox?.peek(mailbox.size).findIndex((message) => message.id === id) ?? -1;
  return index >= (open?.take ?? 0);
}

function changeOf({ changes }: ForkCopy, seq: number, nth: number): MessageChange | undefined {
  return changes.find((change) => change.seq === seq && (change.nth ?? 0) === nth);
}

function changed<S extends Sent>(sent: S, change: MessageChange | undefined): S | Sent {
  if (change === undefined) return sent;
  if (change.drop === true)
    return { message: createMessage(sent.message.content, { ...sent.message, sendTo: [ROUTE_TO_NONE] }), to: [], dropped: true };
  return { ...sent, message: edited(sent.message, change), ...(sent.faults === undefined ? {} : { faults: sent.faults.map(asSent) }) };
}

/** The old replacement for a recipient does not apply to new contents. */
function asSent(fault: EdgeFault): EdgeFault {
  return { ...fault, arrives: fault.arrives.map(({ reads: _reads, ...arrival }) => arrival) };
}

function edited(message: Message, change: MessageChange): Message {
  const { content = message.content } = change;
  const { instructContent: before, ...rest } = message;
  const isOther = content !== message.content;
  const payload = change.instructContent ?? (isOther ? undefined : before);
  return createMessage(content, { ...rest, ...(payload === undefined ? {} : { instructContent: payload }) });
}
