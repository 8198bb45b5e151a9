import { ROUTE_TO_ALL } from "../message/address.ts";
import { roleOf } from "./damage.ts";
import type { Sent } from "./event.ts";
import type { RunState } from "./run-state.ts";

/** Puts a message into the mailboxes of those who hear it. What nobody hears is a dead letter, or an output of the run. */
export function deliver(state: RunState, sent: Sent, from: "role" | "outside"): void {
  if (sent.dropped === true) return;
  state.history.add(sent.message);
  for (const name of sent.to) {
    const role = roleOf(state, name);
    if (role.mailbox.push(sent.message)) state.ready.add(role);
  }
  for (const address of sent.dead ?? []) state.dead.push({ message: sent.message, reason: { kind: "no such address", address } });
  if (from === "role" && isOutput(sent)) state.outputs.push(sent.message);
}

/** A broadcast of a role that nobody watches is what the run has to say to the outside. */
export function isOutput(sent: Sent): boolean {
  return sent.to.length === 0 && sent.message.sendTo.includes(ROUTE_TO_ALL);
}
