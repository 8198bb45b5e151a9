// ../../work/wt/lead/src/kernel/deque.ts
const SMALLEST = 4;
/**
* A first-in, first-out line in a ring buffer.
*
* Owns the slots; what stands in line is its owner's business.
*
* DQ1 items leave in the order they came. DQ2 `push` and `shift` are O(1) amortised, however long the line is.
* DQ3 a slot that was left holds nothing, and a line that got short gives memory back.
*/
var Deque = class {
	#slots = [];
	#head = 0;
	#size = 0;
	/** How many items stand in line. */
	get size() {globalThis.__t?.("kernel/deque.js#size get@486");
		return this.#size;
	}
	/** Puts an item at the end. */
	push(item) {globalThis.__t?.("kernel/deque.js#push@553");
		if (this.#size === this.#slots.length) this.#resize(Math.max(SMALLEST, this.#size * 2));
		const slots = this.#slots;
		slots[this.#head + this.#size & slots.length - 1] = item;
		this.#size++;
	}
	/** Takes the first item, or `undefined` from an empty line. */
	shift() {globalThis.__t?.("kernel/deque.js#shift@832");
		if (this.#size === 0) return void 0;
		const item = this.#slots[this.#head];
		this.#slots[this.#head] = void 0;
		this.#head = this.#slotOf(1);
		this.#size--;
		if (this.#slots.length > SMALLEST && this.#size * 4 <= this.#slots.length) this.#resize(this.#slots.length / 2);
		return item;
	}
	/** The item at a place in line, 0 being the first; `undefined` outside. */
	at(place) {globalThis.__t?.("kernel/deque.js#at@1213");
		return place >= 0 && place < this.#size ? this.#slots[this.#slotOf(place)] : void 0;
	}
	/** The first `n` items, or all there are. */
	first(n) {globalThis.__t?.("kernel/deque.js#first@1366");
		const end = this.#head + Math.min(n, this.#size);
		const items = this.#slots.slice(this.#head, end);
		const { length } = this.#slots;
		return end > length ? items.concat(this.#slots.slice(0, end - length)) : items;
	}
	/** Whether one of the items is what is looked for. */
	some(isMeant) {globalThis.__t?.("kernel/deque.js#some@1656");
		for (let place = 0; place < this.#size; place++) if (isMeant(this.#slots[this.#slotOf(place)])) return true;
		return false;
	}
	/** The items in the order they would leave. Items that come during the walk are seen too. */
	*[Symbol.iterator]() {globalThis.__t?.("kernel/deque.js#Deque@1912");
		for (let place = 0; place < this.#size; place++) yield this.#slots[this.#slotOf(place)];
	}
	/** Lengths are powers of two, so that the ring closes by a mask. */
	#slotOf(place) {globalThis.__t?.("kernel/deque.js#slotOf@2089");
		return this.#head + place & this.#slots.length - 1;
	}
	/** Those in line are copied together: in a process that just began, one after another takes longer than all else that they go through. */
	#resize(length) {globalThis.__t?.("kernel/deque.js#resize@2304");
		const slots = this.first(this.#size);
		while (slots.length < length) slots.push(void 0);
		this.#slots = slots;
		this.#head = 0;
	}
};
export { Deque };
