import { isObject, isRecord } from "../kernel/value-kind.js";
import { canonicalJson } from "../kernel/json.js";
import { thrownText } from "../kernel/value-text.js";
import { findJson } from "../model/json-in-text.js";
import { issueLine } from "../model/structured-output.js";
import { plainValue } from "./plain-value.js";
// ../../work/wt/lead/src/tool/call-arguments.ts
/** Longest arguments in characters: a model that writes more has gone astray. */
const MAX_ARGUMENTS = 1e6;
/** Most issues that a model reads, and most characters of them all. */
const SHOWN_ISSUES = 10;
const SHOWN_CHARACTERS = 2e3;
const SHOWN_PARAMETERS = 500;
/** Reads the arguments of a call: mends the text where that needs no guess, and checks them against the tool's parameters. */
function readArguments(text, tool) {globalThis.__t?.("tool/call-arguments.js#readArguments@768");
	const found = objectIn(text);
	if (!found.ok) return {
		ok: false,
		why: `Arguments of "${tool.name}" ${found.why} ${expectation(tool)}`
	};
	const checked = tool.check(found.json);
	if (checked.ok) return {
		ok: true,
		json: plainForm(checked.args) ?? found.json,
		args: checked.args
	};
	const lines = checked.issues.slice(0, SHOWN_ISSUES).map((issue) => (globalThis.__t?.("tool/call-arguments.js#lines@1157"),(`- ${issueLine({
		...issue,
		path: issue.path || "the arguments"
	})}`)));
	const more = checked.issues.length > SHOWN_ISSUES ? [`- and ${checked.issues.length - SHOWN_ISSUES} more like these`] : [];
	const list = [...lines, ...more].join("\n").slice(0, SHOWN_CHARACTERS);
	return {
		ok: false,
		why: `Arguments of "${tool.name}" do not fit:\n${list}\n${expectation(tool)}`
	};
}
function objectIn(text) {globalThis.__t?.("tool/call-arguments.js#objectIn@1550");
	if (text.length > MAX_ARGUMENTS) return {
		ok: false,
		why: `are ${text.length} characters long, and at most ${MAX_ARGUMENTS} are read. Do it in smaller parts.`
	};
	if (text.trim() === "") return {
		ok: true,
		json: {}
	};
	const value = jsonIn(text);
	if (value === void 0) return {
		ok: false,
		why: `are no JSON: ${near(text)}.`
	};
	if (!isRecord(value)) return {
		ok: false,
		why: `are ${Array.isArray(value) ? "a list" : `a ${value === null ? "null" : typeof value}`}, not an object.`
	};
	const fault = faultOf(value);
	return fault === void 0 ? {
		ok: true,
		json: value
	} : {
		ok: false,
		why: `cannot be used. ${fault}`
	};
}
/** The value of a text that is JSON, or holds one part that is; also when it stands as JSON in a string once more. */
function jsonIn(text) {globalThis.__t?.("tool/call-arguments.js#jsonIn@2346");
	const value = strictJson(text) ?? mendedJson(text);
	if (typeof value !== "string") return value;
	const inner = strictJson(value) ?? mendedJson(value);
	return typeof inner === "object" ? inner : value;
}
function strictJson(text) {globalThis.__t?.("tool/call-arguments.js#strictJson@2577");
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}
/** Undefined for a text with several values: it is unknown which one is meant. */
function mendedJson(text) {globalThis.__t?.("tool/call-arguments.js#mendedJson@2748");
	const { values, broken } = findJson(text);
	return values.length === 1 && broken === void 0 ? values[0]?.value : void 0;
}
/** Why a value is no plain JSON; undefined when it is. */
function faultOf(value) {globalThis.__t?.("tool/call-arguments.js#faultOf@2959");
	try {
		canonicalJson(value);
		return;
	} catch (error) {
		return thrownText(error);
	}
}
/** The arguments that the tool takes, as JSON: rules are checked against these. Undefined when they are no object. */
function plainForm(args) {globalThis.__t?.("tool/call-arguments.js#plainForm@3197");
	let plain;
	try {
		plain = JSON.parse(canonicalJson(args));
	} catch {
		plain = plainValue(args, Infinity).value;
	}
	return isRecord(plain) ? plain : void 0;
}
function near(text) {globalThis.__t?.("tool/call-arguments.js#near@3388");
	const start = text.trim().slice(0, 60);
	return `they begin with ${JSON.stringify(start)}`;
}
/** Tells the model what to write instead. */
function expectation(tool) {globalThis.__t?.("tool/call-arguments.js#expectation@3551");
	const schema = JSON.stringify(tool.spec.parameters);
	if (schema.length <= SHOWN_PARAMETERS) return `Write one JSON object that fits ${schema}`;
	const { properties } = tool.spec.parameters;
	return `Write one JSON object with ${(isObject(properties) ? Object.keys(properties).join(", ") : "").slice(0, SHOWN_PARAMETERS) || "what the tool's description says"}.`;
}
export { readArguments };
