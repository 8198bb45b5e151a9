import { isRecord } from "./value-kind.js";
import { aText, takes } from "./argument.js";
import { UsageError } from "./errors.js";
import { valueText } from "./value-text.js";
// ../../work/wt/lead/src/kernel/known-options.ts
/** Letters of the shortest known name that is told where the name that came contains it. */
const SHORTEST_PART = 4;
/** Most letters of an unknown name that an error shows. */
const SHOWN = 60;
/**
* Refuses options that have an unknown name, so that a misspelled option does not go unnoticed. Members that are `undefined` are ignored,
* and so is `undefined` instead of options.
*
* @param what the function that takes the options, as its caller writes it: `new Team`
* @param known the names of all options; a constant of type `Known<Options>` is complete, or does not compile
* @throws UsageError `OPTION_UNKNOWN`, with the name that was probably meant; `OPTION_INVALID` for options that are no object;
* `ARGUMENT_INVALID` where `what` is no text
* @example
* import { checkKnownOptions, type Known } from "troupe";
*
* interface PrinterOptions {
*   readonly copies?: number;
* }
* const printerOptions: Known<PrinterOptions> = { copies: true };
*
* export function print(text: string, options: PrinterOptions = {}): string {
*   checkKnownOptions("print", options, printerOptions); // { copys: 2 }: OPTION_UNKNOWN, "Did you mean copies?"
*   return text.repeat(options.copies ?? 1);
* }
*/
function checkKnownOptions(what, given, known) {globalThis.__t?.("kernel/known-options.js#checkKnownOptions@1425");
	if (given === void 0) return;
	if (typeof what !== "string") takes("checkKnownOptions", "what", what, aText);
	if (!isRecord(given)) throw new UsageError("OPTION_INVALID", `Expected the options of ${what} as an object, got ${valueText(given)}. Leave them out for the defaults.`);
	const strange = readable(what, given, known);
	if (strange !== void 0) throw unknown(what, strange, known);
}
/**
* The same where there is no default for all of them together.
*
* @throws UsageError `OPTION_UNKNOWN`; `OPTION_INVALID` for what is no object, and for nothing
*/
function checkGivenOptions(what, given, known) {globalThis.__t?.("kernel/known-options.js#checkGivenOptions@2033");
	checkKnownOptions(what, given, known);
	if (given !== void 0) return;
	throw new UsageError("OPTION_INVALID", `Expected the options of ${what} as an object, got nothing. Known: ${Object.keys(known).join(", ")}.`);
}
/** The first name that is not known. @throws UsageError `OPTION_INVALID` for an object that throws when it is looked at */
function readable(what, given, known) {globalThis.__t?.("kernel/known-options.js#readable@2423");
	try {
		for (const name in given) if (known[name] !== true && isGiven(given, name)) return name;
		return;
	} catch (cause) {
		throw new UsageError("OPTION_INVALID", `Expected the options of ${what} as an object that can be read, got one that throws.`, { cause });
	}
}
function isGiven(given, name) {globalThis.__t?.("kernel/known-options.js#isGiven@2735");
	return Object.hasOwn(given, name) && given[name] !== void 0;
}
function unknown(what, name, known) {globalThis.__t?.("kernel/known-options.js#unknown@2831");
	const names = Object.keys(known);
	const meant = nearestWord(name, names) ?? containedIn(name, names);
	const advice = meant === void 0 ? "Leave it out." : `Did you mean ${meant}?`;
	const came = JSON.stringify(name.length <= SHOWN ? name : `${name.slice(0, SHOWN)}...`);
	return new UsageError("OPTION_UNKNOWN", `Expected ${names.length === 0 ? "no options" : "only known options"} of ${what}, got ${came}. ${advice} Known: ${names.join(", ")}.`, { data: {
		option: name,
		known: names,
		...meant === void 0 ? {} : { meant }
	} });
}
/** A known name that the given one contains, in any case of letters, or that contains it: the longest. */
function containedIn(name, names) {globalThis.__t?.("kernel/known-options.js#containedIn@3515");
	const given = name.toLowerCase();
	return names.filter((each) => {globalThis.__t?.("kernel/known-options.js#anonymous@3607");
		const word = each.toLowerCase();
		return word.length >= SHORTEST_PART && given.includes(word) || given.length >= SHORTEST_PART && word.includes(given);
	}).toSorted((a, b) => (globalThis.__t?.("kernel/known-options.js#anonymous@3787"),(b.length - a.length)))[0];
}
/** How many slips in a word still count as mistyped, unless said otherwise. */
const SLIPS = 2;
/** The one of some words that a word is nearest to, if it is at most so many slips away from it. */
function nearestWord(given, words, most = SLIPS) {globalThis.__t?.("kernel/known-options.js#nearestWord@4022");
	return words.map((word) => ((globalThis.__t?.("kernel/known-options.js#anonymous@4091"),({
		word,
		slips: editDistance(given.toLowerCase(), word.toLowerCase())
	})))).filter(({ slips }) => (globalThis.__t?.("kernel/known-options.js#anonymous@4187"),(slips <= most))).sort((a, b) => (globalThis.__t?.("kernel/known-options.js#anonymous@4222"),(a.slips - b.slips)))[0]?.word;
}
/** How many single letters must be added, removed, changed or swapped with their neighbour to make one word of the other. */
function editDistance(a, b) {globalThis.__t?.("kernel/known-options.js#editDistance@4389");
	let [before, last] = [[], Array.from({ length: b.length + 1 }, (_, j) => (globalThis.__t?.("kernel/known-options.js#anonymous@4483"),(j)))];
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		for (let j = 1; j <= b.length; j++) {
			const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
			const swaps = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
			row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, change, swaps ? (before[j - 2] ?? 0) + 1 : Infinity));
		}
		[before, last] = [last, row];
	}
	return last[b.length] ?? 0;
}
export { checkGivenOptions, checkKnownOptions, editDistance, nearestWord };
