import type { Message } from "../message/message.ts";
import { Memory } from "./memory.ts";
import type { MemoryOp } from "./memory-op.ts";
import type { ReadableMemory } from "./message-memory.ts";

/** What one activation did to its base. */
export interface Changes {
  readonly ops: MemoryOp[];
  /** The base is forgotten altogether. */
  readonly isCleared: boolean;
  /** Identities of messages of the base that are forgotten one by one or made room. */
  readonly hidden: Set<string>;
  /** What was added and is still remembered. */
  readonly added: Memory;
  /** Walks over the base from both ends; what they passed is hidden. */
  oldest?: Iterator<Message>;
  newest?: Iterator<Message>;
}

/** Nothing yet, or that the base is forgotten. */
export function changesOver(base: ReadableMemory, isCleared: boolean): Changes {
  return { ops: isCleared ? [["0"]] : [], isCleared, hidden: new Set(), added: new Memory({ ignoreId: base.ignoreId }) };
}
