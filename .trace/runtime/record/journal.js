import { having } from "../../kernel/argument.js";
import { JournalError } from "../../kernel/errors.js";
// ../../work/wt/lead/src/runtime/record/journal.ts
/** The shape of a journal that is given as an argument. */
const aJournal = having("a journal", "create", "claim", "release", "append", "read", "runs", "remove");
/** The shape of a journal that is only read. */
const aReadableJournal = having("a journal", "read", "runs");
/**
* A run in the list of a journal. Where the list lacks the run, `read` throws the reason.
*
* @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`
*/
async function runInfo(journal, runId) {globalThis.__t?.("runtime/record/journal.js#runInfo@586");
	const info = (await journal.runs()).find((run) => (globalThis.__t?.("runtime/record/journal.js#info@669"),(run.runId === runId)));
	if (info !== void 0) return info;
	for await (const _event of journal.read(runId, 0)) break;
	throw new JournalError("RUN_UNKNOWN", `Expected a run of this journal, got ${runId}, which it does not have.`);
}
export { aJournal, aReadableJournal, runInfo };
