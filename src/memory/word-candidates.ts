import type { SoughtWord } from "./message-store.ts";
import { foldedText } from "./text-terms.ts";

/** How much a text that holds a piece of a word counts, against one that holds all of it. */
const PIECE = 0.1;

/**
 * The keys of the texts that are likeliest to answer, without an index: those that hold the most and the rarest of some words, at most `most`
 * that are accepted. Equal ones by key. One walk over the texts.
 */
export function likeliestTexts(
  texts: ReadonlyMap<number, string>,
  words: readonly SoughtWord[],
  most: number,
  accept: (key: number) => boolean = () => true,
): readonly number[] {
  const sought = words.map((word) => ({ word: word.word, pieces: piecesOf(word) }));
  const counts = sought.map(() => 0);
  const found: { readonly key: number; readonly held: Float32Array }[] = [];
  for (const [key, text] of texts) {
    const folded = foldedText(text);
    const held = Float32Array.from(sought, ({ word, pieces }) => {
      if (folded.includes(word)) return 1;
      return pieces.some((piece) => folded.includes(piece)) ? PIECE : 0;
    });
    if (held.every((share) => share === 0)) continue;
    for (const [n, share] of held.entries()) if (share === 1) counts[n] = (counts[n] ?? 0) + 1;
    found.push({ key, held });
  }
  const weights = counts.map((count) => Math.log(1 + texts.size / (1 + count)));
  const scored = found.map(({ key, held }) => ({ key, score: held.reduce((sum, share, n) => sum + share * (weights[n] ?? 0), 0) }));
  const likeliest: number[] = [];
  for (const { key } of scored.sort((a, b) => b.score - a.score || a.key - b.key)) {
    if (likeliest.length === most) break;
    if (accept(key)) likeliest.push(key);
  }
  return likeliest;
}

/** Pieces of a word of which one stands in every word that is misspelt as far as is allowed. */
function piecesOf({ word, wrongLetters }: SoughtWord): readonly string[] {
  const pieces = wrongLetters + 1;
  const size = Math.floor(word.length / pieces);
  return pieces === 1 ? [] : Array.from({ length: pieces }, (_, n) => word.slice(n * size, n === pieces - 1 ? undefined : (n + 1) * size));
}
