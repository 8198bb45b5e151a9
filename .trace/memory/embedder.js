import { throwIfAborted, untilAborted, withTimeout } from "../kernel/abort.js";
import { ControlError, MemoryError } from "../kernel/errors.js";
import { contentHash } from "../kernel/json.js";
import { squareOf } from "./vector-math.js";
// ../../work/wt/lead/src/memory/embedder.ts
/** Changes when vectors are kept or computed in another way than before. */
const VECTOR_VERSION = 1;
/** How far from 1 the square of a length of 1 may lie, in 32-bit numbers. */
const UNIT = 1e-6;
/** By what stored vectors are known to be this embedder's. */
function fingerprintOf(embedder) {globalThis.__t?.("memory/embedder.js#fingerprintOf@547");
	return contentHash([
		VECTOR_VERSION,
		embedder.id,
		embedder.dimensions ?? null
	]).slice(0, 32);
}
/** What of a text is embedded; nothing of a blank one, which servers refuse together with its whole batch. */
function embeddable(embedder, text) {globalThis.__t?.("memory/embedder.js#embeddable@798");
	return text.slice(0, embedder.maxChars).replace(/[\ud800-\udbff]$/, "").trim();
}
/**
* Embeds texts batch by batch, each checked before it is given out, so that what came before a failure is not lost.
*
* @throws MemoryError `EMBEDDING_FAILED` when the embedder failed or took too long; `EMBEDDING_INVALID` when it gave too few vectors, or
* numbers that are none; `EMBEDDING_DIMENSION` when a vector has another length. ControlError when the signal aborts.
*/
async function* embedBatches(embedder, texts, limits) {globalThis.__t?.("memory/embedder.js#embedBatches@1299");
	const step = Math.max(1, Math.floor(embedder.maxBatch));
	let dimensions = limits.dimensions ?? embedder.dimensions;
	for (let from = 0; from < texts.length; from += step) {
		throwIfAborted(limits.signal);
		const asked = texts.slice(from, from + step).map((text) => (globalThis.__t?.("memory/embedder.js#asked@1614"),(embeddable(embedder, text))));
		const full = asked.filter((text) => (globalThis.__t?.("memory/embedder.js#full@1681"),(text !== "")));
		const raw = full.length === 0 ? [] : await called(embedder, full, limits);
		if (raw.length !== full.length) throw new MemoryError("EMBEDDING_INVALID", `Expected ${full.length} vectors from embedder ${embedder.id}, got ${raw.length}. Use an embedder that answers every text.`);
		const made = raw.map((vector) => {globalThis.__t?.("memory/embedder.js#made@2008");
			dimensions ??= vector.length;
			if (vector.length !== dimensions) throw otherDimension(embedder, dimensions, vector.length);
			return unitVector(vector, embedder.id);
		});
		let next = 0;
		yield {
			from,
			vectors: asked.map((text) => (globalThis.__t?.("memory/embedder.js#vectors@2257"),(text === "" ? void 0 : made[next++])))
		};
	}
}
/** The vector of one text, or undefined when it cannot be embedded. @throws as {@link embedBatches} */
async function embedQuery(embedder, text, limits) {globalThis.__t?.("memory/embedder.js#embedQuery@2418");
	for await (const { vectors } of embedBatches(embedder, [text], {
		...limits,
		kind: "query"
	})) return vectors[0];
}
async function called(embedder, texts, limits) {globalThis.__t?.("memory/embedder.js#called@2591");
	const { clock, timeout, signal = new AbortController().signal, kind = "document" } = limits;
	const what = `embedder ${embedder.id} over ${texts.length} texts`;
	const call = (inner) => (globalThis.__t?.("memory/embedder.js#call@2816"),(embedder.embed(texts, {
		signal: inner,
		kind
	})));
	try {
		return await (timeout === void 0 ? untilAborted(call(signal), signal) : withTimeout(clock, timeout, what, signal, call));
	} catch (error) {
		if (error instanceof ControlError) throw error;
		const why = error instanceof Error ? error.message : String(error);
		throw new MemoryError("EMBEDDING_FAILED", `Expected vectors from embedder ${embedder.id}, but it failed: ${why} Try again later.`, { cause: error });
	}
}
/**
* The same direction at length 1, and the very same vector if it has that; undefined for a vector without any.
*
* @throws MemoryError `EMBEDDING_INVALID` for what is not a finite number
*/
function unitVector(vector, source) {globalThis.__t?.("memory/embedder.js#unitVector@3501");
	const narrow = vector instanceof Float32Array ? vector : void 0;
	let sum = 0;
	if (narrow !== void 0) {
		if (Math.abs(squareOf(narrow) - 1) < UNIT) return narrow;
		for (let n = 0; n < narrow.length; n++) sum += narrow[n] * narrow[n];
		if (sum > 0 && sum < Infinity) return scaled(narrow, 1 / Math.sqrt(sum));
	}
	let largest = 0;
	for (let n = 0; n < vector.length; n++) {
		const value = vector[n];
		if (typeof value !== "number" || !Number.isFinite(value)) throw noNumber(value, n, source);
		largest = Math.max(largest, Math.abs(value));
	}
	if (largest === 0) return void 0;
	const wide = Float64Array.from(vector, (value) => (globalThis.__t?.("memory/embedder.js#wide@4164"),(value / largest)));
	for (const value of wide) sum += value * value;
	return scaled(wide, 1 / Math.sqrt(sum));
}
function scaled(vector, factor) {globalThis.__t?.("memory/embedder.js#scaled@4286");
	const unit = new Float32Array(vector.length);
	for (let n = 0; n < unit.length; n++) unit[n] = vector[n] * factor;
	return unit;
}
function noNumber(value, place, source) {globalThis.__t?.("memory/embedder.js#noNumber@4452");
	return new MemoryError("EMBEDDING_INVALID", `Expected a vector of finite numbers from ${source}, got ${String(value)} at place ${place}. Mend the embedder; nothing was kept of it.`);
}
function otherDimension(embedder, expected, came) {globalThis.__t?.("memory/embedder.js#otherDimension@4680");
	return new MemoryError("EMBEDDING_DIMENSION", `Expected vectors of ${expected} numbers from embedder ${embedder.id}, got one of ${came}. If its model has changed, give it another id, or call rebuild() to make all vectors again.`, { data: {
		expected,
		came
	} });
}
export { embedBatches, embedQuery, embeddable, fingerprintOf, unitVector };
