import { readValue } from "./json-reader.js";
// ../../work/wt/lead/src/model/json-in-text.ts
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;
const OPENING_BRACKET = 91;
const CLOSING_BRACKET = 93;
/** Most values that are remembered of one text. */
const MAX_VALUES = 16;
/** Most brackets at which a value is looked for: a text with more of them before its value is an attack, not an answer. */
const MAX_STARTS = 2e4;
/**
* Finds JSON objects and arrays in a model's words: bare, fenced, or with prose around them. Each is read, and mended where it can be,
* by {@link readValue}; a text that ends inside a value is `truncated`, whatever it would be with its missing braces.
*
* Every character is read at most three times and every bracket tried at most once, whatever the text: prose is passed over, and a
* broken part is skipped as a whole, so that nothing inside it is taken for an answer.
*/
function findJson(text) {globalThis.__t?.("model/json-in-text.js#findJson@907");
	const whole = wholeJson(text);
	if (whole !== void 0) return {
		values: [whole],
		broken: void 0
	};
	const from = afterThinking(text);
	const values = [];
	let broken;
	let position = from;
	for (let starts = 1;; starts++) {
		const start = nextOpening(text, position);
		if (start === -1) break;
		if (starts > MAX_STARTS) {
			broken = {
				reason: "malformed",
				start,
				end: text.length,
				at: start
			};
			break;
		}
		const read = readValue(text, start);
		if (read.ok) {
			keepLongest(values, {
				value: read.value,
				start,
				end: read.end
			});
			position = read.end;
		} else if (read.reason === "prose") position = Math.max(read.at, start + 1);
		else {
			const end = read.reason === "truncated" ? text.length : closingOf(text, start);
			const part = {
				reason: read.reason,
				start,
				end,
				at: read.at,
				...read.closed === void 0 ? {} : { closed: read.closed }
			};
			if (broken === void 0 || end - start > broken.end - broken.start) broken = part;
			position = end;
		}
	}
	if (values.length === 0 && broken === void 0) readScalar(text, from, values);
	values.sort((a, b) => (globalThis.__t?.("model/json-in-text.js#anonymous@2053"),(b.end - b.start - (a.end - a.start))));
	return {
		values,
		broken
	};
}
/** What most answers are: one object or array and nothing else, in JSON to the letter. What the reader would read otherwise is left to it. */
function wholeJson(text) {globalThis.__t?.("model/json-in-text.js#wholeJson@2279");
	const first = text.charCodeAt(0);
	const last = text.charCodeAt(text.length - 1);
	if (!(first === OPENING_BRACE && last === CLOSING_BRACE) && !(first === OPENING_BRACKET && last === CLOSING_BRACKET)) return void 0;
	if (text.includes("__proto__") || text.includes("\\u")) return void 0;
	const value = strictlyRead(text);
	return value !== void 0 && isReadable(value, 0) ? {
		value,
		start: 0,
		end: text.length
	} : void 0;
}
function strictlyRead(text) {globalThis.__t?.("model/json-in-text.js#strictlyRead@2738");
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}
/** Whether nothing in it is deeper than is read, or a number beyond all measure. */
function isReadable(value, depth) {globalThis.__t?.("model/json-in-text.js#isReadable@2913");
	if (depth > 256) return false;
	if (typeof value !== "object" || value === null) return typeof value !== "number" || Number.isFinite(value);
	return Object.values(value).every((member) => (globalThis.__t?.("model/json-in-text.js#anonymous@3126"),(isReadable(member, depth + 1))));
}
/** A reply that is nothing but a number, a string or a literal. */
function readScalar(text, from, values) {globalThis.__t?.("model/json-in-text.js#readScalar@3240");
	const start = text.slice(from).search(/[^\s\uFEFF]/);
	if (start === -1) return;
	const read = readValue(text, from + start);
	if (read.ok && /^[\s\uFEFF]*$/.test(text.slice(read.end, read.end + 100)) && text.slice(read.end).trim() === "") values.push({
		value: read.value,
		start: from + start,
		end: read.end
	});
}
/** Models that reason aloud wrap it in a first `<think>` block; drafts in it are not the answer. */
function afterThinking(text) {globalThis.__t?.("model/json-in-text.js#afterThinking@3705");
	if (!/^[\s\uFEFF]*<think(?:ing)?>/.test(text.slice(0, 200))) return 0;
	const end = /<\/think(?:ing)?>/.exec(text);
	return end === null ? 0 : end.index + end[0].length;
}
function nextOpening(text, from) {globalThis.__t?.("model/json-in-text.js#nextOpening@3909");
	for (let i = from; i < text.length; i++) {
		const code = text.charCodeAt(i);
		if (code === OPENING_BRACE || code === OPENING_BRACKET) return i;
	}
	return -1;
}
/** Where the bracket at `start` closes, strings respected; the end of the text when it never does. */
function closingOf(text, start) {globalThis.__t?.("model/json-in-text.js#closingOf@4211");
	let depth = 0;
	for (let i = start; i < text.length; i++) {
		const char = text[i];
		if (char === "\"") i = endOfString(text, i);
		else if (char === "{" || char === "[") depth++;
		else if (char === "}" || char === "]") {
			depth--;
			if (depth === 0) return i + 1;
		}
	}
	return text.length;
}
function endOfString(text, start) {globalThis.__t?.("model/json-in-text.js#endOfString@4546");
	for (let i = start + 1; i < text.length; i++) if (text[i] === "\\") i++;
	else if (text[i] === "\"") return i;
	return text.length;
}
function keepLongest(values, found) {globalThis.__t?.("model/json-in-text.js#keepLongest@4717");
	values.push(found);
	if (values.length <= MAX_VALUES) return;
	let shortest = 0;
	for (let i = 1; i < values.length; i++) {
		const [a, b] = [values[i], values[shortest]];
		if (a !== void 0 && b !== void 0 && a.end - a.start < b.end - b.start) shortest = i;
	}
	values.splice(shortest, 1);
}
export { findJson };
