import { ContextClosedError } from "../kernel/errors.js";
import { assertMessage, createMessage, meantMessage } from "../message/message.js";
import { Memory } from "./memory.js";
import { checkedCount, containing, findNewsIn, identityIn, memoryJson, newestOf, olderThan, resolveTarget } from "./memory-queries.js";
function applyMemoryOp(memory, op) {globalThis.__t?.("memory/memory-draft.js#applyMemoryOp@316");
	if (op[0] === "+") memory.add(op[1]);
	else if (op[0] === "0") memory.clear();
	else memory.delete(memory.ignoreId ? createMessage(op[1], {
		id: "forgotten",
		timestamp: 0
	}) : op[1]);
}
/**
* The view that one activation has of a memory: the base with the messages that the activation has added and deleted.
*
* Owns the uncommitted changes. The base is never changed or copied; the end of the activation applies `ops` to it or drops them.
*
* MemoryDraft.D1 (`ops`) applying `ops` to the base gives a memory that answers every query as the draft did. MemoryDraft.D2 (`#changes`) nothing is
* made before the first write, and a write or query costs no more than on the base, except for deleted messages it passes. MemoryDraft.D3
* (`#assertOpen`) after `close` writes throw and reads go on; after `settle` reads show the base.
*/
var MemoryDraft = class {
	#given;
	#by;
	#changes;
	#isClosed = false;
	constructor({ base, by, remembered }) {globalThis.__t?.("memory/memory-draft.js#constructor@1272");
		this.#given = base;
		this.#by = by;
		if (remembered !== void 0) this.addBatch(remembered);
	}
	get ignoreId() {globalThis.__t?.("memory/memory-draft.js#ignoreId get@1412");
		return this.#base.ignoreId;
	}
	get limit() {globalThis.__t?.("memory/memory-draft.js#limit get@1460");
		return this.#base.limit;
	}
	/** The added messages in order, when nothing was deleted or evicted; undefined also before the first write. */
	get remembered() {globalThis.__t?.("memory/memory-draft.js#remembered get@1623");
		return this.#changes?.additions;
	}
	/** The operations so far, in a new array. */
	get ops() {globalThis.__t?.("memory/memory-draft.js#ops get@1721");
		return this.#changes === void 0 ? [] : [...this.#changes.ops];
	}
	/** Ends writing, because the activation is over. */
	close() {globalThis.__t?.("memory/memory-draft.js#close@1854");
		this.#isClosed = true;
	}
	/** Ends the draft after its operations were applied or dropped. */
	settle() {globalThis.__t?.("memory/memory-draft.js#settle@1963");
		this.#isClosed = true;
		this.#changes = void 0;
	}
	get size() {globalThis.__t?.("memory/memory-draft.js#size get@2031");
		const changes = this.#changes;
		return changes === void 0 ? this.#base.size : changes.baseSize + changes.added.size;
	}
	add(message) {globalThis.__t?.("memory/memory-draft.js#add@2163");
		this.#assertOpen("add");
		assertMessage(message);
		if (this.has(message)) return false;
		const changes = this.#write("add");
		changes.add(message);
		if (this.limit !== void 0 && this.size > this.limit) changes.evictOldest();
		return true;
	}
	addBatch(messages) {globalThis.__t?.("memory/memory-draft.js#addBatch@2434");
		this.#assertOpen("addBatch");
		let added = 0;
		for (const message of messages) if (this.add(message)) added++;
		return added;
	}
	has(target) {globalThis.__t?.("memory/memory-draft.js#has@2585");
		if (typeof target !== "string") assertMessage(target);
		const changes = this.#changes;
		if (changes === void 0) return this.#base.has(target);
		const known = resolveTarget(this, target);
		return known !== void 0 && changes.has(known);
	}
	get(k = 0) {globalThis.__t?.("memory/memory-draft.js#get@2844");
		if (this.#changes === void 0) return this.#base.get(k);
		if (checkedCount(k) > 0) return newestOf(this, k);
		return this.#query((memory) => (globalThis.__t?.("memory/memory-draft.js#anonymous@2986"),(memory.get())));
	}
	getByPosition(place) {globalThis.__t?.("memory/memory-draft.js#getByPosition@3030");
		const changes = this.#changes;
		if (changes === void 0) return this.#base.getByPosition(place);
		const fromStart = place < 0 ? this.size + place : place;
		if (!Number.isInteger(place) || fromStart < 0) return void 0;
		const { baseSize } = changes;
		if (fromStart >= baseSize) return changes.added.getByPosition(fromStart - baseSize);
		if (!changes.hasHidden) return this.#base.getByPosition(fromStart);
		if (place < 0) return newestOf(this, -place)[0];
		let left = fromStart;
		for (const message of this) if (left-- === 0) return message;
	}
	getByRole(role) {globalThis.__t?.("memory/memory-draft.js#getByRole@3603");
		return this.#query((memory) => (globalThis.__t?.("memory/memory-draft.js#anonymous@3633"),(memory.getByRole(role))));
	}
	getByContent(substring) {globalThis.__t?.("memory/memory-draft.js#getByContent@3686");
		return containing(this, substring);
	}
	tryRemember(keyword) {globalThis.__t?.("memory/memory-draft.js#tryRemember@3753");
		return containing(this, keyword);
	}
	getByAction(address) {globalThis.__t?.("memory/memory-draft.js#getByAction@3816");
		return this.#query((memory) => (globalThis.__t?.("memory/memory-draft.js#anonymous@3849"),(memory.getByAction(address))));
	}
	getByActions(addresses) {globalThis.__t?.("memory/memory-draft.js#getByActions@3907");
		const all = [...addresses];
		return this.#query((memory) => (globalThis.__t?.("memory/memory-draft.js#anonymous@3972"),(memory.getByActions(all))));
	}
	newestBy(address) {globalThis.__t?.("memory/memory-draft.js#newestBy@4023");
		const changes = this.#changes;
		if (changes === void 0) return this.#base.newestBy(address);
		const added = changes.added.newestBy(address);
		if (added !== void 0 || changes.isCleared) return added;
		const newest = this.#base.newestBy(address);
		if (newest === void 0 || !changes.isHidden(newest)) return newest;
		return this.#base.getByAction(address).findLast((message) => (globalThis.__t?.("memory/memory-draft.js#anonymous@4405"),(!changes.isHidden(message))));
	}
	findNews(observed, k = 0) {globalThis.__t?.("memory/memory-draft.js#findNews@4459");
		return findNewsIn(this, observed, k);
	}
	delete(target) {globalThis.__t?.("memory/memory-draft.js#delete@4529");
		const changes = this.#write("delete");
		const known = resolveTarget(this, meantMessage(target));
		return known !== void 0 && changes.delete(known);
	}
	deleteNewest() {globalThis.__t?.("memory/memory-draft.js#deleteNewest@4708");
		return this.#write("deleteNewest").deleteNewest();
	}
	deleteOlderThan(timestampMs) {globalThis.__t?.("memory/memory-draft.js#deleteOlderThan@4785");
		const changes = this.#write("deleteOlderThan");
		const old = olderThan(this, timestampMs);
		for (const message of old) changes.delete(message);
		return old.length;
	}
	clear() {globalThis.__t?.("memory/memory-draft.js#clear@4979");
		this.#write("clear");
		if (this.size > 0) this.#changes = new MemoryChanges(this.#base, true);
	}
	*[Symbol.iterator]() {globalThis.__t?.("memory/memory-draft.js#MemoryDraft@5104");
		const changes = this.#changes;
		if (changes?.isCleared !== true) {
			for (const message of this.#base) if (changes?.isHidden(message) !== true) yield message;
		}
		if (changes !== void 0) yield* changes.added;
	}
	*newestFirst() {globalThis.__t?.("memory/memory-draft.js#newestFirst@5340");
		const changes = this.#changes;
		if (changes !== void 0) yield* changes.added.newestFirst();
		if (changes?.isCleared === true) return;
		for (const message of this.#base.newestFirst()) if (changes?.isHidden(message) !== true) yield message;
	}
	toJSON() {globalThis.__t?.("memory/memory-draft.js#toJSON@5599");
		return memoryJson(this);
	}
	get #base() {globalThis.__t?.("memory/memory-draft.js#base get@5644");
		return "heldMemory" in this.#given ? this.#given.heldMemory : this.#given;
	}
	#assertOpen(method) {globalThis.__t?.("memory/memory-draft.js#assertOpen@5741");
		if (this.#isClosed) throw new ContextClosedError(this.#by.act, `memory.${method}`);
	}
	#write(method) {globalThis.__t?.("memory/memory-draft.js#write@5848");
		this.#assertOpen(method);
		return this.#changes ??= new MemoryChanges(this.#base, false);
	}
	#query(query) {globalThis.__t?.("memory/memory-draft.js#query@5962");
		return this.#changes === void 0 ? query(this.#base) : this.#changes.query(query);
	}
};
/** The changes of a draft: the operations, the added messages, and the messages of the base that are hidden. */
var MemoryChanges = class {
	ops;
	/** All messages of the base are deleted. */
	isCleared;
	/** Added and not deleted. */
	added;
	#base;
	/** Identities of messages of the base that were deleted one by one or evicted. */
	#hidden = /* @__PURE__ */ new Set();
	/** Iterators that find the next message to hide. They never go back, because the messages they passed are hidden. */
	#oldest;
	#newest;
	constructor(base, isCleared) {globalThis.__t?.("memory/memory-draft.js#constructor@6587");
		this.#base = base;
		this.isCleared = isCleared;
		this.ops = isCleared ? [["0"]] : [];
		this.added = new Memory({ ignoreId: base.ignoreId });
	}
	get additions() {globalThis.__t?.("memory/memory-draft.js#additions get@6770");
		return this.ops.length === this.added.size && this.#hidden.size === 0 && !this.isCleared ? this.added.get() : void 0;
	}
	get baseSize() {globalThis.__t?.("memory/memory-draft.js#baseSize get@6911");
		return this.isCleared ? 0 : this.#base.size - this.#hidden.size;
	}
	get hasHidden() {globalThis.__t?.("memory/memory-draft.js#hasHidden get@7000");
		return this.#hidden.size > 0;
	}
	isHidden(message) {globalThis.__t?.("memory/memory-draft.js#isHidden@7049");
		return this.#hidden.has(identityIn(this.#base, message));
	}
	has(target) {globalThis.__t?.("memory/memory-draft.js#has@7128");
		return this.added.has(target) || this.#baseHas(target);
	}
	/** Adds a message that neither the base nor this holds. */
	add(message) {globalThis.__t?.("memory/memory-draft.js#add@7265");
		this.added.add(message);
		this.ops.push(["+", message]);
	}
	delete(target) {globalThis.__t?.("memory/memory-draft.js#delete@7347");
		const isOfBase = !this.added.delete(target);
		if (isOfBase && !this.#baseHas(target)) return false;
		const identity = this.#identityOf(target);
		if (isOfBase) this.#hidden.add(identity);
		this.ops.push(["-", identity]);
		return true;
	}
	/** The base evicts the message too when the operations are applied, so this is no operation. */
	evictOldest() {globalThis.__t?.("memory/memory-draft.js#evictOldest@7712");
		const oldest = this.#nextOfBase(this.#oldest ??= this.#base[Symbol.iterator]());
		if (oldest === void 0) this.added.delete(this.added.getByPosition(0));
		else this.#hidden.add(identityIn(this.#base, oldest));
	}
	deleteNewest() {globalThis.__t?.("memory/memory-draft.js#deleteNewest@7946");
		const newest = this.added.getByPosition(-1) ?? this.#nextOfBase(this.#newest ??= this.#base.newestFirst());
		if (newest !== void 0) this.delete(newest);
		return newest;
	}
	/** Joins the answers of the base and of the added messages. */
	query(query) {globalThis.__t?.("memory/memory-draft.js#query@8198");
		const added = query(this.added);
		if (this.isCleared) return added;
		return [...query(this.#base).filter((message) => (globalThis.__t?.("memory/memory-draft.js#anonymous@8317"),(!this.isHidden(message)))), ...added];
	}
	#identityOf(target) {globalThis.__t?.("memory/memory-draft.js#identityOf@8382");
		return typeof target === "string" ? target : identityIn(this.#base, target);
	}
	#baseHas(target) {globalThis.__t?.("memory/memory-draft.js#baseHas@8484");
		return !this.isCleared && !this.#hidden.has(this.#identityOf(target)) && this.#base.has(target);
	}
	/** The next message of the base that is not hidden. The caller hides it. */
	#nextOfBase(iterator) {globalThis.__t?.("memory/memory-draft.js#nextOfBase@8687");
		if (this.baseSize === 0) return void 0;
		for (let step = iterator.next(); step.done !== true; step = iterator.next()) if (!this.isHidden(step.value)) return step.value;
	}
};
export { MemoryDraft, applyMemoryOp };
