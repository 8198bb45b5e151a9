import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";

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

const mailboxParts: Known<Mailbox> = { limit: kinds.size, overflow: kinds.oneOf("refuse", "drop-oldest") };

/** Default of {@link Mailbox.limit}. */
export const MAILBOX_LIMIT = 1_000_000;

/** @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function checkMailbox(mailbox: Mailbox | undefined): void {
  checkKnownOptions("the option mailbox", mailbox, mailboxParts);
}
