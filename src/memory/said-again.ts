import { tellingTerms, termsOf } from "./text-terms.ts";

/*
 * Which texts say the same once more. Pure.
 *
 * Only words that carry nothing may differ: two facts that differ in a number, a name, an order or a "not" are two facts.
 */

/** Two questions with this share of their telling words in common ask the same. */
const SAME_QUESTION = 0.75;
const FILLERS: ReadonlySet<string> = new Set("a an the please so well just oh ok okay very really".split(" "));
const QUESTION_WORDS: ReadonlySet<string> = new Set("who whom whose what which when where why how do does did".split(" "));
/** Characters that marks and fillers may add to a text, besides as many again. */
const ROOM_FOR_FILLERS = 100;
/** Characters among which the first word is looked for. */
const FIRST_WORDS = 80;
const QUESTION_END = /[?？؟]["'”’)\]\s]*$/;

/** The words of a text, in their order: equal for texts that differ in case, marks, spaces and fillers alone. */
export function wordsOf(text: string): string {
  const words = termsOf(text).filter((term) => !FILLERS.has(term));
  return words.length > 0 ? words.join(" ") : text.trim();
}

/** Tells what only asks once more what is being asked: the same words, or a question with nearly the same telling words. */
export class AskedBefore {
  readonly #words: ReadonlySet<string>;
  readonly #questions: readonly ReadonlySet<string>[];
  /** Longer texts are taken to have other words. */
  readonly #longest: number;

  /** @param asked what is being asked, each in its own words */
  constructor(asked: readonly string[]) {
    this.#words = new Set(asked.map(wordsOf));
    this.#longest = Math.max(0, ...asked.map(({ length }) => 2 * length + ROOM_FOR_FILLERS));
    this.#questions = asked.filter(isQuestion).map(tellingSet);
  }

  has(text: string): boolean {
    if (this.#questions.length > 0 && isQuestion(text)) {
      const terms = tellingSet(text);
      if (this.#questions.some((question) => overlap(question, terms) >= SAME_QUESTION)) return true;
    }
    return text.length <= this.#longest && this.#words.has(wordsOf(text));
  }
}

/** By its mark, or in English by its first word. */
function isQuestion(text: string): boolean {
  if (QUESTION_END.test(text.slice(-8))) return true;
  const [first = ""] = wordsOf(text.slice(0, FIRST_WORDS)).split(" ");
  return QUESTION_WORDS.has(first);
}

function tellingSet(text: string): ReadonlySet<string> {
  return new Set(tellingTerms(termsOf(text)));
}

/** What two sets share of all they have. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const term of a) if (b.has(term)) common += 1;
  return common / Math.max(1, a.size + b.size - common);
}
