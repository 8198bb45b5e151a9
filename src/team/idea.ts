import { JournalError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import { maskedMessage } from "../runtime/record/masking.ts";

/**
 * Whether two messages ask for the same: equal in everything but id and time, which differ whenever the same program makes its idea again.
 * They are compared without secrets, because the record has none.
 */
export function isSameIdea(one: Message, other: Message, mask: Mask): boolean {
  return one === other || wordsOf(one, mask) === wordsOf(other, mask);
}

/** The refusal of an idea that is not the one of a known run. The ideas are not told: they can be long, and another's. */
export function ideaDiffers(runId: string): JournalError {
  return new JournalError(
    "RUN_IDEA_DIFFERS",
    `Expected the idea that run ${runId} was begun with, got another. Give the new idea an id of its own, or go on with the run: resume("${runId}").`,
    { data: { runId } },
  );
}

function wordsOf(message: Message, mask: Mask): string {
  const { id: _id, timestamp: _timestamp, ...words } = maskedMessage(mask, message);
  return canonicalJson(words);
}
