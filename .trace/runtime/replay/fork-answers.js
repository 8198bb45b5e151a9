import { roleNameIn } from "../record/names.js";
// ../../work/wt/lead/src/runtime/replay/fork-answers.ts
/**
* The run a fork came from, as what answers the fork. It owns which answers are used up.
*
* F1 an answer is given once. F2 the same step of the same activation answers first, also with its failure; else the earliest unused
* good answer of the same role to the same request. F3 what both runs share is not given: the fork has it in its own record. F4 of what
* was shared to its end nothing is kept. F5 a step whose answer depends on more than its request is not answered: the fork may have changed that.
*/
var ForkAnswers = class {
	#exact = /* @__PURE__ */ new Map();
	/** In the order they came. */
	#ofRole = /* @__PURE__ */ new Map();
	/** By the step they were asked in. */
	#within = /* @__PURE__ */ new Map();
	/** By activation, and by place in it. */
	#places = /* @__PURE__ */ new Map();
	#starts = /* @__PURE__ */ new Map();
	#tries = /* @__PURE__ */ new Map();
	/** Micro-dollars of tries that came to nothing, by their step. */
	#lost = /* @__PURE__ */ new Map();
	#used = /* @__PURE__ */ new Set();
	#difference;
	/** Takes in an event of the parent. `at`: the last event that is shared. */
	learn(event, at) {globalThis.__t?.("runtime/replay/fork-answers.js#learn@1224");
		switch (event.type) {
			case "act.started":
				this.#starts.set(event.act, event.at);
				return;
			case "step.started":
				this.#tries.set(nameOf(event), event);
				this.#placesOf(event.act).set(placeOf(event), event);
				return;
			case "step.ended":
				if (event.retry === true) this.#lose(event, at, event.saved ?? event.cost ?? 0);
				else this.#keep(event, at);
				return;
			case "run.resumed":
				for (const { act, key, hold } of event.uncertain) this.#lose({
					act,
					key,
					seq: event.seq
				}, at, hold);
				return;
			case "act.ended":
			case "act.failed": return this.#endActivation(event, at);
			default: return;
		}
	}
	/** Takes in an event of the fork, when the fork goes on after a stop: what it has written down as its own is used up. */
	recall(event) {globalThis.__t?.("runtime/replay/fork-answers.js#recall@2027");
		if (event.type === "step.started") this.#tries.set(nameOf(event), event);
		if (event.type !== "step.ended") return;
		const reused = this.#tries.get(nameOf(event))?.reused;
		if (reused !== void 0) this.#used.add(reused);
	}
	/** Where the fork first left its parent. */
	get difference() {globalThis.__t?.("runtime/replay/fork-answers.js#difference get@2326");
		return this.#difference;
	}
	startOf(act) {globalThis.__t?.("runtime/replay/fork-answers.js#startOf@2369");
		return this.#starts.get(act);
	}
	askAgain() {globalThis.__t?.("runtime/replay/fork-answers.js#askAgain@2421");}
	unrepeated() {globalThis.__t?.("runtime/replay/fork-answers.js#unrepeated@2438");}
	notAsked() {globalThis.__t?.("runtime/replay/fork-answers.js#notAsked@2453");}
	answer(question) {globalThis.__t?.("runtime/replay/fork-answers.js#answer@2466");
		if (question.isFresh) return void 0;
		const exact = this.#exact.get(nameOf(question));
		const entry = exact !== void 0 && !this.#used.has(exact.seq) ? exact : this.#next(question);
		if (entry !== void 0) return this.#whole(entry, question.key);
		this.#difference ??= this.#differenceAt(question);
	}
	/** The entry, used up, with what was asked inside it. Under another key that would have other names, and only its cost is told. */
	#whole(entry, key) {globalThis.__t?.("runtime/replay/fork-answers.js#whole@2925");
		this.#used.add(entry.seq);
		const within = (this.#within.get(nameOf(entry.started))?.filter(({ seq }) => (globalThis.__t?.("runtime/replay/fork-answers.js#within@3035"),(!this.#used.has(seq)))) ?? []).map((inner) => (globalThis.__t?.("runtime/replay/fork-answers.js#within@3081"),(this.#whole(inner, inner.started.key))));
		if (entry.started.key === key) return {
			...entry,
			within
		};
		return {
			...entry,
			saved: sumOf([{
				...entry,
				within
			}]),
			within: []
		};
	}
	#keep(event, shared) {globalThis.__t?.("runtime/replay/fork-answers.js#keep@3306");
		const name = nameOf(event);
		const started = this.#tries.get(name);
		const lost = this.#lost.get(name) ?? 0;
		this.#tries.delete(name);
		this.#lost.delete(name);
		if (started === void 0 || event.seq <= shared) return;
		const { ok, value = null, error, at, cost, seq } = event;
		const entry = {
			started,
			outcome: {
				ok,
				value,
				error,
				at
			},
			seq,
			saved: lost + (event.saved ?? cost ?? 0)
		};
		this.#exact.set(name, entry);
		if (started.in !== void 0) append(this.#within, nameOf({
			act: event.act,
			key: started.in
		}), entry);
		if (ok) append(this.#ofRole, roleQuestion(roleNameIn(event.act), event.key), entry);
	}
	/** A try that is shared tells its cost in the record of the fork. */
	#lose(tried, shared, cost) {globalThis.__t?.("runtime/replay/fork-answers.js#lose@4063");
		if (tried.seq > shared) this.#lost.set(nameOf(tried), (this.#lost.get(nameOf(tried)) ?? 0) + cost);
	}
	#endActivation({ act, at, seq }, shared) {globalThis.__t?.("runtime/replay/fork-answers.js#endActivation@4207");
		if (seq <= shared) {
			this.#places.delete(act);
			this.#starts.delete(act);
		} else if (at !== void 0) this.#starts.set(act, at);
	}
	#next({ role, key }) {globalThis.__t?.("runtime/replay/fork-answers.js#next@4381");
		const entries = this.#ofRole.get(roleQuestion(role, key)) ?? [];
		while (entries[0] !== void 0 && this.#used.has(entries[0].seq)) entries.shift();
		return entries[0];
	}
	#placesOf(act) {globalThis.__t?.("runtime/replay/fork-answers.js#placesOf@4583");
		const places = this.#places.get(act) ?? /* @__PURE__ */ new Map();
		this.#places.set(act, places);
		return places;
	}
	#differenceAt({ act, name, request, asked, in: parent }) {globalThis.__t?.("runtime/replay/fork-answers.js#differenceAt@4727");
		return {
			act,
			name,
			parent: (this.#places.get(act)?.get(placeOf({
				asked,
				in: parent
			})))?.request ?? null,
			fork: request
		};
	}
};
function sumOf(steps) {globalThis.__t?.("runtime/replay/fork-answers.js#sumOf@4930");
	return steps.reduce((sum, { saved, within }) => (globalThis.__t?.("runtime/replay/fork-answers.js#anonymous@4975"),(sum + saved + sumOf(within))), 0);
}
function append(lists, name, entry) {globalThis.__t?.("runtime/replay/fork-answers.js#append@5038");
	const known = lists.get(name);
	if (known === void 0) lists.set(name, [entry]);
	else known.push(entry);
}
function nameOf({ act, key }) {globalThis.__t?.("runtime/replay/fork-answers.js#nameOf@5184");
	return `${act} ${key}`;
}
function placeOf({ asked, in: parent = "" }) {globalThis.__t?.("runtime/replay/fork-answers.js#placeOf@5243");
	return `${parent} ${asked}`;
}
/** What a role asked, wherever it did: the address without its occurrence. */
function roleQuestion(role, key) {globalThis.__t?.("runtime/replay/fork-answers.js#roleQuestion@5401");
	return `${role} ${key.slice(0, key.lastIndexOf("."))}`;
}
export { ForkAnswers };
