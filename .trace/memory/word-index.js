import { tellingTerms, termsOf } from "./text-terms.js";
import { likeliestTexts } from "./word-candidates.js";
// ../../work/wt/lead/src/memory/word-index.ts
/** Words shorter than this are not looked for misspelt. */
const SURE = 5;
/** Longer words are data, such as a digest: they are not looked for misspelt, which takes memory by the square of their length. */
const LONGEST_WORD = 64;
/** Letters of a word that may be wrong, of all its letters, and at most. */
const MISSPELT = .2;
const MOST_WRONG = 6;
/** So many texts are indexed whole. Of more, those that are likeliest to answer are looked for first: an index of all takes seconds. */
const MOST_INDEXED = 5e3;
const MOST_CANDIDATES = 2e3;
/**
* A {@link LexicalIndex} over `minisearch` (BM25), which is loaded with the first search: what a memory without an embedder searches by.
* Chinese, Japanese and Korean are found by characters and pairs of them; longer words also misspelt by a letter or two, and by their
* beginning. English function words of a question count only where it has no others. Of more than 5,000 texts the 2,000 that hold the rarest
* words of the question are ranked.
*/
function minisearch() {globalThis.__t?.("memory/word-index.js#minisearch@1159");
	return new MiniSearchIndex();
}
/**
* Owns the texts, and the index of them that was made for the last search; whose the keys are is its owner's business.
*
* WordIndex.W1 an index, where there is one, has exactly the texts that are not `#fresh`. WordIndex.W2 what a search gives depends on the texts and
* the question, not on what was asked before.
*/
var MiniSearchIndex = class {
	#texts = /* @__PURE__ */ new Map();
	/** Keys of texts that the index does not have yet. */
	#fresh = /* @__PURE__ */ new Set();
	#index;
	candidates = {
		wordsOf: wordsIn,
		rank: rankedTexts
	};
	get size() {globalThis.__t?.("memory/word-index.js#size get@1776");
		return this.#texts.size;
	}
	add(key, text) {globalThis.__t?.("memory/word-index.js#add@1815");
		this.delete(key);
		this.#texts.set(key, text);
		this.#fresh.add(key);
	}
	delete(key) {globalThis.__t?.("memory/word-index.js#delete@1913");
		if (!this.#texts.delete(key)) return false;
		if (!this.#fresh.delete(key)) this.#index?.discard(key);
		return true;
	}
	async search(text, k, accept) {globalThis.__t?.("memory/word-index.js#search@2057");
		if (this.#texts.size <= MOST_INDEXED) return best(await this.#whole(), text, k, accept);
		this.#forgetIndex();
		const likeliest = likeliestTexts(this.#texts, wordsIn(text), MOST_CANDIDATES, accept);
		return rankedTexts(text, new Map(likeliest.map((id) => (globalThis.__t?.("memory/word-index.js#anonymous@2329"),([id, this.#texts.get(id) ?? ""])))), k);
	}
	clear() {globalThis.__t?.("memory/word-index.js#clear@2385");
		this.#texts.clear();
		this.#fresh.clear();
		this.#index = void 0;
	}
	async #whole() {globalThis.__t?.("memory/word-index.js#whole@2476");
		const made = this.#index ?? await newIndex();
		const index = this.#index ??= made;
		for (const id of this.#fresh) index.add({
			id,
			text: this.#texts.get(id) ?? ""
		});
		this.#fresh.clear();
		return index;
	}
	#forgetIndex() {globalThis.__t?.("memory/word-index.js#forgetIndex@2714");
		if (this.#index === void 0) return;
		this.#index = void 0;
		for (const key of this.#texts.keys()) this.#fresh.add(key);
	}
};
async function rankedTexts(question, texts, k) {globalThis.__t?.("memory/word-index.js#rankedTexts@2849");
	const index = await newIndex();
	index.addAll([...texts].map(([id, text]) => ((globalThis.__t?.("memory/word-index.js#anonymous@2960"),({
		id,
		text
	})))));
	return best(index, question, k);
}
function wordsIn(question) {globalThis.__t?.("memory/word-index.js#wordsIn@3035");
	return [...new Set(tellingTerms(termsOf(question)))].map((word) => ((globalThis.__t?.("memory/word-index.js#anonymous@3122"),({
		word,
		isBeginning: isBeginning(word),
		wrongLetters: wrongLetters(word)
	}))));
}
function isBeginning({ length }) {globalThis.__t?.("memory/word-index.js#isBeginning@3220");
	return length >= SURE;
}
function best(index, text, k, accept) {globalThis.__t?.("memory/word-index.js#best@3281");
	return index.search(text, accept === void 0 ? {} : { filter: ({ id }) => (globalThis.__t?.("memory/word-index.js#filter@3383"),(accept(id))) }).map(({ id, score }) => ((globalThis.__t?.("memory/word-index.js#anonymous@3413"),({
		key: id,
		score
	})))).sort((a, b) => (globalThis.__t?.("memory/word-index.js#anonymous@3464"),(b.score - a.score || a.key - b.key))).slice(0, k);
}
/** How many letters of a word may be wrong. */
function wrongLetters({ length }) {globalThis.__t?.("memory/word-index.js#wrongLetters@3573");
	return length < SURE || length > LONGEST_WORD ? 0 : Math.min(MOST_WRONG, Math.round(length * MISSPELT));
}
async function newIndex() {globalThis.__t?.("memory/word-index.js#newIndex@3717");
	const { default: Index } = await import("minisearch");
	return new Index({
		fields: ["text"],
		tokenize: termsOf,
		processTerm: (term) => (globalThis.__t?.("memory/word-index.js#processTerm@3877"),(term)),
		searchOptions: {
			tokenize: (question) => (globalThis.__t?.("memory/word-index.js#tokenize@3925"),(tellingTerms(termsOf(question)))),
			fuzzy: wrongLetters,
			prefix: isBeginning
		}
	});
}
export { minisearch };
