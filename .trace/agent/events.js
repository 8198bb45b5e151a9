// ../../work/wt/lead/src/agent/events.ts
/**
* The events of one run, for any number of readers. It owns the events that late readers get.
*
* `EventLog.V1` every reader gets every event in order; pieces of text and of progress only go to readers that are there when they come
* (`add`, `read`). `EventLog.V2` the events that wait for a slow reader are bounded by the kept events and the run's own text: waiting
* pieces are joined (`Reader.add`). `EventLog.V3` a reader that stops reading does not hold up the run (`Reader.return`).
*/
var EventLog = class {
	#kinds;
	#kept = [];
	#readers = /* @__PURE__ */ new Set();
	#ended = false;
	constructor(kinds) {globalThis.__t?.("agent/events.js#constructor@651");
		this.#kinds = kinds;
	}
	add(event) {globalThis.__t?.("agent/events.js#add@691");
		if (this.#ended) return;
		if (!this.#kinds.isPassing(event)) this.#kept.push(event);
		for (const reader of this.#readers) reader.add(event);
	}
	end() {globalThis.__t?.("agent/events.js#end@853");
		this.#ended = true;
		for (const reader of this.#readers) reader.end();
		this.#readers.clear();
	}
	read() {globalThis.__t?.("agent/events.js#read@965");
		const reader = new Reader([...this.#kept], this.#kinds, (left) => (globalThis.__t?.("agent/events.js#reader@1028"),(this.#readers.delete(left))));
		if (this.#ended) reader.end();
		else this.#readers.add(reader);
		return reader;
	}
};
/** Pieces of text and progress are not kept. Text of one step is joined; of the progress of one call the newest counts. */
const agentEventKinds = {
	isPassing: ({ type }) => (globalThis.__t?.("agent/events.js#isPassing@1319"),(type === "text" || type === "text.void" || type === "call.progress")),
	join(first, second) {globalThis.__t?.("agent/events.js#join@1407");
		if (first.type === "text" && second.type === "text" && first.step === second.step) return {
			...first,
			text: first.text + second.text
		};
		return first.type === "call.progress" && second.type === "call.progress" && first.call === second.call ? second : void 0;
	}
};
var Reader = class {
	#waiting;
	#taken = 0;
	#ended = false;
	#wake = [];
	#kinds;
	#leave;
	constructor(waiting, kinds, leave) {globalThis.__t?.("agent/events.js#constructor@1806");
		this.#waiting = waiting;
		this.#kinds = kinds;
		this.#leave = leave;
	}
	add(event) {globalThis.__t?.("agent/events.js#add@1912");
		const last = this.#waiting.length > this.#taken ? this.#waiting.at(-1) : void 0;
		const joined = last === void 0 ? void 0 : this.#kinds.join(last, event);
		if (joined === void 0) this.#waiting.push(event);
		else this.#waiting[this.#waiting.length - 1] = joined;
		this.#wakeAll();
	}
	end() {globalThis.__t?.("agent/events.js#end@2215");
		this.#ended = true;
		this.#wakeAll();
	}
	async next() {globalThis.__t?.("agent/events.js#next@2275");
		for (;;) {
			const event = this.#take();
			if (event !== void 0) return {
				done: false,
				value: event
			};
			if (this.#ended) return {
				done: true,
				value: void 0
			};
			await new Promise((resolve) => {globalThis.__t?.("agent/events.js#anonymous@2488");
				this.#wake.push(resolve);
			});
		}
	}
	return() {globalThis.__t?.("agent/events.js#return@2554");
		this.#leave(this);
		this.#waiting = [];
		this.#taken = 0;
		this.end();
		return Promise.resolve({
			done: true,
			value: void 0
		});
	}
	#take() {globalThis.__t?.("agent/events.js#take@2709");
		const event = this.#waiting[this.#taken];
		if (event === void 0) return void 0;
		this.#taken++;
		if (this.#taken === this.#waiting.length) {
			this.#waiting = [];
			this.#taken = 0;
		}
		return event;
	}
	#wakeAll() {globalThis.__t?.("agent/events.js#wakeAll@2935");
		const wake = this.#wake;
		this.#wake = [];
		for (const resolve of wake) resolve();
	}
};
export { EventLog, agentEventKinds };
