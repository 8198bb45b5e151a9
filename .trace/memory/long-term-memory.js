import { having, takes } from "../kernel/argument.js";
import { checkGivenOptions } from "../kernel/known-options.js";
import { Memory } from "./memory.js";
import { identityOf } from "./message-store.js";
import { WriteBehindQueue } from "./write-behind-queue.js";
import { checkedK } from "./storage-options.js";
// ../../work/wt/lead/src/memory/long-term-memory.ts
const longTermMemoryOptions = {
	storage: true,
	limit: true,
	maxUnsaved: true,
	onError: true
};
const MAX_UNSAVED = 1e4;
/** Additions of one commit. */
const MAX_BATCH = 1e3;
/** What one part of a search gives at most, unless said otherwise. */
const FOUND = 5;
/**
* A {@link Memory} that outlives its process: what is added is at hand at once, goes to the storage in the background, and comes back with
* `recover`. With a `limit` it is a hybrid memory: the newest messages at hand, all of them in the storage.
*
* Owns what waits for the storage. What is at hand is the inner memory's, what is kept the storage's.
*
* P1 what `persist` has resolved is durable; what was only added is not yet. P2 a change leaves the line when it is stored, never before:
* a failure keeps it, and the next change or `persist` tries again. P3 changes are stored in the order they were made. P4 the messages of
* its own run come back; those of others are found by `searchSimilar`, because ids say who is who within one run only. P5 what makes room
* for newer messages stays in the storage; what is deleted is deleted there too. P6 a message is known by its id and is never marked.
*
* @example
* import { createMessage, LongTermMemory, MemoryStorage } from "troupe";
*
* const memory = new LongTermMemory({ storage: new MemoryStorage({ roleId: "Ada", runId: "today" }), limit: 100 });
* memory.add(createMessage("The ferry leaves at nine."));
* await memory.persist(); // now it is in the storage
* for (const { message } of await memory.search("ferry")) console.log(message.content); // The ferry leaves at nine.
* await memory.close();
*/
var LongTermMemory = class {
	ignoreId = false;
	storage;
	#memory;
	#queue;
	/** @throws UsageError `LIMIT_INVALID` */
	constructor(options) {globalThis.__t?.("memory/long-term-memory.js#constructor@2132");
		checkGivenOptions("new LongTermMemory", options, longTermMemoryOptions);
		const { storage, limit, maxUnsaved = MAX_UNSAVED, onError } = options;
		takes("new LongTermMemory", "storage", storage, having("a MemoryStorage or a ShardedStorage", "add", "recover"));
		this.storage = storage;
		this.#memory = new Memory({ limit });
		this.#queue = new WriteBehindQueue({
			limit: maxUnsaved,
			maxBatch: MAX_BATCH,
			store: (changes) => (globalThis.__t?.("memory/long-term-memory.js#store@2569"),(this.#store(changes))),
			isStored: (changes) => (globalThis.__t?.("memory/long-term-memory.js#isStored@2617"),(changes.every((change) => (globalThis.__t?.("memory/long-term-memory.js#anonymous@2644"),(change.type === "add" && storage.has(change.message)))))),
			onError
		});
	}
	get limit() {globalThis.__t?.("memory/long-term-memory.js#limit get@2741");
		return this.#memory.limit;
	}
	get size() {globalThis.__t?.("memory/long-term-memory.js#size get@2787");
		return this.#memory.size;
	}
	/** Changes that are not in the storage yet. */
	get unsaved() {globalThis.__t?.("memory/long-term-memory.js#unsaved get@2884");
		return this.#queue.size;
	}
	/** Brings back what this run has stored, before what was added meanwhile. Gives all that is at hand then. */
	async recover() {globalThis.__t?.("memory/long-term-memory.js#recover@3044");
		await this.#queue.flush();
		const stored = await this.storage.recover({ runId: this.storage.runId });
		const held = this.#memory.get();
		const deleted = new Set(this.#queue.changes.flatMap((change) => (globalThis.__t?.("memory/long-term-memory.js#deleted@3243"),(change.type === "delete" ? [change.id] : []))));
		this.#memory.clear();
		this.#memory.addBatch(stored.filter((message) => (globalThis.__t?.("memory/long-term-memory.js#anonymous@3364"),(!deleted.has(message.id)))));
		this.#memory.addBatch(held);
		return this.#memory.get();
	}
	/** Resolves when every change made before is durable. @throws MemoryError, and what waits goes on waiting */
	async persist() {globalThis.__t?.("memory/long-term-memory.js#persist@3593");
		await this.#queue.flush();
		await this.storage.persist();
	}
	/** The messages most like a text or a message, of all runs, best first; see {@link MemoryStorage.searchSimilar}. */
	async searchSimilar(target, o) {globalThis.__t?.("memory/long-term-memory.js#searchSimilar@3800");
		await this.#queue.flush();
		return this.storage.searchSimilar(target, o);
	}
	/**
	* Looks at hand first, then in the storage: messages of this run that contain the text, newest first, then the ones most like it, of all
	* runs, best first. Each is told once, and each part gives at most `k` (default 5). A blank text finds nothing.
	*
	* @throws MemoryError, UsageError `OPTION_INVALID`, ControlError
	*/
	async search(text, o = {}) {globalThis.__t?.("memory/long-term-memory.js#search@4236");
		if (text.trim() === "") return [];
		const { runId } = this.storage;
		const { k = FOUND, filter = () => (globalThis.__t?.("memory/long-term-memory.js#filter@4354"),(true)) } = o;
		const worded = this.getByContent(text).filter((message) => (globalThis.__t?.("memory/long-term-memory.js#worded@4420"),(filter(message, runId))));
		const atHand = k === 0 ? [] : worded.slice(-k).reverse();
		const similar = await this.searchSimilar(text, {
			...o,
			k: checkedK(k) + atHand.length
		});
		const scores = new Map(similar.map((found) => (globalThis.__t?.("memory/long-term-memory.js#scores@4655"),([identityOf(found.runId, found.message.id), found.score]))));
		const known = new Set(atHand.map(({ id }) => (globalThis.__t?.("memory/long-term-memory.js#known@4761"),(identityOf(runId, id)))));
		const others = similar.filter((found) => (globalThis.__t?.("memory/long-term-memory.js#others@4830"),(!known.has(identityOf(found.runId, found.message.id)))));
		return [...atHand.map((message) => ((globalThis.__t?.("memory/long-term-memory.js#anonymous@4921"),({
			message,
			runId,
			score: scores.get(identityOf(runId, message.id))
		})))), ...others.slice(0, k)];
	}
	/** Stores what waits and lets go of the storage. @throws MemoryError when it could not be stored; nothing is closed then */
	async close() {globalThis.__t?.("memory/long-term-memory.js#close@5183");
		await this.persist();
		await this.storage.close();
	}
	/** @throws QueueFullError when too much waits for the storage; nothing changes then */
	add(message) {globalThis.__t?.("memory/long-term-memory.js#add@5338");
		if (this.#memory.has(message)) return false;
		this.#queue.assertRoom();
		const isKept = this.storage.has(message);
		this.#memory.add(message);
		if (!isKept || this.#queue.changes.some((change) => (globalThis.__t?.("memory/long-term-memory.js#anonymous@5540"),(change.type !== "add")))) this.#queue.push({
			type: "add",
			message
		});
		return true;
	}
	addBatch(messages) {globalThis.__t?.("memory/long-term-memory.js#addBatch@5655");
		let added = 0;
		for (const message of messages) if (this.add(message)) added++;
		return added;
	}
	/** Forgets a message at hand, and in the storage. */
	delete(target) {globalThis.__t?.("memory/long-term-memory.js#delete@5832");
		const id = typeof target === "string" ? target : target.id;
		if (!this.#memory.has(id) && !this.storage.has(id)) return false;
		this.#queue.assertRoom();
		this.#memory.delete(id);
		this.#queue.push({
			type: "delete",
			id
		});
		return true;
	}
	deleteNewest() {globalThis.__t?.("memory/long-term-memory.js#deleteNewest@6111");
		const newest = this.#memory.getByPosition(-1);
		if (newest !== void 0) this.delete(newest);
		return newest;
	}
	/** Forgets what is older at hand, and in the storage. Tells how many were at hand. */
	deleteOlderThan(timestampMs) {globalThis.__t?.("memory/long-term-memory.js#deleteOlderThan@6335");
		this.#queue.assertRoom();
		const count = this.#memory.deleteOlderThan(timestampMs);
		this.#queue.push({
			type: "older",
			than: timestampMs
		});
		return count;
	}
	/** Forgets everything at hand, and in the storage, of all runs. */
	clear() {globalThis.__t?.("memory/long-term-memory.js#clear@6598");
		this.#memory.clear();
		this.#queue.push({ type: "clear" });
	}
	has(target) {globalThis.__t?.("memory/long-term-memory.js#has@6673");
		return this.#memory.has(target);
	}
	get(k) {globalThis.__t?.("memory/long-term-memory.js#get@6726");
		return this.#memory.get(k);
	}
	getByPosition(place) {globalThis.__t?.("memory/long-term-memory.js#getByPosition@6779");
		return this.#memory.getByPosition(place);
	}
	getByRole(role) {globalThis.__t?.("memory/long-term-memory.js#getByRole@6846");
		return this.#memory.getByRole(role);
	}
	getByContent(substring) {globalThis.__t?.("memory/long-term-memory.js#getByContent@6910");
		return this.#memory.getByContent(substring);
	}
	tryRemember(keyword) {globalThis.__t?.("memory/long-term-memory.js#tryRemember@6986");
		return this.#memory.tryRemember(keyword);
	}
	getByAction(address) {globalThis.__t?.("memory/long-term-memory.js#getByAction@7057");
		return this.#memory.getByAction(address);
	}
	getByActions(addresses) {globalThis.__t?.("memory/long-term-memory.js#getByActions@7129");
		return this.#memory.getByActions(addresses);
	}
	newestBy(address) {globalThis.__t?.("memory/long-term-memory.js#newestBy@7202");
		return this.#memory.newestBy(address);
	}
	findNews(observed, k) {globalThis.__t?.("memory/long-term-memory.js#findNews@7267");
		return this.#memory.findNews(observed, k);
	}
	[Symbol.iterator]() {globalThis.__t?.("memory/long-term-memory.js#LongTermMemory@7349");
		return this.#memory[Symbol.iterator]();
	}
	newestFirst() {globalThis.__t?.("memory/long-term-memory.js#newestFirst@7411");
		return this.#memory.newestFirst();
	}
	toJSON() {globalThis.__t?.("memory/long-term-memory.js#toJSON@7463");
		return this.#memory.toJSON();
	}
	async #store(changes) {globalThis.__t?.("memory/long-term-memory.js#store@7516");
		const [first] = changes;
		switch (first?.type) {
			case "delete":
				await this.storage.delete(first.id);
				return;
			case "older":
				await this.storage.deleteOlderThan(first.than);
				return;
			case "clear": return this.storage.clear();
			default: await this.storage.addBatch(changes.flatMap((change) => (globalThis.__t?.("memory/long-term-memory.js#anonymous@7834"),(change.type === "add" ? [change.message] : []))));
		}
	}
};
export { LongTermMemory };
