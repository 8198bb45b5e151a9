/*
 * The terms of a text, for finding it by its words: Latin and other alphabets word by word, Chinese, Japanese and Korean by characters and
 * pairs of them, because they write no spaces. Pure.
 */

import { lazily } from "../kernel/lazily.ts";

/** Characters that are written without spaces between words. */
const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}";
const patterns = lazily(() => ({
  // Marks belong to the letter before them: in Hindi the vowels of a word are marks.
  runs: new RegExp(`[${CJK}]+|(?![${CJK}])[\\p{L}\\p{N}](?:(?![${CJK}])[\\p{L}\\p{N}\\p{M}])*`, "gu"),
  cjk: new RegExp(`^[${CJK}]`, "u"),
}));

/** A stretch of one kind of writing. */
export interface TextRun {
  readonly text: string;
  readonly isCjk: boolean;
}

/** A text in lower case and without differences of width or composition. */
export function foldedText(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** The stretches of letters and digits of a text, in lower case and without differences of width or composition. */
export function runsOf(text: string): TextRun[] {
  const { runs, cjk } = patterns();
  return (foldedText(text).match(runs) ?? []).map((run) => ({ text: run, isCjk: cjk.test(run) }));
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
