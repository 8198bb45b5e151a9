import { readable, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { UsageError } from "../kernel/errors.js";
import { Deque } from "../kernel/deque.js";
import { lazily } from "../kernel/lazily.js";
import { valueText } from "../kernel/value-text.js";
import { ChatMessage, joinMessages, parseChatMessage } from "../model/chat-message.js";
import { ChatList, ChatUnit, NO_ANSWER, weightOf } from "./chat-unit.js";
import { estimatedTokens, messageTokens } from "./tokens.js";
import { z } from "zod";
// ../../work/wt/lead/src/memory/chat-memory.ts
const chatMemoryOptions = {
	maxMessages: true,
	maxTokens: true,
	pinned: true,
	tokens: true,
	trim: true
};
const addOptions = { pin: true };
const jsonSchema = lazily(() => (globalThis.__t?.("memory/chat-memory.js#jsonSchema@782"),(z.object({
	maxMessages: z.number().int().min(1).optional(),
	maxTokens: z.number().int().min(1).optional(),
	trim: z.enum(["always", "on_add"]),
	units: z.array(z.object({
		messages: z.array(z.unknown()).min(1),
		pinned: z.literal(true).optional()
	}))
}))));
/**
* The window of a conversation with a model: the newest messages within a limit of count and of tokens, in order of arrival.
*
* It owns what is kept; whether calls wait for answers is their unit's business, and what a request finally holds, the agent's.
*
* H1 an assistant's calls and their answers are kept or dropped together, so no answer ever stands without its call. An answer stands with
* its call, whenever it came. H2 calls that were not answered when the conversation went on are answered by words that say so; those at the
* end wait. H3 pinned messages are never dropped, nor is the newest unit, however large: with these exceptions the limits hold after each
* `add`, and after each `addAll` unless `trim` says "on_add". H4 `add` is O(1) amortised, and `messages` is one copy of a list that is kept up
* as messages come and go. H5 lists that are given out are the caller's own, and messages are frozen.
*/
var ChatMemory = class ChatMemory {
	maxMessages;
	maxTokens;
	trim;
	#tokens;
	/** What may be dropped, the oldest first. */
	#units = new Deque();
	#pinned = [];
	/** The newest unit that waits for an answer of an id. */
	#open = /* @__PURE__ */ new Map();
	#newest;
	/** The messages of all units before the newest one. */
	#settled = new ChatList(() => (globalThis.__t?.("memory/chat-memory.js#settled@2326"),([...this.#kept()].flatMap((unit) => (globalThis.__t?.("memory/chat-memory.js#anonymous@2358"),(unit === this.#newest ? [] : unit.messages(true)))))));
	#places = 0;
	#size = 0;
	#sum = 0;
	/** Tokens of the words that answer a call which waits. */
	#standIn;
	/** @throws UsageError `LIMIT_INVALID` for limits that are none; `CHAT_MESSAGE_INVALID` for pinned messages that are none. */
	constructor(options = {}) {globalThis.__t?.("memory/chat-memory.js#constructor@2667");
		checkKnownOptions("new ChatMemory", options, chatMemoryOptions);
		const { maxMessages = 100, maxTokens, trim = "always", tokens = estimatedTokens, pinned } = options;
		if (maxMessages !== Infinity) checkLimit("maxMessages", maxMessages);
		if (maxTokens !== void 0 && maxTokens !== Infinity) checkLimit("maxTokens", maxTokens);
		if (trim !== "always" && trim !== "on_add") throw new UsageError("LIMIT_INVALID", `Expected trim to be "always" or "on_add", got ${valueText(trim)}.`);
		this.maxMessages = maxMessages;
		this.maxTokens = maxTokens;
		this.trim = trim;
		this.#tokens = tokens;
		this.#standIn = this.#count(ChatMessage.tool({
			content: NO_ANSWER,
			name: "",
			toolCallId: ""
		}));
		for (const message of asMessages(pinned)) this.#take(message, true);
	}
	/** All that is kept. What a model can be sent: see H1 and H2. */
	get messages() {globalThis.__t?.("memory/chat-memory.js#messages get@3543");
		return this.#settled.with(this.#newest?.messages(false) ?? []);
	}
	/** The sum over {@link messages} of a measure, such as their tokens: kept up as messages come and go, for one measure at a time. */
	weigh(measure) {globalThis.__t?.("memory/chat-memory.js#weigh@3757");
		return this.#settled.weigh(measure) + weightOf(this.#newest?.messages(false) ?? [], measure);
	}
	/** How many messages are kept, calls that wait counted as answered. */
	get size() {globalThis.__t?.("memory/chat-memory.js#size get@3950");
		return this.#size;
	}
	/** Their tokens, 0 where no limit asks for them. */
	get tokens() {globalThis.__t?.("memory/chat-memory.js#tokens get@4044");
		return this.#sum;
	}
	/**
	* Puts a message at the end, or an answer to its call. False for an answer without a call that waits for it: it was dropped, was
	* answered, or never was; no server takes such an answer, and it is not kept.
	*
	* @throws UsageError `CHAT_MESSAGE_INVALID` for what is no chat message.
	*/
	add(message, o = {}) {globalThis.__t?.("memory/chat-memory.js#add@4371");
		checkKnownOptions("add", o, addOptions);
		const isTaken = this.#take(message, o.pin === true);
		this.#drop();
		return isTaken;
	}
	/** Puts messages at the end; gives back how many were taken. */
	addAll(messages) {globalThis.__t?.("memory/chat-memory.js#addAll@4599");
		const taken = [...messages].map(parseChatMessage).filter((message) => (globalThis.__t?.("memory/chat-memory.js#taken@4671"),(this.#take(message, false)))).length;
		if (this.trim === "always") this.#drop();
		return taken;
	}
	/**
	* The newest messages, at most `n`, calls with all of their answers or not at all. `recent(0)` is none.
	*
	* @throws RangeError for an `n` that is no whole number of 0 or more.
	*/
	recent(n) {globalThis.__t?.("memory/chat-memory.js#recent@4978");
		if (!Number.isInteger(n) || n < 0) throw new RangeError(`Expected a whole number of 0 or more messages, got ${n}.`);
		const units = [...this.#kept()].map((unit) => (globalThis.__t?.("memory/chat-memory.js#units@5141"),(unit.messages(unit !== this.#newest))));
		let count = 0;
		let from = units.length;
		while (from > 0 && count + (units[from - 1]?.length ?? 0) <= n) {
			from -= 1;
			count += units[from]?.length ?? 0;
		}
		return units.slice(from).flat();
	}
	/** Forgets everything, pinned messages too. */
	clear() {globalThis.__t?.("memory/chat-memory.js#clear@5451");
		this.#units = new Deque();
		this.#pinned.length = 0;
		this.#open.clear();
		this.#newest = void 0;
		this.#settled.clear();
		this.#size = 0;
		this.#sum = 0;
	}
	toJSON() {globalThis.__t?.("memory/chat-memory.js#toJSON@5629");
		const units = [...this.#kept()].map((unit) => ((globalThis.__t?.("memory/chat-memory.js#units@5672"),({
			messages: unit.messages(false),
			...unit.isPinned ? { pinned: true } : {}
		}))));
		return {
			...this.maxMessages === Infinity ? {} : { maxMessages: this.maxMessages },
			...this.maxTokens === void 0 || this.maxTokens === Infinity ? {} : { maxTokens: this.maxTokens },
			trim: this.trim,
			units
		};
	}
	/**
	* A memory as {@link toJSON} gave it, also after it was written and read.
	*
	* @throws UsageError `CHAT_MEMORY_INVALID` for anything else.
	*/
	static fromJSON(json, o = {}) {globalThis.__t?.("memory/chat-memory.js#fromJSON@6164");
		takes("ChatMemory.fromJSON", "json", json, readable);
		const parsed = jsonSchema().safeParse(json);
		if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
		const { units, maxMessages = Infinity, maxTokens, trim } = parsed.data;
		const memory = new ChatMemory({
			...o,
			maxMessages,
			maxTokens,
			trim
		});
		for (const { messages, pinned = false } of units) if (!messages.map(parseChatMessage).every((message, index) => {globalThis.__t?.("memory/chat-memory.js#anonymous@6608");
			if (index === 0) return message.role !== "tool" && memory.#take(message, pinned);
			return memory.#newest?.waitsFor(message.toolCallId ?? "") === true && memory.#take(message, pinned);
		})) throw invalid("its messages are not in units of calls and their answers");
		return memory;
	}
	/** Messages and lists of messages as one list that no limit applies to. */
	static concat(...parts) {globalThis.__t?.("memory/chat-memory.js#concat@7011");
		return joinMessages(...parts);
	}
	/** False for an answer that nothing waits for. */
	#take(message, isPinned) {globalThis.__t?.("memory/chat-memory.js#take@7118");
		const own = parseChatMessage(message);
		const tokens = this.#count(own);
		if (own.role === "tool") return this.#answer(own, tokens);
		const calls = own.toolCalls?.length ?? 0;
		const unit = new ChatUnit(own, isPinned, this.#places++);
		unit.tokens = tokens + calls * this.#standIn;
		if (isPinned) this.#pinned.push(unit);
		else this.#units.push(unit);
		for (const id of unit.openIds) this.#open.set(id, unit);
		if (this.#newest !== void 0) this.#settled.push(this.#newest.messages(true));
		this.#newest = unit;
		this.#size += unit.size;
		this.#sum += unit.tokens;
		return true;
	}
	#answer(message, tokens) {globalThis.__t?.("memory/chat-memory.js#answer@7744");
		const id = message.toolCallId ?? "";
		const unit = this.#open.get(id);
		if (unit === void 0) return false;
		unit.answer(message);
		if (unit !== this.#newest) this.#settled.change();
		if (!unit.waitsFor(id)) this.#open.delete(id);
		unit.tokens += tokens - this.#standIn;
		this.#sum += tokens - this.#standIn;
		return true;
	}
	#drop() {globalThis.__t?.("memory/chat-memory.js#drop@8105");
		while (this.#size > this.maxMessages || this.#sum > (this.maxTokens ?? Infinity)) {
			const oldest = this.#units.at(0);
			if (oldest === void 0 || oldest === this.#newest) return;
			this.#units.shift();
			this.#settled.remove(oldest.size, () => (globalThis.__t?.("memory/chat-memory.js#anonymous@8355"),(this.#pinnedBefore(oldest))));
			this.#size -= oldest.size;
			this.#sum -= oldest.tokens;
			for (const id of oldest.openIds) if (this.#open.get(id) === oldest) this.#open.delete(id);
		}
	}
	#pinnedBefore({ place }) {globalThis.__t?.("memory/chat-memory.js#pinnedBefore@8566");
		return this.#pinned.reduce((sum, pinned) => (globalThis.__t?.("memory/chat-memory.js#anonymous@8609"),(pinned.place < place ? sum + pinned.size : sum)), 0);
	}
	/** Both lists are in order of arrival. */
	*#kept() {globalThis.__t?.("memory/chat-memory.js#kept@8732");
		let next = 0;
		for (const unit of this.#units) {
			for (let pinned = this.#pinned[next]; pinned !== void 0 && pinned.place < unit.place; pinned = this.#pinned[++next]) yield pinned;
			yield unit;
		}
		yield* this.#pinned.slice(next);
	}
	#count(message) {globalThis.__t?.("memory/chat-memory.js#count@8987");
		return this.maxTokens === void 0 ? 0 : messageTokens(message, this.#tokens);
	}
};
function checkLimit(name, limit) {globalThis.__t?.("memory/chat-memory.js#checkLimit@9084");
	if (Number.isSafeInteger(limit) && limit >= 1) return;
	throw new UsageError("LIMIT_INVALID", `Expected ${name} to be a whole number of 1 or more, got ${valueText(limit)}. Use Infinity for no limit.`);
}
function invalid(why) {globalThis.__t?.("memory/chat-memory.js#invalid@9324");
	return new UsageError("CHAT_MEMORY_INVALID", `Expected a chat memory as JSON, got something else: ${why.slice(0, 500)}`);
}
function asMessages(pinned) {globalThis.__t?.("memory/chat-memory.js#asMessages@9473");
	if (pinned === void 0) return [];
	if (typeof pinned === "string") return [ChatMessage.user(pinned)];
	return Array.isArray(pinned) ? pinned : [pinned];
}
export { ChatMemory };
