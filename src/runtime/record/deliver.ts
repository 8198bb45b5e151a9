import { ROUTE_TO_ALL } from "../../message/address.ts";
import type { Message } from "../../message/message.ts";
import { roleOf } from "./damage.ts";
import { hearWithin } from "./mailbox.ts";
import { FEW_HEARERS, OUTSIDE, type RunState } from "./run-state.ts";

/**
 * Puts a message into the mailboxes of those who hear it. What nobody hears is a dead letter, or an output of the run. Callers
 * leave out what has been dropped. Told one by one: those who say it tell it by objects of different make, and all of them come by here.
 *
 * @param to names of those who hear it
 * @param dead those of its addresses that nobody has
 * @param order place of the sender in the order of hiring, or {@link OUTSIDE}
 * @param isAnew its id is nobody's yet, unless one that roles give was chosen for another
 */
export function deliver(
  state: RunState,
  message: Message,
  to: readonly string[],
  dead: readonly string[] | undefined,
  order: number,
  isAnew: boolean,
): void {
  state.told += 1;
  const mayBeFull = state.told > state.leastMailbox;
  // What was never delivered waits nowhere, and is remembered by its maker alone.
  let isNew = isAnew && !state.hasChosenIds;
  if (state.hasHistory) {
    if (isNew) state.history.append(message);
    else isNew = state.history.add(message) && !state.hasChosenIds;
  }
  const many = to.length > FEW_HEARERS ? state.audiences.get(to) : undefined;
  if (many === undefined) {
    for (let place = 0; place < to.length; place += 1) {
      const name = to[place] as string;
      // A live run has just found who alone hears it.
      const role = state.hearing?.name === name ? state.hearing : roleOf(state, name);
      const isNews = isNew && role.index !== order;
      if (mayBeFull ? hearWithin(state, role, message, isNews, order) : role.hear(message, isNews)) state.ready.add(role);
    }
  } else {
    for (const role of many.members) {
      const isNews = isNew && role.index !== order;
      if (mayBeFull ? hearWithin(state, role, message, isNews, order) : role.hear(message, isNews)) state.ready.add(role);
    }
    // A journal may keep the names: nobody else has a use for the roles.
    if (!many.isShared) state.audiences.delete(to);
  }
  if (dead !== undefined) buryAll(state, message, dead);
  if (order === OUTSIDE) return;
  state.lastSaid = message;
  if (isOutput(message, to)) state.outputs.push(message);
}

function buryAll(state: RunState, message: Message, addresses: readonly string[]): void {
  for (const address of addresses) state.dead.push({ message, reason: { kind: "no such address", address } });
}

/** A broadcast of a role that nobody watches is what the run has to say to the outside. */
export function isOutput(message: Message, to: readonly string[]): boolean {
  return to.length === 0 && message.sendTo.includes(ROUTE_TO_ALL);
}
