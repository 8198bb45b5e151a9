import { isObject } from "./value-kind.js";
import { NotJsonError } from "./errors.js";
import { hash } from "node:crypto";
// ../../work/wt/lead/src/kernel/json.ts
/** Deeper values are refused: reading and writing them would end in a stack overflow somewhere. Real data stays far below. */
const MAX_DEPTH = 500;
/**
* JSON text with object keys sorted by code unit, so that equal values give equal text.
* `undefined` members are left out, as `JSON.stringify` does.
*
* @throws NotJsonError for a value JSON cannot carry (function, symbol, bigint, NaN, a promise, map, set or error, a cycle, more than 500 levels).
*/
function canonicalJson(value) {globalThis.__t?.("kernel/json.js#canonicalJson@621");
	return walk(value, void 0, asText);
}
/** sha256 of {@link canonicalJson}, as 64 hexadecimal digits. */
function contentHash(value) {globalThis.__t?.("kernel/json.js#contentHash@758");
	return textHash(canonicalJson(value));
}
/** sha256 of a text that is canonical JSON already: the {@link contentHash} of what it says. */
function textHash(text) {globalThis.__t?.("kernel/json.js#textHash@927");
	return hash("sha256", text, "hex");
}
/** Bytes of a text as UTF-8. */
function utf8Length(text) {globalThis.__t?.("kernel/json.js#utf8Length@1025");
	return Buffer.byteLength(text);
}
/** A copy that nobody else holds. What cannot be changed is its own copy. */
function jsonCopy(value) {globalThis.__t?.("kernel/json.js#jsonCopy@1166");
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map(jsonCopy);
	const copy = {};
	for (const [key, member] of Object.entries(value)) copy[key] = jsonCopy(member);
	return copy;
}
/**
* What a value becomes when it has been written as JSON and read back: dates are strings, `undefined` members are gone.
* Live results pass through here so that they equal what a journal gives back later.
*
* @param above levels of nesting that the value will stand in
* @throws NotJsonError for a value JSON cannot carry (function, symbol, bigint, NaN, a promise, map, set or error, a cycle, more than 500 levels).
*/
function jsonRoundTrip(value, above = 0) {globalThis.__t?.("kernel/json.js#jsonRoundTrip@1851");
	return value === void 0 ? null : walk(value, above === 0 ? void 0 : {
		within: void 0,
		object: NOWHERE,
		level: above,
		at: void 0
	}, asCopy);
}
/** Stands for what a value will stand in. */
const NOWHERE = Object.freeze({});
/** So many objects are walked without a note of which were found. */
const FEW_OBJECTS = 1e3;
/** Freezes a plain value and everything it holds, also below what was frozen before. Returns the same object. */
function deepFreeze(value) {globalThis.__t?.("kernel/json.js#deepFreeze@2336");
	const left = [value];
	for (let walked = 0; left.length > 0; walked += 1) {
		if (walked > FEW_OBJECTS) return freezeGraph(value);
		const object = left.pop();
		if (!isObject(object)) continue;
		Object.freeze(object);
		for (const member of membersOf(object)) if (isObject(member)) left.push(member);
	}
	return value;
}
/** Values that were frozen for good. */
const unchangingValues = /* @__PURE__ */ new WeakSet();
/** Freezes a plain value and everything it holds, and remembers that it did: what is worked out from it may be kept. */
function unchanging(value) {globalThis.__t?.("kernel/json.js#unchanging@2907");
	if (!isObject(value)) return value;
	unchangingValues.add(deepFreeze(value));
	return value;
}
/** Whether a value is one that {@link unchanging} gave. */
function isUnchanging(value) {globalThis.__t?.("kernel/json.js#isUnchanging@3092");
	return isObject(value) && unchangingValues.has(value);
}
/** Of an event that somebody listens to, mostly: the list of all values is longer than that of the few that are objects. */
function membersOf(object) {globalThis.__t?.("kernel/json.js#membersOf@3306");
	if (Array.isArray(object)) return object;
	const members = [];
	for (const key in object) {
		const member = object[key];
		if (isObject(member)) members.push(member);
	}
	return members;
}
function freezeGraph(value) {globalThis.__t?.("kernel/json.js#freezeGraph@3526");
	const found = /* @__PURE__ */ new Set();
	if (isObject(value)) found.add(value);
	for (const object of found) {
		Object.freeze(object);
		for (const member of Object.values(object)) if (isObject(member)) found.add(member);
	}
	return value;
}
function pathOf(place) {globalThis.__t?.("kernel/json.js#pathOf@3801");
	if (place === void 0) return "$";
	const { within, at } = place;
	return `${pathOf(within)}${at === void 0 ? "" : typeof at === "number" ? `[${at}]` : `.${at}`}`;
}
/** Lets nothing pass that JSON cannot carry. */
function walk(value, within, making) {globalThis.__t?.("kernel/json.js#walk@4041");
	switch (typeof value) {
		case "string": return making.string(value);
		case "boolean": return making.boolean(value);
		case "number":
			if (!Number.isFinite(value)) throw new NotJsonError(pathOf(within), String(value));
			return making.number(value);
		case "object": return value === null ? making.nothing : walkObject(value, within, making);
		default: throw new NotJsonError(pathOf(within), typeof value);
	}
}
function walkObject(value, within, making) {globalThis.__t?.("kernel/json.js#walkObject@4498");
	const place = entered(value, within);
	const form = jsonFormOf(value);
	if (form !== value) return walk(form, place, making);
	if (Array.isArray(value)) return making.list(value, place);
	assertRecord(value, place);
	return making.record(value, place);
}
function entered(value, within) {globalThis.__t?.("kernel/json.js#entered@4799");
	for (let place = within; place !== void 0; place = place.within) if (place.object === value) throw new NotJsonError(pathOf(within), "a cycle");
	const level = within === void 0 ? 1 : within.level + 1;
	if (level > MAX_DEPTH) throw new NotJsonError(`${pathOf(within).slice(0, 40)}...`, `more than ${MAX_DEPTH} levels of nesting`);
	return {
		within,
		object: value,
		level,
		at: void 0
	};
}
function jsonFormOf(value) {globalThis.__t?.("kernel/json.js#jsonFormOf@5229");
	const { toJSON } = value;
	return typeof toJSON === "function" ? toJSON.call(value) : value;
}
/** How a plain object calls itself. */
const PLAIN = "[object Object]";
/** Promises, maps, errors and the like have no members that JSON sees: an empty object in their place would be a silent loss. */
function assertRecord(value, place) {globalThis.__t?.("kernel/json.js#assertRecord@5557");
	const kind = Object.prototype.toString.call(value);
	if (kind !== PLAIN) throw new NotJsonError(pathOf(place), kind.slice(8, -1));
}
const asText = {
	nothing: "null",
	string: JSON.stringify,
	boolean: String,
	number: JSON.stringify,
	list: writeArray,
	record: writeRecord
};
/** Holes count as undefined. */
function writeArray(value, place) {globalThis.__t?.("kernel/json.js#writeArray@5908");
	let list = "[";
	for (let index = 0; index < value.length; index += 1) {
		const item = value[index];
		place.at = index;
		if (index > 0) list += ",";
		list += item === void 0 ? "null" : walk(item, place, asText);
	}
	return `${list}]`;
}
function writeRecord(value, place, keys = sorted(Object.keys(value))) {globalThis.__t?.("kernel/json.js#writeRecord@6186");
	let record = "{";
	for (const key of keys) {
		place.at = key;
		const member = value[key];
		assertKey(key, member, place);
		if (member === void 0) continue;
		if (record !== "{") record += ",";
		record += `${JSON.stringify(key)}:${walk(member, place, asText)}`;
	}
	return `${record}}`;
}
/** Whoever copies such a record member by member changes its prototype; stores and imports refuse it too. */
function assertKey(key, member, place) {globalThis.__t?.("kernel/json.js#assertKey@6662");
	if (key === "__proto__" || key === "constructor" && isObject(member) && Object.hasOwn(member, "prototype")) throw new NotJsonError(pathOf(place), "a key that names the prototype");
}
/** What {@link asText} says, read back: the text between would cost more than the copy. */
const asCopy = {
	nothing: null,
	string: (value) => (globalThis.__t?.("kernel/json.js#string@7021"),(value.length < SHARED_LENGTH ? value : ownText(value))),
	boolean: (value) => (globalThis.__t?.("kernel/json.js#boolean@7097"),(value)),
	number: (value) => (globalThis.__t?.("kernel/json.js#number@7124"),(value === 0 ? 0 : value)),
	list: copiedArray,
	record: copiedRecord
};
/** From this length on a piece cut out of a text may hold on to all of that text: V8's shortest sliced string. */
const SHARED_LENGTH = 13;
/** The same text in a place of its own: an excerpt that is kept must not keep the page it was cut from. */
function ownText(text) {globalThis.__t?.("kernel/json.js#ownText@7454");
	return [text.slice(0, 1), text.slice(1)].join("");
}
function copiedArray(value, place) {globalThis.__t?.("kernel/json.js#copiedArray@7533");
	const list = [];
	for (let index = 0; index < value.length; index += 1) {
		const item = value[index];
		place.at = index;
		list.push(item === void 0 ? null : walk(item, place, asCopy));
	}
	return list.slice();
}
function copiedRecord(value, place) {globalThis.__t?.("kernel/json.js#copiedRecord@7786");
	const keys = sorted(Object.keys(value));
	if (keys.length > FEW_KEYS) return JSON.parse(writeRecord(value, place, keys));
	const record = {};
	for (const key of keys) {
		place.at = key;
		const member = value[key];
		assertKey(key, member, place);
		if (member === void 0) continue;
		const own = walk(member, place, asCopy);
		if (key in record) Object.defineProperty(record, key, {
			value: own,
			configurable: true,
			enumerable: true,
			writable: true
		});
		else record[key] = own;
	}
	return record;
}
/** So few keys are put in order where they stand: a sort takes room for a copy of them. */
const FEW_KEYS = 16;
/** The same list, sorted by code unit. */
function sorted(keys) {globalThis.__t?.("kernel/json.js#sorted@8496");
	if (keys.length > FEW_KEYS) return keys.sort();
	for (let place = 1; place < keys.length; place += 1) {
		const key = keys[place];
		let before = place - 1;
		for (; before >= 0 && keys[before] > key; before -= 1) keys[before + 1] = keys[before];
		keys[before + 1] = key;
	}
	return keys;
}
export { canonicalJson, contentHash, deepFreeze, isUnchanging, jsonCopy, jsonRoundTrip, textHash, unchanging, utf8Length };
