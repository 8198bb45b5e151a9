import { ROUTE_TO_ALL } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import { roleOf } from "./damage.ts";
import type { Sent } from "./event.ts";
import type { RoleState } from "./role-state.ts";
import { FEW_HEARERS, type RunState } from "./run-state.ts";

/** Puts a message into the mailboxes of those who hear it. What nobody hears is a dead letter, or an output of the run. */
export function deliver(state: RunState, sent: Sent, from: "role" | "outside"): void {
  if (sent.dropped === true) return;
  state.history.add(sent.message);
  const many = sent.to.length > FEW_HEARERS ? state.audiences.get(sent.to) : undefined;
  // By places: a list that is frozen makes an iterator each time.
  if (many !== undefined) for (const role of many.members) hear(state, role, sent.message);
  else for (let place = 0; place < sent.to.length; place += 1) hear(state, roleOf(state, sent.to[place] as string), sent.message);
  // A journal may keep the names: nobody else has a use for the roles.
  if (many?.isShared === false) state.audiences.delete(sent.to);
  if (sent.dead !== undefined)
    for (const address of sent.dead) state.dead.push({ message: sent.message, reason: { kind: "no such address", address } });
  if (from === "role" && isOutput(sent)) state.outputs.push(sent.message);
}

function hear(state: RunState, role: RoleState, message: Message): void {
  if (role.hear(message)) state.ready.add(role);
}

/** A broadcast of a role that nobody watches is what the run has to say to the outside. */
export function isOutput(sent: Sent): boolean {
  return sent.to.length === 0 && sent.message.sendTo.includes(ROUTE_TO_ALL);
}
