import { lazily } from "../kernel/lazily.ts";

/*
 * The terms of a text for a search by words: words, and for Chinese, Japanese and Korean, which have no spaces, characters and pairs of them.
 */

/** Scripts without spaces between words. */
const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}";
const patterns = lazily(() => ({
  // Marks belong to the letter before them: vowels of Hindi are marks.
  runs: new RegExp(`[${CJK}]+|(?![${CJK}])[\\p{L}\\p{N}](?:(?![${CJK}])[\\p{L}\\p{N}\\p{M}])*`, "gu"),
  cjk: new RegExp(`^[${CJK}]`, "u"),
}));

/** A sequence of characters of one kind of script. */
export interface TextRun {
  readonly text: string;
  readonly isCjk: boolean;
}

/** Returns a text in lower case and NFKC. */
export function foldedText(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** Returns the sequences of letters and digits of a text, in lower case and NFKC. */
export function runsOf(text: string): TextRun[] {
  const { runs, cjk } = patterns();
  return (foldedText(text).match(runs) ?? []).map((run) => ({ text: run, isCjk: cjk.test(run) }));
}

/** Returns the terms of a text: words, and characters and pairs in scripts without spaces. */
export function termsOf(text: string): string[] {
  return runsOf(text).flatMap((run) => (run.isCjk ? charactersAndPairs(run.text) : [run.text]));
}

/** Returns the characters of a sequence and every pair of neighbours. */
export function charactersAndPairs(run: string): string[] {
  const characters = Array.from(run);
  return [...characters, ...characters.slice(1).map((character, n) => `${characters[n] ?? ""}${character}`)];
}

/*
 * English function words: the list of the Snowball project (snowballstem.org/algorithms/english/stop.txt) with the parts of its contractions.
 * They are removed from questions only, and only where another word is left, so that a text in another language is still found by them.
 */

const FUNCTION_WORDS = `i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom whose this that these those am is are was were be been being have has had having do
does did doing would should could ought can will shall may might must a an the and but if or because as until while of at by for with about
against between into through during before after above below to from up down in out on off over under again further then once here there when
where why how all any both each few more most other some such no nor not only own same so than too very just s t d m ll re ve don didn doesn isn
aren wasn weren hasn haven hadn won wouldn couldn shouldn`;
const words = lazily(() => new Set(FUNCTION_WORDS.split(/\s+/)));

/** Returns the content words of a question, or all of its words when it has none. */
export function contentWords(terms: readonly string[]): string[] {
  const telling = terms.filter((term) => !words().has(term));
  return telling.length > 0 ? telling : [...terms];
}
