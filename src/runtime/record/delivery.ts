import { ROUTE_TO_ALL } from "../../message/address.ts";
import { MAILBOX_LIMIT, type Mailbox } from "../../message/mailbox.ts";
import type { Message } from "../../message/message.ts";
import { roleOf } from "./damage.ts";
import type { Sent } from "./event.ts";
import type { RoleState } from "./role-state.ts";
import { OUTSIDE, type RunState } from "./run-state.ts";

/**
 * Puts a message into the mailboxes of its recipients. A message that a fork dropped is delivered to nobody.
 *
 * @param order place of the sender in the order of hiring, or {@link OUTSIDE}
 */
export function deliver(state: RunState, sent: Sent, order: number): void {
  if (sent.dropped === true) return;
  const { message, to, dead = noAddresses } = sent;
  state.delivered += 1;
  if (state.hasHistory) state.history.add(message);
  for (const name of to) putIntoMailbox(state, roleOf(state, name), message, order);
  for (const address of dead) state.dead.push({ message, reason: { kind: "no such address", address } });
  if (order === OUTSIDE) return;
  state.lastSaid = message;
  if (isOutput(message, to)) state.outputs.push(message);
}

const noAddresses: readonly string[] = Object.freeze([]);

/** True for a broadcast of a role that nobody watches: it is an output of the run. */
export function isOutput(message: Message, to: readonly string[]): boolean {
  return to.length === 0 && message.sendTo.includes(ROUTE_TO_ALL);
}

/** The bound of one role's mailbox: its own, else the run's. */
export function mailboxOf({ bounds }: Pick<RunState, "bounds">, { hired }: RoleState): Required<Mailbox> {
  const own = hired.mailbox;
  return {
    limit: own?.limit ?? bounds.mailbox?.limit ?? MAILBOX_LIMIT,
    overflow: own?.overflow ?? bounds.mailbox?.overflow ?? "refuse",
  };
}

/** Finds the smallest limit of a mailbox anew. */
export function measureMailboxes(state: RunState): void {
  let smallest = state.bounds.mailbox?.limit ?? MAILBOX_LIMIT;
  for (const { hired } of state.roles.values()) smallest = Math.min(smallest, hired.mailbox?.limit ?? smallest);
  state.smallestMailbox = smallest;
}

/** Delivers held messages that have room now, first come, first served. */
export function deliverHeld(state: RunState): void {
  if (state.held.length === 0) return;
  const { held } = state;
  state.held = [];
  for (const one of held) {
    const { role, message, order } = one;
    if (role.waiting >= mailboxOf(state, role).limit) {
      state.held.push(one);
      continue;
    }
    const left = (state.blocked.get(order) ?? 1) - 1;
    if (left === 0) state.blocked.delete(order);
    else state.blocked.set(order, left);
    if (role.mailbox.push(message)) state.ready.add(role);
  }
}

/** A message whose id waits already changes nothing. */
function putIntoMailbox(state: RunState, role: RoleState, message: Message, order: number): void {
  const { mailbox } = role;
  // No mailbox is full as long as fewer messages were delivered than the smallest one holds.
  if (state.delivered <= state.smallestMailbox) {
    if (mailbox.push(message)) state.ready.add(role);
    return;
  }
  const { limit, overflow } = mailboxOf(state, role);
  if (mailbox.size >= limit && overflow === "block" && !mailbox.has(message.id)) {
    state.held.push({ message, role, order });
    state.blocked.set(order, (state.blocked.get(order) ?? 0) + 1);
    return;
  }
  if (!mailbox.push(message)) return;
  state.ready.add(role);
  if (mailbox.size > limit && overflow === "drop-oldest") dropOldest(state, role);
}

/** Drops the message that has waited longest. Messages that the present activation has taken stay. */
function dropOldest(state: RunState, role: RoleState): void {
  const { mailbox } = role;
  const place = Math.min(role.open?.take ?? role.retry.retake ?? 0, mailbox.size - 1);
  const waiting = place === 0 ? [] : mailbox.popAll();
  const message = place === 0 ? mailbox.pop() : waiting.splice(place, 1)[0];
  for (const kept of waiting) mailbox.push(kept);
  if (message === undefined) return;
  state.dropped += 1;
  state.justDropped = [...state.justDropped, { role, message }];
}
