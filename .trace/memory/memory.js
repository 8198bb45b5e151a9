import { readable, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { UsageError } from "../kernel/errors.js";
import { lazily } from "../kernel/lazily.js";
import { MessageLog } from "./message-log.js";
import { addressOf } from "../message/address.js";
import { MessageSchema, assertMessage, meantMessage } from "../message/message.js";
import { MessageIndex } from "./message-index.js";
import { checkedCount, containing, findNewsIn, memoryJson, namesOf, olderThan, resolveTarget } from "./memory-queries.js";
import { z } from "zod";
// ../../work/wt/lead/src/memory/memory.ts
const causeOf = (message) => (globalThis.__t?.("memory/memory.js#causeOf@657"),(message.causeBy));
const roleOf = (message) => (globalThis.__t?.("memory/memory.js#roleOf@702"),(message.role));
const idOf = (message) => (globalThis.__t?.("memory/memory.js#idOf@742"),(message.id));
const contentOf = (message) => (globalThis.__t?.("memory/memory.js#contentOf@785"),(message.content));
/** A memory of so few messages is searched one by one: with a `Map` of its own, a memory of one message takes 545 bytes instead of 300. */
const FEW_MESSAGES = 4;
const memoryOptions = {
	ignoreId: true,
	limit: true,
	onEvict: true
};
/**
* Short-term memory: the messages that a role or an environment has received and sent, in order of arrival.
*
* Owns the log of messages, their positions by identity, the limit and the indexes. Uncommitted changes of an activation belong to its draft.
*
* Memory.M1 (`#identityOf`) the id identifies a message; with `ignoreId` the content does. No two messages have the same identity.
* Memory.M2 (`#log`) messages are shared, never copied or changed, and every query returns a new array in order of arrival.
* Memory.M3 (`#positions`, `#byCause`, `#byRole`) `add` and `delete` are O(1) amortised, `getByAction` O(result), `findNews` O(observed + k).
* Memory.M4 (`#evictOldest`) `limit` evicts the oldest message in O(1) amortised. Memory.M5 (`checkedCount`) `get(0)` returns all messages, and
* a negative `k` is a RangeError.
*
* @example
* import { createMessage, Memory } from "troupe";
*
* const memory = new Memory({ limit: 100 });
* memory.add(createMessage("A bridge needs two banks.", { sentFrom: "Ada", causeBy: "Talk" }));
* console.log(memory.getByAction("Talk").length, memory.getByContent("river").length); // 1 0
*/
var Memory = class Memory {
	ignoreId;
	limit;
	#onEvict;
	#log = new MessageLog();
	/** Positions in the log by identity; undefined while there are only a few messages. */
	#positions;
	/** Built at the first query. */
	#byCause;
	#byRole;
	/** @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more. */
	constructor(options) {globalThis.__t?.("memory/memory.js#constructor@2533");
		checkKnownOptions("new Memory", options, memoryOptions);
		const limit = options?.limit;
		if (limit !== void 0 && (!Number.isInteger(limit) || limit < 1)) throw new UsageError("LIMIT_INVALID", `Expected the limit of a memory to be a whole number of 1 or more, got ${limit}. Leave it out for no limit.`);
		this.ignoreId = options?.ignoreId ?? false;
		this.limit = limit;
		this.#onEvict = options?.onEvict;
	}
	get size() {globalThis.__t?.("memory/memory.js#size get@2968");
		return this.#log.size;
	}
	/** @throws UsageError `MESSAGE_INVALID` for a value that is not a message */
	add(message) {globalThis.__t?.("memory/memory.js#add@3084");
		assertMessage(message);
		const identity = this.#identityOf(message);
		if (this.#positionOf(identity) !== void 0) return false;
		const position = this.#log.push(message);
		this.#positions?.set(identity, position);
		this.#byCause?.add(message, position);
		this.#byRole?.add(message, position);
		if (this.limit !== void 0 && this.size > this.limit) this.#evictOldest();
		return true;
	}
	/** Adds a message that is known to be new. */
	append(message) {globalThis.__t?.("memory/memory.js#append@3545");
		this.add(message);
	}
	addBatch(messages) {globalThis.__t?.("memory/memory.js#addBatch@3590");
		let added = 0;
		for (const message of messages) if (this.add(message)) added++;
		return added;
	}
	has(target) {globalThis.__t?.("memory/memory.js#has@3709");
		if (typeof target === "string") return this.find(target) !== void 0;
		assertMessage(target);
		return this.#positionOf(this.#identityOf(target)) !== void 0;
	}
	/** Returns the held message that equals a message or has an id: the newest one of that id where ids are ignored. O(1) where the id identifies. */
	find(target) {globalThis.__t?.("memory/memory.js#find@4036");
		const known = resolveTarget(this, target);
		if (known === void 0) return void 0;
		const position = this.#positionOf(typeof known === "string" ? known : this.#identityOf(known));
		return position === void 0 ? void 0 : this.#log.at(position);
	}
	get(k = 0) {globalThis.__t?.("memory/memory.js#get@4300");
		return this.#log.newest(checkedCount(k) === 0 ? Infinity : k);
	}
	getByPosition(place) {globalThis.__t?.("memory/memory.js#getByPosition@4392");
		return this.#log.nth(place);
	}
	getByRole(role) {globalThis.__t?.("memory/memory.js#getByRole@4446");
		return this.#at(this.#roles.positionsOf(role));
	}
	getByContent(substring) {globalThis.__t?.("memory/memory.js#getByContent@4521");
		return containing(this, substring);
	}
	tryRemember(keyword) {globalThis.__t?.("memory/memory.js#tryRemember@4588");
		return containing(this, keyword);
	}
	getByAction(address) {globalThis.__t?.("memory/memory.js#getByAction@4651");
		return this.#at(this.#causes.positionsOf(addressOf(address)));
	}
	getByActions(addresses) {globalThis.__t?.("memory/memory.js#getByActions@4744");
		const positions = [];
		for (const name of namesOf(addresses)) for (const position of this.#causes.positionsOf(name)) positions.push(position);
		return this.#at(positions.sort((a, b) => (globalThis.__t?.("memory/memory.js#anonymous@4937"),(a - b))));
	}
	newestBy(address) {globalThis.__t?.("memory/memory.js#newestBy@4968");
		return this.#causes.newest(addressOf(address));
	}
	findNews(observed, k = 0) {globalThis.__t?.("memory/memory.js#findNews@5042");
		return findNewsIn(this, observed, k);
	}
	delete(target) {globalThis.__t?.("memory/memory.js#delete@5112");
		const message = this.find(meantMessage(target));
		this.#forget(message);
		return message !== void 0;
	}
	deleteNewest() {globalThis.__t?.("memory/memory.js#deleteNewest@5244");
		const newest = this.#log.nth(-1);
		this.#forget(newest);
		return newest;
	}
	deleteOlderThan(timestampMs) {globalThis.__t?.("memory/memory.js#deleteOlderThan@5345");
		const old = olderThan(this, timestampMs);
		for (const message of old) this.#forget(message);
		return old.length;
	}
	clear() {globalThis.__t?.("memory/memory.js#clear@5487");
		this.#log = new MessageLog();
		this.#positions = void 0;
		this.#byCause = void 0;
		this.#byRole = void 0;
	}
	*[Symbol.iterator]() {globalThis.__t?.("memory/memory.js#Memory@5625");
		yield* this.#walk((log) => (globalThis.__t?.("memory/memory.js#anonymous@5650"),(log.oldestFirst())));
	}
	*newestFirst() {globalThis.__t?.("memory/memory.js#newestFirst@5695");
		yield* this.#walk((log) => (globalThis.__t?.("memory/memory.js#anonymous@5720"),(log.newestFirst())));
	}
	toJSON() {globalThis.__t?.("memory/memory.js#toJSON@5759");
		return memoryJson(this);
	}
	/**
	* Restores a memory from {@link toJSON}. Each message is read by `MessageSchema`.
	*
	* @throws UsageError `MEMORY_INVALID` naming what does not fit.
	*/
	static fromJSON(json) {globalThis.__t?.("memory/memory.js#fromJSON@5970");
		takes("Memory.fromJSON", "json", json, readable);
		const parsed = memorySchema().safeParse(json);
		if (!parsed.success) throw new UsageError("MEMORY_INVALID", `Expected a memory as JSON, got something else: ${z.prettifyError(parsed.error)}`);
		const { messages, ...options } = parsed.data;
		const memory = new Memory(options);
		memory.addBatch(messages);
		return memory;
	}
	get #causes() {globalThis.__t?.("memory/memory.js#causes get@6373");
		return this.#byCause ??= new MessageIndex(this.#log, causeOf);
	}
	get #roles() {globalThis.__t?.("memory/memory.js#roles get@6457");
		return this.#byRole ??= new MessageIndex(this.#log, roleOf);
	}
	get #identityOf() {globalThis.__t?.("memory/memory.js#identityOf get@6544");
		return this.ignoreId ? contentOf : idOf;
	}
	#positionOf(identity) {globalThis.__t?.("memory/memory.js#positionOf@6607");
		if (this.#positions === void 0) {
			if (this.#log.size <= FEW_MESSAGES) return this.#log.newestWith(identity, this.#identityOf);
			this.#indexPositions();
		}
		return this.#positions?.get(identity);
	}
	#indexPositions() {globalThis.__t?.("memory/memory.js#indexPositions@6843");
		this.#positions = /* @__PURE__ */ new Map();
		this.#log.forEach((message, position) => (globalThis.__t?.("memory/memory.js#anonymous@6915"),(this.#positions?.set(this.#identityOf(message), position))));
	}
	#evictOldest() {globalThis.__t?.("memory/memory.js#evictOldest@7014");
		const oldest = this.#log.nth(0);
		this.#forget(oldest);
		if (oldest !== void 0) this.#onEvict?.(oldest);
	}
	/** Removes a message from the log, the positions and the indexes. */
	#forget(message) {globalThis.__t?.("memory/memory.js#forget@7210");
		if (message === void 0) return;
		const identity = this.#identityOf(message);
		this.#log.drop(this.#positionOf(identity));
		this.#positions?.delete(identity);
		this.#byCause?.remove(message);
		this.#byRole?.remove(message);
		if (this.#log.isMostlyHoles) this.#compact();
	}
	#compact() {globalThis.__t?.("memory/memory.js#compact@7512");
		const held = this.get();
		this.clear();
		for (const message of held) this.#log.push(message);
	}
	/** An iteration continues over the log it began with. After a compaction it skips messages that were deleted since. */
	*#walk(start) {globalThis.__t?.("memory/memory.js#walk@7746");
		const log = this.#log;
		for (const message of start(log)) if (log === this.#log || this.has(message)) yield message;
	}
	#at(positions) {globalThis.__t?.("memory/memory.js#at@7883");
		return positions.map((position) => (globalThis.__t?.("memory/memory.js#anonymous@7920"),(this.#log.at(position))));
	}
};
const memorySchema = lazily(() => (globalThis.__t?.("memory/memory.js#memorySchema@7993"),(z.object({
	ignoreId: z.boolean().optional(),
	limit: z.int().min(1).optional(),
	messages: z.array(MessageSchema)
}))));
export { Memory };
