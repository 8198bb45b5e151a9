import { NotJsonError } from "../../kernel/errors.js";
import { deepFreeze } from "../../kernel/json.js";
import { valueText } from "../../kernel/value-text.js";
// ../../work/wt/lead/src/runtime/turn/step-state.ts
/** Fewer than JSON of ours may have at all, because a record holds a state. */
const MOST_LEVELS = 400;
const root = {
	key: "state",
	above: void 0,
	depth: 1
};
/** A state that nobody can change: the same one. What a record or a mask has made of it may still be open. */
function heldState(state) {globalThis.__t?.("runtime/turn/step-state.js#heldState@490");
	if (Object.isFrozen(state)) return state;
	for (const member of Object.values(state)) if (typeof member === "object" && member !== null && !Object.isFrozen(member)) deepFreeze(member);
	return Object.freeze(state);
}
/**
* What changes by what a step gave back; undefined when it says what the state before said.
*
* @throws NotJsonError naming the place of what is no plain JSON: also of what JSON would leave out or change, such as undefined and dates.
*/
function stateChange(before, given) {globalThis.__t?.("runtime/turn/step-state.js#stateChange@977");
	assertPlainObject(given, root);
	const keys = Object.keys(given);
	let set;
	let added = 0;
	let kept = 0;
	for (const key of keys) {
		if (key === "__proto__") throw protoFault(root);
		const had = memberOf(before, key);
		if (had === void 0) added += 1;
		const value = given[key];
		const member = value === had && had !== void 0 ? had : plain(value, had, key, root);
		if (member === had) kept += 1;
		else (set ??= {})[key] = member;
	}
	const had = Object.keys(before);
	const isGone = keys.length - added < had.length;
	if (set === void 0 && !isGone) return void 0;
	if (kept === 0 && !isGone) Object.freeze(set);
	return {
		set: set ?? {},
		unset: isGone ? without(had, keys) : nothing
	};
}
const nothing = Object.freeze([]);
function without(keys, those) {globalThis.__t?.("runtime/turn/step-state.js#without@1753");
	const gone = new Set(keys);
	for (const key of those) gone.delete(key);
	return [...gone];
}
/** Neither a state nor what is in it has undefined members or functions; but every object has some of them behind it. */
function memberOf(state, key) {globalThis.__t?.("runtime/turn/step-state.js#memberOf@2001");
	const member = state?.[key];
	return typeof member === "function" ? void 0 : member;
}
function plain(value, had, key, above) {globalThis.__t?.("runtime/turn/step-state.js#plain@2121");
	switch (typeof value) {
		case "string":
		case "boolean": return value;
		case "number":
			if (!Number.isFinite(value)) throw fault(key, above, String(value));
			return value + 0;
		case "object":
			if (value === null || value === had) return value;
			return Array.isArray(value) ? plainList(value, had, below(key, above)) : plainRecord(value, had, below(key, above));
		default: throw fault(key, above, typeof value);
	}
}
function below(key, above) {globalThis.__t?.("runtime/turn/step-state.js#below@2592");
	if (above.depth === MOST_LEVELS) throw new NotJsonError("state...", `more than ${MOST_LEVELS} levels of nesting`);
	return {
		key,
		above,
		depth: above.depth + 1
	};
}
function plainList(given, had, place) {globalThis.__t?.("runtime/turn/step-state.js#plainList@2794");
	const before = Array.isArray(had) ? had : nothing;
	const list = [];
	let isSame = before === had && before.length === given.length;
	for (let at = 0; at < given.length; at += 1) {
		const item = plain(given[at], before[at], at, place);
		list.push(item);
		if (isSame && item !== before[at]) isSame = false;
	}
	return isSame ? before : Object.freeze(list);
}
function plainRecord(given, had, place) {globalThis.__t?.("runtime/turn/step-state.js#plainRecord@3196");
	assertPlainObject(given, place);
	const record = { ...given };
	const before = typeof had === "object" && had !== null && !Array.isArray(had) ? had : void 0;
	const keys = Object.keys(record);
	let isSame = before !== void 0 && keys.length === Object.keys(before).length;
	for (const key of keys) {
		if (key === "__proto__") throw protoFault(place);
		const was = memberOf(before, key);
		const member = plain(record[key], was, key, place);
		if (!Object.is(member, record[key])) record[key] = member;
		if (isSame && member !== was) isSame = false;
	}
	return isSame && before !== void 0 ? before : Object.freeze(record);
}
/** Of this realm or another. */
function assertPlainObject(given, place) {globalThis.__t?.("runtime/turn/step-state.js#assertPlainObject@3898");
	if (Object.getOwnPropertySymbols(given).length > 0) throw new NotJsonError(pathTo(place), "an object with a symbol for a key");
	const prototype = Object.getPrototypeOf(given);
	if (prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null) return;
	throw new NotJsonError(pathTo(place), `${valueText(given)}, which is no plain object`);
}
function protoFault(place) {globalThis.__t?.("runtime/turn/step-state.js#protoFault@4322");
	return fault("__proto__", place, "a key that names the prototype");
}
function fault(key, above, came) {globalThis.__t?.("runtime/turn/step-state.js#fault@4422");
	return new NotJsonError(pathTo({
		key,
		above,
		depth: 0
	}), came);
}
function pathTo({ key, above }) {globalThis.__t?.("runtime/turn/step-state.js#pathTo@4532");
	if (above === void 0) return String(key);
	return typeof key === "number" ? `${pathTo(above)}[${key}]` : `${pathTo(above)}.${key}`;
}
export { heldState, stateChange };
