// ../../work/wt/lead/src/memory/message-index.ts
/** A list with fewer positions of dropped messages than this is not compacted. */
const FEW_DROPPED = 8;
/**
* The positions in a log of the messages of each key.
*
* Owns the lists of positions; the log owns the messages.
*
* MessageIndex.I1 (`positionsOf`) a list is in order of arrival and holds exactly the messages that the log holds. MessageIndex.I2 (`remove`) a
* query adds no key, and a key is removed with its last message. MessageIndex.I3 (`FEW_DROPPED`) `add`, `remove` and `newest` are O(1)
* amortised, and `positionsOf` is O(result).
*/
var MessageIndex = class {
	#log;
	#keyOf;
	#postings = /* @__PURE__ */ new Map();
	/** Indexes the messages of the log. O(log). */
	constructor(log, keyOf) {globalThis.__t?.("memory/message-index.js#constructor@747");
		this.#log = log;
		this.#keyOf = keyOf;
		log.forEach((message, position) => (globalThis.__t?.("memory/message-index.js#anonymous@818"),(this.add(message, position))));
	}
	/** Indexes a message that was just added to the log. */
	add(message, position) {globalThis.__t?.("memory/message-index.js#add@936");
		const key = this.#keyOf(message);
		const postings = this.#postings.get(key);
		if (postings === void 0) this.#postings.set(key, {
			positions: [position],
			dropped: 0
		});
		else postings.positions.push(position);
	}
	/** Removes a message that the log just dropped. */
	remove(message) {globalThis.__t?.("memory/message-index.js#remove@1242");
		const key = this.#keyOf(message);
		const postings = this.#postings.get(key);
		if (postings === void 0) return;
		const { positions } = postings;
		postings.dropped++;
		if (postings.dropped === positions.length) {
			this.#postings.delete(key);
			return;
		}
		while (!this.#isHeld(positions[positions.length - 1])) {
			positions.pop();
			postings.dropped--;
		}
		if (postings.dropped > FEW_DROPPED && postings.dropped * 2 > positions.length) this.#postings.set(key, {
			positions: positions.filter((position) => (globalThis.__t?.("memory/message-index.js#positions@1762"),(this.#isHeld(position)))),
			dropped: 0
		});
	}
	/** Returns the positions of a key in order of arrival, in a new array. */
	positionsOf(key) {globalThis.__t?.("memory/message-index.js#positionsOf@1912");
		return (this.#postings.get(key)?.positions ?? []).filter((position) => (globalThis.__t?.("memory/message-index.js#anonymous@1979"),(this.#isHeld(position))));
	}
	newest(key) {globalThis.__t?.("memory/message-index.js#newest@2028");
		const position = this.#postings.get(key)?.positions.at(-1);
		return position === void 0 ? void 0 : this.#log.at(position);
	}
	#isHeld(position) {globalThis.__t?.("memory/message-index.js#isHeld@2173");
		return position !== void 0 && this.#log.at(position) !== void 0;
	}
};
export { MessageIndex };
