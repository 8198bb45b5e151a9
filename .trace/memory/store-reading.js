import "./held-messages.js";
// ../../work/wt/lead/src/memory/store-reading.ts
/** So many messages behind what is held are read, also where a store could be asked for some of them: to rank all is better. */
const FEW = 1e3;
/** Places on each side of a message that are read for what stands next to it, before it is looked for farther away. */
const NEAR = 4;
/**
* Gets from a store what its role's memory holds: all messages, or where the store has a `lookup` and they are many, those that are needed.
* It owns how far the store has been read; the messages are `HeldMessages`'.
*
* StoreReading.R1 what is gone from the store is forgotten before an answer (`#forgetRemoved`). StoreReading.R2 after `all` everything the store
* had is held; after `some` what was asked for. StoreReading.R3 what is held is not read again, and what is read is not held twice (`HeldMessages.add`).
*/
var StoreReading = class {
	#parts;
	#held;
	#watch;
	/** Undefined where all messages are needed: for their vectors, their ages, or an index that keeps them. */
	#lookup;
	constructor(parts, held, watch) {globalThis.__t?.("memory/store-reading.js#constructor@1069");
		const { vectors, lexical, ttl, store } = parts;
		this.#parts = parts;
		this.#held = held;
		this.#watch = watch;
		this.#lookup = vectors === void 0 && lexical?.candidates !== void 0 && ttl === void 0 ? store.lookup : void 0;
	}
	/** Reads what has come since the store was last read. */
	async all() {globalThis.__t?.("memory/store-reading.js#all@1394");
		const { store, roleId } = this.#parts;
		const state = await store.state(roleId);
		await this.#forgetRemoved(state.removals);
		let seen = this.#held.state.last;
		if (state.last > seen) for await (const page of store.read(roleId, seen)) {
			this.#held.damaged += page.damaged;
			seen = Math.max(seen, ...this.#learn(page));
		}
		this.#held.state = {
			last: Math.max(seen, state.last),
			removals: state.removals
		};
	}
	/** The same where it is little, or where the store cannot be asked. @returns the lookup to be asked where it is much */
	async some() {globalThis.__t?.("memory/store-reading.js#some@1962");
		if (this.#lookup === void 0) {
			await this.all();
			return;
		}
		const { store, roleId } = this.#parts;
		const { last, removals } = await store.state(roleId);
		if (last - this.#held.state.last <= FEW) {
			await this.all();
			return;
		}
		await this.#forgetRemoved(removals);
		return this.#lookup;
	}
	/** Holds the messages at some places, as far as there are any. */
	async at(lookup, places) {globalThis.__t?.("memory/store-reading.js#at@2356");
		const unknown = places.filter((place) => (globalThis.__t?.("memory/store-reading.js#unknown@2407"),(this.#held.at(place) === void 0)));
		if (unknown.length === 0) return;
		const page = await lookup.read(this.#parts.roleId, unknown);
		this.#learn(page);
		this.#held.damaged = Math.max(this.#held.damaged, page.damaged);
	}
	/** Each message that the store has; undefined for others. */
	async find(identities) {globalThis.__t?.("memory/store-reading.js#find@2716");
		const lookup = await this.some();
		if (lookup === void 0) return identities.map(({ runId, id }) => (globalThis.__t?.("memory/store-reading.js#anonymous@2814"),(this.#held.at(this.#held.placeOf(runId, id) ?? 0))));
		const places = await lookup.placesOf(this.#parts.roleId, identities);
		await this.at(lookup, places.filter((place) => (globalThis.__t?.("memory/store-reading.js#anonymous@2995"),(place !== void 0))));
		return places.map((place) => (globalThis.__t?.("memory/store-reading.js#anonymous@3046"),(this.#held.at(place ?? 0))));
	}
	/** The messages of the same run next to a place, nearest first, at most `count` on each side. */
	async around(place, count) {globalThis.__t?.("memory/store-reading.js#around@3200");
		const lookup = count === 0 ? void 0 : await this.some();
		if (lookup === void 0) return this.#held.around(place, count);
		const near = Math.min(NEAR * count, 64);
		await this.at(lookup, placesAround(place, near));
		const found = this.#held.around(place, count, near);
		if (found.length === 2 * count) return found;
		await this.at(lookup, placesAround(place, 64));
		return this.#held.around(place, count);
	}
	async #forgetRemoved(removals) {globalThis.__t?.("memory/store-reading.js#forgetRemoved@3655");
		const { store, roleId } = this.#parts;
		if (removals === this.#held.state.removals) return;
		if (this.#held.size > 0) {
			const there = new Set(await store.places(roleId));
			for (const place of this.#held.places()) if (!there.has(place)) await this.#watch.forget(place);
		}
		this.#held.state = {
			...this.#held.state,
			removals
		};
	}
	#learn({ messages }) {globalThis.__t?.("memory/store-reading.js#learn@4024");
		for (const entry of messages) this.#watch.learn(entry);
		return messages.map(({ place }) => (globalThis.__t?.("memory/store-reading.js#anonymous@4121"),(place)));
	}
};
function placesAround(place, reach) {globalThis.__t?.("memory/store-reading.js#placesAround@4150");
	return Array.from({ length: 2 * reach + 1 }, (_, n) => (globalThis.__t?.("memory/store-reading.js#anonymous@4234"),(place - reach + n))).filter((each) => (globalThis.__t?.("memory/store-reading.js#anonymous@4270"),(each > 0)));
}
export { StoreReading };
