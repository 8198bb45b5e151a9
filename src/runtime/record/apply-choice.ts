import { read } from "./turn-count.ts";
import { giveUp } from "./apply-team.ts";
import { timeOf } from "./apply-steps.ts";
import { deliverDelayed } from "./delivery.ts";
import type { ChoiceMade } from "./event.ts";
import { damaged, roleOf, type Pending, type RunState } from "./run-state.ts";
import { arrivedMessage, sentMessage } from "../edges/arrivals.ts";

/*
 * The choices of a scheduler that decides about each message in flight.
 *
 * Choice.CH1 (`choose`) a message is in flight to each recipient on its own, and leaves the flight delivered or lost.
 * Choice.CH2 (`copy`) a copy has an id of its own, because a mailbox holds an id once, and follows all messages in flight.
 */

/** Applies the fate of a message in flight, or the crash of a role. */
export function choose(state: RunState, event: ChoiceMade): void {
  const { fate, role, id = "" } = event;
  state.choices += 1;
  if (fate === "crashed") return crash(state, event);
  const index = state.pending.findIndex(({ sent }) => sent.to[0] === role && sent.message.id === id);
  const found = state.pending[index];
  if (found === undefined) throw damaged(`message ${id} to ${role} was chosen and is not in flight`);
  if (fate === "copied") return copy(state, found);
  state.pending.splice(index, 1);
  if (fate === "delivered") return deliverDelayed(state, found.sent);
  state.faults = { ...state.faults, lost: state.faults.lost + 1 };
  read(state, [found.sent.message]);
}

function copy(state: RunState, pending: Pending): void {
  state.faults = { ...state.faults, copied: state.faults.copied + 1 };
  const original = sentMessage(pending.sent.message);
  const copied = arrivedMessage(original, { copy: state.faults.copied });
  state.pending.push({ ...pending, sent: { ...pending.sent, message: copied } });
}

function crash(state: RunState, event: ChoiceMade): void {
  const role = roleOf(state, event.role);
  if (role.isCrashed) throw damaged(`role ${role.name} crashed twice`);
  role.crash();
  giveUp(state, role, timeOf(event));
  state.board.release(role.name, `${role.name} crashed`);
  const left = role.mailbox.popAll();
  state.unread -= left.length;
  read(state, left);
  state.ready.delete(role);
  for (const message of left) state.dead.push({ message, reason: { kind: "crashed", role: role.name } });
}
