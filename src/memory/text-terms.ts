/*
 * The terms of a text, for finding it by its words: Latin and other alphabets word by word, Chinese, Japanese and Korean by characters and
 * pairs of them, because they write no spaces. Pure.
 */

/** Characters that are written without spaces between words. */
const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}";
const RUNS = new RegExp(`[${CJK}]+|(?:(?![${CJK}])[\\p{L}\\p{N}])+`, "gu");
const IS_CJK = new RegExp(`^[${CJK}]`, "u");

/** A stretch of one kind of writing. */
export interface TextRun {
  readonly text: string;
  readonly isCjk: boolean;
}

/** The stretches of letters and digits of a text, in lower case and without differences of width or composition. */
export function runsOf(text: string): TextRun[] {
  const plain = text.normalize("NFKC").toLowerCase();
  return (plain.match(RUNS) ?? []).map((run) => ({ text: run, isCjk: IS_CJK.test(run) }));
}

/** The terms a lexical index keeps: words, and single characters and pairs where there are no words. */
export function termsOf(text: string): string[] {
  return runsOf(text).flatMap((run) => (run.isCjk ? charactersAndPairs(run.text) : [run.text]));
}

/** The characters of a stretch, and every two that follow each other. */
export function charactersAndPairs(run: string): string[] {
  const characters = Array.from(run);
  return [...characters, ...characters.slice(1).map((character, n) => `${characters[n] ?? ""}${character}`)];
}
