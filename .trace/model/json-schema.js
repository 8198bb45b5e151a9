import { isList, isObject, isRecord } from "../kernel/value-kind.js";
import { UsageError } from "../kernel/errors.js";
import { unchanging } from "../kernel/json.js";
import { valueText } from "../kernel/value-text.js";
import { z } from "zod";
// ../../work/wt/lead/src/model/json-schema.ts
const cache = /* @__PURE__ */ new WeakMap();
/**
* The JSON Schemas of a zod schema.
*
* @throws UsageError `SCHEMA_UNSUPPORTED` for types that JSON cannot carry: dates, maps, bigints, functions, custom classes; and for what is
* no schema of zod 4.
*/
function outputSchema(schema) {globalThis.__t?.("model/json-schema.js#outputSchema@546");
	const known = cache.get(schema);
	if (known !== void 0) return known;
	const fault = versionFault(schema);
	if (fault !== void 0) throw new UsageError("SCHEMA_UNSUPPORTED", `Expected ${fault.expected}, got ${fault.got}. ${fault.todo}`);
	const made = makeOutputSchema(schema);
	cache.set(schema, made);
	return made;
}
function makeOutputSchema(schema) {globalThis.__t?.("model/json-schema.js#makeOutputSchema@898");
	const { $schema: _dialect, ...plain } = toldBy(schema);
	const wrapped = plain["type"] !== "object";
	const json = unchanging(wrapped ? wrap(plain) : plain);
	let strict;
	return {
		json,
		get strict() {globalThis.__t?.("model/json-schema.js#strict get@1136");
			strict ??= { schema: strictSchema(json) };
			return strict.schema;
		},
		wrapped
	};
}
function toldBy(schema) {globalThis.__t?.("model/json-schema.js#toldBy@1233");
	try {
		return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: "input" })));
	} catch (error) {
		throw new UsageError("SCHEMA_UNSUPPORTED", `Expected an output schema made of JSON types, got one that is not: ${error instanceof Error ? error.message : String(error)}. Use strings for dates (z.iso.datetime()) and plain objects for maps.`, { cause: error });
	}
}
/** Providers take only objects at the root. References to the old root follow it to where it moves. */
function wrap(root) {globalThis.__t?.("model/json-schema.js#wrap@1734");
	const { $defs, ...value } = root;
	const recursive = JSON.stringify(value).includes("\"$ref\":\"#\"") || JSON.stringify($defs ?? {}).includes("\"$ref\":\"#\"");
	const moved = recursive ? { $ref: "#/$defs/root" } : value;
	const defs = {
		...asNode($defs ?? {}),
		...recursive ? { root: moveRoot(value) } : {}
	};
	const body = {
		type: "object",
		properties: { value: moved },
		required: ["value"],
		additionalProperties: false
	};
	return Object.keys(defs).length === 0 ? body : {
		...body,
		$defs: recursive ? moveRoot(defs) : defs
	};
}
function moveRoot(node) {globalThis.__t?.("model/json-schema.js#moveRoot@2306");
	return JSON.parse(JSON.stringify(node).replaceAll("\"$ref\":\"#\"", "\"$ref\":\"#/$defs/root\""));
}
/** Thrown inside {@link strictSchema} alone: the schema says something that strict mode cannot. */
var NotStrict = class extends Error {};
/**
* The schema in the subset that providers enforce: every property required, optional ones nullable, no other properties, no keywords
* beyond structure. What is dropped (formats, lengths, ranges) goes into the description and is checked when the reply is read.
*/
function strictSchema(root) {globalThis.__t?.("model/json-schema.js#strictSchema@2842");
	try {
		const { $defs, ...body } = root;
		const strict = strictNode(body);
		if ($defs === void 0) return strict;
		return {
			...strict,
			$defs: Object.fromEntries(Object.entries(asNode($defs)).map(([name, def]) => (globalThis.__t?.("model/json-schema.js#$defs@3076"),([name, strictNode(asNode(def))]))))
		};
	} catch (error) {
		if (error instanceof NotStrict) return void 0;
		throw error;
	}
}
function strictNode(node) {globalThis.__t?.("model/json-schema.js#strictNode@3220");
	const said = describe(node);
	const ref = node["$ref"];
	if (typeof ref === "string") return { $ref: ref };
	const { allOf: all, ...rest } = node;
	if (isList(all) && all.length === 1) return strictNode({
		...rest,
		...asNode(all[0] ?? {})
	});
	if (isList(all)) throw new NotStrict("allOf");
	const any = node["anyOf"] ?? node["oneOf"];
	if (isList(any)) return {
		anyOf: childNodes(any).map(strictNode),
		...said
	};
	if (node["type"] === "object") return {
		...strictObject(node),
		...said
	};
	if (node["type"] === "array") return {
		...strictArray(node),
		...said
	};
	return {
		...strictScalar(node),
		...said
	};
}
const SCALARS = [
	"string",
	"number",
	"integer",
	"boolean",
	"null"
];
function strictScalar(node) {globalThis.__t?.("model/json-schema.js#strictScalar@3956");
	const constants = constantsOf(node);
	const told = isList(node["type"]) ? node["type"] : [node["type"] ?? null];
	const types = node["type"] === void 0 && constants !== void 0 ? [...new Set(constants.map(typeName))] : told;
	if (types.length === 0 || !types.every((type) => (globalThis.__t?.("model/json-schema.js#anonymous@4251"),(SCALARS.includes(type))))) throw new NotStrict("no scalar");
	return {
		type: types.length === 1 ? types[0] ?? null : types,
		...constants === void 0 ? {} : { enum: constants }
	};
}
function strictObject(node) {globalThis.__t?.("model/json-schema.js#strictObject@4444");
	const extra = node["additionalProperties"];
	const properties = asNode(node["properties"] ?? {});
	const isDictionary = node["propertyNames"] !== void 0 || node["patternProperties"] !== void 0;
	const isOpen = typeof extra === "object" && extra !== null && Object.keys(extra).length > 0;
	if (isDictionary || isOpen || extra !== void 0 && extra !== false && node["properties"] === void 0) throw new NotStrict("a record");
	const required = new Set(stringsOf(node["required"]));
	const strict = Object.entries(properties).map(([name, property]) => {globalThis.__t?.("model/json-schema.js#strict@5000");
		const inner = strictNode(asNode(property));
		return [name, required.has(name) || acceptsNull(inner) ? inner : { anyOf: [inner, { type: "null" }] }];
	});
	return {
		type: "object",
		properties: Object.fromEntries(strict),
		required: Object.keys(properties),
		additionalProperties: false
	};
}
function strictArray(node) {globalThis.__t?.("model/json-schema.js#strictArray@5324");
	const items = node["items"];
	if (node["prefixItems"] !== void 0 || !isRecord(items)) throw new NotStrict("a tuple");
	return {
		type: "array",
		items: strictNode(asNode(items))
	};
}
/** Structure says the rest. */
const STRUCTURAL = new Set("type properties required additionalProperties items anyOf oneOf allOf enum const description $ref $defs default title examples prefixItems".split(" "));
/** The description, and in words what strict mode cannot say: `(format: email, minLength: 3)`. zod's safe-integer bounds say nothing. */
function describe(node) {globalThis.__t?.("model/json-schema.js#describe@5891");
	const rules = Object.entries(node).flatMap(([key, value]) => {globalThis.__t?.("model/json-schema.js#rules@5961");
		if (STRUCTURAL.has(key) || key === "pattern" && node["format"] !== void 0) return [];
		if (typeof value === "number") return Math.abs(value) === Number.MAX_SAFE_INTEGER ? [] : [`${key}: ${value}`];
		return typeof value === "string" ? [`${key}: ${value}`] : [];
	});
	const description = [typeof node["description"] === "string" ? node["description"] : "", rules.length === 0 ? "" : `(${rules.join(", ")})`].filter((part) => (globalThis.__t?.("model/json-schema.js#description@6399"),(part !== ""))).join(" ");
	return description === "" ? {} : { description };
}
/**
* A reply without the nulls that only say "left out": the wire makes optional members nullable, and here they are absent again. A null
* stays where the schema takes one. Unions are read with all their fitting branches at once.
*/
function withoutFillers(value, root) {globalThis.__t?.("model/json-schema.js#withoutFillers@6721");
	return holdsNull(value) ? strip(value, [root], root) : value;
}
function holdsNull(value) {globalThis.__t?.("model/json-schema.js#holdsNull@6825");
	if (typeof value !== "object" || value === null) return value === null;
	return Array.isArray(value) ? value.some(holdsNull) : Object.values(value).some(holdsNull);
}
function strip(value, nodes, root) {globalThis.__t?.("model/json-schema.js#strip@7021");
	const fits = fitting(leaves(nodes, root), value, root);
	if (isList(value)) {
		const items = fits.flatMap((node) => (globalThis.__t?.("model/json-schema.js#items@7166"),(childNodes([node["items"] ?? null, ...listOf(node["prefixItems"])]))));
		return items.length === 0 ? value : value.map((item) => (globalThis.__t?.("model/json-schema.js#anonymous@7294"),(strip(item, items, root))));
	}
	if (typeof value !== "object" || value === null) return value;
	const members = Object.entries(value).flatMap(([name, member]) => {globalThis.__t?.("model/json-schema.js#members@7445");
		const owners = fits.filter((node) => (globalThis.__t?.("model/json-schema.js#owners@7496"),(Object.hasOwn(propertiesOf(node), name))));
		const children = childNodes(owners.length === 0 ? fits.map((node) => (globalThis.__t?.("model/json-schema.js#children@7609"),(node["additionalProperties"]))) : owners.map((node) => (globalThis.__t?.("model/json-schema.js#children@7662"),(propertiesOf(node)[name]))));
		if (member === null) return owners.some((node) => (globalThis.__t?.("model/json-schema.js#anonymous@7742"),(!stringsOf(node["required"]).includes(name)))) && !leaves(children, root).some(acceptsNull) ? [] : [[name, null]];
		return [[name, children.length === 0 ? member : strip(member, children, root)]];
	});
	return Object.fromEntries(members);
}
/** The plain schemas behind references and unions, each once. */
function leaves(nodes, root) {globalThis.__t?.("model/json-schema.js#leaves@8058");
	const seen = /* @__PURE__ */ new Set();
	const found = [];
	const open = [...nodes];
	for (let node = open.pop(); node !== void 0; node = open.pop()) {
		if (seen.has(node)) continue;
		seen.add(node);
		const ref = node["$ref"];
		const inner = [
			node["anyOf"],
			node["oneOf"],
			node["allOf"]
		].flatMap((list) => (globalThis.__t?.("model/json-schema.js#inner@8403"),(Array.isArray(list) ? childNodes(list) : [])));
		if (typeof ref === "string") open.push(...childNodes([resolve(ref, root)]));
		open.push(...inner);
		if (typeof ref !== "string" && inner.length === 0) found.push(node);
	}
	return found;
}
/** Those of the schemas that the value can be meant for; all of its type when it fits none, for a wrong reply is read all the same. */
function fitting(nodes, value, root) {globalThis.__t?.("model/json-schema.js#fitting@8788");
	const fits = nodes.filter((node) => (globalThis.__t?.("model/json-schema.js#fits@8854"),(isShapeOf(node, value, root))));
	return fits.length > 0 ? fits : nodes.filter((node) => (globalThis.__t?.("model/json-schema.js#anonymous@8941"),(node["type"] === (Array.isArray(value) ? "array" : "object"))));
}
/** Whether a value can be meant for a schema, by its outermost layer: type, required members, constant members. */
function isShapeOf(node, value, root) {globalThis.__t?.("model/json-schema.js#isShapeOf@9132");
	if (isList(value)) return node["type"] === "array";
	if (typeof value !== "object" || value === null || node["type"] !== "object") return false;
	const members = value;
	if (!stringsOf(node["required"]).every((name) => (globalThis.__t?.("model/json-schema.js#anonymous@9382"),(Object.hasOwn(members, name))))) return false;
	return Object.entries(propertiesOf(node)).every(([name, property]) => {globalThis.__t?.("model/json-schema.js#anonymous@9486");
		const member = Object.hasOwn(members, name) ? members[name] : null;
		if (member === void 0 || member === null) return true;
		const lists = leaves(childNodes([property]), root).map(constantsOf);
		return lists.length === 0 || lists.some((list) => (globalThis.__t?.("model/json-schema.js#anonymous@9750"),(list === void 0 || list.includes(member))));
	});
}
/** The values a schema is limited to; undefined when it is not. */
function constantsOf(node) {globalThis.__t?.("model/json-schema.js#constantsOf@9878");
	if (isList(node["enum"])) return node["enum"];
	return node["const"] === void 0 ? void 0 : [node["const"]];
}
function acceptsNull(node) {globalThis.__t?.("model/json-schema.js#acceptsNull@10018");
	if (node["type"] === "null" || listOf(node["type"]).includes("null")) return true;
	const constants = constantsOf(node);
	if (constants !== void 0) return constants.includes(null);
	const any = node["anyOf"] ?? node["oneOf"];
	if (any !== void 0) return childNodes(listOf(any)).some(acceptsNull);
	return node["type"] === void 0 && node["$ref"] === void 0 && node["allOf"] === void 0;
}
function resolve(ref, root) {globalThis.__t?.("model/json-schema.js#resolve@10435");
	if (ref === "#") return root;
	return ref.startsWith("#/$defs/") ? asNode(root["$defs"] ?? {})[ref.slice(8)] : void 0;
}
function childNodes(list) {globalThis.__t?.("model/json-schema.js#childNodes@10587");
	return list.filter((item) => (globalThis.__t?.("model/json-schema.js#anonymous@10635"),(isRecord(item))));
}
function asNode(value) {globalThis.__t?.("model/json-schema.js#asNode@10664");
	return isRecord(value) ? value : {};
}
function propertiesOf(node) {globalThis.__t?.("model/json-schema.js#propertiesOf@10729");
	return asNode(node["properties"] ?? {});
}
function listOf(value) {globalThis.__t?.("model/json-schema.js#listOf@10803");
	return isList(value) ? value : [];
}
function stringsOf(value) {globalThis.__t?.("model/json-schema.js#stringsOf@10866");
	return Array.isArray(value) ? value.filter((item) => (globalThis.__t?.("model/json-schema.js#anonymous@10938"),(typeof item === "string"))) : [];
}
function typeName(value) {globalThis.__t?.("model/json-schema.js#typeName@10982");
	if (value === null) return "null";
	return typeof value === "object" ? "object" : typeof value;
}
/** Types of values that a JSON round trip does not give back, and what to say instead. */
const NOT_JSON = {
	date: "Write z.iso.datetime() and make a Date of the text where you need one.",
	bigint: "Write z.string() or z.int().",
	map: "Write z.record(z.string(), ...).",
	set: "Write z.array(...).",
	symbol: "Write z.string().",
	function: "Leave it out.",
	promise: "Leave it out.",
	file: "Write the path as z.string()."
};
const known = /* @__PURE__ */ new WeakMap();
/** Whether a value is a schema of zod 3, which JSON Schema, prompts and types here cannot be made of. */
function isZod3(value) {globalThis.__t?.("model/json-schema.js#isZod3@11689");
	return isSchema(value) && !("_zod" in value) && "_def" in value;
}
/** Why a value is no schema of zod 4, if it is none. */
function versionFault(value) {globalThis.__t?.("model/json-schema.js#versionFault@11839");
	const expected = "a schema of zod 4";
	if (isZod3(value)) return {
		expected,
		got: "one of zod 3",
		todo: "Install zod 4 (npm install zod@4) and import { z } from \"zod\"."
	};
	if (isSchema(value) && "_zod" in value) return void 0;
	return {
		expected,
		got: valueText(value),
		todo: "Write z.object({ ... })."
	};
}
/**
* Why a schema cannot say what is recorded and handed on, if it cannot: what it gives is typed as a Date or a Map, but comes back from the
* record as something else. What a transform makes is not known before it runs.
*/
function valueFault(value) {globalThis.__t?.("model/json-schema.js#valueFault@12422");
	const fault = versionFault(value);
	if (fault !== void 0) return fault;
	const schema = value;
	let found = known.get(schema);
	if (found === void 0) {
		found = typeFault(schema) ?? "none";
		known.set(schema, found);
	}
	return found === "none" ? void 0 : found;
}
function typeFault(schema) {globalThis.__t?.("model/json-schema.js#typeFault@12719");
	let found;
	z.toJSONSchema(schema, {
		io: "output",
		unrepresentable: "any",
		override: ({ zodSchema }) => {globalThis.__t?.("model/json-schema.js#override@12840");
			const { type } = zodSchema._zod.def;
			if (Object.hasOwn(NOT_JSON, type)) found ??= type;
		}
	});
	if (found === void 0) return void 0;
	return {
		expected: "a schema of values that JSON can carry",
		got: `one with z.${found}()`,
		todo: NOT_JSON[found] ?? ""
	};
}
function isSchema(value) {globalThis.__t?.("model/json-schema.js#isSchema@13134");
	try {
		return isObject(value) && typeof value.safeParse === "function";
	} catch {
		return false;
	}
}
export { childNodes, fitting, isZod3, leaves, listOf, outputSchema, propertiesOf, strictSchema, valueFault, versionFault, withoutFillers };
