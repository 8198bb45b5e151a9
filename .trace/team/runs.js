import { runResult } from "../runtime/run-result.js";
import { ControlError, JournalError } from "../kernel/errors.js";
import { deepFreeze } from "../kernel/json.js";
import { apply } from "../runtime/record/apply.js";
import { RunState } from "../runtime/record/run-state.js";
import { heard } from "./heard.js";
import { ideaDiffers, isSameIdea } from "./idea.js";
import { Run } from "./run.js";
// ../../work/wt/lead/src/team/runs.ts
/**
* The runs of a team in its journal. It owns which of them are under way here; the journal owns what is recorded, and who may write.
*
* U1 at most one run of an id is under way. U2 a run's result never rejects: what breaks before or besides the roles is told in it too.
* U3 the right to write is taken before anything is read, and given back.
*/
var Runs = class {
	#journal;
	#mask;
	#underWay = /* @__PURE__ */ new Map();
	constructor(journal, mask) {globalThis.__t?.("team/runs.js#constructor@881");
		this.#journal = journal;
		this.#mask = mask;
	}
	isUnderWay(id) {globalThis.__t?.("team/runs.js#isUnderWay@961");
		return this.#underWay.has(id);
	}
	/** The run of that id that is under way, else a new one. With another idea than that run's it is one that fails by `RUN_IDEA_DIFFERS`. */
	launch(id, signal, work, idea) {globalThis.__t?.("team/runs.js#launch@1151");
		const known = this.#underWay.get(id);
		if (known === void 0) return this.begin(id, signal, work, idea);
		if (idea === void 0 || known.idea === void 0 || isSameIdea(known.idea, idea, this.#mask)) return known.run;
		return this.handle(id, this.#journal, signal, () => (globalThis.__t?.("team/runs.js#anonymous@1443"),(Promise.reject(ideaDiffers(id)))));
	}
	/** A run of its own, also where one of that id is under way: its work finds out. */
	begin(id, signal, work, idea) {globalThis.__t?.("team/runs.js#begin@1578");
		const run = this.handle(id, this.#journal, signal, work);
		if (this.#underWay.has(id)) return run;
		this.#underWay.set(id, {
			run,
			idea
		});
		run.result.then(() => (globalThis.__t?.("team/runs.js#anonymous@1774"),(this.#underWay.delete(id))));
		return run;
	}
	/** A run whose events are read from a journal that may be another. */
	handle(id, journal, signal, work) {globalThis.__t?.("team/runs.js#handle@1904");
		return new Run(id, journal, signal, async (controls) => {globalThis.__t?.("team/runs.js#anonymous@1972");
			try {
				return await work(controls);
			} catch (error) {
				const isStopped = error instanceof ControlError;
				const end = {
					failure: isStopped ? void 0 : { error },
					control: isStopped ? error : void 0
				};
				return runResult(new RunState(id), {
					reason: "interrupted",
					...end
				}, this.#mask);
			}
		});
	}
	/** Makes a run in the journal. @throws JournalError `RUN_EXISTS`, unless one that is there shall be gone on with */
	async create(id, mayExist) {globalThis.__t?.("team/runs.js#create@2468");
		try {
			await this.#journal.create(id);
		} catch (error) {
			if (!(mayExist && error instanceof JournalError && error.code === "RUN_EXISTS")) throw error;
		}
	}
	/** Works on a run as its owner. @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED` */
	async owning(id, work) {globalThis.__t?.("team/runs.js#owning@2750");
		const epoch = await this.#journal.claim(id);
		try {
			return await work(epoch);
		} finally {
			await this.#journal.release(id, epoch);
		}
	}
	/** What a run's record leads to. @throws JournalError when it cannot be read; ControlError when the signal aborts */
	async read(id, signal) {globalThis.__t?.("team/runs.js#read@3041");
		const state = new RunState(id);
		let idea;
		for await (const event of heard(this.#journal, id, {
			from: 0,
			signal
		})) {
			apply(state, deepFreeze(event));
			if (event.type === "message") idea ??= event.message;
		}
		const underWay = this.#underWay.get(id);
		if (underWay !== void 0 && idea !== void 0) underWay.idea = idea;
		return {
			state,
			idea
		};
	}
};
export { Runs };
