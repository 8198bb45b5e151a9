import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { valueText } from "../kernel/value-text.ts";

/** How much mail may wait for a role, and what happens to what is more. */
export interface Mailbox {
  /** Most messages that wait for one role, 1 or more. Default 1,000,000. */
  readonly limit?: number;
  /**
   * What happens where more come. `refuse`: who says it fails with a QueueFullError `MAILBOX_FULL`; what several roles say in one round fails
   * the run at the end of that round. `drop-oldest`: the message that has waited longest is dropped, which is told by a notice
   * `message.dropped`. `block`: what has no room waits with its sender, who does not act until all of it is delivered; where everybody waits
   * for everybody the run fails with `MAILBOX_DEADLOCK`, and what comes from outside is refused. Default `refuse`.
   */
  readonly overflow?: "refuse" | "drop-oldest" | "block";
}

const mailboxParts: Known<Mailbox> = { limit: true, overflow: true };
const OVERFLOWS: ReadonlySet<unknown> = new Set(["refuse", "drop-oldest", "block"]);

/** Most messages that wait for one role, unless said otherwise. */
export const MAILBOX_LIMIT = 1_000_000;

/** @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function checkMailbox(mailbox: Mailbox | undefined): void {
  checkKnownOptions("the option mailbox", mailbox, mailboxParts);
  const { limit = MAILBOX_LIMIT, overflow = "refuse" } = mailbox ?? {};
  if (!Number.isSafeInteger(limit) || limit < 1) throw refused("mailbox.limit", "a whole number of 1 or more", limit);
  if (!OVERFLOWS.has(overflow)) throw refused("mailbox.overflow", '"refuse", "drop-oldest" or "block"', overflow);
}

function refused(name: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${name} to be ${expected}, got ${valueText(came)}. Leave it out for the default.`);
}
