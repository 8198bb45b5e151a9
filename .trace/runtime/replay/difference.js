import { aNumber, iterable, object, takes } from "../../kernel/argument.js";
import { isList, isRecord } from "../../kernel/value-kind.js";
import { shownText } from "../../kernel/value-text.js";
import { canonicalLines } from "../record/canonical.js";
// ../../work/wt/lead/src/runtime/replay/difference.ts
/** The most characters of the text of a difference. */
const MOST_TEXT = 8e3;
/** The most characters of one value or line in it. */
const MOST_SHOWN = 300;
/**
* Returns the first entry in which two runs differ, by their canonical logs: steps, ends of activations, messages. Undefined when both did
* the same.
*
* @throws UsageError `ARGUMENT_INVALID` for events that cannot be iterated
* @example
* import { difference, differenceText, type RunEvent } from "troupe";
*
* export function compare(one: readonly RunEvent[], other: readonly RunEvent[]): string {
*   const found = difference(one, other);
*   return found === undefined ? "equal" : differenceText(found);
* }
*/
function difference(a, b) {globalThis.__t?.("runtime/replay/difference.js#difference@986");
	takes("difference", "the first run", a, iterable("events of a run"));
	takes("difference", "the second run", b, iterable("events of a run"));
	const [lefts, rights] = [canonicalLines(a), canonicalLines(b)];
	const place = firstDifference(lefts, rights);
	if (place === lefts.length && place === rights.length) return void 0;
	const [left, right] = [entryAt(lefts, place), entryAt(rights, place)];
	const entry = nameOf(left ?? right);
	const sides = {
		line: place + 1,
		entry,
		left,
		right
	};
	if (left === void 0 || right === void 0) return sides;
	const request = isModelStep(left) && isModelStep(right) ? requestDifference(left["request"], right["request"]) : void 0;
	const at = titleOf(entry) === titleOf(nameOf(right)) ? valueDifference(left, right) : void 0;
	return {
		...sides,
		...at === void 0 ? {} : { at },
		...request === void 0 ? {} : { request }
	};
}
/** Where two requests to a model first differ: by their messages, then by the rest. Undefined when they are equal. */
function requestDifference(left, right) {globalThis.__t?.("runtime/replay/difference.js#requestDifference@2012");
	const found = valueDifference(left, right);
	const index = found === void 0 ? void 0 : /^messages\[(\d+)\]/.exec(found.path)?.[1];
	if (found === void 0 || index === void 0) return found;
	const saidBy = (request) => (globalThis.__t?.("runtime/replay/difference.js#saidBy@2259"),(textAt(valueAt(valueAt(request, "messages"), index), "role")));
	return {
		...found,
		message: {
			index: Number(index),
			left: saidBy(left),
			right: saidBy(right)
		}
	};
}
/**
* Returns a difference of two runs as plain text for a terminal or a log: at most 8,000 characters, without characters that a terminal
* obeys.
*
* @throws UsageError `ARGUMENT_INVALID` for a value that {@link difference} did not return
* @example
* import { differenceText, type RunDifference } from "troupe";
*
* export function report(found: RunDifference | undefined): void {
*   if (found !== undefined) console.log(differenceText(found));
* }
*/
function differenceText(d) {globalThis.__t?.("runtime/replay/difference.js#differenceText@2907");
	takes("differenceText", "what it tells", d, object("what difference found", {
		line: aNumber,
		entry: object("an entry")
	}));
	const title = `The runs differ at line ${d.line} of their canonical logs: ${titleOf(d.entry)}.`;
	const told = d.request ?? d.at;
	return `${title}\n${told === void 0 ? entriesText(d) : sidesText(told, ["left", "right"])}`.slice(0, MOST_TEXT);
}
/** A difference of two requests as plain text, with a word for each side. */
function requestDifferenceText(d, sides) {globalThis.__t?.("runtime/replay/difference.js#requestDifferenceText@3391");
	return sidesText(d, sides).slice(0, MOST_TEXT);
}
function sidesText(d, [left, right]) {globalThis.__t?.("runtime/replay/difference.js#sidesText@3485");
	const who = d.message === void 0 ? [] : [.../* @__PURE__ */ new Set([d.message.left, d.message.right])].filter((role) => (globalThis.__t?.("runtime/replay/difference.js#who@3636"),(role !== void 0)));
	const message = d.message === void 0 ? "" : `, message ${d.message.index + 1} (${who.join(" / ")})`;
	const at = `at ${shownText(d.path === "" ? "the whole" : d.path)}${shownText(message)}`;
	const { passage } = d;
	if (passage === void 0 || isShort(d.left) && isShort(d.right)) return `${at}\n${left}: ${valueText(d.left)}\n${right}: ${valueText(d.right)}`;
	const texts = [
		`${left}:`,
		...linesText(passage.left, passage),
		`${right}:`,
		...linesText(passage.right, passage)
	];
	return [`${at}, line ${passage.line}`, ...texts].join("\n");
}
function isShort(value) {globalThis.__t?.("runtime/replay/difference.js#isShort@4216");
	return typeof value === "string" && value.length <= MOST_SHOWN && !value.includes("\n");
}
/** Of a long line that differs, the part from shortly before the difference is shown. */
function linesText(lines, { line, from, column }) {globalThis.__t?.("runtime/replay/difference.js#linesText@4424");
	const last = String(from + lines.length - 1).length;
	return lines.map((content, nth) => {globalThis.__t?.("runtime/replay/difference.js#anonymous@4548");
		const isDifferent = from + nth === line;
		const start = isDifferent ? Math.max(0, column - MOST_SHOWN / 3) : 0;
		const shown = `${start > 0 ? "..." : ""}${shownText(content.slice(start), MOST_SHOWN)}`;
		return `${isDifferent ? ">" : " "} ${String(from + nth).padStart(last)} | ${shown}`;
	});
}
function entriesText({ left, right }) {globalThis.__t?.("runtime/replay/difference.js#entriesText@4868");
	const text = (entry) => (globalThis.__t?.("runtime/replay/difference.js#text@4922"),(entry === void 0 ? "nothing: its record ends before" : titleOf(nameOf(entry))));
	return `left: ${text(left)}\nright: ${text(right)}`;
}
function valueText(value) {globalThis.__t?.("runtime/replay/difference.js#valueText@5068");
	return value === void 0 ? "nothing" : shownText(JSON.stringify(value), MOST_SHOWN);
}
/** Undefined for the last line of a run that has not ended. */
function entryAt(lines, place) {globalThis.__t?.("runtime/replay/difference.js#entryAt@5247");
	const line = lines[place];
	const entry = line === void 0 ? void 0 : JSON.parse(line);
	return textAt(entry, "type") === "open" ? void 0 : entry;
}
function nameOf(entry) {globalThis.__t?.("runtime/replay/difference.js#nameOf@5429");
	const act = textAt(entry, "act");
	const [kind, name] = [textAt(entry, "kind"), textAt(entry, "name")];
	return {
		type: textAt(entry, "type") ?? "nothing",
		...act === void 0 ? {} : {
			act,
			role: act.slice(0, Math.max(0, act.lastIndexOf("#")))
		},
		...kind === void 0 ? {} : { kind },
		...name === void 0 ? {} : { name }
	};
}
function titleOf({ type, act, kind, name }) {globalThis.__t?.("runtime/replay/difference.js#titleOf@5793");
	const kindOfStep = kind === void 0 || kind === "step" ? "step" : `${kind} step`;
	const what = type === "step" ? `the ${kindOfStep} "${name ?? ""}"` : type;
	return shownText(act === void 0 ? what : `${what} of ${act}`);
}
function isModelStep(entry) {globalThis.__t?.("runtime/replay/difference.js#isModelStep@6063");
	return textAt(entry, "type") === "step" && textAt(entry, "kind") === "model";
}
function textAt(value, key) {globalThis.__t?.("runtime/replay/difference.js#textAt@6174");
	const member = valueAt(value, key);
	return typeof member === "string" ? member : void 0;
}
function valueAt(value, key) {globalThis.__t?.("runtime/replay/difference.js#valueAt@6297");
	if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return void 0;
	return value[key];
}
/** Lines before and after the one that differs. */
const AROUND = 2;
/** Members that are compared first, because the others follow from them, and members that are compared last. */
const FIRST = "type act kind name request messages role content ok error value".split(" ");
const LAST = ["in", "key"];
/** The first place at which two values differ. Undefined when they are equal. */
function valueDifference(left, right) {globalThis.__t?.("runtime/replay/difference.js#valueDifference@6830");
	const found = locate(left, right);
	if (found === void 0) return void 0;
	const { left: a, right: b } = found;
	const sides = {
		path: pathText(found.path),
		left: a,
		right: b
	};
	return typeof a === "string" && typeof b === "string" ? {
		...sides,
		passage: passageOf(a, b)
	} : sides;
}
function passageOf(left, right) {globalThis.__t?.("runtime/replay/difference.js#passageOf@7167");
	const [a, b] = [left.split("\n"), right.split("\n")];
	const place = firstDifference(a, b);
	const from = Math.max(0, place - AROUND);
	const shown = (lines) => (globalThis.__t?.("runtime/replay/difference.js#shown@7352"),(lines.slice(from, place + AROUND + 1)));
	const column = firstDifference(a[place] ?? "", b[place] ?? "");
	return {
		line: place + 1,
		column,
		from: from + 1,
		left: shown(a),
		right: shown(b)
	};
}
/** The first place at which two lists or two texts differ: the end of the shorter one when the other begins with it. */
function firstDifference(a, b) {globalThis.__t?.("runtime/replay/difference.js#firstDifference@7687");
	const end = Math.min(a.length, b.length);
	for (let place = 0; place < end; place += 1) if (a[place] !== b[place]) return place;
	return end;
}
function locate(left, right) {globalThis.__t?.("runtime/replay/difference.js#locate@7865");
	for (const key of keysOf(left, right) ?? []) {
		const found = locate(valueAt(left, key), valueAt(right, key));
		if (found === void 0) continue;
		found.path.push(key);
		return found;
	}
	return left === right || keysOf(left, right) !== void 0 ? void 0 : {
		path: [],
		left,
		right
	};
}
/** The keys of both values when both are lists or both are objects. */
function keysOf(left, right) {globalThis.__t?.("runtime/replay/difference.js#keysOf@8262");
	if (isList(left) && isList(right)) return (left.length > right.length ? left : right).keys();
	if (!isRecord(left) || !isRecord(right)) return void 0;
	return [.../* @__PURE__ */ new Set([...Object.keys(left), ...Object.keys(right)])].sort((a, b) => (globalThis.__t?.("runtime/replay/difference.js#anonymous@8534"),(rank(a) - rank(b) || (a < b ? -1 : 1))));
}
function rank(key) {globalThis.__t?.("runtime/replay/difference.js#rank@8586");
	const place = FIRST.indexOf(key);
	if (place !== -1) return place;
	return FIRST.length + 1 + LAST.indexOf(key);
}
function pathText(innermostFirst) {globalThis.__t?.("runtime/replay/difference.js#pathText@8723");
	return innermostFirst.toReversed().map((key, nth) => (globalThis.__t?.("runtime/replay/difference.js#anonymous@8799"),(typeof key === "number" ? `[${key}]` : nth === 0 ? key : `.${key}`))).join("");
}
export { difference, differenceText, requestDifference, requestDifferenceText };
