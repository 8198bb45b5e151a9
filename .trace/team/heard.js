import { throwIfAborted } from "../kernel/abort.js";
import { nextMacrotask } from "../kernel/clock.js";
// ../../work/wt/lead/src/team/heard.ts
/** Events between two breaths. */
const BREATH = 500;
/**
* The events of a run, read so that a stop is heard: reading from memory waits for nothing, and would keep out timers and input for a
* whole long record.
*
* @throws ControlError when the signal aborts; JournalError what the journal's `read` throws
*/
async function* heard(journal, runId, { from, signal }) {globalThis.__t?.("team/heard.js#heard@457");
	let count = 0;
	for await (const event of journal.read(runId, from)) {
		throwIfAborted(signal);
		yield event;
		count += 1;
		if (count % BREATH === 0) await nextMacrotask();
	}
}
export { heard };
