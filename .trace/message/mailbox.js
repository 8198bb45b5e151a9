import { UsageError } from "../kernel/errors.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { valueText } from "../kernel/value-text.js";
// ../../work/wt/lead/src/message/mailbox.ts
const mailboxParts = {
	limit: true,
	overflow: true
};
const OVERFLOWS = /* @__PURE__ */ new Set([
	"refuse",
	"drop-oldest",
	"block"
]);
/** Most messages that wait for one role, unless said otherwise. */
const MAILBOX_LIMIT = 1e6;
/** @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN` */
function checkMailbox(mailbox) {globalThis.__t?.("message/mailbox.js#checkMailbox@508");
	checkKnownOptions("the option mailbox", mailbox, mailboxParts);
	const { limit = MAILBOX_LIMIT, overflow = "refuse" } = mailbox ?? {};
	if (!Number.isSafeInteger(limit) || limit < 1) throw refused("mailbox.limit", "a whole number of 1 or more", limit);
	if (!OVERFLOWS.has(overflow)) throw refused("mailbox.overflow", "\"refuse\", \"drop-oldest\" or \"block\"", overflow);
}
function refused(name, expected, came) {globalThis.__t?.("message/mailbox.js#refused@917");
	return new UsageError("OPTION_INVALID", `Expected ${name} to be ${expected}, got ${valueText(came)}. Leave it out for the default.`);
}
export { MAILBOX_LIMIT, checkMailbox };
