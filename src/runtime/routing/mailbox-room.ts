import { QueueFullError } from "../../kernel/errors.ts";
import type { Sent } from "../record/event.ts";
import { mailboxOf } from "../record/delivery.ts";
import type { RoleState } from "../record/role-state.ts";
import type { Pending, RunState } from "../record/run-state.ts";

/*
 * Whether there is room for what is said, where a mailbox refuses what is more. What drops or blocks is a matter of delivery.
 *
 * MailRoom.MR1 (`isSurelyRoom`) as long as fewer messages were said than the smallest mailbox holds, nothing is counted. MailRoom.MR2
 * (`assertRoomForAct`) under rounds an activation is held to what it says itself: what others say in the same round is counted at its end, in
 * hire order (`fullAtBarrier`), so that who fails does not depend on who was faster.
 */

/** @throws QueueFullError `MAILBOX_FULL` where somebody outside says what has no room */
export function assertRoomOutside(state: RunState, to: readonly string[]): void {
  if (isSurelyRoom(state, 1)) return;
  for (const name of to) {
    const role = state.roles.get(name);
    if (role === undefined) continue;
    const { limit, overflow } = mailboxOf(state, role);
    if (overflow === "drop-oldest") continue;
    if (role.waiting + waitingAtBarrier(state.pending, name) >= limit) throw full(name, limit, "from outside");
  }
}

/**
 * @param take how many of its own messages go with the activation
 * @throws QueueFullError `MAILBOX_FULL` where an activation says what has no room
 */
export function assertRoomForAct(state: RunState, speaker: RoleState, said: readonly Sent[], take: number): void {
  if (isSurelyRoom(state, said.length)) return;
  const counts = new Map<string, number>();
  for (const { to } of said) for (const name of to) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const [name, count] of counts) {
    const role = state.roles.get(name);
    if (role === undefined) continue;
    const { limit, overflow } = mailboxOf(state, role);
    if (overflow !== "refuse") continue;
    const waiting = state.delivery === "round" ? 0 : role.waiting - (role === speaker ? take : 0);
    if (waiting + count > limit) throw full(name, limit, speaker.name);
  }
}

/** What is wrong where the first message of a round finds no room at its end; undefined: there is room for all. */
export function fullAtBarrier(state: RunState): QueueFullError | undefined {
  if (isSurelyRoom(state, 0)) return undefined;
  const counts = new Map<string, number>();
  for (const { sent } of state.pending.toSorted((a, b) => a.order - b.order)) {
    if (sent.dropped === true) continue;
    for (const name of sent.to) {
      const role = state.roles.get(name);
      if (role === undefined) continue;
      const { limit, overflow } = mailboxOf(state, role);
      if (overflow !== "refuse") continue;
      const count = (counts.get(name) ?? role.waiting) + 1;
      if (count > limit) return full(name, limit, sent.message.sentFrom);
      counts.set(name, count);
    }
  }
  return undefined;
}

function isSurelyRoom({ delivered, pending, smallestMailbox }: RunState, more: number): boolean {
  return delivered + pending.length + more <= smallestMailbox;
}

function waitingAtBarrier(pending: readonly Pending[], name: string): number {
  return pending.reduce((count, { sent }) => (sent.dropped !== true && sent.to.includes(name) ? count + 1 : count), 0);
}

function full(name: string, limit: number, sender: string): QueueFullError {
  return new QueueFullError(
    limit,
    "MAILBOX_FULL",
    `Expected room for a message of ${sender} in the mailbox of ${name}, which is full with ${limit}. Let ${name} act more often, raise its limit, or let it drop or block: mailbox: { limit, overflow }.`,
    { role: name, limit },
  );
}

/** Everybody who has mail waits for somebody's mailbox to have room. */
export function deadlock({ held }: RunState): QueueFullError {
  const names = [...new Set(held.map(({ role }) => role.name))].join(", ");
  return new QueueFullError(
    0,
    "MAILBOX_DEADLOCK",
    `Expected somebody who may act, but everybody with mail waits for room in the mailboxes of ${names}. Raise their limits: mailbox: { limit }.`,
    { waiting: held.length },
  );
}
