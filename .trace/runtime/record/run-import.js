import "../../_virtual/_rolldown/runtime.js";
import { isObject } from "../../kernel/value-kind.js";
import { throwIfAborted } from "../../kernel/abort.js";
import { JournalError } from "../../kernel/errors.js";
import { deepFreeze } from "../../kernel/json.js";
import { shownText } from "../../kernel/value-text.js";
import { apply } from "./apply.js";
import "./event.js";
import { parseEvent } from "./event-schema.js";
import { RunState } from "./run-state.js";
import { z } from "zod";
import { createHash } from "node:crypto";
// ../../work/wt/lead/src/runtime/record/run-import.ts
/** The most characters of a line. An event is one line, and the longest answer of a model fits in half of it. */
const MAX_LINE = 67108864;
/** The most characters of events that are held before they are written. */
const MAX_HELD = 67108864;
/** The work of `importRun`. */
async function importLines(journal, lines, o) {globalThis.__t?.("runtime/record/run-import.js#importLines@865");
	const reader = new ExportReader();
	const writer = new RunWriter(journal, o.id);
	try {
		for await (const line of lines) {
			throwIfAborted(o.signal);
			const event = reader.read(line);
			if (reader.runId !== void 0) await writer.begin(reader.runId);
			if (event !== void 0) await writer.add(event, line.length);
		}
		reader.end();
		return await writer.end();
	} catch (error) {
		await writer.withdraw(error);
		throw error;
	}
}
const headerSchema = z.object({
	troupe: z.literal("run"),
	v: z.int().positive(),
	runId: z.string().min(1).max(1e3),
	events: z.int().nonnegative()
});
const endSchema = z.strictObject({
	troupe: z.literal("end"),
	events: z.int().nonnegative(),
	sha256: z.string().length(64)
});
/**
* Checks an export line by line. It owns the number of lines read, the hash of the lines of events, and the state that the events lead to.
*
* RunImport.X1 (`ExportReader.read`): the header comes first, then as many events as it says, then the end.
* RunImport.X2 (`ExportReader.#event`): every event has its schema, belongs to the run of the header and fits the events before it.
* RunImport.X3 (`ExportReader.#finish`): the hash in the end is the hash of the lines of events.
* RunImport.X4 (`ExportReader.end`): only a last line can be cut; any other line that is no JSON makes the export invalid.
*/
var ExportReader = class {
	#hash = createHash("sha256");
	#header;
	#state = new RunState("");
	#lines = 0;
	#isEnded = false;
	/** A line that is no JSON. The export was cut there, unless another line follows. */
	#broken;
	/** The id of the run, once the header is read. */
	get runId() {globalThis.__t?.("runtime/record/run-import.js#runId get@2530");
		return this.#header?.runId;
	}
	/** Reads the next line, and returns its event if it has one. @throws JournalError as `importRun` */
	read(line) {globalThis.__t?.("runtime/record/run-import.js#read@2675");
		const text = line.replace(/\r?\n$/, "");
		if (text.trim() === "") return void 0;
		if (text.length > MAX_LINE) throw tooLong();
		if (this.#broken !== void 0) throw this.#invalid("a line that is no JSON", this.#broken.error);
		this.#lines += 1;
		if (this.#isEnded) throw this.#invalid("more after its end");
		const json = this.#parsed(text);
		if (json === void 0) return void 0;
		if (this.#header === void 0) return this.#begin(json);
		return isEnd(json) ? this.#finish(json, this.#header) : this.#event(json, text, this.#header);
	}
	/** Ends the reading. @throws JournalError `EXPORT_CUT`, `EXPORT_INVALID` */
	end() {globalThis.__t?.("runtime/record/run-import.js#end@3309");
		if (this.#isEnded) return;
		if (this.#header === void 0) throw this.#invalid(this.#lines === 0 ? "nothing" : "a first line that is no JSON", this.#broken?.error);
		const { seq } = this.#state;
		const intact = seq === 0 ? "no event is whole" : `events 0 to ${seq - 1} are whole`;
		throw new JournalError("EXPORT_CUT", `Expected an export of ${this.#header.events} events and its end, got one that was cut: ${intact}. Export the run again.`, { data: {
			intact: seq,
			events: this.#header.events
		} });
	}
	#parsed(text) {globalThis.__t?.("runtime/record/run-import.js#parsed@3836");
		try {
			return JSON.parse(text);
		} catch (error) {
			this.#broken = { error };
			return;
		}
	}
	#begin(json) {globalThis.__t?.("runtime/record/run-import.js#begin@3955");
		const parsed = headerSchema.safeParse(json);
		if (!parsed.success) throw this.#invalid(`a first line that is no header: ${shownText(z.prettifyError(parsed.error))}`);
		const header = parsed.data;
		if (header.v > 1) throw new JournalError("EVENT_NEWER", `Expected an export of version 1 or older, got one of version ${header.v}. Update this program to read the run.`, { data: { version: header.v } });
		this.#header = header;
		this.#state = new RunState(header.runId);
	}
	#event(json, text, { events }) {globalThis.__t?.("runtime/record/run-import.js#event@4449");
		const event = deepFreeze(parseEvent(json));
		const { seq } = this.#state;
		if (seq === events) throw this.#invalid(`more than the ${events} events it tells of`);
		if (seq === 0 && event.type !== "run.started") throw this.#invalid(`${event.type} as the first event`);
		try {
			apply(this.#state, event);
		} catch (error) {
			if (!(error instanceof JournalError)) throw error;
			throw new JournalError(error.code, `${error.message} It is line ${this.#lines} of the export.`, { cause: error });
		}
		this.#hash.update(`${text}\n`);
		return event;
	}
	#finish(json, { events }) {globalThis.__t?.("runtime/record/run-import.js#finish@5043");
		const parsed = endSchema.safeParse(json);
		if (!parsed.success) throw this.#invalid(`an end that is none: ${shownText(z.prettifyError(parsed.error))}`);
		const { seq } = this.#state;
		if (seq !== events || parsed.data.events !== events) throw this.#invalid(`${seq} events, where its header tells of ${events} and its end of ${parsed.data.events}`);
		if (parsed.data.sha256 !== this.#hash.digest("hex")) throw this.#invalid("lines of events that its hash is not over");
		this.#isEnded = true;
	}
	#invalid(came, cause) {globalThis.__t?.("runtime/record/run-import.js#invalid@5575");
		return new JournalError("EXPORT_INVALID", `Expected an export of a run, got ${came}, at line ${Math.max(1, this.#lines)}. It is another file, or somebody changed it: export the run again.`, cause === void 0 ? { data: { line: this.#lines } } : {
			data: { line: this.#lines },
			cause
		});
	}
};
/**
* Writes an imported run into a journal. It owns the events that are read and not yet written, and the run that it created.
*
* RunImport.X5 (`RunWriter.add`): up to {@link MAX_HELD} characters, all events of a run are written in one append.
* RunImport.X6 (`RunWriter.withdraw`): a run of which an import failed is removed, unless another owner has taken it over.
*/
var RunWriter = class {
	#journal;
	#givenId;
	#runId;
	/** The journal has the run, and this import created or claimed it. */
	#isCreated = false;
	#epoch = 0;
	#held = [];
	#characters = 0;
	#written = 0;
	constructor(journal, givenId) {globalThis.__t?.("runtime/record/run-import.js#constructor@6482");
		this.#journal = journal;
		this.#givenId = givenId;
	}
	/** Refuses an id that is taken before any event is read. @throws JournalError `RUN_EXISTS` */
	async begin(exportedId) {globalThis.__t?.("runtime/record/run-import.js#begin@6668");
		if (this.#runId !== void 0) return;
		this.#runId = this.#givenId ?? exportedId;
		const known = await this.#known();
		if (known !== void 0 && known.events > 0) throw taken(this.#runId);
	}
	async add(event, characters) {globalThis.__t?.("runtime/record/run-import.js#add@6886");
		const runId = this.#runId ?? event.runId;
		this.#held.push(event.runId === runId ? event : deepFreeze({
			...event,
			runId
		}));
		this.#characters += characters;
		if (this.#characters >= MAX_HELD) await this.#write();
	}
	async end() {globalThis.__t?.("runtime/record/run-import.js#end@7148");
		await this.#write();
		const runId = this.#runId ?? "";
		await this.#journal.release(runId, this.#epoch);
		return {
			runId,
			events: this.#written
		};
	}
	/** Removes what was written, unless another owner has taken the run over. */
	async withdraw(because) {globalThis.__t?.("runtime/record/run-import.js#withdraw@7410");
		const runId = this.#runId;
		if (runId === void 0 || !this.#isCreated || isTakenOver(because)) return;
		try {
			await this.#journal.remove(runId);
		} catch (error) {
			throw new JournalError("IMPORT_LEFT_OVER", `Expected to remove the part of run ${runId} that was imported, for the import failed, but that failed too: ${String(error)}. Remove the run before you import it again.`, { cause: because });
		}
	}
	async #write() {globalThis.__t?.("runtime/record/run-import.js#write@7851");
		const runId = this.#runId ?? "";
		if (!this.#isCreated) await this.#create(runId);
		const held = this.#held;
		if (held.length === 0) return;
		this.#held = [];
		this.#characters = 0;
		await this.#journal.append(runId, this.#epoch, this.#written, held);
		this.#written += held.length;
	}
	async #create(runId) {globalThis.__t?.("runtime/record/run-import.js#create@8165");
		try {
			await this.#journal.create(runId);
			this.#isCreated = true;
		} catch (error) {
			if (!(error instanceof JournalError && error.code === "RUN_EXISTS" && (await this.#known())?.events === 0)) throw error;
		}
		this.#epoch = await this.#journal.claim(runId);
		this.#isCreated = true;
	}
	async #known() {globalThis.__t?.("runtime/record/run-import.js#known@8488");
		return (await this.#journal.runs()).find(({ runId }) => (globalThis.__t?.("runtime/record/run-import.js#anonymous@8536"),(runId === this.#runId)));
	}
};
function isTakenOver(error) {globalThis.__t?.("runtime/record/run-import.js#isTakenOver@8581");
	return error instanceof JournalError && (error.code === "EPOCH_STALE" || error.code === "RUN_OWNED" || error.code === "SEQ_MISMATCH");
}
function taken(runId) {globalThis.__t?.("runtime/record/run-import.js#taken@8749");
	return new JournalError("RUN_EXISTS", `Expected a run that the journal does not have, got ${runId}. Remove it, or import under another id.`);
}
function isEnd(json) {globalThis.__t?.("runtime/record/run-import.js#isEnd@8918");
	return isObject(json) && Object.hasOwn(json, "troupe");
}
function tooLong() {globalThis.__t?.("runtime/record/run-import.js#tooLong@9000");
	return new JournalError("EXPORT_INVALID", `Expected lines of at most ${MAX_LINE} characters, got a longer one. This is no export of a run.`);
}
export { importLines };
