import { Deque } from "../kernel/deque.js";
// ../../work/wt/lead/src/message/priority-lanes.ts
/**
* Items in order of priority, and in order of arrival within one priority: a ring buffer for each priority in use, and a binary
* heap of those.
*
* L1 smaller numbers first, equal numbers first come, first served. L2 with p priorities in use `push` and `shift` are O(log p)
* at worst, O(1) as long as no priority comes into use or out of it. L3 a priority nobody waits under costs nothing, but for the one that
* went out of use last: it is likely to be the next one.
*/
var PriorityLanes = class {
	/** A heap: the lane at n is at least as urgent as those at 2n + 1 and 2n + 2. No lane in it is empty. */
	#heap = [];
	/** Of all in the heap when there are several; one alone is found without it. */
	#byPriority;
	/** Empty, and not in the heap. */
	#spare;
	#size = 0;
	get size() {globalThis.__t?.("message/priority-lanes.js#size get@883");
		return this.#size;
	}
	/** Whether one of the items is what is looked for. O(items). */
	some(isMeant) {globalThis.__t?.("message/priority-lanes.js#some@983");
		return this.#heap.some(({ line }) => (globalThis.__t?.("message/priority-lanes.js#anonymous@1020"),(line.some(isMeant))));
	}
	push(item, priority) {globalThis.__t?.("message/priority-lanes.js#push@1063");
		const first = this.#heap[0];
		(first?.priority === priority ? first : this.#byPriority?.get(priority) ?? this.#open(priority)).line.push(item);
		this.#size += 1;
	}
	/** The first `n` items in the order they would leave. */
	first(n) {globalThis.__t?.("message/priority-lanes.js#first@1316");
		const [only] = this.#heap;
		if (this.#heap.length === 1 && only !== void 0) return only.line.first(n);
		const items = [];
		if (n === 0) return items;
		for (const { item } of this.inOrder()) if (items.push(item) === n) break;
		return items;
	}
	shift() {globalThis.__t?.("message/priority-lanes.js#shift@1578");
		const lane = this.#heap[0];
		if (lane === void 0) return void 0;
		const item = lane.line.shift();
		this.#size -= 1;
		if (lane.line.size === 0) this.#closeFirst(lane);
		return item;
	}
	/** Items with their priorities, in the order they would leave. O(p log p) to start. */
	*inOrder() {globalThis.__t?.("message/priority-lanes.js#inOrder@1872");
		const lanes = this.#heap.toSorted((a, b) => (globalThis.__t?.("message/priority-lanes.js#lanes@1913"),(a.priority - b.priority)));
		for (const { priority, line } of lanes) for (const item of line) yield {
			item,
			priority
		};
	}
	#open(priority) {globalThis.__t?.("message/priority-lanes.js#open@2059");
		const lane = this.#spare?.priority === priority ? this.#spare : {
			priority,
			line: new Deque()
		};
		this.#spare = void 0;
		const [other] = this.#heap;
		if (other !== void 0) (this.#byPriority ??= /* @__PURE__ */ new Map()).set(other.priority, other).set(priority, lane);
		let place = this.#heap.push(lane) - 1;
		while (place > 0) {
			const above = place - 1 >> 1;
			if (!this.#isMoreUrgent(place, above)) break;
			this.#swap(place, above);
			place = above;
		}
		return lane;
	}
	#closeFirst(lane) {globalThis.__t?.("message/priority-lanes.js#closeFirst@2580");
		this.#spare = lane;
		this.#byPriority?.delete(lane.priority);
		if (this.#heap.length === 1) return void this.#heap.pop();
		this.#swap(0, this.#heap.length - 1);
		this.#heap.pop();
		let place = 0;
		for (;;) {
			let urgent = place;
			if (this.#isMoreUrgent(2 * place + 1, urgent)) urgent = 2 * place + 1;
			if (this.#isMoreUrgent(2 * place + 2, urgent)) urgent = 2 * place + 2;
			if (urgent === place) return;
			this.#swap(place, urgent);
			place = urgent;
		}
	}
	#isMoreUrgent(place, than) {globalThis.__t?.("message/priority-lanes.js#isMoreUrgent@3079");
		const one = this.#heap[place];
		const other = this.#heap[than];
		return one !== void 0 && other !== void 0 && one.priority < other.priority;
	}
	#swap(one, other) {globalThis.__t?.("message/priority-lanes.js#swap@3249");
		const kept = this.#heap[one];
		this.#heap[one] = this.#heap[other];
		this.#heap[other] = kept;
	}
};
export { PriorityLanes };
