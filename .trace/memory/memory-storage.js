import { checkKnownOptions } from "../kernel/known-options.js";
import { throwIfAborted } from "../kernel/abort.js";
import { assertMessage } from "../message/message.js";
import { embedQuery } from "./embedder.js";
import { HeldMessages } from "./held-messages.js";
import { identityOf, memoryClosed } from "./message-store.js";
import { PendingVectors } from "./pending-vectors.js";
import { assertNoVectorOptions, checkedK, checkedThreshold, partsOf, searchOptions, voiceOf } from "./storage-options.js";
import { StorageRanking, noEmbedder, noLexical } from "./storage-ranking.js";
import { StoreReading } from "./store-reading.js";
// ../../work/wt/lead/src/memory/memory-storage.ts
/** Milliseconds between the times of two messages that were given at once. @internal */
const TICK = 1 / 1024;
/**
* The long-term memory of one role: its messages in a store, found again by what they say.
*
* Owns what this process knows of the store, and the order of its jobs. The store owns the messages; vectors are only kept to save work.
*
* L1 what `add` has resolved is durable; when its embedder fails, `add` rejects, and the messages are kept all the same: `persist` goes on.
* L2 (run, id) decides identity: adding again changes nothing. L3 a message is never changed. L4 vectors that are lost, damaged, or another
* embedder's are made again before the next search. L5 what another process has added or removed is known before every answer. L6 an
* expired message is never found. L7 jobs are done one after another; everybody waits for their own, so the line is as long as its callers.
*
* @example
* import { createMessage, MemoryStorage } from "troupe";
*
* const storage = new MemoryStorage({ roleId: "Ada" }); // in memory; store: sqliteStore({ path }) of troupe/sqlite keeps it on disk
* await storage.addBatch([createMessage("The old bridge is of stone."), createMessage("The ferry is of wood.")]);
* const [best] = await storage.searchSimilar("old bridge", { k: 1 });
* console.log(best?.message.content); // The old bridge is of stone.
*/
var MemoryStorage = class {
	#parts;
	#held = new HeldMessages();
	/** Undefined without an embedder. */
	#vectors;
	#ranking;
	#reading;
	#turn = Promise.resolve();
	#isClosed = false;
	/** @throws UsageError `OPTION_INVALID` */
	constructor(options) {globalThis.__t?.("memory/memory-storage.js#constructor@2292");
		this.#parts = partsOf(options);
		const { vectors } = this.#parts;
		this.#vectors = vectors === void 0 ? void 0 : new PendingVectors(this.#parts, vectors, this.#held);
		this.#ranking = new StorageRanking(this.#parts, this.#held);
		this.#reading = new StoreReading(this.#parts, this.#held, {
			learn: (entry) => (globalThis.__t?.("memory/memory-storage.js#learn@2610"),(this.#learn(entry))),
			forget: (place) => (globalThis.__t?.("memory/memory-storage.js#forget@2652"),(this.#forget(place)))
		});
	}
	get roleId() {globalThis.__t?.("memory/memory-storage.js#roleId get@2703");
		return this.#parts.roleId;
	}
	/** The run that messages are added in. */
	get runId() {globalThis.__t?.("memory/memory-storage.js#runId get@2794");
		return this.#parts.runId;
	}
	/** How many messages are known to be held. */
	get size() {globalThis.__t?.("memory/memory-storage.js#size get@2887");
		return this.#held.size;
	}
	/** How many of them wait for their vectors. */
	get pending() {globalThis.__t?.("memory/memory-storage.js#pending get@2982");
		return this.#vectors?.size ?? 0;
	}
	/** How many messages of the store were damaged and could not be read. */
	get damaged() {globalThis.__t?.("memory/memory-storage.js#damaged get@3112");
		return this.#held.damaged;
	}
	/** The time of a message that is given now. It never goes back, whatever the clock does. @internal */
	get nextTime() {globalThis.__t?.("memory/memory-storage.js#nextTime get@3266");
		return Math.max(this.#parts.clock.now(), this.#held.newestAdded + TICK);
	}
	/** Reads what the store holds: all messages in order of arrival, or those of one run. */
	recover({ runId } = {}) {globalThis.__t?.("memory/memory-storage.js#recover@3448");
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@3489");
			await this.#sync();
			await this.#expire();
			return (runId === void 0 ? this.#held.all() : this.#held.all().filter((entry) => (globalThis.__t?.("memory/memory-storage.js#anonymous@3624"),(entry.runId === runId)))).map(({ message }) => (globalThis.__t?.("memory/memory-storage.js#anonymous@3663"),(message)));
		});
	}
	/** Whether a message is known to be held. Asks no store: what is in a large one is known when `recover` has read it. */
	has(target, { runId = this.runId } = {}) {globalThis.__t?.("memory/memory-storage.js#has@3825");
		return this.#held.placeOf(runId, idOf(target)) !== void 0;
	}
	/** Keeps a message. False when it is held. @throws MemoryError, see L1 */
	async add(message, o) {globalThis.__t?.("memory/memory-storage.js#add@4015");
		return await this.addBatch([message], o) === 1;
	}
	/** Keeps messages, all or none; tells how many were new. @throws MemoryError, see L1 */
	addBatch(messages, { runId = this.runId, signal } = {}) {globalThis.__t?.("memory/memory-storage.js#addBatch@4182");
		const given = [...messages];
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@4285");
			await this.#sync();
			const first = this.nextTime;
			const added = await this.#store(given.map((message, n) => ((globalThis.__t?.("memory/memory-storage.js#added@4399"),({
				runId,
				addedAt: first + n * TICK,
				message
			})))));
			await this.#vectors?.embed(signal);
			return added;
		});
	}
	/** Keeps messages of any runs, with the times they had in another store. Tells how many were new. @internal */
	adopt(entries) {globalThis.__t?.("memory/memory-storage.js#adopt@4665");
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@4699");
			await this.#reading.some();
			await this.#vectors?.load();
			return this.#store(entries);
		});
	}
	/** Forgets what another store has taken over. @internal */
	discard(places) {globalThis.__t?.("memory/memory-storage.js#discard@4886");
		return this.#inTurn(() => (globalThis.__t?.("memory/memory-storage.js#anonymous@4919"),(this.#remove(places))));
	}
	/** Everything that is held, in order of arrival, with its run and time. @internal */
	entries() {globalThis.__t?.("memory/memory-storage.js#entries@5046");
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@5073");
			await this.#sync();
			return this.#held.all();
		});
	}
	/** What the store has of these; undefined for what it has not. @internal */
	find(identities) {globalThis.__t?.("memory/memory-storage.js#find@5230");
		return this.#inTurn(() => (globalThis.__t?.("memory/memory-storage.js#anonymous@5267"),(this.#reading.find(identities))));
	}
	/**
	* The messages that are most like a text or a message, best first: by their words, or with an embedder by its vectors. A message that is
	* held finds itself too.
	*
	* @throws UsageError `OPTION_INVALID`, MemoryError, ControlError when the signal aborts
	*/
	async searchSimilar(target, o = {}) {globalThis.__t?.("memory/memory-storage.js#searchSimilar@5594");
		checkKnownOptions("searchSimilar", o, searchOptions);
		this.#assertOpen();
		const k = checkedK(o.k ?? 4);
		const text = typeof target === "string" ? target : target.content;
		const { vectors, lexical } = this.#parts;
		if (vectors === void 0) return this.#searchWords(text, {
			...o,
			k
		});
		if (o.hybrid === true && lexical === void 0) throw noLexical();
		return this.#searchVectors(text, vectors, {
			...o,
			k,
			threshold: checkedThreshold(o.threshold ?? vectors.threshold)
		});
	}
	async #searchWords(text, o) {globalThis.__t?.("memory/memory-storage.js#searchWords@6135");
		assertNoVectorOptions(o, "in a search of a memory");
		if (o.embedder !== void 0) throw noEmbedder();
		throwIfAborted(o.signal);
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@6301");
			const lookup = await this.#reading.some();
			if (lookup !== void 0) {
				const found = await this.#searchCandidates(lookup, text, o);
				if (found !== void 0) return found;
				await this.#reading.all();
			}
			await this.#expire();
			throwIfAborted(o.signal);
			return this.#ranking.byWords(text, o);
		});
	}
	/** Undefined where all messages are to be ranked. */
	#searchCandidates(lookup, text, o) {globalThis.__t?.("memory/memory-storage.js#searchCandidates@6708");
		return this.#ranking.byCandidates(text, o, async (words, most) => {globalThis.__t?.("memory/memory-storage.js#anonymous@6773");
			throwIfAborted(o.signal);
			const places = await lookup.likeliest(this.roleId, words, most);
			if (places !== void 0) await this.#reading.at(lookup, places);
			return places;
		});
	}
	async #searchVectors(text, vectors, o) {globalThis.__t?.("memory/memory-storage.js#searchVectors@7009");
		await this.#inTurn(() => (globalThis.__t?.("memory/memory-storage.js#anonymous@7051"),(this.#sync())));
		const { clock } = this.#parts;
		const { embedder, timeout } = voiceOf(vectors, o.embedder);
		const dimensions = this.#vectors?.dimensions;
		const query = this.size === 0 ? void 0 : await embedQuery(embedder, text, {
			clock,
			timeout,
			signal: o.signal,
			dimensions
		});
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@7378");
			await this.#sync();
			await this.#expire();
			await this.#vectors?.embed(o.signal, o.embedder);
			return this.#ranking.of(text, query, vectors.index, o);
		});
	}
	/** What was said in its run right before and after a message that is known here: nearest first, `count` on each side. @internal */
	around(runId, id, count) {globalThis.__t?.("memory/memory-storage.js#around@7701");
		const place = this.#held.placeOf(runId, id);
		return this.#inTurn(async () => (globalThis.__t?.("memory/memory-storage.js#anonymous@7791"),(place === void 0 ? [] : this.#reading.around(place, count))));
	}
	/** Where a message that is known here stands in the store; 0 for none. @internal */
	placeOf(runId, id) {globalThis.__t?.("memory/memory-storage.js#placeOf@7961");
		return this.#held.placeOf(runId, id) ?? 0;
	}
	/** Forgets a message; false when it is not held. */
	delete(target, { runId = this.runId } = {}) {globalThis.__t?.("memory/memory-storage.js#delete@8084");
		const id = idOf(target);
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@8173");
			const [found] = await this.#reading.find([{
				runId,
				id
			}]);
			return found !== void 0 && await this.#remove([found.place]) === 1;
		});
	}
	/** Forgets what was said before a time, in milliseconds; tells how many. What has no date is as old as its place in the store. */
	deleteOlderThan(timestampMs) {globalThis.__t?.("memory/memory-storage.js#deleteOlderThan@8488");
		return this.forgetOlderThan(timestampMs).then(({ length }) => (globalThis.__t?.("memory/memory-storage.js#anonymous@8552"),(length)));
	}
	/** The same; tells the identities of what was forgotten. @internal */
	forgetOlderThan(timestampMs) {globalThis.__t?.("memory/memory-storage.js#forgetOlderThan@8668");
		if (Number.isNaN(timestampMs)) throw new RangeError("Expected a time in milliseconds, got NaN.");
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@8806");
			await this.#sync();
			const places = this.#held.olderThan(timestampMs);
			if (places.length === 0) return [];
			const old = new Set(places);
			const identities = this.#held.all().flatMap((entry) => (globalThis.__t?.("memory/memory-storage.js#identities@9014"),(old.has(entry.place) ? identityOf(entry.runId, entry.message.id) : [])));
			await this.#remove(places);
			return identities;
		});
	}
	/** Forgets what has outlived `ttl`; tells how many. */
	cleanUp() {globalThis.__t?.("memory/memory-storage.js#cleanUp@9224");
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@9251");
			await this.#sync();
			return this.#expire();
		});
	}
	/** Forgets every message. */
	clear() {globalThis.__t?.("memory/memory-storage.js#clear@9360");
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@9387");
			await this.#sync();
			await this.#remove(this.#held.places());
		});
	}
	/** Makes the vectors that are missing; without an embedder there are none. Messages are durable before: see L1. @throws MemoryError */
	persist({ signal } = {}) {globalThis.__t?.("memory/memory-storage.js#persist@9622");
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@9664");
			await this.#sync();
			await this.#vectors?.embed(signal);
		});
	}
	/** Makes all vectors again, from the messages. Cut off, it goes on with the next search or `persist`. @throws MemoryError */
	rebuild({ signal } = {}) {globalThis.__t?.("memory/memory-storage.js#rebuild@9884");
		return this.#inTurn(async () => {globalThis.__t?.("memory/memory-storage.js#anonymous@9926");
			await this.#sync();
			await this.#vectors?.restart();
			await this.#vectors?.embed(signal);
		});
	}
	/** Lets go of the store when all jobs are done. */
	async close() {globalThis.__t?.("memory/memory-storage.js#close@10111");
		if (this.#isClosed) return;
		this.#isClosed = true;
		await this.#turn;
		await this.#parts.store.close();
	}
	#inTurn(job) {globalThis.__t?.("memory/memory-storage.js#inTurn@10237");
		if (this.#isClosed) return Promise.reject(memoryClosed());
		const done = this.#turn.then(job);
		this.#turn = done.catch(() => {globalThis.__t?.("memory/memory-storage.js#anonymous@10369");});
		return done;
	}
	/** Learns what the store has got and lost since it was last read. */
	async #sync() {globalThis.__t?.("memory/memory-storage.js#sync@10481");
		await this.#reading.all();
		await this.#vectors?.load();
	}
	#learn(entry) {globalThis.__t?.("memory/memory-storage.js#learn@10556");
		if (!this.#held.add(entry)) return;
		this.#vectors?.add(entry.place);
		this.#ranking.learn(entry.place);
	}
	async #store(entries) {globalThis.__t?.("memory/memory-storage.js#store@10691");
		const fresh = entries.filter(({ runId, message }) => {globalThis.__t?.("memory/memory-storage.js#fresh@10734");
			assertMessage(message);
			return this.#held.placeOf(runId, message.id) === void 0;
		});
		if (fresh.length === 0) return 0;
		const made = (await this.#parts.store.add(this.roleId, fresh)).flatMap(({ place, isNew }, n) => (globalThis.__t?.("memory/memory-storage.js#made@10962"),(isNew ? [{
			...fresh[n],
			place
		}] : [])));
		for (const entry of made) this.#learn(entry);
		this.#held.sawPlaces(made.map(({ place }) => (globalThis.__t?.("memory/memory-storage.js#anonymous@11115"),(place))));
		return made.length;
	}
	async #remove(places) {globalThis.__t?.("memory/memory-storage.js#remove@11178");
		if (places.length === 0) return 0;
		const removed = await this.#parts.store.remove(this.roleId, places);
		for (const place of places) await this.#forget(place);
		const { state } = this.#held;
		this.#held.state = {
			...state,
			removals: state.removals + removed
		};
		return removed;
	}
	async #forget(place) {globalThis.__t?.("memory/memory-storage.js#forget@11500");
		if (!this.#held.forget(place)) return;
		await this.#vectors?.forget(place);
		await this.#ranking.forget(place);
	}
	async #expire() {globalThis.__t?.("memory/memory-storage.js#expire@11643");
		const { ttl, clock } = this.#parts;
		return ttl === void 0 ? 0 : this.#remove(this.#held.olderThan(clock.now() - ttl));
	}
	#assertOpen() {globalThis.__t?.("memory/memory-storage.js#assertOpen@11786");
		if (this.#isClosed) throw memoryClosed();
	}
};
function idOf(target) {globalThis.__t?.("memory/memory-storage.js#idOf@11841");
	if (typeof target === "string") return target;
	assertMessage(target);
	return target.id;
}
export { MemoryStorage, TICK };
