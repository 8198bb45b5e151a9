import { lazily } from "../kernel/lazily.ts";

const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}";
/** Made on first use, because making them takes milliseconds. */
const patterns = lazily(() => ({
  // Marks belong to the letter before them: vowels of Hindi are marks.
  runs: new RegExp(`[${CJK}]+|(?![${CJK}])[\\p{L}\\p{N}](?:(?![${CJK}])[\\p{L}\\p{N}\\p{M}])*`, "gu"),
  cjk: new RegExp(`^[${CJK}]`, "u"),
}));

export interface TextRun {
  readonly text: string;
  readonly isCjk: boolean;
}

export function runsOf(text: string): TextRun[] {
  const { runs, cjk } = patterns();
  const found: TextRun[] = [];
  for (const run of text.normalize("NFKC").toLowerCase().match(runs) ?? []) found.push({ text: run, isCjk: cjk.test(run) });
  return found;
}

export function termsOf(text: string): string[] {
  return runsOf(text).flatMap((run) => (run.isCjk ? charactersAndPairs(run.text) : [run.text]));
}

export function charactersAndPairs(run: string): string[] {
  const characters = Array.from(run);
  return [...characters, ...characters.slice(1).map((character, n) => `${characters[n] ?? ""}${character}`)];
}

/** Returns the beginning of a text. It does not cut a surrogate pair. */
export function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

/** English function words: the list of the Snowball project (snowballstem.org/algorithms/english/stop.txt) with the parts of its contractions. */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom whose this that these those am is are was were be been being have has had having do
does did doing would should could ought can will shall may might must a an the and but if or because as until while of at by for with about
against between into through during before after above below to from up down in out on off over under again further then once here there when
where why how all any both each few more most other some such no nor not only own same so than too very just s t d m ll re ve don didn doesn isn
aren wasn weren hasn haven hadn won wouldn couldn shouldn`.split(/\s+/),
);

/** Returns the terms of the content words of a question, or of all its words when it has none, as in another language. */
export function contentTermsOf(question: string): string[] {
  const terms = termsOf(question);
  const content = terms.filter((term) => !FUNCTION_WORDS.has(term));
  return content.length > 0 ? content : terms;
}

const FILLERS: ReadonlySet<string> = new Set("a an the please so well just oh ok okay very really".split(" "));

/** Returns the words of a text in order. They are equal for texts that differ only in case, punctuation, spaces and fillers. */
export function wordsOf(text: string): string {
  const words = termsOf(text).filter((term) => !FILLERS.has(term));
  return words.length > 0 ? words.join(" ") : text.trim();
}

/** Two questions that share this part of their content words ask the same. */
const SAME_QUESTION = 0.75;
const QUESTION_WORDS: ReadonlySet<string> = new Set("who whom whose what which when where why how do does did".split(" "));
const QUESTION_END = /[?？؟]["'”’)\]\s]*$/;

/** Returns a check for strings that repeat a question: the same words, or a question with nearly the same content words. */
export function repeatsOf(asked: readonly string[]): (text: string) => boolean {
  const words = new Set(asked.map(wordsOf));
  const questions = asked.filter(isQuestion).map((question) => new Set(contentTermsOf(question)));
  return (text) => {
    if (words.has(wordsOf(text))) return true;
    if (questions.length === 0 || !isQuestion(text)) return false;
    const terms = new Set(contentTermsOf(text));
    return questions.some((question) => overlap(question, terms) >= SAME_QUESTION);
  };
}

function isQuestion(text: string): boolean {
  return QUESTION_END.test(text.slice(-8)) || QUESTION_WORDS.has(wordsOf(text).split(" ")[0] ?? "");
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((term) => b.has(term)).length;
  return common / Math.max(1, a.size + b.size - common);
}

/** Returns a hash of 32 bits, equal on every machine: FNV-1a and the final mix of MurmurHash3, because callers use the low bits. */
export function stableHash(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
