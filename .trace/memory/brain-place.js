import { MemoryError, UsageError } from "../kernel/errors.js";
import { brainJson, joinedBrain, readBrainState } from "./brain-state.js";
import { replaceIn } from "./cache.js";
// ../../work/wt/lead/src/memory/brain-place.ts
/** How often a write is tried again where an entry has gone or come meanwhile. */
const TRIES = 5;
/**
* The place of one brain memory in a cache.
*
* Owns what is known of the stored entry. What is held belongs to the memory, and so does what becomes of two states.
*
* BrainPlace.P1 a write goes only over what was seen: `write` compares and gives back what others have stored. BrainPlace.P2 what a newer version
* stored is never written over. BrainPlace.P3 what could not be asked for was not seen.
*/
var BrainPlace = class {
	#cache;
	#key;
	#ttl;
	#seen;
	#base;
	#newer;
	constructor(cache, key, ttl) {globalThis.__t?.("memory/brain-place.js#constructor@818");
		this.#cache = cache;
		this.#key = key;
		this.#ttl = ttl;
	}
	/** What is found is taken for seen when it is {@link accept}ed. @throws UsageError `BRAIN_NEWER`, CacheError */
	async read() {globalThis.__t?.("memory/brain-place.js#read@1027");
		const entry = await this.#cache.get(this.#key);
		const read = this.#reading(entry);
		if (read.kind !== "found") this.#know(entry, void 0);
		return read;
	}
	/** Stores a state. @returns what others have stored, which is not written over @throws UsageError `BRAIN_NEWER`, MemoryError `MEMORY_CONFLICT`, CacheError */
	async write(state) {globalThis.__t?.("memory/brain-place.js#write@1365");
		if (this.#newer !== void 0) throw this.#newer;
		const value = JSON.stringify(brainJson(state));
		for (let n = 0; n < TRIES; n++) {
			const entry = await replaceIn(this.#cache, this.#key, value, {
				expected: this.#seen,
				ttl: this.#ttl
			});
			if (entry === void 0) {
				this.#know({
					kind: "hit",
					value
				}, state);
				return;
			}
			const read = this.#reading(entry);
			if (read.kind === "found") return read;
			if (read.kind === "damaged" && entry.kind === "hit") throw conflict(`something is stored there that cannot be read: ${read.reason}`);
			this.#know(entry, void 0);
		}
		throw conflict("others write it all the time");
	}
	/** What was found is part of what is held from now on, so that a write may go over it. */
	accept({ entry, stored }) {globalThis.__t?.("memory/brain-place.js#accept@2137");
		this.#know(entry, stored);
	}
	#know(entry, base) {globalThis.__t?.("memory/brain-place.js#know@2197");
		this.#seen = entry;
		this.#base = base;
	}
	#reading(entry) {globalThis.__t?.("memory/brain-place.js#reading@2268");
		if (entry.kind !== "hit") return entry.kind === "miss" ? { kind: "nothing" } : entry;
		const [stored, here] = [this.#parsed(entry.value), entry.other === void 0 ? void 0 : this.#parsed(entry.other)];
		if (typeof stored === "string") return {
			kind: "damaged",
			reason: stored
		};
		const isLocalPart = here !== void 0 && typeof here !== "string";
		return {
			kind: "found",
			theirs: isLocalPart ? joinedBrain({
				theirs: stored,
				mine: here
			}) : stored,
			isLocalPart,
			base: this.#base,
			stored,
			entry
		};
	}
	#parsed(text) {globalThis.__t?.("memory/brain-place.js#parsed@2826");
		try {
			return readBrainState(text);
		} catch (error) {
			if (error instanceof UsageError) this.#newer = error;
			throw error;
		}
	}
};
/** What a `save` or a `compress` ends with that may not write over what others have stored. */
function conflict(why) {globalThis.__t?.("memory/brain-place.js#conflict@3074");
	return new MemoryError("MEMORY_CONFLICT", `Expected a brain memory as it was loaded, but ${why}. Nothing was stored and nothing is lost: call load() to have both here, then save().`);
}
export { BrainPlace, conflict };
