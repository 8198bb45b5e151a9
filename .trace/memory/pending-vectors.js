import { MemoryError } from "../kernel/errors.js";
import { squareOf } from "./vector-math.js";
import { embedBatches, fingerprintOf } from "./embedder.js";
import { voiceOf } from "./storage-options.js";
// ../../work/wt/lead/src/memory/pending-vectors.ts
/**
* Which messages still wait for their vectors, and how these get into the index and the store. It owns that list and the dimensions;
* messages are the holder's, and are never touched.
*/
var PendingVectors = class {
	#parts;
	#vectors;
	#held;
	#fingerprint;
	#waiting = /* @__PURE__ */ new Set();
	/** Those that came since vectors were looked for wait too, ascending: at the start there are very many, and nearly all have one. */
	#fresh = [];
	#dimensions;
	constructor(parts, vectors, held) {globalThis.__t?.("memory/pending-vectors.js#constructor@734");
		this.#parts = parts;
		this.#vectors = vectors;
		this.#held = held;
		this.#fingerprint = fingerprintOf(vectors.embedder);
		this.#dimensions = vectors.embedder.dimensions;
	}
	get size() {globalThis.__t?.("memory/pending-vectors.js#size get@947");
		return this.#waiting.size + this.#fresh.length;
	}
	/** Numbers in a vector, once that is known. */
	get dimensions() {globalThis.__t?.("memory/pending-vectors.js#dimensions get@1069");
		return this.#dimensions;
	}
	add(place) {globalThis.__t?.("memory/pending-vectors.js#add@1108");
		if (place > (this.#fresh.at(-1) ?? 0)) this.#fresh.push(place);
		else this.#waiting.add(place);
	}
	async forget(place) {globalThis.__t?.("memory/pending-vectors.js#forget@1233");
		this.#age();
		this.#waiting.delete(place);
		await this.#vectors.index.delete(place);
	}
	/** Takes over the stored vectors of messages that wait for one. What is not whole, or not of this embedder, is made again. */
	async load() {globalThis.__t?.("memory/pending-vectors.js#load@1474");
		if (this.size === 0) return;
		const { store, roleId } = this.#parts;
		const fresh = this.#fresh;
		let first = fresh[0] ?? Infinity;
		for (const place of this.#waiting) first = Math.min(first, place);
		let next = 0;
		try {
			for await (const page of store.readVectors(roleId, this.#fingerprint, first - 1)) for (const { place, vector } of page) {
				for (; fresh[next] < place; next++) this.#waiting.add(fresh[next]);
				const isFresh = fresh[next] === place;
				if (!isFresh && !this.#waiting.has(place)) continue;
				const taking = this.#take(place, vector);
				const isTaken = typeof taking === "boolean" ? taking : await taking;
				if (isFresh) next++;
				if (isTaken) this.#waiting.delete(place);
				else this.#waiting.add(place);
			}
		} finally {
			this.#fresh = fresh.slice(next);
			this.#age();
		}
	}
	/** Embeds what waits, and keeps what came of every batch before the next one is asked for. @throws MemoryError, ControlError */
	async embed(signal, given) {globalThis.__t?.("memory/pending-vectors.js#embed@2451");
		this.#age();
		if (this.#waiting.size === 0) return;
		const { store, roleId, clock } = this.#parts;
		const { embedder, timeout } = voiceOf(this.#vectors, given);
		const places = [...this.#waiting].sort((a, b) => (globalThis.__t?.("memory/pending-vectors.js#places@2676"),(a - b)));
		const texts = places.map((place) => (globalThis.__t?.("memory/pending-vectors.js#texts@2721"),(this.#held.at(place)?.message.content ?? "")));
		try {
			for await (const { from, vectors } of embedBatches(embedder, texts, {
				clock,
				timeout,
				signal,
				dimensions: this.#dimensions
			})) {
				const made = vectors.map((vector, n) => ((globalThis.__t?.("memory/pending-vectors.js#made@2966"),({
					place: places[from + n],
					vector: vector ?? /* @__PURE__ */ new Float32Array(0)
				}))));
				await store.writeVectors(roleId, this.#fingerprint, made);
				for (const { place, vector } of made) if (await this.#take(place, vector)) this.#waiting.delete(place);
			}
		} catch (error) {
			throw error instanceof MemoryError ? this.#stillWaiting(error) : error;
		}
	}
	/** Drops every vector: all of them are made again. */
	async restart() {globalThis.__t?.("memory/pending-vectors.js#restart@3430");
		const { store, roleId } = this.#parts;
		const { index, embedder } = this.#vectors;
		await store.clearVectors(roleId);
		await index.clear();
		this.#dimensions = embedder.dimensions;
		for (const place of this.#held.places()) this.#waiting.add(place);
	}
	#age() {globalThis.__t?.("memory/pending-vectors.js#age@3699");
		for (const place of this.#fresh) this.#waiting.add(place);
		this.#fresh = [];
	}
	/** Whether it is of use. Not a promise unless the index asks for one: at the start there may be a hundred thousand. */
	#take(place, vector) {globalThis.__t?.("memory/pending-vectors.js#take@3915");
		if (vector.length === 0) return true;
		if (!isUsable(vector) || vector.length !== (this.#dimensions ??= vector.length)) return false;
		const kept = this.#vectors.index.add(place, vector);
		return kept === void 0 ? true : kept.then(() => (globalThis.__t?.("memory/pending-vectors.js#anonymous@4169"),(true)));
	}
	#stillWaiting(error) {globalThis.__t?.("memory/pending-vectors.js#stillWaiting@4199");
		const waiting = this.size;
		const known = typeof error.data === "object" && error.data !== null ? error.data : {};
		return new MemoryError(error.code, `${error.message} ${waiting} messages are kept and wait for their vectors: persist() goes on from there.`, {
			cause: error,
			data: {
				...known,
				pending: waiting
			}
		});
	}
};
function isUsable(vector) {globalThis.__t?.("memory/pending-vectors.js#isUsable@4553");
	const square = squareOf(vector);
	return square > 0 && square < Infinity;
}
export { PendingVectors };
