import { UsageError } from "../../kernel/errors.ts";

/**
 * Refuses what is too long for one message.
 *
 * @param limit characters
 * @throws UsageError `MESSAGE_TOO_LONG`
 */
export function assertMessageSize(content: string, limit: number, name: string): void {
  if (typeof content !== "string" || content.length <= limit) return;
  throw new UsageError(
    "MESSAGE_TOO_LONG",
    `Expected a message of at most ${limit} characters from ${name}, got ${content.length}. Write large results to a file and say where it is.`,
  );
}
