import { foldedText } from "./text-terms.js";
// ../../work/wt/lead/src/memory/word-candidates.ts
/** How much a text that holds a piece of a word counts, against one that holds all of it. */
const PIECE = .1;
/**
* The keys of the texts that are likeliest to answer, without an index: those that hold the most and the rarest of some words, at most `most`
* that are accepted. Equal ones by key. One walk over the texts.
*/
function likeliestTexts(texts, words, most, accept = () => (globalThis.__t?.("memory/word-candidates.js#anonymous@477"),(true))) {globalThis.__t?.("memory/word-candidates.js#likeliestTexts@424");
	const sought = words.map((word) => ((globalThis.__t?.("memory/word-candidates.js#sought@517"),({
		word: word.word,
		pieces: piecesOf(word)
	}))));
	const counts = sought.map(() => (globalThis.__t?.("memory/word-candidates.js#counts@607"),(0)));
	const found = [];
	for (const [key, text] of texts) {
		const folded = foldedText(text);
		const held = Float32Array.from(sought, ({ word, pieces }) => {globalThis.__t?.("memory/word-candidates.js#held@748");
			if (folded.includes(word)) return 1;
			return pieces.some((piece) => (globalThis.__t?.("memory/word-candidates.js#anonymous@834"),(folded.includes(piece)))) ? PIECE : 0;
		});
		if (held.every((share) => (globalThis.__t?.("memory/word-candidates.js#anonymous@905"),(share === 0)))) continue;
		for (const [n, share] of held.entries()) if (share === 1) counts[n] = (counts[n] ?? 0) + 1;
		found.push({
			key,
			held
		});
	}
	const weights = counts.map((count) => (globalThis.__t?.("memory/word-candidates.js#weights@1102"),(Math.log(1 + texts.size / (1 + count)))));
	const scored = found.map(({ key, held }) => ((globalThis.__t?.("memory/word-candidates.js#scored@1180"),({
		key,
		score: held.reduce((sum, share, n) => (globalThis.__t?.("memory/word-candidates.js#score@1230"),(sum + share * (weights[n] ?? 0))), 0)
	}))));
	const likeliest = [];
	for (const { key } of scored.sort((a, b) => (globalThis.__t?.("memory/word-candidates.js#anonymous@1349"),(b.score - a.score || a.key - b.key)))) {
		if (likeliest.length === most) break;
		if (accept(key)) likeliest.push(key);
	}
	return likeliest;
}
/** Pieces of a word of which one stands in every word that is misspelt as far as is allowed. */
function piecesOf({ word, wrongLetters }) {globalThis.__t?.("memory/word-candidates.js#piecesOf@1599");
	const pieces = wrongLetters + 1;
	const size = Math.floor(word.length / pieces);
	return pieces === 1 ? [] : Array.from({ length: pieces }, (_, n) => (globalThis.__t?.("memory/word-candidates.js#anonymous@1784"),(word.slice(n * size, n === pieces - 1 ? void 0 : (n + 1) * size))));
}
export { likeliestTexts };
