import { deepFreeze } from "../../kernel/json.ts";
import type { ActEnded, Observed, RecordedMemoryOp, Sent } from "./event.ts";

/**
 * Freezes what is told, through and through. Most of it is ends of activations that changed memories alone: they are frozen part by part, because to
 * look for what there is in them costs more than all the rest of telling them.
 */
export function freezeObserved(observed: Observed): void {
  if (observed.type === "act.ended" && isPlain(observed)) freezeEnd(observed);
  else deepFreeze(observed);
}

/** Whether it has no members of a shape of their own. */
function isPlain({ state, plan, joins, summary, asked, unrepeated }: ActEnded): boolean {
  return (state ?? plan ?? joins ?? summary ?? asked ?? unrepeated) === undefined;
}

function freezeEnd(end: ActEnded): void {
  Object.freeze(end);
  for (let place = 0; place < end.said.length; place += 1) {
    const { message, to, dead } = Object.freeze(end.said[place] as Sent);
    Object.freeze(to);
    if (dead !== undefined) Object.freeze(dead);
    // A message is frozen through and through where it is made.
    if (!Object.isFrozen(message)) deepFreeze(message);
  }
  Object.freeze(end.said);
  freezeOps(end.memory);
  freezeOps(end.working);
}

/** A list of them is frozen last: one that is frozen was frozen here, or where what it holds was made so. */
function freezeOps(ops: readonly RecordedMemoryOp[]): void {
  if (Object.isFrozen(ops)) return;
  for (let place = 0; place < ops.length; place += 1) {
    const op = Object.freeze(ops[place] as RecordedMemoryOp);
    if (typeof op[1] !== "string") deepFreeze(op[1]);
  }
  Object.freeze(ops);
}
