import { checkKnownOptions } from "../kernel/known-options.js";
import { UsageError } from "../kernel/errors.js";
import { stableHash } from "./stable-hash.js";
import { charactersAndPairs, runsOf } from "./text-terms.js";
// ../../work/wt/lead/src/memory/hashing-embedder.ts
/** What a feature weighs against a whole word: pieces of words find misspelt and inflected ones, but say less. */
const PIECE = .35;
const PAIR = .5;
/** Words up to this length are taken to carry grammar more than meaning. */
const SHORT = 3;
const SHORT_WORD = .4;
const MAX_CHARS = 2e4;
const hashingOptions = { dimensions: true };
/**
* An embedder that needs no network, no model and no download: words, pairs of words, pieces of words and, where writing has no spaces
* (Chinese, Japanese, Korean), characters and pairs of them, hashed into a vector.
*
* It is **lexical**: texts are alike when they share words or pieces of them. It does not know that a car is an automobile, finds no
* paraphrase and nothing across languages. For that use an embedding model, such as `openaiEmbedder` from `troupe/openai`.
*
* @throws UsageError `OPTION_INVALID` for dimensions that are none
* @example
* import { createMessage, hashingEmbedder, MemoryStorage } from "troupe";
*
* const storage = new MemoryStorage({ roleId: "Ada", embedder: hashingEmbedder() });
* await storage.add(createMessage("Bridges are built of stone."));
* const [best] = await storage.searchSimilar("a stone bridge");
* console.log((best?.score ?? 0) > 0.3); // true
*/
function hashingEmbedder(options = {}) {globalThis.__t?.("memory/hashing-embedder.js#hashingEmbedder@1516");
	checkKnownOptions("hashingEmbedder", options, hashingOptions);
	const { dimensions = 512 } = options;
	if (!Number.isInteger(dimensions) || dimensions < 16) throw new UsageError("OPTION_INVALID", `Expected the dimensions of a hashing embedder to be a whole number from 16 on, got ${dimensions}.`);
	return {
		id: `hashing-2/${dimensions}`,
		dimensions,
		maxBatch: 256,
		maxChars: MAX_CHARS,
		threshold: .2,
		isFree: true,
		embed: (texts) => (globalThis.__t?.("memory/hashing-embedder.js#embed@1995"),(Promise.resolve(texts.map((text) => (globalThis.__t?.("memory/hashing-embedder.js#anonymous@2032"),(hashed(text, dimensions)))))))
	};
}
function hashed(text, dimensions) {globalThis.__t?.("memory/hashing-embedder.js#hashed@2075");
	const weights = /* @__PURE__ */ new Map();
	const count = (feature, weight) => (globalThis.__t?.("memory/hashing-embedder.js#count@2170"),(void weights.set(feature, (weights.get(feature) ?? 0) + weight ** 2)));
	let before = "";
	for (const run of runsOf(text)) {
		if (run.isCjk) {
			for (const term of charactersAndPairs(run.text)) count(`c${term}`, term.length > 1 ? 1 : PAIR);
			before = "";
			continue;
		}
		count(`w${run.text}`, run.text.length <= SHORT ? SHORT_WORD : 1);
		if (before !== "") count(`b${before} ${run.text}`, PAIR);
		for (const piece of piecesOf(run.text)) count(`p${piece}`, PIECE);
		before = run.text;
	}
	const vector = new Float32Array(dimensions);
	for (const [feature, squares] of weights) addFeature(vector, feature, Math.sqrt(squares));
	return vector;
}
/** Two places with a sign each: what falls onto the same place by chance cancels out on average. */
function addFeature(vector, feature, weight) {globalThis.__t?.("memory/hashing-embedder.js#addFeature@2943");
	for (const seed of [1, 2]) {
		const hash = stableHash(feature, seed);
		const place = (hash >>> 1) % vector.length;
		vector[place] = vector[place] + ((hash & 1) === 0 ? weight : -weight);
	}
}
/** Three letters at a time, the ends of the word marked. */
function piecesOf(word) {globalThis.__t?.("memory/hashing-embedder.js#piecesOf@3247");
	if (word.length <= SHORT) return [];
	const marked = `^${word}$`;
	return Array.from({ length: marked.length - 2 }, (_, n) => (globalThis.__t?.("memory/hashing-embedder.js#anonymous@3390"),(marked.slice(n, n + 3))));
}
export { hashingEmbedder };
