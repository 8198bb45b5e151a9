import { isObject, isRecord } from "./value-kind.js";
import { UsageError } from "./errors.js";
import { valueText } from "./value-text.js";
// ../../work/wt/lead/src/kernel/argument.ts
/**
* Refuses an argument that is not what its function needs.
*
* @param door the function, as its caller writes it: `importRun`, `new Net`
* @throws UsageError `ARGUMENT_INVALID`
*/
function takes(door, name, value, shape) {globalThis.__t?.("kernel/argument.js#takes@370");
	if (fits(value, shape)) return;
	throw new UsageError("ARGUMENT_INVALID", `Expected ${name} of ${door} to be ${shape.says}, got ${valueText(value)}.`);
}
/** Whether a value has a shape, whatever it does when it is looked at. */
function fits(value, shape) {globalThis.__t?.("kernel/argument.js#fits@643");
	try {
		return shape.fits(value);
	} catch {
		return false;
	}
}
/** Shapes without parts. */
const aText = {
	says: "a text",
	fits: (value) => (globalThis.__t?.("kernel/argument.js#fits@809"),(typeof value === "string"))
};
const aNumber = {
	says: "a number",
	fits: (value) => (globalThis.__t?.("kernel/argument.js#fits@893"),(typeof value === "number"))
};
const aFunction = {
	says: "a function",
	fits: (value) => (globalThis.__t?.("kernel/argument.js#fits@981"),(typeof value === "function"))
};
/** An object whose members can be read, some of which have shapes. */
function object(says, members = {}) {globalThis.__t?.("kernel/argument.js#object@1094");
	return {
		says,
		fits(value) {globalThis.__t?.("kernel/argument.js#fits@1156");
			if (!isRecord(value)) return false;
			const given = value;
			for (const name of Object.keys(given)) given[name];
			return Object.entries(members).every(([name, shape]) => (globalThis.__t?.("kernel/argument.js#anonymous@1324"),(shape.fits(given[name]))));
		}
	};
}
/** Any value that can be looked at: what it must be is said where it is read. */
const readable = {
	says: "a value that can be read",
	fits(value) {globalThis.__t?.("kernel/argument.js#fits@1520");
		if (typeof value !== "object" || value === null) return true;
		for (const name of Object.keys(value)) value[name];
		return true;
	}
};
/** Anything that has these methods: of a class of this package, or made by a user. */
function having(says, ...methods) {globalThis.__t?.("kernel/argument.js#having@1756");
	return {
		says: `${says}, which has ${methods.join(", ")}`,
		fits: (value) => (globalThis.__t?.("kernel/argument.js#fits@1862"),((isObject(value) || typeof value === "function") && methods.every((name) => (globalThis.__t?.("kernel/argument.js#anonymous@1939"),(typeof value[name] === "function")))))
	};
}
/** A list, each item of one shape. */
function listOf(item, says = `a list, each item ${item.says}`) {globalThis.__t?.("kernel/argument.js#listOf@2029");
	return {
		says,
		fits: (value) => (globalThis.__t?.("kernel/argument.js#fits@2120"),(Array.isArray(value) && Array.from(value).every((one) => (globalThis.__t?.("kernel/argument.js#anonymous@2179"),(item.fits(one))))))
	};
}
/** Anything that can be gone through; what is in it is seen when that is done. */
function iterable(says) {globalThis.__t?.("kernel/argument.js#iterable@2293");
	return {
		says: `${says}: a list, or anything else that can be iterated`,
		fits: (value) => (globalThis.__t?.("kernel/argument.js#fits@2403"),(isObject(value) && (Symbol.iterator in value || Symbol.asyncIterator in value)))
	};
}
/** The same, or nothing. */
function orNothing(shape) {globalThis.__t?.("kernel/argument.js#orNothing@2528");
	return {
		says: `${shape.says}, or nothing`,
		fits: (value) => (globalThis.__t?.("kernel/argument.js#fits@2611"),(value === void 0 || shape.fits(value)))
	};
}
/** The same, or the other. */
function either(one, other) {globalThis.__t?.("kernel/argument.js#either@2697");
	return {
		says: `${one.says}, or ${other.says}`,
		fits: (value) => (globalThis.__t?.("kernel/argument.js#fits@2786"),(fits(value, one) || fits(value, other)))
	};
}
export { aFunction, aNumber, aText, either, having, iterable, listOf, object, orNothing, readable, takes };
