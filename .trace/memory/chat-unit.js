import { ChatMessage } from "../model/chat-message.js";
// ../../work/wt/lead/src/memory/chat-unit.ts
/** What stands where a call was never answered: servers refuse a call without an answer. The call may have run before its answer was lost. */
const NO_ANSWER = "(no result: the call was cut off. Nobody knows whether it has run; look before you call it again)";
/**
* What is kept or dropped as a whole: one message, or an assistant's calls of tools with their answers. It owns which calls wait.
*
* U1 answers stand in the order of the calls, whenever they came. U2 its size counts every call as answered, so it does not grow.
*/
var ChatUnit = class {
	head;
	isPinned;
	/** How many units came before it. */
	place;
	#answers;
	/** Places of the calls that wait, by id, the last first. */
	#waiting;
	/** Of all its messages. */
	tokens = 0;
	constructor(head, isPinned, place) {globalThis.__t?.("memory/chat-unit.js#constructor@859");
		this.head = head;
		this.isPinned = isPinned;
		this.place = place;
		const ids = (head.toolCalls ?? []).map((call) => (globalThis.__t?.("memory/chat-unit.js#ids@996"),(call.id)));
		this.#answers = ids.map(() => (globalThis.__t?.("memory/chat-unit.js#anonymous@1042"),(void 0)));
		this.#waiting = ids.length === 0 ? void 0 : placesOf(ids);
	}
	/** How many messages it is. */
	get size() {globalThis.__t?.("memory/chat-unit.js#size get@1163");
		return 1 + this.#answers.length;
	}
	/** The ids of calls that have no answer. */
	get openIds() {globalThis.__t?.("memory/chat-unit.js#openIds get@1264");
		return this.#waiting?.keys() ?? [];
	}
	waitsFor(id) {globalThis.__t?.("memory/chat-unit.js#waitsFor@1319");
		return this.#waiting?.has(id) === true;
	}
	/** Takes the answer to a call that waits. */
	answer(message) {globalThis.__t?.("memory/chat-unit.js#answer@1425");
		const id = message.toolCallId ?? "";
		const places = this.#waiting?.get(id);
		const place = places?.pop();
		if (place === void 0) return;
		this.#answers[place] = message;
		if (places?.length === 0) this.#waiting?.delete(id);
	}
	/** Its messages; calls that wait are given an answer that says so when `isClosed`. */
	messages(isClosed) {globalThis.__t?.("memory/chat-unit.js#messages@1769");
		if (this.#waiting === void 0) return [this.head];
		const all = [this.head];
		const calls = this.head.toolCalls ?? [];
		for (let place = 0; place < calls.length; place++) {
			const answer = this.#answers[place] ?? (isClosed ? noAnswer(calls[place]) : void 0);
			if (answer !== void 0) all.push(answer);
		}
		return all;
	}
};
function noAnswer({ id, function: { name } }) {globalThis.__t?.("memory/chat-unit.js#noAnswer@2115");
	return ChatMessage.tool({
		content: NO_ANSWER,
		name,
		toolCallId: id
	});
}
function placesOf(ids) {globalThis.__t?.("memory/chat-unit.js#placesOf@2244");
	const places = /* @__PURE__ */ new Map();
	for (let place = ids.length - 1; place >= 0; place--) {
		const id = ids[place];
		const known = places.get(id);
		if (known === void 0) places.set(id, [place]);
		else known.push(place);
	}
	return places;
}
/** A longer list is put together anew when its oldest messages leave, so that what leaving costs is bounded. */
const LONGEST_MOVED = 4096;
/**
* The messages of a conversation as one list that is kept up as messages come and go. It owns the list, which may have to be put together
* anew before it is read, and the sum of one measure over it.
*
* CL1 coming and leaving cost no more in a long list than in a short one. CL2 the sum is that of the list, whatever came and left. CL3 what comes
* and leaves does so whatever the measure says.
*/
var ChatList = class {
	#anew;
	#messages = [];
	#weighed;
	/** @param anew puts the list together from what its owner keeps */
	constructor(anew) {globalThis.__t?.("memory/chat-unit.js#constructor@3206");
		this.#anew = anew;
	}
	push(messages) {globalThis.__t?.("memory/chat-unit.js#push@3244");
		const list = this.#messages;
		if (list === void 0) return;
		for (const message of messages) list.push(message);
		this.#reweigh(messages, 1);
	}
	/** Takes messages out; how many stand before them is asked only where it is needed. */
	remove(count, before) {globalThis.__t?.("memory/chat-unit.js#remove@3502");
		if (this.#messages === void 0) return;
		if (this.#messages.length > LONGEST_MOVED) return this.change();
		this.#reweigh(this.#messages.splice(before(), count), -1);
	}
	/** It is no longer what it was, in another way than these. */
	change() {globalThis.__t?.("memory/chat-unit.js#change@3763");
		this.#messages = void 0;
		this.#weighed = void 0;
	}
	clear() {globalThis.__t?.("memory/chat-unit.js#clear@3830");
		this.#messages = [];
		this.#weighed = void 0;
	}
	/** All of them and some more: the caller's own array. */
	with(more) {globalThis.__t?.("memory/chat-unit.js#with@3951");
		return this.#list().concat(more);
	}
	weigh(measure) {globalThis.__t?.("memory/chat-unit.js#weigh@4005");
		if (this.#weighed?.measure !== measure) this.#weighed = {
			measure,
			sum: weightOf(this.#list(), measure)
		};
		return this.#weighed.sum;
	}
	/** A measure that throws is heard by whoever weighs the list, not by whoever changes it. */
	#reweigh(messages, sign) {globalThis.__t?.("memory/chat-unit.js#reweigh@4268");
		if (this.#weighed === void 0) return;
		try {
			this.#weighed.sum += sign * weightOf(messages, this.#weighed.measure);
		} catch {
			this.#weighed = void 0;
		}
	}
	#list() {globalThis.__t?.("memory/chat-unit.js#list@4461");
		this.#messages ??= [...this.#anew()];
		return this.#messages;
	}
};
/** The sum of a measure. */
function weightOf(messages, measure) {globalThis.__t?.("memory/chat-unit.js#weightOf@4566");
	let sum = 0;
	for (const message of messages) sum += measure(message);
	return sum;
}
export { ChatList, ChatUnit, NO_ANSWER, weightOf };
