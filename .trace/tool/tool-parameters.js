import { UsageError } from "../kernel/errors.js";
import { thrownText, valueText } from "../kernel/value-text.js";
import { findJson } from "../model/json-in-text.js";
import { outputSchema, withoutFillers } from "../model/json-schema.js";
import { issuesOf } from "../model/structured-output.js";
import { isObject } from "../kernel/value-kind.js";
import { z } from "zod";
// ../../work/wt/lead/src/tool/tool-parameters.ts
/**
* Parameters from a zod object.
*
* @throws UsageError `TOOL_INVALID` when it is no object; `SCHEMA_UNSUPPORTED` when JSON cannot carry it.
*/
function zodParameters(tool, schema) {globalThis.__t?.("tool/tool-parameters.js#zodParameters@572");
	const { json, wrapped } = outputSchema(schema);
	if (wrapped) throw new UsageError("TOOL_INVALID", `Expected the parameters of the tool "${tool}" to be a zod object, got another type. Put a union, a list or a value into a member of an object: z.object({ value: ... }).`);
	return {
		json,
		check: (args) => (globalThis.__t?.("tool/tool-parameters.js#check@911"),(checked(args, schema, json)))
	};
}
/**
* Parameters from a JSON Schema of any origin; without one there are none. Arguments that fit stay unchanged.
*
* @throws UsageError `TOOL_INVALID` when it is the schema of something other than an object.
*/
function jsonParameters(tool, schema = {
	type: "object",
	properties: {}
}) {globalThis.__t?.("tool/tool-parameters.js#jsonParameters@1167");
	if (schema["type"] !== "object") throw new UsageError("TOOL_INVALID", `Expected the parameters of the tool "${tool}" to be a zod object or a JSON Schema of type "object", got ${valueText(schema)}.`);
	let reader;
	return {
		json: schema,
		check(args) {globalThis.__t?.("tool/tool-parameters.js#check@1493");
			reader ??= checkOf(schema) ?? "none";
			if (reader === "none") return {
				ok: true,
				args
			};
			const found = checked(args, reader, schema);
			return found.ok ? {
				ok: true,
				args: found.from
			} : found;
		}
	};
}
/** Checks arguments unchanged; then without nulls that mean "left out"; then with JSON in strings parsed. */
function checked(args, schema, json) {globalThis.__t?.("tool/tool-parameters.js#checked@1847");
	const strange = strangers(args, json);
	if (strange.length > 0) return {
		ok: false,
		issues: strange
	};
	const asItCame = read(schema, args);
	if (asItCame.success === true) return {
		ok: true,
		args: asItCame.data,
		from: args
	};
	const value = withoutFillers(args, json);
	const filled = read(schema, value);
	if (filled.success === true) return {
		ok: true,
		args: filled.data,
		from: value
	};
	if (filled.success === "thrown") return {
		ok: false,
		issues: [{
			path: "",
			message: `could not be checked: ${filled.why}`
		}]
	};
	const mended = mend(value, filled.error.issues);
	const again = mended === void 0 ? void 0 : read(schema, mended);
	if (mended !== void 0 && again?.success === true) return {
		ok: true,
		args: again.data,
		from: mended
	};
	return {
		ok: false,
		issues: issuesOf(filled.error.issues, value)
	};
}
function read(schema, value) {globalThis.__t?.("tool/tool-parameters.js#read@2740");
	try {
		return schema.safeParse(value);
	} catch (error) {
		return {
			success: "thrown",
			why: thrownText(error)
		};
	}
}
/** Issues for arguments without a parameter: a misspelt one would be ignored in silence. A tool without parameters ignores arguments. */
function strangers(args, json) {globalThis.__t?.("tool/tool-parameters.js#strangers@3038");
	const extra = json["additionalProperties"];
	const properties = json["properties"];
	if (extra !== void 0 && extra !== false || json["patternProperties"] !== void 0 || typeof properties !== "object" || properties === null) return [];
	const known = Object.keys(properties);
	if (known.length === 0) return [];
	return Object.keys(args).filter((name) => (globalThis.__t?.("tool/tool-parameters.js#anonymous@3415"),(!Object.hasOwn(properties, name)))).map((name) => ((globalThis.__t?.("tool/tool-parameters.js#anonymous@3463"),({
		path: name.slice(0, 100),
		message: `is no parameter; there are ${known.join(", ").slice(0, 500)}`
	}))));
}
/** Types whose values models often write as JSON inside a string. */
const INSIDE_STRINGS = /* @__PURE__ */ new Set([
	"number",
	"int",
	"boolean",
	"array",
	"object",
	"record",
	"tuple"
]);
/** The value with strings parsed that hold JSON of the expected type; undefined when there are none. */
function mend(value, issues) {globalThis.__t?.("tool/tool-parameters.js#mend@3886");
	let mended;
	for (const issue of issues.slice(0, 100)) {
		if (issue.code !== "invalid_type" || !INSIDE_STRINGS.has(issue.expected)) continue;
		const inner = insideString(at(value, issue.path));
		if (inner !== void 0) mended = replaced(mended ?? value, issue.path, inner);
	}
	return mended;
}
function insideString(text) {globalThis.__t?.("tool/tool-parameters.js#insideString@4214");
	if (typeof text !== "string") return void 0;
	const { values } = findJson(text);
	const [only] = values;
	return values.length === 1 && only !== void 0 && typeof only.value !== "string" && isWhole(text, only) ? only.value : void 0;
}
function isWhole(text, { start, end }) {globalThis.__t?.("tool/tool-parameters.js#isWhole@4479");
	return text.slice(0, start).trim() === "" && text.slice(end).trim() === "";
}
function at(value, path) {globalThis.__t?.("tool/tool-parameters.js#at@4599");
	let place = value;
	for (const key of path) {
		if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return void 0;
		place = place[key];
	}
	return place;
}
function replaced(value, path, inner) {globalThis.__t?.("tool/tool-parameters.js#replaced@4811");
	const [key, ...rest] = path;
	if (key === void 0) return inner;
	if (Array.isArray(value)) return value.with(Number(key), replaced(value[Number(key)], rest, inner));
	const object = value;
	return {
		...object,
		[String(key)]: replaced(object[String(key)] ?? null, rest, inner)
	};
}
/** Larger schemas, references followed, are not checked: a few lines may stand for more alternatives than could be tried. */
const MAX_WEIGHT = 5e3;
/**
* A check of arguments by a JSON Schema of any origin; undefined for a schema that is too large, refers to itself, or is not understood:
* its owner checks the arguments too. Its regular expressions are left out.
*/
function checkOf(schema) {globalThis.__t?.("tool/tool-parameters.js#checkOf@5508");
	try {
		if (weightOf(schema, {
			root: schema,
			under: /* @__PURE__ */ new Set(),
			known: /* @__PURE__ */ new Map()
		}) > MAX_WEIGHT) return void 0;
		const made = z.fromJSONSchema(harmless(schema));
		made.safeParse({});
		return made;
	} catch {
		return;
	}
}
/** The number of nodes of a schema, references followed; Infinity when that never ends. */
function weightOf(value, weighing) {globalThis.__t?.("tool/tool-parameters.js#weightOf@5897");
	if (typeof value !== "object" || value === null) return 0;
	const ref = value["$ref"];
	const own = typeof ref === "string" ? weightOfRef(ref, weighing) : 0;
	return Object.entries(value).reduce((sum, [name, member]) => (globalThis.__t?.("tool/tool-parameters.js#anonymous@6130"),(sum + (DEFINITIONS.has(name) ? 0 : weightOf(member, weighing)))), 1 + own);
}
const DEFINITIONS = /* @__PURE__ */ new Set(["$defs", "definitions"]);
function weightOfRef(ref, weighing) {globalThis.__t?.("tool/tool-parameters.js#weightOfRef@6302");
	const known = weighing.known.get(ref);
	if (known !== void 0) return known;
	const [, place = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? [];
	const defs = weighing.root[place];
	const target = isObject(defs) && Object.hasOwn(defs, name) ? defs[name] : void 0;
	if (target === void 0 || weighing.under.has(ref)) return Infinity;
	weighing.under.add(ref);
	const weight = weightOf(target, weighing);
	weighing.under.delete(ref);
	weighing.known.set(ref, weight);
	return weight;
}
function harmless(value) {globalThis.__t?.("tool/tool-parameters.js#harmless@6844");
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map(harmless);
	const members = Object.entries(value).filter(([name, member]) => (globalThis.__t?.("tool/tool-parameters.js#members@7036"),(!isPattern(name, member))));
	return Object.fromEntries(members.map(([name, member]) => (globalThis.__t?.("tool/tool-parameters.js#anonymous@7122"),([name, harmless(member)]))));
}
/** True for a member that would run as a regular expression on a model's words. A property of such a name has a schema as its value. */
function isPattern(name, member) {globalThis.__t?.("tool/tool-parameters.js#isPattern@7309");
	return (name === "pattern" || name === "format") && typeof member === "string" || name === "patternProperties";
}
export { jsonParameters, zodParameters };
