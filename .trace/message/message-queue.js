import { readable, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { QueueFullError, UsageError } from "../kernel/errors.js";
import { lazily } from "../kernel/lazily.js";
import { MessageSchema, assertMessage, serializeMessage } from "./message.js";
import { PriorityLanes } from "./priority-lanes.js";
import { z } from "zod";
// ../../work/wt/lead/src/message/message-queue.ts
const messageQueueOptions = { limit: true };
/**
* What a role has heard and not yet taken: its inbox.
*
* Owns the order of what waits. Who hears a message is the router's business, what was heard before is the memory's.
* Single-threaded: nothing here waits, so no caller sees it half changed.
*
* Q1 first in, first out among equal priorities; smaller numbers first. Q2 pushing an id that the queue holds returns false and changes
* nothing; once it has left it may come again. Q3 push and pop are O(1), O(log p) when one of p priorities comes into use or out of it.
*
* @example
* import { createMessage, MessageQueue } from "troupe";
*
* const queue = new MessageQueue();
* queue.push(createMessage("later"));
* queue.push(createMessage("urgent"), { priority: -1 });
* console.log(queue.pop()?.content, queue.size); // urgent 1
*/
var MessageQueue = class MessageQueue {
	limit;
	/** The one that waits, where it waits alone and under no priority of its own: most mail is read before more comes. */
	#only;
	/** Everything that waits, where that is more. */
	#waiting;
	/** @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more. */
	constructor(options) {globalThis.__t?.("message/message-queue.js#constructor@1619");
		checkKnownOptions("new MessageQueue", options, messageQueueOptions);
		const limit = options?.limit;
		if (limit !== void 0 && (!Number.isInteger(limit) || limit < 1)) throw new UsageError("LIMIT_INVALID", `Expected the limit of a queue to be a whole number of 1 or more, got ${limit}. Leave it out for no limit.`);
		this.limit = limit;
	}
	/** How many messages wait. */
	get size() {globalThis.__t?.("message/message-queue.js#size get@2015");
		return this.#waiting === void 0 ? this.#only === void 0 ? 0 : 1 : this.#waiting.lanes.size;
	}
	get isEmpty() {globalThis.__t?.("message/message-queue.js#isEmpty get@2129");
		return this.#only === void 0 && this.#waiting === void 0;
	}
	/**
	* Puts a message in line. False, and nothing changes, when its id waits already.
	*
	* @throws QueueFullError when the limit is reached.
	* @throws UsageError `PRIORITY_INVALID` when `priority` (default 0; smaller is sooner) is not a finite number; `MESSAGE_INVALID` for what is no
	* message.
	*/
	push(message, options) {globalThis.__t?.("message/message-queue.js#push@2506");
		const priority = options?.priority ?? 0;
		if (!Number.isFinite(priority)) throw new UsageError("PRIORITY_INVALID", `Expected a priority to be a finite number, got ${priority}. Smaller numbers leave first, 0 is the default.`);
		assertMessage(message);
		if (this.has(message.id)) return false;
		if (this.limit !== void 0 && this.size >= this.limit) throw new QueueFullError(this.limit);
		if (priority === 0 && this.isEmpty) this.#only = message;
		else this.#join(message, priority);
		return true;
	}
	/**
	* Puts a message in line where it is known that its id does not wait: the caller answers for that. As long as nobody asks for an id, none is noted.
	*
	* @throws QueueFullError when the limit is reached.
	*/
	append(message) {globalThis.__t?.("message/message-queue.js#append@3255");
		if (this.limit !== void 0 && this.size >= this.limit) throw new QueueFullError(this.limit);
		const waiting = this.#waiting;
		if (waiting !== void 0 && waiting.ids === void 0) waiting.lanes.push(message, 0);
		else if (this.isEmpty) this.#only = message;
		else this.#join(message, 0);
	}
	/** Takes the first message, or `undefined` from an empty queue. */
	pop() {globalThis.__t?.("message/message-queue.js#pop@3632");
		const waiting = this.#waiting;
		if (waiting === void 0) {
			const only = this.#only;
			this.#only = void 0;
			return only;
		}
		const message = waiting.lanes.shift();
		if (message !== void 0) waiting.ids?.delete(message.id);
		if (waiting.lanes.size === 0) this.#waiting = void 0;
		return message;
	}
	/** Takes all messages, first to leave first. */
	popAll() {globalThis.__t?.("message/message-queue.js#popAll@4004");
		const messages = this.peek(this.size);
		this.#only = void 0;
		this.#waiting = void 0;
		return messages;
	}
	/** Whether a message of this id waits. */
	has(id) {globalThis.__t?.("message/message-queue.js#has@4169");
		const waiting = this.#waiting;
		if (waiting === void 0) return this.#only?.id === id;
		if (waiting.ids === void 0 && waiting.lanes.size <= FEW_WAITING) return waiting.lanes.some((message) => (globalThis.__t?.("message/message-queue.js#anonymous@4358"),(message.id === id)));
		return (waiting.ids ??= idsOf(waiting.lanes)).has(id);
	}
	/**
	* The first `n` messages in the order they would leave, without taking them; fewer when fewer wait.
	*
	* @throws RangeError when `n` is not a whole number of 0 or more.
	*/
	peek(n = 1) {globalThis.__t?.("message/message-queue.js#peek@4636");
		if (!Number.isInteger(n) || n < 0) throw new RangeError(`Expected to peek at a whole number of messages, 0 or more, got ${n}.`);
		if (this.#waiting !== void 0) return this.#waiting.lanes.first(n);
		return this.#only === void 0 || n === 0 ? [] : [this.#only];
	}
	/** The queue as plain JSON; it changes nothing. */
	toJSON() {globalThis.__t?.("message/message-queue.js#toJSON@4972");
		const entries = [];
		if (this.#only !== void 0) entries.push({ message: serializeMessage(this.#only) });
		for (const { item, priority } of this.#waiting?.lanes.inOrder() ?? []) {
			const message = serializeMessage(item);
			entries.push(priority === 0 ? { message } : {
				message,
				priority
			});
		}
		return this.limit === void 0 ? { entries } : {
			limit: this.limit,
			entries
		};
	}
	/**
	* A queue from {@link toJSON}.
	*
	* @throws UsageError `QUEUE_INVALID` naming what does not fit.
	* @throws QueueFullError when it holds more than its limit.
	*/
	static fromJSON(json) {globalThis.__t?.("message/message-queue.js#fromJSON@5564");
		takes("MessageQueue.fromJSON", "json", json, readable);
		const parsed = queueSchema().safeParse(json);
		if (!parsed.success) throw new UsageError("QUEUE_INVALID", `Expected a message queue as JSON, got something else: ${z.prettifyError(parsed.error)}`);
		const queue = new MessageQueue({ limit: parsed.data.limit });
		for (const { message, priority } of parsed.data.entries) queue.push(message, { priority });
		return queue;
	}
	/** Behind those who wait. Who waited alone is the first of them. */
	#join(message, priority) {globalThis.__t?.("message/message-queue.js#join@6084");
		const waiting = this.#waiting ??= {
			lanes: new PriorityLanes(),
			ids: void 0
		};
		if (this.#only !== void 0) waiting.lanes.push(this.#only, 0);
		this.#only = void 0;
		waiting.lanes.push(message, priority);
		waiting.ids?.add(message.id);
	}
};
/** So many are looked through one by one. */
const FEW_WAITING = 8;
function idsOf(lanes) {globalThis.__t?.("message/message-queue.js#idsOf@6430");
	const ids = /* @__PURE__ */ new Set();
	for (const { item } of lanes.inOrder()) ids.add(item.id);
	return ids;
}
const queueSchema = lazily(() => (globalThis.__t?.("message/message-queue.js#queueSchema@6595"),(z.object({
	limit: z.int().min(1).optional(),
	entries: z.array(z.object({
		message: MessageSchema,
		priority: z.number().default(0)
	}))
}))));
export { MessageQueue };
