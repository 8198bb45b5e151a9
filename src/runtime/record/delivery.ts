import { ROUTE_TO_ALL } from "../../message/address.ts";
import { MAILBOX_LIMIT, type Mailbox } from "../../message/mailbox.ts";
import type { Message } from "../../message/message.ts";
import { roleOf, OUTSIDE, type RunState, type Pending, noFaults } from "./run-state.ts";
import { arrivedMessage, countAtOnce, countFaults, eachRecipient, timesFor } from "../edges/arrivals.ts";
import type { EdgeFault, Sent } from "./event.ts";
import type { RoleState } from "./role-state.ts";
import { read } from "./turn-count.ts";
import { QueueFullError, UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { Agenda } from "../../kernel/agenda.ts";

export function send(state: RunState, pending: Pending, isAtBarrier: boolean): void {
  const { sent, order } = pending;
  if (sent.message.priority !== undefined) state.isPrioritized = true;
  if (sent.faults !== undefined && sent.dropped !== true) recordFaults(state, pending, sent.faults);
  if (state.delivery === "choice") deliver(state, sent, order);
  else if (sent.due !== undefined) delay(state, pending, sent.due);
  else if (isAtBarrier) state.pending.push(pending);
  else deliver(state, sent, order);
}

/** Counts faults and stores delayed arrivals until their ticks. */
function recordFaults(state: RunState, { sent: { message }, order }: Pending, faults: readonly EdgeFault[]): void {
  state.faults = countFaults(state.faults, faults);
  for (const { to, arrives } of faults) {
    for (const arrival of arrives) {
      if (arrival.due === undefined || state.delivery === "choice") continue;
      delay(state, { order, sent: { message: arrivedMessage(message, arrival), to: [to] }, part: true }, arrival.due);
    }
  }
}

/** Puts a message into the mailboxes of its recipients. @param order index of the sender, or {@link OUTSIDE} */
export function deliver(state: RunState, sent: Sent, order: number): void {
  if (sent.dropped === true) return;
  const { message, to, dead } = sent;
  state.delivered += 1;
  state.keep(message);
  if (state.delivery === "choice") putInFlight(state, sent, order);
  else if (sent.faults === undefined) for (const name of to) putIntoMailbox(state, roleOf(state, name), message);
  else deliverWithFaults(state, sent);
  for (const address of dead ?? []) state.dead.push({ message, reason: { kind: "no such address", address } });
  if (order === OUTSIDE) return;
  state.lastSaid = message;
  if (to.length === 0 && isOutput(message, to)) state.outputs.push(message);
}

function deliverWithFaults(state: RunState, sent: Sent): void {
  const { message } = sent;
  eachRecipient(sent, (name, arrives) => {
    const role = roleOf(state, name);
    for (const arrival of arrives) if (arrival.due === undefined) putIntoMailbox(state, role, arrivedMessage(message, arrival));
  });
}

/** Counts the messages that no role has read, each once for every recipient. */
export function unreadIn(state: RunState): number {
  let unread = state.unread;
  for (const { sent } of [...state.pending, ...inOrderOfTicks(state)])
    if (sent.dropped !== true) eachRecipient(sent, (_name, arrives) => void (unread += countAtOnce(arrives)));
  return unread;
}

function putInFlight({ pending }: RunState, sent: Sent, order: number): void {
  eachRecipient(sent, (name, arrives) => {
    for (const arrival of arrives) {
      const { due = sent.due } = arrival;
      pending.push({
        order,
        part: true,
        sent: { message: arrivedMessage(sent.message, arrival), to: [name], ...(due === undefined ? {} : { due }) },
      });
    }
  });
}

/** Delivers a delayed arrival; its message is already in the history and counted. */
export function deliverDelayed(state: RunState, { message, to }: Sent): void {
  for (const name of to) putIntoMailbox(state, roleOf(state, name), message);
}

/** True for a broadcast that no role watches: it is an output of the run. */
export function isOutput(message: Message, to: readonly string[]): boolean {
  return to.length === 0 && message.sendTo.includes(ROUTE_TO_ALL);
}

export function mailboxOf({ bounds }: Pick<RunState, "bounds">, { hired }: RoleState): Required<Mailbox> {
  const own = hired.mailbox;
  return {
    limit: own?.limit ?? bounds.mailbox?.limit ?? MAILBOX_LIMIT,
    overflow: own?.overflow ?? bounds.mailbox?.overflow ?? "refuse",
  };
}

export function measureMailboxes(state: RunState): void {
  let smallest = state.bounds.mailbox?.limit ?? MAILBOX_LIMIT;
  for (const { hired } of state.roles.values()) smallest = Math.min(smallest, hired.mailbox?.limit ?? smallest);
  state.smallestMailbox = smallest;
}

function putIntoMailbox(state: RunState, role: RoleState, message: Message): void {
  const { gone } = role;
  if (gone !== undefined) return void state.dead.push({ message, reason: { kind: gone, role: role.name } });
  const { mailbox } = role;
  if (mailbox.holds(message.id)) return;
  // If fewer messages wait in total than the smallest mailbox holds, no mailbox is full.
  const bound = state.unread < state.smallestMailbox ? undefined : mailboxOf(state, role);
  const isFull = bound !== undefined && mailbox.size >= bound.limit;
  if (state.isPrioritized) mailbox.keepFirst(role.taken);
  role.receive(message, state.tick, mailbox);
  state.unread += 1;
  state.ready.add(role);
  if (isFull && bound.overflow === "drop-oldest") dropOldest(state, role);
}

/** Drops the oldest of the least urgent messages, except those that the present activation has taken. */
function dropOldest(state: RunState, role: RoleState): void {
  const { mailbox } = role;
  const taken = Math.min(role.taken, mailbox.size - 1);
  const index = state.isPrioritized ? leastUrgent(role.news(), taken) : taken;
  const waiting = index === 0 ? [] : mailbox.popAll();
  const message = index === 0 ? mailbox.pop() : waiting.splice(index, 1)[0];
  role.refill(waiting);
  if (message === undefined) return;
  state.unread -= 1;
  read(state, [message]);
  state.dropped += 1;
  state.justDropped.push({ role, message });
}

function leastUrgent(waiting: readonly Message[], from: number): number {
  let least = from;
  for (let index = from + 1; index < waiting.length; index += 1)
    if ((waiting[index]?.priority ?? 0) > (waiting[least]?.priority ?? 0)) least = index;
  return least;
}

/*
 * Checks that mailboxes which refuse messages have room. Mailboxes that drop are handled at delivery.
 *
 * Nothing is counted while waiting and travelling messages together are fewer than the smallest mailbox holds (`isSurelyRoom`).
 * Delivery.D1 (`assertRoomForAct`) with rounds an activation is checked for its own messages only: those of other roles in the same round
 * are counted at its end, in hire order (`assertRoomAt`), so that the failing role does not depend on latency.
 * Delivery.D2 (`assertRoomForAct`, `assertRoomAt`) a delayed message needs room when it arrives, and a run delays at most
 * {@link DELAYED_LIMIT} messages at a time.
 */

/** Ten for each role of a population of a million. */
const DELAYED_LIMIT = 10_000_000;

/** @throws QueueFullError `MAILBOX_FULL` */
export function assertRoomOutside(state: RunState, to: readonly string[]): void {
  if (isSurelyRoom(state, 1)) return;
  for (const name of to) {
    const limit = fullAt(state, name);
    if (limit !== undefined) throw full(name, limit, "from outside");
  }
}

/** Returns the limit of a mailbox that has no room and drops nothing. */
export function fullAt(state: RunState, name: string): number | undefined {
  const role = state.roles.get(name);
  if (role === undefined) return undefined;
  const { limit, overflow } = mailboxOf(state, role);
  return overflow !== "drop-oldest" && role.waiting + waitingAtBarrier(state.pending, name) >= limit ? limit : undefined;
}

/** @param take number of messages that the activation has taken @throws QueueFullError `MAILBOX_FULL` */
export function assertRoomForAct(state: RunState, speaker: RoleState, said: readonly Sent[], take: number): void {
  let most = said.length;
  for (const { faults } of said) if (faults !== undefined) most += countFaults(noFaults, faults).copied;
  const isRoom = state.delivery === "round" ? most <= state.smallestMailbox : isSurelyRoom(state, most);
  if (isRoom && state.delayed.size + most <= DELAYED_LIMIT) return;
  const counts = new Map<string, number>();
  let later = 0;
  for (const sent of said) {
    later += (sent.due === undefined ? 0 : 1) + delayedIn(sent);
    if (sent.due !== undefined) continue;
    eachRecipient(sent, (name, arrives) => void counts.set(name, (counts.get(name) ?? 0) + countAtOnce(arrives)));
  }
  if (state.delayed.size + later > DELAYED_LIMIT) throw manyDelayed(speaker.name);
  for (const [name, count] of counts) {
    const role = state.roles.get(name);
    if (role === undefined || !role.isHired) continue;
    const { limit, overflow } = mailboxOf(state, role);
    if (overflow !== "refuse") continue;
    const waiting = state.delivery === "round" ? 0 : role.waiting + waitingAtBarrier(state.pending, name) - (role === speaker ? take : 0);
    if (waiting + count > limit) throw full(name, limit, speaker.name);
  }
}

/** Checks the messages that arrive at a tick, and those that wait for the end of the round. @throws QueueFullError `MAILBOX_FULL` */
export function assertRoomAt(state: RunState, tick: number): void {
  if (isSurelyRoom(state, 0)) return;
  const counts = new Map<string, number>();
  for (const { sent } of [...dueAt(state, tick), ...state.pending].sort((a, b) => a.order - b.order)) {
    if (sent.dropped === true) continue;
    let found: QueueFullError | undefined;
    eachRecipient(sent, (name, arrives) => {
      const role = state.roles.get(name);
      if (role === undefined || !role.isHired) return;
      const { limit, overflow } = mailboxOf(state, role);
      if (overflow !== "refuse") return;
      const count = (counts.get(name) ?? role.waiting) + countAtOnce(arrives);
      if (count > limit) found ??= full(name, limit, sent.message.sentFrom);
      counts.set(name, count);
    });
    if (found !== undefined) throw found;
  }
}

/** Copies made by edges count until the run ends, because the state does not track which were delivered. */
function isSurelyRoom({ unread, pending, delayed, faults, smallestMailbox }: RunState, more: number): boolean {
  return unread + pending.length + delayed.size + faults.copied + more <= smallestMailbox;
}

function delayedIn({ faults }: Sent): number {
  return faults === undefined ? 0 : countFaults(noFaults, faults).delayed;
}

function waitingAtBarrier(pending: readonly Pending[], name: string): number {
  return pending.reduce((count, { sent }) => (sent.dropped === true ? count : count + timesFor(sent, name)), 0);
}

function full(name: string, limit: number, sender: string): QueueFullError {
  return new QueueFullError(
    limit,
    "MAILBOX_FULL",
    `Expected room for a message of ${sender} in the mailbox of ${name}, which is full (limit ${limit}). Let ${name} act more often, raise its limit, or let it drop its oldest message: mailbox: { limit, overflow }.`,
    { role: name, limit },
  );
}

function manyDelayed(sender: string): QueueFullError {
  return new QueueFullError(
    DELAYED_LIMIT,
    "DELAYED_FULL",
    `Expected at most ${DELAYED_LIMIT} delayed messages in the run, but ${sender} sends one more. Delay fewer messages, or delay them for a shorter time.`,
  );
}

/*
 * The messages that wait for a tick of the run's clock, in `state.delayed`.
 *
 * Delayed.DY1 (`delay`, `takeDue`) messages leave in the order of their ticks, and those of one tick in the order in which they were sent.
 * Delayed.DY2 (`dueOf`) a message that would arrive no later without its delay is not delayed.
 */

export interface Delayed extends Pending {
  readonly due: number;
  /** The number of delayed messages before it. */
  readonly nth: number;
}

/**
 * Returns the tick at which a message arrives that a role sends now; undefined if it arrives as if it had no delay.
 *
 * @throws UsageError `DELAY_INVALID`
 */
export function dueOf(state: Pick<RunState, "tick" | "clock">, ticks: unknown, role: string): number | undefined {
  const { tick } = state;
  const due = typeof ticks === "number" ? tick + ticks : Number.NaN;
  if (!(due >= tick && due <= Number.MAX_SAFE_INTEGER)) {
    throw new UsageError(
      "DELAY_INVALID",
      `Expected ${role} to send a message a number of ticks later, 0 or more, got ${valueText(ticks)}. Give a number of ticks, such as 3.`,
    );
  }
  return due <= nextTick(state) ? undefined : due;
}

/** Returns the tick at which a message without a delay arrives. */
export function nextTick({ tick, clock }: Pick<RunState, "tick" | "clock">): number {
  return clock === "time" ? tick : tick + 1;
}

export function delayedOf(waiting: Iterable<Delayed>): Agenda<Delayed> {
  const agenda = new Agenda<Delayed>();
  for (const one of waiting) agenda.add(one, one.due);
  return agenda;
}

export function inOrderOfTicks({ delayed }: Pick<RunState, "delayed">): Delayed[] {
  return delayed.inOrder();
}

export function delay(state: RunState, pending: Pending, due: number): void {
  state.delayed.add({ due, nth: state.delays, ...pending }, due);
  state.delays += 1;
}

export function dueAt(state: RunState, tick: number): readonly Delayed[] {
  return (state.delayed.first ?? Infinity) <= tick ? inOrderOfTicks(state).filter(({ due }) => due <= tick) : none;
}

export function takeDue(state: RunState): readonly Delayed[] {
  const taken: Delayed[] = [];
  while ((state.delayed.first ?? Infinity) <= state.tick) for (const one of state.delayed.takeFirst()) taken.push(one);
  return taken;
}

export function delayedBy(sent: Sent, due: number | undefined): Sent {
  return due === undefined ? sent : { ...sent, due };
}

const none: readonly Delayed[] = Object.freeze([]);
