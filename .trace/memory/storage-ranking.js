import { UsageError } from "../kernel/errors.js";
import { fuseRankings } from "./rank-merge.js";
// ../../work/wt/lead/src/memory/storage-ranking.ts
/** How much deeper each ranking is read than what is asked for, when two are merged. */
const DEPTH = 5;
/** Candidates of one question, and how many times as many where too few of them are answers. */
const CANDIDATES = 500;
const MORE = 4;
/**
* The order in which a storage's messages answer a question. It owns which messages the lexical index has not read yet: it reads them with
* the first question that is about words. Which messages there are is the storage's.
*/
var StorageRanking = class {
	#parts;
	#held;
	#unread = /* @__PURE__ */ new Set();
	constructor(parts, held) {globalThis.__t?.("memory/storage-ranking.js#constructor@720");
		this.#parts = parts;
		this.#held = held;
	}
	/** A message came. */
	learn(place) {globalThis.__t?.("memory/storage-ranking.js#learn@813");
		if (this.#parts.lexical !== void 0) this.#unread.add(place);
	}
	/** A message is gone. */
	async forget(place) {globalThis.__t?.("memory/storage-ranking.js#forget@929");
		if (!this.#unread.delete(place)) await this.#parts.lexical?.delete(place);
	}
	/** The messages that share words with a text, best first. */
	async byWords(text, { k, filter }) {globalThis.__t?.("memory/storage-ranking.js#byWords@1096");
		const hits = k === 0 ? [] : await this.#worded(text, k, this.#accepting(filter));
		return this.#answers(hits.map(({ key }) => (globalThis.__t?.("memory/storage-ranking.js#anonymous@1236"),(key))), new Map(hits.map(({ key, score }) => (globalThis.__t?.("memory/storage-ranking.js#anonymous@1272"),([key, score])))));
	}
	/** The same of the messages that a store finds likeliest; undefined where all messages have to be ranked. */
	async byCandidates(text, { k, filter }, find) {globalThis.__t?.("memory/storage-ranking.js#byCandidates@1442");
		const ranking = this.#parts.lexical?.candidates;
		if (ranking === void 0) return void 0;
		const words = ranking.wordsOf(text);
		if (k === 0 || words.length === 0) return [];
		const accept = this.#accepting(filter) ?? (() => (globalThis.__t?.("memory/storage-ranking.js#accept@1696"),(true)));
		for (let most = Math.max(CANDIDATES, MORE * k);; most *= MORE) {
			const places = await find(words, most);
			if (places === void 0) return void 0;
			const accepted = places.filter((place) => (globalThis.__t?.("memory/storage-ranking.js#accepted@1894"),(this.#held.at(place) !== void 0 && accept(place))));
			const hits = await ranking.rank(text, new Map(accepted.map((place) => (globalThis.__t?.("memory/storage-ranking.js#hits@2018"),([place, this.#textAt(place)])))), k);
			if (hits.length < k && places.length >= most) continue;
			return this.#answers(hits.map(({ key }) => (globalThis.__t?.("memory/storage-ranking.js#anonymous@2157"),(key))), new Map(hits.map(({ key, score }) => (globalThis.__t?.("memory/storage-ranking.js#anonymous@2193"),([key, score])))));
		}
	}
	/** The messages most like a text, best first: by its vector, and by its words too where that is asked. */
	async of(text, query, index, o) {globalThis.__t?.("memory/storage-ranking.js#of@2354");
		const accept = this.#accepting(o.filter);
		const depth = o.hybrid === true ? o.k * DEPTH : o.k;
		const near = query === void 0 || index.size === 0 ? [] : await index.search(query, depth, { accept });
		const scores = new Map(near.map(({ key, score }) => (globalThis.__t?.("memory/storage-ranking.js#scores@2618"),([key, score]))));
		const similar = near.filter(({ score }) => (globalThis.__t?.("memory/storage-ranking.js#similar@2684"),(score >= o.threshold))).map(({ key }) => (globalThis.__t?.("memory/storage-ranking.js#similar@2725"),(key)));
		if (o.hybrid !== true) return this.#answers(similar, scores);
		const worded = await this.#worded(text, depth, accept);
		const best = fuseRankings([similar, worded.map(({ key }) => (globalThis.__t?.("memory/storage-ranking.js#best@2915"),(key)))]).slice(0, o.k);
		const unscored = new Set(best.filter((place) => (globalThis.__t?.("memory/storage-ranking.js#unscored@2989"),(!scores.has(place)))));
		if (query !== void 0 && unscored.size > 0 && index.size > 0) for (const { key, score } of await index.search(query, unscored.size, { among: unscored })) scores.set(key, score);
		return this.#answers(best, scores);
	}
	#accepting(filter) {globalThis.__t?.("memory/storage-ranking.js#accepting@3253");
		return filter === void 0 ? void 0 : (place) => (globalThis.__t?.("memory/storage-ranking.js#anonymous@3302"),(this.#isAccepted(place, filter)));
	}
	#isAccepted(place, filter) {globalThis.__t?.("memory/storage-ranking.js#isAccepted@3361");
		const { message, runId } = this.#held.at(place);
		return filter(message, runId);
	}
	/** What shares words with a text, best first. */
	async #worded(text, k, accept) {globalThis.__t?.("memory/storage-ranking.js#worded@3531");
		const { lexical } = this.#parts;
		if (lexical === void 0) throw noLexical();
		for (const place of this.#unread) {
			const added = lexical.add(place, this.#textAt(place));
			if (added !== void 0) await added;
			this.#unread.delete(place);
		}
		return lexical.search(text, k, accept);
	}
	#textAt(place) {globalThis.__t?.("memory/storage-ranking.js#textAt@3853");
		return this.#held.at(place)?.message.content ?? "";
	}
	#answers(places, scores) {globalThis.__t?.("memory/storage-ranking.js#answers@3929");
		return places.flatMap((place) => {globalThis.__t?.("memory/storage-ranking.js#anonymous@3972");
			const entry = this.#held.at(place);
			return entry === void 0 ? [] : [{
				message: entry.message,
				score: scores.get(place) ?? 0,
				runId: entry.runId
			}];
		});
	}
};
/** What a hybrid search without an index of words is told. */
function noLexical() {globalThis.__t?.("memory/storage-ranking.js#noLexical@4229");
	return new UsageError("OPTION_INVALID", "Expected a storage with a lexical index for a hybrid search, got one without. Give it the option lexical.");
}
/** What a search that brings an embedder to a storage without one is told. */
function noEmbedder() {globalThis.__t?.("memory/storage-ranking.js#noEmbedder@4484");
	return new UsageError("OPTION_INVALID", "Expected a storage with an embedder for a search that brings one, got one that looks for words. Give the storage the same embedder.");
}
export { StorageRanking, noEmbedder, noLexical };
