import { textHash } from "../../kernel/json.ts";
import { wordsIn } from "./words.ts";

/** Words of one shingle. */
const SHINGLE = 3;
/** Words of a text that are compared. */
const MOST_WORDS = 2_000;
/** Bands of rows of hashes: two texts that share 0.8 of their shingles share a band with a probability above 0.999. */
const BANDS = 16;
const ROWS = 4;

/**
 * Counts the texts that are nearly the same as an earlier one: the shingles of three words that either has are shared in at least
 * `likeness` of all cases (Broder 1997). Candidates are found by hashes, and then compared exactly.
 */
export function repeatsIn(texts: readonly string[], likeness: number): number {
  const buckets = new Map<string, number[]>();
  const known: ReadonlySet<string>[] = [];
  const exact = new Set<string>();
  let repeats = 0;
  for (const text of texts) {
    const words = wordsIn(text, MOST_WORDS);
    const whole = words.join(" ");
    if (exact.has(whole)) {
      repeats += 1;
      continue;
    }
    exact.add(whole);
    const shingles = shinglesOf(words);
    const keys = bandsOf(shingles);
    const candidates = new Set(keys.flatMap((key) => buckets.get(key) ?? []));
    if ([...candidates].some((place) => likenessOf(shingles, known[place] ?? new Set()) >= likeness)) repeats += 1;
    // A text that repeats another is found by that one.
    else addTo(buckets, keys, known.push(shingles) - 1);
  }
  return repeats;
}

function addTo(buckets: Map<string, number[]>, keys: readonly string[], place: number): void {
  for (const key of keys) {
    const bucket = buckets.get(key);
    if (bucket === undefined) buckets.set(key, [place]);
    else bucket.push(place);
  }
}

function shinglesOf(words: readonly string[]): ReadonlySet<string> {
  if (words.length <= SHINGLE) return new Set([words.join(" ")]);
  return new Set(words.slice(SHINGLE - 1).map((_, place) => words.slice(place, place + SHINGLE).join(" ")));
}

/** Returns a key for each band: the least hashes of the shingles under different hash functions. */
function bandsOf(shingles: ReadonlySet<string>): readonly string[] {
  const least = new Uint32Array(BANDS * ROWS).fill(0xffffffff);
  for (const shingle of shingles) {
    const digest = textHash(shingle);
    const [one, two] = [Number.parseInt(digest.slice(0, 8), 16), Number.parseInt(digest.slice(8, 16), 16) | 1];
    // The n-th function is a sum of two hashes (Kirsch and Mitzenmacher 2006).
    for (let n = 0; n < least.length; n += 1) {
      const value = (one + Math.imul(n, two)) >>> 0;
      if (value < (least[n] ?? 0)) least[n] = value;
    }
  }
  return Array.from({ length: BANDS }, (_, band) => `${band} ${least.slice(band * ROWS, (band + 1) * ROWS).join(" ")}`);
}

function likenessOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const shingle of a) if (b.has(shingle)) shared += 1;
  return shared / (a.size + b.size - shared);
}
