import { createMessage, type Message } from "../message/message.ts";
import type { MessageMemory } from "./message-memory.ts";

/**
 * One write to a memory: a message remembered, a message forgotten (by its identity: the id, or with `ignoreId` the content), or all
 * forgotten.
 */
export type MemoryOp = readonly ["+", Message] | readonly ["-", string] | readonly ["0"];

/** Writes what a draft wrote into its base. */
export function applyMemoryOps(memory: MessageMemory, ops: readonly MemoryOp[]): void {
  for (const op of ops) applyMemoryOp(memory, op);
}

/** Writes one of them. */
export function applyMemoryOp(memory: MessageMemory, op: MemoryOp): void {
  if (op[0] === "+") memory.add(op[1]);
  else if (op[0] === "0") memory.clear();
  else memory.delete(memory.ignoreId ? createMessage(op[1], { id: "forgotten", timestamp: 0 }) : op[1]);
}
