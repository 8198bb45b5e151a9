import { contentWords, termsOf } from "./text-terms.ts";

/*
 * Recognizes texts that repeat another text.
 *
 * Only filler words may differ: two facts that differ in a number, a name, an order or a "not" are two facts.
 */

/** Two questions that share this part of their content words ask the same. */
const SAME_QUESTION = 0.75;
const FILLERS: ReadonlySet<string> = new Set("a an the please so well just oh ok okay very really".split(" "));
const QUESTION_WORDS: ReadonlySet<string> = new Set("who whom whose what which when where why how do does did".split(" "));
/** Characters that punctuation and fillers may add to a text, besides doubling it. */
const ROOM_FOR_FILLERS = 100;
/** Characters that contain the first word. */
const FIRST_WORDS = 80;
const QUESTION_END = /[?？؟]["'”’)\]\s]*$/;

/** Returns the words of a text in order. They are equal for texts that differ only in case, punctuation, spaces and fillers. */
export function wordsOf(text: string): string {
  const words = termsOf(text).filter((term) => !FILLERS.has(term));
  return words.length > 0 ? words.join(" ") : text.trim();
}

/** Recognizes texts that repeat a question: the same words, or a question with nearly the same content words. */
export class AskedBefore {
  readonly #words: ReadonlySet<string>;
  readonly #questions: readonly ReadonlySet<string>[];
  /** A longer text has other words. */
  readonly #longest: number;

  /** @param asked the questions */
  constructor(asked: readonly string[]) {
    this.#words = new Set(asked.map(wordsOf));
    this.#longest = Math.max(0, ...asked.map(({ length }) => 2 * length + ROOM_FOR_FILLERS));
    this.#questions = asked.filter(isQuestion).map(contentSet);
  }

  has(text: string): boolean {
    if (this.#questions.length > 0 && isQuestion(text)) {
      const terms = contentSet(text);
      if (this.#questions.some((question) => overlap(question, terms) >= SAME_QUESTION)) return true;
    }
    return text.length <= this.#longest && this.#words.has(wordsOf(text));
  }
}

/** A question has a question mark at the end or, in English, a question word at the beginning. */
function isQuestion(text: string): boolean {
  if (QUESTION_END.test(text.slice(-8))) return true;
  const [first = ""] = wordsOf(text.slice(0, FIRST_WORDS)).split(" ");
  return QUESTION_WORDS.has(first);
}

function contentSet(text: string): ReadonlySet<string> {
  return new Set(contentWords(termsOf(text)));
}

/** The share of common terms among all terms. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const term of a) if (b.has(term)) common += 1;
  return common / Math.max(1, a.size + b.size - common);
}
