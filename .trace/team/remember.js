import { JournalError } from "../kernel/errors.js";
import { heard } from "./heard.js";
// ../../work/wt/lead/src/team/remember.ts
/**
* Tells the memories of an environment what the record of its run gave each role: what the process died before storing is stored now, and
* what is stored already is not stored again. When the signal aborts, the rest is left for the next time: the environment then asks nothing.
*
* @throws JournalError
*/
async function rememberRecord(environment, { journal, runId, parent, seq, signal }) {globalThis.__t?.("team/remember.js#rememberRecord@442");
	const { memories } = environment;
	if (!memories.isUsed || seq === 0) return;
	memories.descendsFrom(await ancestorsOf(journal, parent));
	for await (const event of heard(journal, runId, {
		from: 0,
		signal: void 0
	})) {
		if (event.seq >= seq || signal.aborted) return;
		memories.learn(event);
	}
}
/** The runs behind a fork and where each was left, from its parent on, as far as the journal has them. */
async function ancestorsOf(journal, parent) {globalThis.__t?.("team/remember.js#ancestorsOf@940");
	const ancestors = [];
	for (let next = parent; next !== void 0 && !ancestors.some(({ runId }) => (globalThis.__t?.("team/remember.js#anonymous@1069"),(runId === next?.runId)));) {
		ancestors.push(next);
		const first = await firstEvent(journal, next.runId);
		next = first?.type === "run.started" ? first.parent : void 0;
	}
	return ancestors;
}
/** Undefined where a run is gone or damaged: then nobody knows what was before it. */
async function firstEvent(journal, runId) {globalThis.__t?.("team/remember.js#firstEvent@1365");
	try {
		for await (const event of journal.read(runId, 0)) return event;
	} catch (error) {
		if (!(error instanceof JournalError)) throw error;
	}
}
export { rememberRecord };
