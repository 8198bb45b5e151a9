import { readable, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { UsageError } from "../kernel/errors.js";
import { ChatMemory } from "../memory/chat-memory.js";
import { ChatMessage, parseChatMessage } from "../model/chat-message.js";
import { ToolCollection } from "../tool/tool-collection.js";
import { openCalls } from "./agent-memory.js";
import { isRemark } from "./remarks.js";
import { wholeTextAction } from "./text-action.js";
import { z } from "zod";
// ../../work/wt/lead/src/agent/messages-memory.ts
const messagesMemoryOptions = {
	tools: true,
	messages: true
};
const WINDOW = 1e3;
const NO_PINS = /* @__PURE__ */ new Set();
/** Characters of a goal by which it is recognized when it comes back shortened. */
const RECOGNIZED = 40;
/**
* An agent's memory as a list of messages. It owns the goal, the next action and the notes of nets; the {@link ChatMemory} owns the
* messages.
*
* `MessagesMemory.G1` the goal stays in its place and is never dropped; an earlier goal is a message like others (`setGoal`, `rewrite`).
* `MessagesMemory.G2` a new goal forgets the answer, the action and the notes of the earlier one (`setGoal`). `MessagesMemory.G3` a record
* read back goes on: calls without a result are the next action (`from`).
*/
var MessagesMemory = class MessagesMemory {
	tools;
	done = false;
	nextAction;
	answer;
	#chat;
	/** Messages that were pinned in the given window. */
	#pins;
	#goal;
	#notes;
	constructor(options = {}) {globalThis.__t?.("agent/messages-memory.js#constructor@1504");
		checkKnownOptions("new MessagesMemory", options, messagesMemoryOptions);
		const { tools = [], messages } = options;
		this.tools = tools instanceof ToolCollection ? tools : new ToolCollection(tools);
		this.#chat = messages instanceof ChatMemory ? messages : new ChatMemory({
			maxMessages: WINDOW,
			...messages
		});
		this.#pins = this.#chat.size === 0 ? NO_PINS : pinsOf(this.#chat);
	}
	/** The window itself. */
	get chat() {globalThis.__t?.("agent/messages-memory.js#chat get@1953");
		return this.#chat;
	}
	setGoal(goal) {globalThis.__t?.("agent/messages-memory.js#setGoal@1990");
		if (this.#goal !== void 0) this.#fill(this.#chat.messages, void 0);
		this.#goal = ChatMessage.user(goal);
		this.#chat.add(this.#goal, { pin: true });
		this.done = false;
		this.nextAction = void 0;
		this.answer = void 0;
		this.#notes = void 0;
		return Promise.resolve();
	}
	update(messages) {globalThis.__t?.("agent/messages-memory.js#update@2288");
		this.#chat.addAll(messages);
		return Promise.resolve();
	}
	goal() {globalThis.__t?.("agent/messages-memory.js#goal@2368");
		return Promise.resolve(this.#goal === void 0 ? [] : [this.#goal]);
	}
	dump() {globalThis.__t?.("agent/messages-memory.js#dump@2450");
		return Promise.resolve(this.#chat.messages);
	}
	/** NaN when a subclass overrides {@link dump}. */
	weigh(measure) {globalThis.__t?.("agent/messages-memory.js#weigh@2563");
		return this.dump === MessagesMemory.prototype.dump ? this.#chat.weigh(measure) : NaN;
	}
	rewrite(messages) {globalThis.__t?.("agent/messages-memory.js#rewrite@2674");
		const isGoal = (message) => (globalThis.__t?.("agent/messages-memory.js#isGoal@2704"),(isSameGoal(message, this.#goal)));
		const found = messages.findLast(isGoal);
		const goal = found ?? this.#goal;
		this.#goal = goal;
		this.#fill(goal === void 0 || found !== void 0 ? messages : [goal, ...messages], goal);
		return Promise.resolve();
	}
	note(key) {globalThis.__t?.("agent/messages-memory.js#note@2976");
		return Promise.resolve(this.#notes?.get(key));
	}
	setNote(key, value) {globalThis.__t?.("agent/messages-memory.js#setNote@3044");
		this.#notes ??= /* @__PURE__ */ new Map();
		this.#notes.set(key, value);
		return Promise.resolve();
	}
	listTools() {globalThis.__t?.("agent/messages-memory.js#listTools@3176");
		return JSON.stringify(this.tools.specs);
	}
	getTool(name) {globalThis.__t?.("agent/messages-memory.js#getTool@3235");
		return this.tools.get(name);
	}
	/** All but the tools, as plain JSON. */
	toJSON() {globalThis.__t?.("agent/messages-memory.js#toJSON@3327");
		const { done, nextAction, answer } = this;
		const state = {
			goal: this.#chat.messages.findLastIndex((message) => (globalThis.__t?.("agent/messages-memory.js#goal@3438"),(isSameGoal(message, this.#goal)))),
			messages: this.#chat.messages,
			done,
			nextAction,
			answer,
			notes: Object.fromEntries(this.#notes ?? [])
		};
		return JSON.parse(JSON.stringify(state));
	}
	/**
	* A memory from {@link toJSON}.
	*
	* @throws UsageError `AGENT_MEMORY_INVALID`
	*/
	static fromJSON(json, o = {}) {globalThis.__t?.("agent/messages-memory.js#fromJSON@3760");
		takes("MessagesMemory.fromJSON", "json", json, readable);
		const parsed = MemoryShape.safeParse(json);
		if (!parsed.success) throw new UsageError("AGENT_MEMORY_INVALID", `Expected a memory as toJSON gives it, got something else: ${z.prettifyError(parsed.error)}`);
		const { goal, messages, done, nextAction, answer, notes } = parsed.data;
		const memory = new MessagesMemory(o);
		memory.#take(messages.map(parseChatMessage), goal);
		memory.done = done;
		memory.nextAction = nextAction;
		memory.answer = answer;
		for (const [key, value] of Object.entries(notes)) memory.setNote(key, value);
		return memory;
	}
	/**
	* A memory from a record of messages, as {@link dump} returns it: work under way goes on, and an answered task stays answered. The goal is
	* the user's last message. A record has no notes of nets: see {@link fromJSON}.
	*/
	static from(record, o = {}) {globalThis.__t?.("agent/messages-memory.js#from@4639");
		const memory = new MessagesMemory(o);
		takes("MessagesMemory.from", "record", record, {
			says: "a list of chat messages",
			fits: Array.isArray
		});
		const messages = record.map(parseChatMessage);
		memory.#take(messages, messages.findLastIndex((message) => (globalThis.__t?.("agent/messages-memory.js#anonymous@4911"),(message.role === "user" && !isRemark(message)))));
		memory.#resume(record);
		return memory;
	}
	#take(messages, goal) {globalThis.__t?.("agent/messages-memory.js#take@5025");
		this.#goal = messages[goal];
		this.#fill(messages, this.#goal);
	}
	#resume(record) {globalThis.__t?.("agent/messages-memory.js#resume@5122");
		const calls = openCalls(record);
		if (calls.length > 0) {
			this.nextAction = {
				calls,
				form: "native"
			};
			return;
		}
		const last = record.at(-1);
		if (last?.role === "tool") this.#endBy(last);
		if (last?.role !== "assistant") return;
		const written = wholeTextAction(last.content ?? "", (name) => (globalThis.__t?.("agent/messages-memory.js#written@5442"),(this.tools.find(name) !== void 0)));
		if (written.kind === "calls") this.nextAction = {
			calls: written.calls,
			form: "text"
		};
		if (written.kind === "answer") this.#answered(written.text);
	}
	#endBy({ name = "", content = "" }) {globalThis.__t?.("agent/messages-memory.js#endBy@5658");
		if (this.tools.find(name)?.ends === true && !content.startsWith("Error: ")) this.#answered(content);
	}
	#answered(text) {globalThis.__t?.("agent/messages-memory.js#answered@5806");
		this.answer = {
			text,
			status: "success"
		};
		this.done = true;
	}
	/** Replaces all messages, with one of them pinned. */
	#fill(messages, pinned) {globalThis.__t?.("agent/messages-memory.js#fill@5953");
		this.#chat.clear();
		for (const message of messages) this.#chat.add(message, { pin: message === pinned || this.#pins.size > 0 && this.#pins.has(JSON.stringify(message)) });
	}
};
function pinsOf(chat) {globalThis.__t?.("agent/messages-memory.js#pinsOf@6156");
	const pinned = chat.toJSON().units.flatMap((unit) => (globalThis.__t?.("agent/messages-memory.js#pinned@6224"),(unit.pinned === true ? unit.messages : [])));
	return new Set(pinned.map((message) => (globalThis.__t?.("agent/messages-memory.js#anonymous@6305"),(JSON.stringify(message)))));
}
function isSameGoal(message, goal) {globalThis.__t?.("agent/messages-memory.js#isSameGoal@6347");
	if (goal === void 0 || message.role !== "user" || isRemark(message)) return false;
	return message === goal || message.content?.slice(0, RECOGNIZED) === goal.content?.slice(0, RECOGNIZED);
}
const MemoryShape = z.object({
	goal: z.int(),
	messages: z.array(z.unknown()),
	done: z.boolean(),
	nextAction: z.object({
		calls: z.array(z.object({
			id: z.string(),
			type: z.literal("function"),
			function: z.object({
				name: z.string(),
				arguments: z.string()
			})
		})),
		form: z.enum(["native", "text"]),
		cut: z.array(z.string()).optional()
	}).optional(),
	answer: z.object({
		text: z.string(),
		status: z.enum(["success", "failure"])
	}).optional(),
	notes: z.record(z.string(), z.unknown())
});
export { MessagesMemory };
