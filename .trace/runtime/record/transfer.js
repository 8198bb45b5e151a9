import { throwIfAborted } from "../../kernel/abort.js";
import { aText, iterable, takes } from "../../kernel/argument.js";
import { JournalError } from "../../kernel/errors.js";
import { canonicalJson } from "../../kernel/json.js";
import { checkKnownOptions } from "../../kernel/known-options.js";
import "./event.js";
import { parseEvent } from "./event-schema.js";
import { aJournal, aReadableJournal, runInfo } from "./journal.js";
import { createHash } from "node:crypto";
// ../../work/wt/lead/src/runtime/record/transfer.ts
const transferOptions = { signal: true };
const importOptions = {
	...transferOptions,
	id: true
};
/**
* A run as lines of text, for a file or another machine: a header, one line of canonical JSON for each event, and an end with their count
* and the sha256 of their lines. The lines have no line breaks. Equal runs give equal lines. A run that is under way is exported as far as
* it has come at the beginning. Every event is checked, so that each export can be imported.
*
* @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`, `EVENT_INVALID`, `EVENT_NEWER`, `JOURNAL_GAP`
* @throws ControlError when the signal aborts
* @example
* import { writeFile } from "node:fs/promises";
* import { exportRun, type Journal } from "troupe";
*
* export async function backup(journal: Journal, runId: string): Promise<void> {
*   const lines: string[] = [];
*   for await (const line of exportRun(journal, runId)) lines.push(line);
*   await writeFile(`${runId}.jsonl`, lines.join("\n"));
* }
*/
async function* exportRun(journal, runId, o = {}) {globalThis.__t?.("runtime/record/transfer.js#exportRun@1518");
	checkKnownOptions("exportRun", o, transferOptions);
	takes("exportRun", "journal", journal, aReadableJournal);
	takes("exportRun", "runId", runId, aText);
	const info = await runInfo(journal, runId);
	yield JSON.stringify({
		troupe: "run",
		v: 1,
		runId,
		events: info.events
	});
	const hash = createHash("sha256");
	let events = 0;
	if (info.events > 0) for await (const event of journal.read(runId, 0)) {
		throwIfAborted(o.signal);
		const line = canonicalJson(event);
		if (parseEvent(JSON.parse(line)).seq !== events) throw gap(runId, events, event.seq);
		hash.update(`${line}\n`);
		yield line;
		events += 1;
		if (events === info.events) break;
	}
	if (events < info.events) throw gap(runId, events, void 0);
	yield JSON.stringify({
		troupe: "end",
		events,
		sha256: hash.digest("hex")
	});
}
/**
* Reads the lines of an export into a journal. Checks every line, and that every event fits the events before it. Writes the run when all
* lines have come, in one append: the journal has the whole run or nothing, even when the process dies meanwhile. It may then have an empty
* run of that id, which the next import fills. A run of more than 64 million characters is written in several appends. When such an import
* fails, what was written is removed; when the process dies, it stays.
*
* @param lines with or without their line breaks
* @throws JournalError `RUN_EXISTS` for an id that the journal has; `EXPORT_CUT` when the lines end too early; `EXPORT_INVALID` when they are
* no export or were changed; `EVENT_INVALID`, `EVENT_NEWER`; `JOURNAL_GAP`, `JOURNAL_DAMAGED` for events that contradict each other
* @throws ControlError when the signal aborts
* @example
* import { readFile } from "node:fs/promises";
* import { importRun, memoryJournal } from "troupe";
*
* export async function restore(path: string): Promise<string> {
*   const lines = (await readFile(path, "utf8")).split("\n");
*   return (await importRun(memoryJournal(), lines)).runId;
* }
*/
async function importRun(journal, lines, o = {}) {globalThis.__t?.("runtime/record/transfer.js#importRun@3551");
	checkKnownOptions("importRun", o, importOptions);
	takes("importRun", "journal", journal, aJournal);
	takes("importRun", "lines", lines, iterable("the lines of an export"));
	const { importLines } = await import("./run-import.js");
	return importLines(journal, lines, o);
}
function gap(runId, expected, came) {globalThis.__t?.("runtime/record/transfer.js#gap@3877");
	return new JournalError("JOURNAL_GAP", `Expected event ${expected} of run ${runId} next, got ${came === void 0 ? "the end" : String(came)}. Events are missing or doubled.`);
}
export { exportRun, importRun };
