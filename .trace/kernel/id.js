import { randomBytes, randomUUID } from "node:crypto";
// ../../work/wt/lead/src/kernel/id.ts
/** How the last two digits of a UUID read. */
const LAST_DIGITS = Array.from({ length: 256 }, (_, place) => (globalThis.__t?.("kernel/id.js#LAST_DIGITS@189"),(place.toString(16).padStart(2, "0"))));
/** All but the last two digits of a UUID, and how many ids with these have been given. */
let first = "";
let given = LAST_DIGITS.length;
/** The id that was given last, unless it was used. */
let unused;
/**
* A fresh id for a message made outside any run: a UUID of version 4. Its first 114 random bits are drawn once for 256 ids, which differ in
* the last two digits: drawing and writing all of it each time takes as long as all else that a message needs. So who sees one can guess others: an id is a name and
* no secret.
*/
function freshMessageId() {globalThis.__t?.("kernel/id.js#freshMessageId@772");
	if (given === LAST_DIGITS.length) {
		first = randomUUID().slice(0, -2);
		given = 0;
	}
	const last = LAST_DIGITS[given];
	given += 1;
	unused = first + last;
	return unused;
}
/** A fresh name for an effect outside any run: no two share one, for a service takes calls of one name for one call. */
function freshStepKey() {globalThis.__t?.("kernel/id.js#freshStepKey@1100");
	return randomUUID();
}
/**
* A fresh run id: base-36 time, then 8 random characters, so that ids sort by age and read well on a screen.
*
* @param now milliseconds since 1970
*/
function freshRunId(now) {globalThis.__t?.("kernel/id.js#freshRunId@1305");
	return `${now.toString(36)}-${randomBytes(4).toString("hex")}`;
}
export { freshMessageId, freshRunId, freshStepKey };
