import { Recollection } from "../../memory/recollection.js";
import { UsageError } from "../../kernel/errors.js";
// ../../work/wt/lead/src/runtime/steps/asking.ts
/**
* What one activation asks of the world: its model, what it remembers, persons, and all other side effects. It owns the doors, the recall,
* and whether it is an effect that asks; when answers are recorded and released is the steps' business.
*
* N1 what the effect of a step asks through the outer context is refused: see {@link Nesting}.
*/
var Asking = class {
	#turn;
	#asker;
	#nesting;
	#human;
	#recollection;
	#model;
	#door;
	constructor(turn, asker) {globalThis.__t?.("runtime/steps/asking.js#constructor@614");
		this.#turn = turn;
		this.#asker = asker;
	}
	get human() {globalThis.__t?.("runtime/steps/asking.js#human get@687");
		const { answerer } = this.#turn.tools;
		const { steps } = this.#turn;
		return this.#human ??= {
			...answerer.human(steps, this.#asker.role),
			ask: (question) => (globalThis.__t?.("runtime/steps/asking.js#ask@847"),(this.#askHuman(question)))
		};
	}
	get model() {globalThis.__t?.("runtime/steps/asking.js#model get@904");
		const { answerer } = this.#turn.tools;
		const { spec } = this.#turn.definition;
		return this.#model ??= answerer.model(this.steps, spec, this.#asker.role);
	}
	get steps() {globalThis.__t?.("runtime/steps/asking.js#steps get@1082");
		return this.#door ??= { step: (asked, effect) => (globalThis.__t?.("runtime/steps/asking.js#step@1119"),(this.#step(asked, effect))) };
	}
	/** What the memory was summed up to, if it was. */
	get newSummary() {globalThis.__t?.("runtime/steps/asking.js#newSummary get@1238");
		return this.#recollection?.newSummary;
	}
	ask(prompt, options) {globalThis.__t?.("runtime/steps/asking.js#ask@1291");
		this.#nesting?.assertOutside("ask");
		const { steps, tools, definition } = this.#turn;
		const { answerer } = tools;
		const { spec } = definition;
		const question = {
			steps,
			spec,
			card: this.#asker.role,
			prompt,
			options
		};
		const recollection = spec.role.human ? void 0 : this.#remembering();
		if (options.recall === false || recollection === void 0) return answerer.ask(question);
		const answer = recollection.recall(options.recall).then((remembered) => (globalThis.__t?.("runtime/steps/asking.js#answer@1775"),(answerer.ask({
			...question,
			remembered
		}))));
		answer.catch(() => {globalThis.__t?.("runtime/steps/asking.js#anonymous@1858");});
		return answer;
	}
	step(name, request, effect, o) {globalThis.__t?.("runtime/steps/asking.js#step@1894");
		const { answerer } = this.#turn.tools;
		const { spec } = this.#turn.definition;
		return this.#step({
			kind: "step",
			name,
			request,
			...o
		}, (door) => (globalThis.__t?.("runtime/steps/asking.js#anonymous@2079"),(effect(answerer.effectDoor(door, spec, this.#asker.role)))));
	}
	async recall(about) {globalThis.__t?.("runtime/steps/asking.js#recall@2165");
		this.#nesting?.assertOutside("recall");
		return await this.#remembering()?.recall(about) ?? [];
	}
	#askHuman(question) {globalThis.__t?.("runtime/steps/asking.js#askHuman@2287");
		this.#nesting?.assertOutside("human.ask");
		const { answerer } = this.#turn.tools;
		const { steps } = this.#turn;
		return answerer.askHuman(steps, this.#asker.role, question);
	}
	#step(spec, effect) {globalThis.__t?.("runtime/steps/asking.js#step@2490");
		this.#nesting?.assertOutside("step");
		const nesting = this.#nesting ??= new Nesting(this.#turn.begun.act);
		return this.#turn.steps.step(spec, (door) => (globalThis.__t?.("runtime/steps/asking.js#anonymous@2655"),(nesting.begin(() => (globalThis.__t?.("runtime/steps/asking.js#anonymous@2679"),(effect(door)))))));
	}
	#remembering() {globalThis.__t?.("runtime/steps/asking.js#remembering@2717");
		const { steps, role: state, tools, definition } = this.#turn;
		const { answerer, host } = tools;
		const { spec } = definition;
		const asker = this.#asker;
		const remembered = host.memoryOf(state.name);
		if (remembered === void 0) return void 0;
		return this.#recollection ??= new Recollection({
			...remembered,
			role: state.name,
			memory: asker.memory,
			news: () => (globalThis.__t?.("runtime/steps/asking.js#news@3098"),(asker.news)),
			summary: state.summary,
			steps,
			model: (given) => (globalThis.__t?.("runtime/steps/asking.js#model@3163"),(answerer.quietModel(steps, spec, asker.role, given))),
			policy: answerer.policy,
			longest: spec.role.timeout / 2,
			logger: asker.logger,
			signal: asker.signal
		});
	}
};
/**
* Tells what an effect asks through the outer context from what its activation asks. It owns whether an effect is just beginning.
*
* N1 what an effect asks through the outer context would wait for the effect's own step, which waits for it: it is refused. N2 this is
* seen only until the effect first waits; later nobody can tell who asks, and the activation's time limit ends it.
*/
var Nesting = class {
	#act;
	#isBeginning = false;
	constructor(act) {globalThis.__t?.("runtime/steps/asking.js#constructor@3804");
		this.#act = act;
	}
	/** Begins an effect. */
	begin(effect) {globalThis.__t?.("runtime/steps/asking.js#begin@3866");
		const wasBeginning = this.#isBeginning;
		this.#isBeginning = true;
		try {
			return effect();
		} finally {
			this.#isBeginning = wasBeginning;
		}
	}
	/** @throws UsageError `STEP_NESTED` when it is an effect that asks. */
	assertOutside(method) {globalThis.__t?.("runtime/steps/asking.js#assertOutside@4120");
		if (!this.#isBeginning) return;
		throw new UsageError("STEP_NESTED", `Expected the effect of a step of ${this.#act} to ask through the door it is given, got ${method} of the outer context: it would wait for its own step for ever. ${method === "recall" ? "Recall before the step." : `Write (door) => door.${method}(...).`}`);
	}
};
export { Asking, Nesting };
