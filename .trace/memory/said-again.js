import { tellingTerms, termsOf } from "./text-terms.js";
// ../../work/wt/lead/src/memory/said-again.ts
/** Two questions with this share of their telling words in common ask the same. */
const SAME_QUESTION = .75;
const FILLERS = new Set("a an the please so well just oh ok okay very really".split(" "));
const QUESTION_WORDS = new Set("who whom whose what which when where why how do does did".split(" "));
/** Characters that marks and fillers may add to a text, besides as many again. */
const ROOM_FOR_FILLERS = 100;
/** Characters among which the first word is looked for. */
const FIRST_WORDS = 80;
const QUESTION_END = /[?？؟]["'”’)\]\s]*$/;
/** The words of a text, in their order: equal for texts that differ in case, marks, spaces and fillers alone. */
function wordsOf(text) {globalThis.__t?.("memory/said-again.js#wordsOf@763");
	const words = termsOf(text).filter((term) => (globalThis.__t?.("memory/said-again.js#words@824"),(!FILLERS.has(term))));
	return words.length > 0 ? words.join(" ") : text.trim();
}
/** Tells what only asks once more what is being asked: the same words, or a question with nearly the same telling words. */
var AskedBefore = class {
	#words;
	#questions;
	/** Longer texts are taken to have other words. */
	#longest;
	/** @param asked what is being asked, each in its own words */
	constructor(asked) {globalThis.__t?.("memory/said-again.js#constructor@1227");
		this.#words = new Set(asked.map(wordsOf));
		this.#longest = Math.max(0, ...asked.map(({ length }) => (globalThis.__t?.("memory/said-again.js#anonymous@1325"),(2 * length + ROOM_FOR_FILLERS))));
		this.#questions = asked.filter(isQuestion).map(tellingSet);
	}
	has(text) {globalThis.__t?.("memory/said-again.js#has@1443");
		if (this.#questions.length > 0 && isQuestion(text)) {
			const terms = tellingSet(text);
			if (this.#questions.some((question) => (globalThis.__t?.("memory/said-again.js#anonymous@1571"),(overlap(question, terms) >= SAME_QUESTION)))) return true;
		}
		return text.length <= this.#longest && this.#words.has(wordsOf(text));
	}
};
/** By its mark, or in English by its first word. */
function isQuestion(text) {globalThis.__t?.("memory/said-again.js#isQuestion@1778");
	if (QUESTION_END.test(text.slice(-8))) return true;
	const [first = ""] = wordsOf(text.slice(0, FIRST_WORDS)).split(" ");
	return QUESTION_WORDS.has(first);
}
function tellingSet(text) {globalThis.__t?.("memory/said-again.js#tellingSet@1966");
	return new Set(tellingTerms(termsOf(text)));
}
/** What two sets share of all they have. */
function overlap(a, b) {globalThis.__t?.("memory/said-again.js#overlap@2087");
	let common = 0;
	for (const term of a) if (b.has(term)) common += 1;
	return common / Math.max(1, a.size + b.size - common);
}
export { AskedBefore, wordsOf };
