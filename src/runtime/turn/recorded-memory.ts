import { UsageError } from "../../kernel/errors.ts";
import type { MemoryDraft } from "../../memory/memory-draft.ts";
import { isMessage, type Message } from "../../message/message.ts";
import type { RecordedMemoryOp, Sent } from "../record/event.ts";
import { KnownMessages } from "../record/known-messages.ts";

/** Most messages of an activation that are looked through one by one. */
const FEW_MESSAGES = 8;

/** Whether an activation remembered exactly what it took and then what it said, and knows of no two of them by one id. */
export function isKnown(remembered: readonly Message[] | undefined, taken: readonly Message[], said: readonly Sent[]): boolean {
  if (remembered === undefined) return false;
  for (let place = 0; place < remembered.length; place += 1) {
    const known = place < taken.length ? taken[place] : said[place - taken.length]?.message;
    if (remembered[place] !== known) return false;
  }
  return true;
}

/**
 * The messages that an activation remembered, in order, where it did no more to its memory than to remember a few that it took or said; undefined
 * where it did.
 */
export function knownMemory(draft: MemoryDraft, taken: readonly Message[], said: readonly Sent[]): readonly Message[] | undefined {
  const { remembered } = draft;
  if (remembered === undefined || taken.length + said.length > FEW_MESSAGES) return undefined;
  for (let nth = 0; nth < remembered.length; nth += 1) {
    const message = remembered[nth] as Message;
    let known: Message | undefined;
    for (let place = said.length - 1; place >= 0 && known === undefined; place -= 1)
      if (said[place]?.message.id === message.id) known = said[place]?.message;
    for (let place = taken.length - 1; place >= 0 && known === undefined; place -= 1)
      if (taken[place]?.id === message.id) known = taken[place];
    if (known !== message) return undefined;
  }
  return remembered;
}

/**
 * What an activation did to a memory, as its record tells it: messages that the record has anyway are named.
 *
 * @throws UsageError `MESSAGE_INVALID` when what was remembered is no message.
 */
export function recordedMemory(draft: MemoryDraft, taken: readonly Message[], said: readonly Sent[]): readonly RecordedMemoryOp[] {
  const { ops } = draft;
  if (ops.length === 0) return noOps;
  const known = new KnownMessages(taken, said);
  return ops.map((op) => (op[0] === "+" ? recorded(op[1], known) : op));
}

function recorded(message: Message, known: KnownMessages): RecordedMemoryOp {
  if (!isMessage(message)) throw new UsageError("MESSAGE_INVALID", `Expected only messages in a memory, got ${typeof message}.`);
  return known.find(message.id) === message ? ["+", message.id] : ["+", message];
}

const noOps: readonly RecordedMemoryOp[] = Object.freeze([]);
