import { MAILBOX_LIMIT, type Mailbox } from "../../message/mailbox.ts";
import type { Message } from "../../message/message.ts";
import type { HiredRole } from "./event.ts";
import type { RoleState } from "./role-state.ts";
import type { RunState } from "./run-state.ts";

/** A message that waits for room in the mailbox of a role. */
export class Held {
  readonly message: Message;
  readonly role: RoleState;
  /** Place of the sender in the order of hiring, or `OUTSIDE`. */
  readonly order: number;

  constructor(message: Message, role: RoleState, order: number) {
    this.message = message;
    this.role = role;
    this.order = order;
  }
}

/** The bound of one role's mailbox: its own, else the run's. */
export function mailboxOf({ bounds }: Pick<RunState, "bounds">, { room }: RoleState): Required<Mailbox> {
  return {
    limit: room?.limit ?? bounds.mailbox?.limit ?? MAILBOX_LIMIT,
    overflow: room?.overflow ?? bounds.mailbox?.overflow ?? "refuse",
  };
}

/** Looks up the smallest bound there is: as long as fewer messages were said in all, no mailbox is full and nobody asks. */
export function measureMailboxes(state: RunState): void {
  let least = state.bounds.mailbox?.limit ?? MAILBOX_LIMIT;
  for (const { room } of state.roles.values()) least = Math.min(least, room?.limit ?? least);
  state.leastMailbox = least;
}

/** The same when one more is hired. */
export function measureMailbox(state: RunState, { mailbox }: Pick<HiredRole, "mailbox">): void {
  if (mailbox?.limit !== undefined && mailbox.limit < state.leastMailbox) state.leastMailbox = mailbox.limit;
}

/**
 * Puts a message into a mailbox that may be full.
 *
 * @returns whether it waits there now
 */
export function hearWithin(state: RunState, role: RoleState, message: Message, isNew: boolean, order: number): boolean {
  const { limit, overflow } = mailboxOf(state, role);
  if (role.waiting < limit) return role.hear(message, isNew);
  if (overflow === "block" && (isNew || !role.mailbox.has(message.id))) {
    state.held.push(new Held(message, role, order));
    state.blocked.set(order, (state.blocked.get(order) ?? 0) + 1);
    return false;
  }
  const isHeard = role.hear(message, isNew);
  if (!isHeard || overflow !== "drop-oldest") return isHeard;
  // What an activation has taken stays until that is over.
  const dropped = role.dropFrom(Math.min(role.open?.take ?? role.retake ?? 0, role.waiting - 1));
  if (dropped === undefined) return true;
  state.dropped += 1;
  state.dropping?.(role, dropped);
  return true;
}

/** Delivers what waited for room and has it now, first come, first served. */
export function deliverHeld(state: RunState): void {
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
    if (role.hear(message, false)) state.ready.add(role);
  }
}
