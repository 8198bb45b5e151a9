import { nextMacrotask } from "../../kernel/clock.js";
// ../../work/wt/lead/src/runtime/steps/release.ts
/**
* Hands out answers in the order they were asked for, a macrotask apart, so that what follows from one answer has been asked
* before the next is known: the order of an activation's steps then does not depend on how fast they are.
*
* The price: `Promise.race` between steps yields the first one asked; what races belongs inside one enclosing step.
*/
var Release = class {
	/** Settles, and never rejects, when all asked so far are out. */
	#last;
	#now;
	constructor(startedAt) {globalThis.__t?.("runtime/steps/release.js#constructor@578");
		this.#now = startedAt;
	}
	/** Milliseconds: when the last released answer came. */
	get now() {globalThis.__t?.("runtime/steps/release.js#now get@686");
		return this.#now;
	}
	/** Resolves with the answer when it is there and all asked before it are out. */
	inOrder(answer) {globalThis.__t?.("runtime/steps/release.js#inOrder@805");
		const before = this.#last;
		const released = this.#releaseAfter(before, answer);
		this.#last = released.catch(() => {globalThis.__t?.("runtime/steps/release.js#anonymous@930");});
		if (before !== void 0) answer.catch(() => {globalThis.__t?.("runtime/steps/release.js#anonymous@979");});
		return released;
	}
	async #releaseAfter(before, answer) {globalThis.__t?.("runtime/steps/release.js#releaseAfter@1032");
		if (before !== void 0) await before;
		const outcome = await answer;
		await nextMacrotask();
		this.#now = Math.max(this.#now, outcome.at);
		return outcome;
	}
};
export { Release };
