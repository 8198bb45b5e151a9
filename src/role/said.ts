import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { isMessage, type Message } from "../message/message.ts";
import type { Said } from "./role.ts";

/**
 * The messages in what a role said, or says is news.
 *
 * @throws UsageError `ACTION_RESULT` when it is no message, no list of messages and not nothing.
 */
export function messagesOf(said: Said, role: string): readonly Message[] {
  if (said === undefined || said === null) return [];
  if (isMessage(said)) return [said];
  if (Array.isArray(said) && said.every(isMessage)) return said;
  throw new UsageError(
    "ACTION_RESULT",
    `Expected role ${role} to give back messages or nothing, got ${valueText(said)}. Make a message of it: rc.message(text).`,
  );
}
