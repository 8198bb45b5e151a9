import { JournalError } from "../kernel/errors.js";
import { canonicalJson } from "../kernel/json.js";
import { maskedMessage } from "../runtime/record/masking.js";
// ../../work/wt/lead/src/team/idea.ts
/**
* Whether two messages ask for the same: equal in everything but id and time, which differ whenever the same program makes its idea again.
* They are compared without secrets, because the record has none.
*/
function isSameIdea(one, other, mask) {globalThis.__t?.("team/idea.js#isSameIdea@416");
	return one === other || wordsOf(one, mask) === wordsOf(other, mask);
}
/** The refusal of an idea that is not the one of a known run. The ideas are not told: they can be long, and another's. */
function ideaDiffers(runId) {globalThis.__t?.("team/idea.js#ideaDiffers@651");
	return new JournalError("RUN_IDEA_DIFFERS", `Expected the idea that run ${runId} was begun with, got another. Give the new idea an id of its own, or go on with the run: resume("${runId}").`, { data: { runId } });
}
function wordsOf(message, mask) {globalThis.__t?.("team/idea.js#wordsOf@897");
	const { id: _id, timestamp: _timestamp, ...words } = maskedMessage(mask, message);
	return canonicalJson(words);
}
export { ideaDiffers, isSameIdea };
