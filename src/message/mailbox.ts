import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";

/** Limits the messages that wait for a role. */
export interface Mailbox {
  /** Limit on the messages that wait for one role, 1 or more. Default 1,000,000. */
  readonly limit?: number;
  /**
   * The treatment of further messages. `refuse`: the sender fails with a QueueFullError `MAILBOX_FULL`; when several roles together exceed the limit
   * in one round, the run fails at the end of that round. `drop-oldest`: the oldest waiting message is dropped, and a notice `message.dropped`
   * reports it. Default `refuse`.
   */
  readonly overflow?: "refuse" | "drop-oldest";
}

const mailboxParts: Known<Mailbox> = { limit: kinds.checked, overflow: kinds.checked };

/** Default of {@link Mailbox.limit}. */
export const MAILBOX_LIMIT = 1_000_000;

/** @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function checkMailbox(mailbox: Mailbox | undefined): void {
  checkKnownOptions("the option mailbox", mailbox, mailboxParts);
  const { limit = MAILBOX_LIMIT, overflow = "refuse" } = mailbox ?? {};
  if (!Number.isSafeInteger(limit) || limit < 1) throw refused("mailbox.limit", "a whole number of 1 or more", limit);
  if (overflow !== "refuse" && overflow !== "drop-oldest") throw refused("mailbox.overflow", '"refuse" or "drop-oldest"', overflow);
}

function refused(name: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${name} to be ${expected}, got ${valueText(came)}. Leave it out for the default.`);
}
