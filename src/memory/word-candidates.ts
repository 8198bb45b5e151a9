import { foldedText } from "./text-terms.ts";

/** What a text that holds a piece of a word gives, against one that holds all of it. */
const PIECE = 0.1;

/** A word that is looked for, and pieces of which one stands in it where it is misspelt. */
export interface SoughtTerm {
  readonly term: string;
  readonly pieces: readonly string[];
}

/**
 * The keys of the texts that are likeliest to answer, without an index: those that hold the most and the rarest of some words, at most `most`
 * that are accepted. Equal ones by key. One walk over the texts.
 */
export function likeliestTexts(
  texts: ReadonlyMap<number, string>,
  terms: readonly SoughtTerm[],
  most: number,
  accept: (key: number) => boolean = () => true,
): readonly number[] {
  const sought = [...new Map(terms.map((one) => [one.term, one])).values()];
  const counts = sought.map(() => 0);
  const found: { readonly key: number; readonly held: Float32Array }[] = [];
  for (const [key, text] of texts) {
    const folded = foldedText(text);
    const held = Float32Array.from(sought, ({ term, pieces }) => {
      if (folded.includes(term)) return 1;
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
