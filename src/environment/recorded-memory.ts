import { UsageError } from "../kernel/errors.ts";
import type { MemoryDraft } from "../memory/memory-draft.ts";
import { isMessage, type Message } from "../message/message.ts";
import type { RecordedMemoryOp } from "../run/event.ts";
import type { KnownMessages } from "../run/known-messages.ts";

/**
 * What an activation did to a memory, as its record tells it: messages that the record has anyway are named.
 *
 * @throws UsageError `MESSAGE_INVALID` when what was remembered is no message.
 */
export function recordedMemory(draft: MemoryDraft, known: KnownMessages): readonly RecordedMemoryOp[] {
  const { remembered } = draft;
  if (remembered === undefined) return draft.ops.map((op) => (op[0] === "+" ? recorded(op[1], known) : op));
  const first = recorded(remembered[0] as Message, known);
  // Most remember what they heard, or that and what they said. A list that grows has room for many.
  if (remembered.length === 2) return [first, recorded(remembered[1] as Message, known)];
  const ops = [first];
  for (let place = 1; place < remembered.length; place += 1) ops.push(recorded(remembered[place] as Message, known));
  return ops;
}

function recorded(message: Message, known: KnownMessages): RecordedMemoryOp {
  if (!isMessage(message)) throw new UsageError("MESSAGE_INVALID", `Expected only messages in a memory, got ${typeof message}.`);
  return known.find(message.id) === message ? ["+", message.id] : ["+", message];
}
