import { isPlainObject } from "../../kernel/value-kind.js";
// ../../work/wt/lead/src/runtime/record/plain-json.ts
/** The most levels of nesting, as in `canonicalJson`: a deeper value could not be written again. */
const MOST_LEVELS = 500;
/** The most values in one value, so that the search ends. */
const MOST_VALUES = 1e7;
/**
* The first fault of a value that is not plain JSON, or undefined for one that is: a function, a date or another object with a prototype, a
* hole, a number without a JSON form, more than 500 levels (a cycle too), and a key that names a prototype. `JSON.parse` accepts such keys:
* `__proto__`, and a `constructor` that has a `prototype`. The search does not recurse.
*/
function plainFault(json) {globalThis.__t?.("runtime/record/plain-json.js#plainFault@703");
	const open = [];
	let values = 1;
	let fault = enter(json, 1, open);
	for (let next = open.pop(); fault === void 0 && next !== void 0; next = open.pop()) {
		const { value, level } = next;
		fault = faultOfKeys(value);
		const members = Array.isArray(value) ? value : Object.values(value);
		values += members.length;
		if (values > MOST_VALUES) fault ??= `more than ${MOST_VALUES} values`;
		for (let place = 0; fault === void 0 && place < members.length; place += 1) fault = enter(members[place], level + 1, open);
	}
	return fault;
}
function enter(value, level, open) {globalThis.__t?.("runtime/record/plain-json.js#enter@1269");
	switch (typeof value) {
		case "string":
		case "boolean": return;
		case "number": return Number.isFinite(value) ? void 0 : String(value);
		case "object": break;
		default: return typeof value === "undefined" ? "a hole" : `a ${typeof value}`;
	}
	if (value === null) return void 0;
	if (level > MOST_LEVELS) return `more than ${MOST_LEVELS} levels of nesting`;
	if (!Array.isArray(value) && !isPlainObject(value)) return "an object that is no plain one";
	open.push({
		value,
		level
	});
}
function faultOfKeys(value) {globalThis.__t?.("runtime/record/plain-json.js#faultOfKeys@1801");
	if (Object.hasOwn(value, "__proto__")) return keyFault("__proto__");
	if (!Object.hasOwn(value, "constructor")) return void 0;
	const { constructor } = value;
	return typeof constructor === "object" && constructor !== null && Object.hasOwn(constructor, "prototype") ? keyFault("constructor.prototype") : void 0;
}
function keyFault(key) {globalThis.__t?.("runtime/record/plain-json.js#keyFault@2146");
	return `the key ${key}, which reaches for a prototype`;
}
export { plainFault };
