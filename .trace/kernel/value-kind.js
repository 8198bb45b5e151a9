// ../../work/wt/lead/src/kernel/value-kind.ts
/** True for an object or an array. */
function isObject(value) {globalThis.__t?.("kernel/value-kind.js#isObject@86");
	return typeof value === "object" && value !== null;
}
/** True for an object with members: anything of the type "object" but null and arrays. */
function isRecord(value) {globalThis.__t?.("kernel/value-kind.js#isRecord@259");
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
/** True for an object whose prototype is that of object literals, in this realm or another, or none. */
function isPlainObject(value) {globalThis.__t?.("kernel/value-kind.js#isPlainObject@471");
	const prototype = Object.getPrototypeOf(value);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}
/** `Array.isArray` for readonly types. */
function isList(value) {globalThis.__t?.("kernel/value-kind.js#isList@670");
	return Array.isArray(value);
}
/** True for a string. */
function isText(value) {globalThis.__t?.("kernel/value-kind.js#isText@753");
	return typeof value === "string";
}
/** True for a whole number of 0 or more. */
function isCount(value) {globalThis.__t?.("kernel/value-kind.js#isCount@860");
	return Number.isSafeInteger(value) && value >= 0;
}
/** True for a value that must be awaited. Code that awaits nothing else goes on without a promise. */
function isThenable(value) {globalThis.__t?.("kernel/value-kind.js#isThenable@1042");
	return typeof value === "object" && value !== null && typeof value.then === "function";
}
export { isCount, isList, isObject, isPlainObject, isRecord, isText, isThenable };
