import { canonicalJson, contentHash } from "../kernel/json.js";
import { resultText } from "../tool/tool-result.js";
// ../../work/wt/lead/src/agent/loop-detector.ts
/** The names of the options. @internal */
const loopOptions = {
	repeats: true,
	longest: true
};
/** Rounds after which a poll with the same answer is a loop. */
const MOST_POLLS = 20;
/**
* Notices when an agent repeats calls with equal arguments and equal results, also in turns. A call with another result each time makes
* progress: it pages, or works off a queue.
*
* It owns the signatures of the latest batches of calls. `LoopDetector.D1` a repeat is a batch whose calls and answers are equal
* ({@link signature}). `LoopDetector.D2` a batch of tools that poll closes a cycle after {@link MOST_POLLS} rounds and not before.
* `LoopDetector.D3` no more signatures are kept than the longest cycle has ({@link Cycles}).
*/
var LoopDetector = class {
	#strict;
	#patient;
	#polls = 0;
	constructor(options = {}) {globalThis.__t?.("agent/loop-detector.js#constructor@968");
		const { repeats = 3, longest = 3 } = options;
		this.#strict = new Cycles(repeats, longest);
		this.#patient = new Cycles(Math.max(repeats, MOST_POLLS), longest);
	}
	/**
	* Adds the calls of one step. Returns the length of the cycle that they close, and starts anew then; 0 for none.
	*
	* @param polls true for the name of a tool that polls
	*/
	add(called, polls) {globalThis.__t?.("agent/loop-detector.js#add@1338");
		if (called.length === 0) return 0;
		const whole = short(called.map(signature).sort().join("\n"));
		const isPoll = called.every(({ call }) => (globalThis.__t?.("agent/loop-detector.js#isPoll@1487"),(polls(call.function.name))));
		const strict = this.#strict.add(isPoll ? `poll ${this.#polls++}` : whole);
		const patient = this.#patient.add(whole);
		const period = strict > 0 ? strict : patient;
		if (period > 0) for (const cycles of [this.#strict, this.#patient]) cycles.clear();
		return period;
	}
};
/** The latest signatures, at most `repeats * longest`. */
var Cycles = class {
	#repeats;
	#longest;
	#seen = [];
	constructor(repeats, longest) {globalThis.__t?.("agent/loop-detector.js#constructor@1934");
		this.#repeats = repeats;
		this.#longest = longest;
	}
	/** Returns the length of the cycle that a signature closes; 0 for none. */
	add(one) {globalThis.__t?.("agent/loop-detector.js#add@2093");
		this.#seen.push(one);
		if (this.#seen.length > this.#repeats * this.#longest) this.#seen.shift();
		for (let period = 1; period <= this.#longest; period++) if (this.#isCycle(period)) return period;
		return 0;
	}
	clear() {globalThis.__t?.("agent/loop-detector.js#clear@2323");
		this.#seen.length = 0;
	}
	#isCycle(period) {globalThis.__t?.("agent/loop-detector.js#isCycle@2365");
		const seen = this.#seen;
		const first = seen.length - period * this.#repeats;
		if (first < 0) return false;
		for (let place = first + period; place < seen.length; place++) if (seen[place] !== seen[place - period]) return false;
		return true;
	}
};
/** A call and its result. Arguments that differ in order or spacing only are equal. */
function signature({ call, outcome, result }) {globalThis.__t?.("agent/loop-detector.js#signature@2718");
	const { name, arguments: text } = call.function;
	return `${name} ${sameArguments(text)} ${outcome} ${short(answerText(result))}`;
}
function answerText({ images = [], data, ...result }) {globalThis.__t?.("agent/loop-detector.js#answerText@2900");
	const more = data === void 0 ? "" : JSON.stringify(data);
	return [
		resultText(data === void 0 ? result : {
			...result,
			data
		}),
		more,
		...images.map((image) => (globalThis.__t?.("agent/loop-detector.js#anonymous@3119"),(JSON.stringify(image))))
	].join("\n");
}
function sameArguments(text) {globalThis.__t?.("agent/loop-detector.js#sameArguments@3170");
	try {
		return canonicalJson(JSON.parse(text === "" ? "{}" : text));
	} catch {
		return text.trim();
	}
}
/** Long signatures are hashed. */
function short(text) {globalThis.__t?.("agent/loop-detector.js#short@3344");
	return text.length <= LONGEST_SIGNATURE ? text : contentHash(text);
}
const LONGEST_SIGNATURE = 300;
export { LoopDetector, loopOptions };
