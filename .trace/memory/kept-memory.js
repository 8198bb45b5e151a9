import { withTimeout } from "../kernel/abort.js";
import { inMemoryStore } from "./in-memory-store.js";
import { MemoryStorage, TICK } from "./memory-storage.js";
import { AskedBefore, wordsOf } from "./said-again.js";
import { WriteBehindQueue } from "./write-behind-queue.js";
// ../../work/wt/lead/src/memory/kept-memory.ts
/** Changes that may wait for a store that is slow or fails. */
const MOST_UNSAVED = 1e4;
/** Additions of one commit. */
const MAX_BATCH = 500;
/** How much deeper than what is asked for is looked, as often as it takes: what says the same once more is left out. */
const DEPTH = 4;
/** Milliseconds that a store may take before nobody waits for it any more. */
const TIMEOUT = 3e4;
/**
* What one role of one run keeps beyond the run. It owns what waits for the store, and which messages the run's record gave the role; the
* storage owns what is stored.
*
* K1 only what is committed gets here, in the order of the record. K2 storing again changes nothing, so a run that goes on tells all of its
* record again. K3 of its own run, and of those it was forked from, only what its own record gave the role is found, once and as it stands
* there: no run sees another future of itself, though its ids be the same. K4 it writes under its own run alone, and of what it inherits
* only what is not stored: what a fork forgets is not forgotten by its parent. K5 a change leaves the line when it is stored; a failure
* keeps it. K6 vectors are made by searches alone, through the embedder they bring.
*/
var KeptMemory = class {
	#o;
	#store;
	/** By id. */
	#known = /* @__PURE__ */ new Map();
	#queue;
	#opened;
	/** Whether it was looked for what the runs behind this one have stored. */
	#knowsInherited = false;
	constructor(o) {globalThis.__t?.("memory/kept-memory.js#constructor@1749");
		this.#o = o;
		this.#store = o.parts.store ?? inMemoryStore();
		const store = (changes) => (globalThis.__t?.("memory/kept-memory.js#store@1836"),(this.#withinLimit("to be stored", () => (globalThis.__t?.("memory/kept-memory.js#anonymous@1883"),(this.#keep(changes))))));
		this.#queue = new WriteBehindQueue({
			limit: MOST_UNSAVED,
			maxBatch: MAX_BATCH,
			store,
			onError: o.onError
		});
	}
	/** Changes that are not stored yet. */
	get unsaved() {globalThis.__t?.("memory/kept-memory.js#unsaved get@2092");
		return this.#queue.size;
	}
	/** What the record says that the role remembered and forgot. `livedBy`: this run, or the one it was forked from, which stores it itself. */
	learn(ops, livedBy) {globalThis.__t?.("memory/kept-memory.js#learn@2275");
		for (const op of ops) if (op[0] === "+") this.#add(op[1], livedBy);
		else for (const id of op[0] === "-" ? [op[1]] : [...this.#known.keys()]) this.#forget(id, livedBy);
	}
	/** Waits while too much waits for the store. @throws QueueFullError when it does not get less, whatever made the store fail */
	async ready() {globalThis.__t?.("memory/kept-memory.js#ready@2608");
		await this.#o.parts.tokens.count("");
		if (this.#queue.isFull) await this.saved();
		this.#queue.assertRoom();
	}
	/** Resolves when everything learned before is stored. @throws whatever the store fails with, and what waits goes on waiting; TimeoutError */
	async saved() {globalThis.__t?.("memory/kept-memory.js#saved@2885");
		try {
			await this.#queue.flush();
		} catch (error) {
			this.#o.onError(error);
			throw error;
		}
	}
	/**
	* The messages that answer a text best, best first: none that only asks it again, and of several in the same words the newest.
	*
	* @throws MemoryError, ControlError, whatever the store fails with
	*/
	async search(text, { asked, besides, known, embedder, signal }) {globalThis.__t?.("memory/kept-memory.js#search@3219");
		await this.#takeInherited();
		await this.saved();
		const { parts } = this.#o;
		const before = new AskedBefore(asked);
		const isMeant = (message, runId) => (globalThis.__t?.("memory/kept-memory.js#isMeant@3414"),((!this.#isOwn(runId) || this.#isGiven(message, runId) && !besides.has(message.id)) && !before.has(message.content)));
		const told = new Set(known.map(wordsOf));
		const search = {
			filter: isMeant,
			embedder: embedder && askedOnce(embedder),
			signal,
			hybrid: parts.lexical !== void 0
		};
		for (let depth = parts.k * DEPTH;; depth *= DEPTH) {
			const found = await this.#storage.searchSimilar(text, {
				...search,
				k: depth
			});
			const hits = withoutRepeats(found.map((each) => (globalThis.__t?.("memory/kept-memory.js#hits@3921"),(this.#kept(each)))), told);
			if (hits.length >= parts.k || found.length < depth) return this.#withNeighbours(hits.slice(0, parts.k), told, isMeant);
		}
	}
	/** Lets go of the store, until it is needed again. @throws TimeoutError when the store does not end what it was asked */
	async close() {globalThis.__t?.("memory/kept-memory.js#close@4222");
		const opened = this.#opened;
		this.#opened = void 0;
		if (opened !== void 0) await this.#withinLimit("to be let go of", () => (globalThis.__t?.("memory/kept-memory.js#anonymous@4351"),(opened.close())));
	}
	#isOwn(runId) {globalThis.__t?.("memory/kept-memory.js#isOwn@4384");
		return runId === this.#o.runId || this.#o.isAncestor(runId);
	}
	#kept(found) {globalThis.__t?.("memory/kept-memory.js#kept@4466");
		const place = this.#storage.placeOf(found.runId, found.message.id);
		return {
			...found,
			isOwn: this.#isOwn(found.runId),
			place
		};
	}
	/** Each neighbour stands beside the best hit it belongs to, and is no hit itself. */
	async #withNeighbours(hits, told, isMeant) {globalThis.__t?.("memory/kept-memory.js#withNeighbours@4732");
		for (const { message } of hits) told.add(wordsOf(message.content));
		const found = [];
		for (const hit of hits) {
			const neighbours = withoutRepeats((await this.#storage.around(hit.runId, hit.message.id, this.#o.parts.neighbours)).filter(({ message, runId }) => (globalThis.__t?.("memory/kept-memory.js#neighbours@5000"),(isMeant(message, runId) && message.content.trim() !== ""))).map(({ message, runId }) => (globalThis.__t?.("memory/kept-memory.js#neighbours@5086"),(this.#kept({
				message,
				runId,
				score: 0
			})))), told);
			for (const { message } of neighbours) told.add(wordsOf(message.content));
			found.push({
				...hit,
				neighbours
			});
		}
		return found;
	}
	get #storage() {globalThis.__t?.("memory/kept-memory.js#storage get@5338");
		const { role: roleId, runId, clock, parts } = this.#o;
		const { embedder, index, lexical, ttl, threshold } = parts;
		if (this.#opened !== void 0) return this.#opened;
		const own = {
			roleId,
			runId,
			store: this.#store,
			embedder,
			index: index?.(),
			lexical: lexical?.(),
			ttl,
			threshold,
			clock
		};
		return this.#opened = new MemoryStorage(own);
	}
	#add(message, livedBy) {globalThis.__t?.("memory/kept-memory.js#add@5725");
		const storedBy = this.#o.parts.store === void 0 ? this.#o.runId : livedBy;
		this.#known.set(message.id, {
			message,
			storedBy
		});
		if (storedBy === this.#o.runId) this.#queue.push({
			type: "add",
			message
		});
	}
	#forget(id, livedBy) {globalThis.__t?.("memory/kept-memory.js#forget@5982");
		const given = this.#known.get(id);
		if (!this.#known.delete(id)) return;
		const { runId } = this.#o;
		if (livedBy === runId || given?.storedBy === runId) this.#queue.push({
			type: "delete",
			id
		});
	}
	/** What a run behind this one has not stored, or stored as it was before it was changed, is stored by this one. */
	async #takeInherited() {globalThis.__t?.("memory/kept-memory.js#takeInherited@6348");
		const { runId } = this.#o;
		const inherited = [...this.#known].filter(([, { storedBy }]) => (globalThis.__t?.("memory/kept-memory.js#inherited@6426"),(storedBy !== runId)));
		if (this.#knowsInherited || inherited.length === 0) return;
		const stored = await this.#storage.find(inherited.map(([id, { storedBy }]) => ((globalThis.__t?.("memory/kept-memory.js#stored@6587"),({
			runId: storedBy,
			id
		})))));
		for (const [n, [id, { message }]] of inherited.entries()) {
			if (stored[n]?.message.content === message.content) continue;
			this.#known.set(id, {
				message,
				storedBy: runId
			});
			this.#queue.push({
				type: "add",
				message
			});
		}
		this.#knowsInherited = true;
	}
	/** A fork may have changed what its parent has under the same id. */
	#isGiven({ id, content }, runId) {globalThis.__t?.("memory/kept-memory.js#isGiven@7016");
		const given = this.#known.get(id);
		return given?.storedBy === runId && given.message.content === content;
	}
	#withinLimit(what, work) {globalThis.__t?.("memory/kept-memory.js#withinLimit@7169");
		const never = new AbortController().signal;
		return withTimeout(this.#o.clock, TIMEOUT, `the memory of ${this.#o.role} ${what}`, never, work);
	}
	async #keep(changes) {globalThis.__t?.("memory/kept-memory.js#keep@7345");
		const [first] = changes;
		if (first?.type === "delete") {
			await this.#storage.delete(first.id);
			return;
		}
		const { runId } = this.#o;
		const time = this.#storage.nextTime;
		const messages = changes.flatMap((change) => (globalThis.__t?.("memory/kept-memory.js#messages@7577"),(change.type === "add" ? [change.message] : [])));
		await this.#storage.adopt(messages.map((message, n) => ((globalThis.__t?.("memory/kept-memory.js#anonymous@7678"),({
			runId,
			addedAt: time + n * TICK,
			message
		})))));
	}
};
/** An embedder that makes the vector of one question once: a deeper search asks for the same one, and a call may cost money. */
function askedOnce(embedder) {globalThis.__t?.("memory/kept-memory.js#askedOnce@7890");
	let vector;
	const embed = (texts, o) => (globalThis.__t?.("memory/kept-memory.js#embed@7949"),(o?.kind === "query" ? vector ??= embedder.embed(texts, o) : embedder.embed(texts, o)));
	return {
		...embedder,
		embed
	};
}
/** Of messages in the same words the newest, in the place of the best; none that is told already. */
function withoutRepeats(found, told) {globalThis.__t?.("memory/kept-memory.js#withoutRepeats@8190");
	const newest = /* @__PURE__ */ new Map();
	for (const each of found) {
		const words = wordsOf(each.message.content);
		const other = newest.get(words);
		if (!told.has(words) && (other === void 0 || isNewer(each, other))) newest.set(words, each);
	}
	return [...newest.values()];
}
/** What this run has is newer than what others have; by itself it is told by the order of its record, whatever the clock says. */
function isNewer(a, b) {globalThis.__t?.("memory/kept-memory.js#isNewer@8644");
	if (a.isOwn !== b.isOwn) return a.isOwn;
	const apart = a.isOwn ? 0 : a.message.timestamp - b.message.timestamp;
	return apart === 0 ? a.place > b.place : apart > 0;
}
export { KeptMemory, isNewer };
