import { isRecord } from "../kernel/value-kind.js";
import { NotJsonError } from "../kernel/errors.js";
import { canonicalJson } from "../kernel/json.js";
// ../../work/wt/lead/src/message/metagpt-form.ts
const FIELDS = [
	{
		theirs: "cause_by",
		own: "causeBy",
		read: nameOfPath
	},
	{
		theirs: "sent_from",
		own: "sentFrom",
		read: nameOfPath
	},
	{
		theirs: "send_to",
		own: "sendTo",
		read: namesOf
	},
	{
		theirs: "instruct_content",
		own: "instructContent",
		read: payloadOf
	}
];
/** Reads the fields that MetaGPT names its own way. What has none of them is given back as it is. */
function ownForm(wire) {globalThis.__t?.("message/metagpt-form.js#ownForm@602");
	if (!isRecord(wire) || !FIELDS.some(({ theirs }) => (globalThis.__t?.("message/metagpt-form.js#anonymous@664"),(Object.hasOwn(wire, theirs))))) return { wire };
	const own = { ...wire };
	for (const { theirs, own: name, read } of FIELDS) {
		if (isAbsent(wire[theirs])) continue;
		const value = read(wire[theirs]);
		if (!isAbsent(wire[name]) && !isSame(wire[name], value)) return {
			field: theirs,
			fault: `says something else than ${name}: keep one of the two`
		};
		own[name] = value;
	}
	return { wire: own };
}
/** `module.of.Class` is `Class`; any other text is the name. */
function nameOfPath(value) {globalThis.__t?.("message/metagpt-form.js#nameOfPath@1153");
	return typeof value === "string" ? /^(?:[a-z_]\w*\.)+([A-Z]\w*)$/.exec(value)?.[1] ?? value : value;
}
/** A single address is a list of one. */
function namesOf(value) {globalThis.__t?.("message/metagpt-form.js#namesOf@1328");
	if (typeof value === "string") return value === "" ? [] : [nameOfPath(value)];
	return Array.isArray(value) ? value.map(nameOfPath) : value;
}
function payloadOf(value) {globalThis.__t?.("message/metagpt-form.js#payloadOf@1498");
	return isRecord(value) && typeof value["class"] === "string" && Object.hasOwn(value, "value") && (Object.hasOwn(value, "mapping") || Object.hasOwn(value, "module")) ? value["value"] : value;
}
/** MetaGPT writes null for what is left out. */
function isAbsent(value) {globalThis.__t?.("message/metagpt-form.js#isAbsent@1769");
	return value === void 0 || value === null;
}
/** Whether two values say the same. MetaGPT's addresses are a set and come in any order. What is no JSON is equal to nothing. */
function isSame(a, b) {globalThis.__t?.("message/metagpt-form.js#isSame@1972");
	try {
		return canonicalJson(inOrder(a)) === canonicalJson(inOrder(b));
	} catch (error) {
		if (error instanceof NotJsonError) return false;
		throw error;
	}
}
function inOrder(value) {globalThis.__t?.("message/metagpt-form.js#inOrder@2159");
	return Array.isArray(value) && value.every((item) => (globalThis.__t?.("message/metagpt-form.js#anonymous@2229"),(typeof item === "string"))) ? value.toSorted() : value;
}
export { ownForm };
