// ../../work/wt/lead/src/memory/arrival-list.ts
/** Below this many holes a list is not worth rewriting. */
const FEW_HOLES = 64;
/**
* Messages by their places, in order of arrival, in two lists side by side: they come in that order, and a Map takes several times as long
* to take them in.
*
* A1 places ascend, whatever the order in which they come. A2 what is removed leaves a hole, and holes never outnumber the messages by much.
* A3 adding at the end and removing are O(1) amortised, looking up is O(log n) at worst; adding in the middle is O(n).
*/
var ArrivalList = class {
	#places = [];
	#entries = [];
	#holes = 0;
	get size() {globalThis.__t?.("memory/arrival-list.js#size get@637");
		return this.#places.length - this.#holes;
	}
	at(place) {globalThis.__t?.("memory/arrival-list.js#at@692");
		const index = this.#indexOf(place);
		return this.#places[index] === place ? this.#entries[index] : void 0;
	}
	/** False when there is one at its place. */
	add(entry) {globalThis.__t?.("memory/arrival-list.js#add@865");
		const { place } = entry;
		const index = this.#indexOf(place);
		if (index === this.#places.length) {
			this.#places.push(place);
			this.#entries.push(entry);
		} else if (this.#places[index] !== place) {
			this.#places.splice(index, 0, place);
			this.#entries.splice(index, 0, entry);
		} else {
			if (this.#entries[index] !== void 0) return false;
			this.#entries[index] = entry;
			this.#holes--;
		}
		return true;
	}
	/** Gives what it removed. */
	remove(place) {globalThis.__t?.("memory/arrival-list.js#remove@1343");
		const index = this.#indexOf(place);
		const entry = this.#places[index] === place ? this.#entries[index] : void 0;
		if (entry === void 0) return void 0;
		this.#entries[index] = void 0;
		this.#holes++;
		if (this.#holes > FEW_HOLES && this.#holes > this.size) this.#close();
		return entry;
	}
	/** In order of arrival; the caller's own array. */
	all() {globalThis.__t?.("memory/arrival-list.js#all@1708");
		return this.#entries.filter((entry) => (globalThis.__t?.("memory/arrival-list.js#anonymous@1743"),(entry !== void 0)));
	}
	/** Where a place stands, or would. */
	#indexOf(place) {globalThis.__t?.("memory/arrival-list.js#indexOf@1825");
		const places = this.#places;
		let high = places.length;
		if (high === 0 || place > places[high - 1]) return high;
		const guess = place - places[0];
		if (places[guess] === place) return guess;
		let low = 0;
		while (low < high) {
			const middle = low + high >> 1;
			if (places[middle] < place) low = middle + 1;
			else high = middle;
		}
		return low;
	}
	#close() {globalThis.__t?.("memory/arrival-list.js#close@2206");
		this.#entries = this.all();
		this.#places = this.all().map(({ place }) => (globalThis.__t?.("memory/arrival-list.js#anonymous@2273"),(place)));
		this.#holes = 0;
	}
};
export { ArrivalList };
