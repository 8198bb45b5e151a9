import { checkKnownOptions } from "../../kernel/known-options.js";
import { JournalError, UsageError } from "../../kernel/errors.js";
// ../../work/wt/lead/src/runtime/record/memory-journal.ts
const memoryJournalOptions = {
	limit: true,
	events: true
};
const DEFAULT_RUNS = 1e3;
const DEFAULT_EVENTS = 1e5;
/** The most ids of forgotten runs that are kept. */
const MOST_FORGOTTEN = 1e5;
/** The epoch of a run without an owner. */
const NO_OWNER = 0;
/**
* Makes a journal that lives as long as the process; it is the default of a team. It keeps 1,000 runs and 100,000 events (about 100 MB of
* small ones) and then forgets the oldest runs that have ended; asked for one of those it throws JournalError `RUN_FORGOTTEN`.
*
* @throws UsageError `LIMIT_INVALID` when a limit is not a whole number of 1 or more; `OPTION_UNKNOWN`
* @example
* import { defineAction, defineRole, memoryJournal, Team } from "troupe";
*
* const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
* const journal = memoryJournal({ limit: 100 });
* const team = new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })], journal });
* const { runId } = await team.run("hello").result;
* console.log((await journal.runs())[0]?.runId === runId); // true
*/
function memoryJournal(options = {}) {globalThis.__t?.("runtime/record/memory-journal.js#memoryJournal@1267");
	checkKnownOptions("memoryJournal", options, memoryJournalOptions);
	const { limit = DEFAULT_RUNS, events = DEFAULT_EVENTS } = options;
	for (const [name, value] of Object.entries({
		limit,
		events
	})) {
		if (Number.isInteger(value) && value >= 1) continue;
		throw new UsageError("LIMIT_INVALID", `Expected ${name} of a memory journal to be a whole number of 1 or more, got ${value}.`);
	}
	return new MemoryJournal(limit, events);
}
/**
* Keeps runs in memory. It owns their events, the epochs of their owners, and the ids of forgotten runs.
*
* MemoryJournal.K1 (`append`): the sequence numbers of a run are 0, 1, 2 and so on.
* MemoryJournal.K2 (`append`): only the newest epoch of a run appends.
* MemoryJournal.K3 (`#makeRoom`): there are never more events than the limit. The oldest runs that have ended go first, each as a whole,
* and none goes for an append that is refused nevertheless.
* MemoryJournal.K4 (`#forgetFirst`): there are more runs than the limit only while none of them may be forgotten.
* MemoryJournal.K5 (`mayForget`): a run that is under way, waits for somebody or has an owner is not forgotten.
* MemoryJournal.K6 (`#run`): a forgotten id differs from an unknown one until {@link MOST_FORGOTTEN} other runs are forgotten.
*/
var MemoryJournal = class {
	#limit;
	#eventLimit;
	#runs = /* @__PURE__ */ new Map();
	#forgotten = /* @__PURE__ */ new Set();
	#count = 0;
	/** The last epoch of any run, so that the owner of a removed run does not own a new run of the same id. */
	#lastEpoch = NO_OWNER;
	constructor(limit, eventLimit) {globalThis.__t?.("runtime/record/memory-journal.js#constructor@2850");
		this.#limit = limit;
		this.#eventLimit = eventLimit;
	}
	async create(runId) {globalThis.__t?.("runtime/record/memory-journal.js#create@2944");
		if (this.#runs.has(runId)) throw new JournalError("RUN_EXISTS", `Expected a new run id, got ${runId}, which is taken. Resume it or choose another.`);
		if (this.#forgotten.has(runId)) throw forgotten(runId);
		if (this.#runs.size >= this.#limit) this.#forgetFirst();
		this.#runs.set(runId, {
			epoch: NO_OWNER,
			events: []
		});
	}
	async claim(runId) {globalThis.__t?.("runtime/record/memory-journal.js#claim@3304");
		const run = this.#run(runId);
		this.#lastEpoch += 1;
		run.epoch = this.#lastEpoch;
		return run.epoch;
	}
	async release(runId, epoch) {globalThis.__t?.("runtime/record/memory-journal.js#release@3438");
		const run = this.#runs.get(runId);
		if (run?.epoch === epoch) run.epoch = NO_OWNER;
	}
	async append(runId, epoch, expectedSeq, events) {globalThis.__t?.("runtime/record/memory-journal.js#append@3558");
		const run = this.#run(runId);
		if (run.epoch !== epoch || epoch === NO_OWNER) {
			const owner = run.epoch === NO_OWNER ? "it is nobody's now" : "somebody else has taken the run over";
			throw new JournalError("EPOCH_STALE", `Expected the epoch of run ${runId}'s owner, got ${epoch}: ${owner}. Claim the run first.`);
		}
		if (run.events.length !== expectedSeq) throw new JournalError("SEQ_MISMATCH", `Expected event ${run.events.length} of run ${runId} next, got ${expectedSeq}.`);
		this.#makeRoom(events.length, runId);
		for (const event of events) run.events.push(event);
		this.#count += events.length;
	}
	async *read(runId, from) {globalThis.__t?.("runtime/record/memory-journal.js#read@4225");
		const { events } = this.#run(runId);
		for (let seq = from; seq < events.length; seq += 1) yield events[seq];
	}
	async runs() {globalThis.__t?.("runtime/record/memory-journal.js#runs@4367");
		return [...this.#runs].map(([runId, run]) => ((globalThis.__t?.("runtime/record/memory-journal.js#anonymous@4401"),({
			runId,
			events: run.events.length
		}))));
	}
	async remove(runId) {globalThis.__t?.("runtime/record/memory-journal.js#remove@4484");
		this.#count -= this.#runs.get(runId)?.events.length ?? 0;
		this.#runs.delete(runId);
		this.#forgotten.delete(runId);
	}
	async close() {globalThis.__t?.("runtime/record/memory-journal.js#close@4630");
		this.#runs.clear();
		this.#forgotten.clear();
		this.#count = 0;
	}
	#run(runId) {globalThis.__t?.("runtime/record/memory-journal.js#run@4711");
		const run = this.#runs.get(runId);
		if (run === void 0 && this.#forgotten.has(runId)) throw forgotten(runId);
		if (run === void 0) throw new JournalError("RUN_UNKNOWN", `Expected a run of this journal, got ${runId}, which it does not have.`);
		return run;
	}
	#forgetFirst() {globalThis.__t?.("runtime/record/memory-journal.js#forgetFirst@4998");
		let over = this.#runs.size + 1 - this.#limit;
		for (const [runId, run] of this.#runs) {
			if (over <= 0) return;
			if (!mayForget(run)) continue;
			this.#forget(runId);
			over -= 1;
		}
	}
	/** Forgets nothing when that would not make enough room. */
	#makeRoom(more, keep) {globalThis.__t?.("runtime/record/memory-journal.js#makeRoom@5271");
		let missing = this.#count + more - this.#eventLimit;
		const leaving = [];
		for (const [runId, run] of this.#runs) {
			if (missing <= 0) break;
			if (runId === keep || !mayForget(run)) continue;
			missing -= run.events.length;
			leaving.push(runId);
		}
		if (missing > 0) throw new JournalError("JOURNAL_FULL", `Expected room for ${more} events in a memory journal of at most ${this.#eventLimit}. Raise its option events or use a journal on disk.`);
		for (const runId of leaving) this.#forget(runId);
	}
	#forget(runId) {globalThis.__t?.("runtime/record/memory-journal.js#forget@5807");
		this.#count -= this.#runs.get(runId)?.events.length ?? 0;
		this.#runs.delete(runId);
		this.#forgotten.add(runId);
		if (this.#forgotten.size <= MOST_FORGOTTEN) return;
		const [first = runId] = this.#forgotten;
		this.#forgotten.delete(first);
	}
};
function mayForget({ epoch, events }) {globalThis.__t?.("runtime/record/memory-journal.js#mayForget@6071");
	const last = events.at(-1);
	return epoch === NO_OWNER && last?.type === "run.ended" && last.status !== "waiting";
}
function forgotten(runId) {globalThis.__t?.("runtime/record/memory-journal.js#forgotten@6229");
	return new JournalError("RUN_FORGOTTEN", `Expected a run of this journal, got ${runId}, which had ended and was forgotten to make room. Raise the journal's limits or use one on disk; to begin it anew, remove it first.`);
}
export { memoryJournal };
