// ../../work/wt/lead/src/memory/message-log.ts
/** A list with fewer holes than this is not compacted. */
const FEW_HOLES = 32;
/**
* The messages of a memory in order of arrival. Each keeps its position while it is held; a deleted one leaves a hole.
*
* Owns order and positions. Its memory knows which messages are equal.
*
* MessageLog.L1 (`push`) positions grow in order of arrival. MessageLog.L2 (`drop`, `isMostlyHoles`) `push`, `at` and `drop` are O(1) amortised: holes
* at the ends are trimmed, and the memory rebuilds a log that is mostly holes. MessageLog.L3 (`drop`) a position is used again only after it
* and all later ones were dropped.
*/
var MessageLog = class {
	#slots = [];
	/** Position of slot 0. */
	#offset = 0;
	/** Slot of the oldest message. The slots before it are empty and are removed together. */
	#first = 0;
	#size = 0;
	get size() {globalThis.__t?.("memory/message-log.js#size get@864");
		return this.#size;
	}
	get isMostlyHoles() {globalThis.__t?.("memory/message-log.js#isMostlyHoles get@911");
		const holes = this.#slots.length - this.#first - this.#size;
		return holes > FEW_HOLES && holes > this.#size;
	}
	/** Appends a message and returns its position. */
	push(message) {globalThis.__t?.("memory/message-log.js#push@1089");
		this.#size++;
		if (this.#slots.length === 0) this.#slots = [message];
		else this.#slots.push(message);
		return this.#offset + this.#slots.length - 1;
	}
	/** Returns the message at a position, or undefined after it was dropped. */
	at(position) {globalThis.__t?.("memory/message-log.js#at@1340");
		const slot = position - this.#offset;
		return slot >= 0 ? this.#slots[slot] : void 0;
	}
	/** Returns the position of the newest message with a key. O(size). */
	newestWith(key, keyOf) {globalThis.__t?.("memory/message-log.js#newestWith@1528");
		const slot = this.#slots.findLastIndex((message) => (globalThis.__t?.("memory/message-log.js#slot@1584"),(message !== void 0 && keyOf(message) === key)));
		return slot === -1 ? void 0 : this.#offset + slot;
	}
	/** Removes the message at a position. */
	drop(position) {globalThis.__t?.("memory/message-log.js#drop@1748");
		this.#slots[position - this.#offset] = void 0;
		this.#size--;
		while (this.#slots.length > this.#first && this.#slots[this.#slots.length - 1] === void 0) this.#slots.pop();
		while (this.#first < this.#slots.length && this.#slots[this.#first] === void 0) this.#first++;
		if (this.#first > FEW_HOLES && this.#first * 2 > this.#slots.length) {
			this.#slots = this.#slots.slice(this.#first);
			this.#offset += this.#first;
			this.#first = 0;
		}
	}
	/** Returns the message at a place counted from the oldest, or from the end when negative. O(1) without holes. */
	nth(place) {globalThis.__t?.("memory/message-log.js#nth@2335");
		if (!Number.isInteger(place) || place >= this.#size || place < -this.#size) return void 0;
		if (this.#isDense) return this.#slots[place < 0 ? this.#slots.length + place : this.#first + place];
		const fromEnd = place < 0 ? -place - 1 : this.#size - place - 1;
		const fromStart = this.#size - fromEnd - 1;
		let left = Math.min(fromStart, fromEnd);
		for (const message of fromStart < fromEnd ? this.oldestFirst() : this.newestFirst()) if (left-- === 0) return message;
	}
	/** Returns the newest `k` messages in order of arrival. */
	newest(k) {globalThis.__t?.("memory/message-log.js#newest@2889");
		const from = k >= this.#size ? this.#first : this.#slots.length - k;
		if (k >= this.#size || this.#isDense) return this.#slots.slice(from).filter((message) => (globalThis.__t?.("memory/message-log.js#anonymous@3044"),(message !== void 0)));
		const messages = [];
		for (const message of this.newestFirst()) {
			if (messages.length === k) break;
			messages.push(message);
		}
		return messages.reverse();
	}
	forEach(visit) {globalThis.__t?.("memory/message-log.js#forEach@3255");
		this.#slots.forEach((message, slot) => {globalThis.__t?.("memory/message-log.js#anonymous@3287");
			if (message !== void 0) visit(message, this.#offset + slot);
		});
	}
	*oldestFirst() {globalThis.__t?.("memory/message-log.js#oldestFirst@3394");
		for (let position = this.#offset + this.#first; position < this.#offset + this.#slots.length; position++) {
			const message = this.at(position);
			if (message !== void 0) yield message;
		}
	}
	*newestFirst() {globalThis.__t?.("memory/message-log.js#newestFirst@3609");
		for (let position = this.#offset + this.#slots.length - 1; position >= this.#offset + this.#first; position--) {
			const message = this.at(position);
			if (message !== void 0) yield message;
		}
	}
	get #isDense() {globalThis.__t?.("memory/message-log.js#isDense get@3829");
		return this.#slots.length - this.#first === this.#size;
	}
};
export { MessageLog };
