import { lazily } from "../kernel/lazily.js";
// ../../work/wt/lead/src/memory/text-terms.ts
/** Characters that are written without spaces between words. */
const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}";
const patterns = lazily(() => ((globalThis.__t?.("memory/text-terms.js#patterns@271"),({
	runs: new RegExp(`[${CJK}]+|(?![${CJK}])[\\p{L}\\p{N}](?:(?![${CJK}])[\\p{L}\\p{N}\\p{M}])*`, "gu"),
	cjk: new RegExp(`^[${CJK}]`, "u")
}))));
/** A text in lower case and without differences of width or composition. */
function foldedText(text) {globalThis.__t?.("memory/text-terms.js#foldedText@499");
	return text.normalize("NFKC").toLowerCase();
}
/** The stretches of letters and digits of a text, in lower case and without differences of width or composition. */
function runsOf(text) {globalThis.__t?.("memory/text-terms.js#runsOf@692");
	const { runs, cjk } = patterns();
	return (foldedText(text).match(runs) ?? []).map((run) => ((globalThis.__t?.("memory/text-terms.js#anonymous@800"),({
		text: run,
		isCjk: cjk.test(run)
	}))));
}
/** The terms a lexical index keeps: words, and single characters and pairs where there are no words. */
function termsOf(text) {globalThis.__t?.("memory/text-terms.js#termsOf@961");
	return runsOf(text).flatMap((run) => (globalThis.__t?.("memory/text-terms.js#anonymous@1015"),(run.isCjk ? charactersAndPairs(run.text) : [run.text])));
}
/** The characters of a stretch, and every two that follow each other. */
function charactersAndPairs(run) {globalThis.__t?.("memory/text-terms.js#charactersAndPairs@1156");
	const characters = Array.from(run);
	return [...characters, ...characters.slice(1).map((character, n) => (globalThis.__t?.("memory/text-terms.js#anonymous@1279"),(`${characters[n] ?? ""}${character}`)))];
}
const FUNCTION_WORDS = `i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom whose this that these those am is are was were be been being have has had having do
does did doing would should could ought can will shall may might must a an the and but if or because as until while of at by for with about
against between into through during before after above below to from up down in out on off over under again further then once here there when
where why how all any both each few more most other some such no nor not only own same so than too very just s t d m ll re ve don didn doesn isn
aren wasn weren hasn haven hadn won wouldn couldn shouldn`;
const words = lazily(() => (globalThis.__t?.("memory/text-terms.js#words@2135"),(new Set(FUNCTION_WORDS.split(/\s+/)))));
/** The terms of a question that say what it is about; all of them where none does. */
function tellingTerms(terms) {globalThis.__t?.("memory/text-terms.js#tellingTerms@2267");
	const telling = terms.filter((term) => (globalThis.__t?.("memory/text-terms.js#telling@2328"),(!words().has(term))));
	return telling.length > 0 ? telling : [...terms];
}
export { charactersAndPairs, foldedText, runsOf, tellingTerms, termsOf };
