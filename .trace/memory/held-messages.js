import { ArrivalList } from "./arrival-list.js";
/**
* What a process knows of a role's store: the messages in order of arrival, who they are, and how far it has read. It owns no vector and
* asks nobody.
*/
var HeldMessages = class {
	#arrived = new ArrivalList();
	/** By run, then id. */
	#places = /* @__PURE__ */ new Map();
	/** How far the store has been read. */
	state = {
		last: 0,
		removals: 0
	};
	/** Messages met that could not be read. */
	damaged = 0;
	/** The newest time a message was given to the store at. */
	newestAdded = 0;
	/** No message is older than this. */
	#oldest = Infinity;
	get size() {globalThis.__t?.("memory/held-messages.js#size get@617");
		return this.#arrived.size;
	}
	at(place) {globalThis.__t?.("memory/held-messages.js#at@657");
		return this.#arrived.at(place);
	}
	placeOf(runId, id) {globalThis.__t?.("memory/held-messages.js#placeOf@712");
		return this.#places.get(runId)?.get(id);
	}
	places() {globalThis.__t?.("memory/held-messages.js#places@779");
		return this.all().map(({ place }) => (globalThis.__t?.("memory/held-messages.js#anonymous@808"),(place)));
	}
	/** In order of arrival. */
	all() {globalThis.__t?.("memory/held-messages.js#all@867");
		return this.#arrived.all();
	}
	/** The messages of the same run next to a place, nearest first, at most `count` on each side. */
	around(place, count, farthest = 64) {globalThis.__t?.("memory/held-messages.js#around@1011");
		const runId = this.at(place)?.runId;
		const found = [];
		for (const step of [-1, 1]) for (let reach = 1, left = count; reach <= farthest && left > 0; reach += 1) {
			const entry = this.at(place + step * reach);
			if (entry === void 0 || entry.runId !== runId) continue;
			found.push(entry);
			left -= 1;
		}
		return found.sort((a, b) => (globalThis.__t?.("memory/held-messages.js#anonymous@1379"),(Math.abs(a.place - place) - Math.abs(b.place - place))));
	}
	/** False when it is known. */
	add(entry) {globalThis.__t?.("memory/held-messages.js#add@1484");
		if (!this.#arrived.add(entry)) return false;
		let run = this.#places.get(entry.runId);
		if (run === void 0) this.#places.set(entry.runId, run = /* @__PURE__ */ new Map());
		run.set(entry.message.id, entry.place);
		this.newestAdded = Math.max(this.newestAdded, entry.addedAt);
		this.#oldest = Math.min(this.#oldest, timeOf(entry));
		return true;
	}
	forget(place) {globalThis.__t?.("memory/held-messages.js#forget@1857");
		const entry = this.#arrived.remove(place);
		if (entry === void 0) return false;
		const run = this.#places.get(entry.runId);
		if (run?.get(entry.message.id) === place) run.delete(entry.message.id);
		if (run?.size === 0) this.#places.delete(entry.runId);
		return true;
	}
	/** The places of messages from before a time. */
	olderThan(time) {globalThis.__t?.("memory/held-messages.js#olderThan@2205");
		if (this.#oldest >= time) return [];
		const old = [];
		this.#oldest = Infinity;
		for (const entry of this.all()) {
			const at = timeOf(entry);
			if (at < time) old.push(entry.place);
			this.#oldest = Math.min(this.#oldest, at);
		}
		return old;
	}
	/** Reads on from where all of these places are known. */
	sawPlaces(places) {globalThis.__t?.("memory/held-messages.js#sawPlaces@2540");
		const { last } = this.state;
		if (places.every((place, n) => (globalThis.__t?.("memory/held-messages.js#anonymous@2601"),(place === last + n + 1)))) this.state = {
			...this.state,
			last: last + places.length
		};
	}
};
/**
* When a message was said. One without a date, or from the future, is as old as its place in the store: it ages too.
*/
function timeOf({ message, addedAt }) {globalThis.__t?.("memory/held-messages.js#timeOf@2838");
	return message.timestamp > 0 ? Math.min(message.timestamp, addedAt) : addedAt;
}
export { HeldMessages, timeOf };
