import { isList, isObject, isRecord } from "../kernel/value-kind.js";
import { ModelError } from "../kernel/errors.js";
import { deepFreeze } from "../kernel/json.js";
import { errorData } from "./failure.js";
import { findJson } from "./json-in-text.js";
import { childNodes, fitting, leaves, listOf, propertiesOf, withoutFillers } from "./json-schema.js";
// ../../work/wt/lead/src/model/structured-output.ts
/** The name providers are told; it is part of no answer. */
const FORMAT_NAME = "reply";
/** Of a bad reply the model is shown the beginning and the end, so many characters together. */
const SHOWN_REPLY = 8e3;
/** Most issues a model is shown. */
const SHOWN_ISSUES = 20;
/** Most issues an error keeps. */
const KEPT_ISSUES = 100;
const SHOWN_VALUE = 120;
/**
* Reads a reply: finds its JSON, mends it, drops nulls that mean "absent", and checks it. Of several values in one reply the longest
* that fits is the answer, for models like to give an example first. What looks like JSON, cannot be read and is longer than that was
* the answer, and then nothing is. One that lacks nothing but the braces at its end is read where the schema says that nothing else can be
* missing: whoever asks has refused replies that were cut by their length.
*/
function readReply(text, schema, output) {globalThis.__t?.("model/structured-output.js#readReply@1258");
	const { values, broken } = findJson(text);
	const brokenLength = broken === void 0 ? 0 : broken.end - broken.start;
	const candidates = values.filter(({ value, start, end }, index) => (globalThis.__t?.("model/structured-output.js#candidates@1452"),(end - start > brokenLength && (index === 0 || !isEmpty(value)))));
	let first;
	for (const { value } of candidates) {
		const read = check(value, schema, output);
		if (read.ok) return read;
		first ??= read.issues;
	}
	const closed = candidates.length === 0 ? broken?.closed : void 0;
	if (closed !== void 0 && !output.wrapped && holdsAllMembers(closed.value, closed.path, output.json)) {
		const read = check(closed.value, schema, output);
		if (read.ok) return read;
	}
	return {
		ok: false,
		issues: first ?? [brokenIssue(text, broken)]
	};
}
const looseRungs = deepFreeze([{
	format: { type: "json" },
	inPrompt: "schema"
}, {
	format: { type: "text" },
	inPrompt: "schema and fence"
}]);
const knownRungs = /* @__PURE__ */ new WeakMap();
/**
* Strict schema, then JSON mode, then plain words; a schema that no provider enforces starts at the second. Frozen: all calls share them, and
* models are given their formats.
*/
function rungsFor(output) {globalThis.__t?.("model/structured-output.js#rungsFor@2413");
	const known = knownRungs.get(output);
	if (known !== void 0) return known;
	const { strict } = output;
	const strictRung = strict && {
		format: {
			type: "schema",
			name: FORMAT_NAME,
			schema: strict
		},
		inPrompt: "nothing"
	};
	const rungs = strictRung === void 0 ? looseRungs : deepFreeze([strictRung, ...looseRungs]);
	knownRungs.set(output, rungs);
	return rungs;
}
/** The highest format each model is known to take. */
const knownFormat = /* @__PURE__ */ new WeakMap();
const order = [
	"schema",
	"json",
	"text"
];
/**
* Calls with the best reply format the model's server takes, one rung lower each time it refuses one, and remembers for this model
* what worked. A refusal of one schema alone is not remembered.
*
* @throws ModelError of the last rung, or any other that `call` throws.
*/
async function withLadder(model, output, call) {globalThis.__t?.("model/structured-output.js#withLadder@3250");
	const highest = knownFormat.get(model);
	const rungs = highest === void 0 ? rungsFor(output) : rungsFrom(order.indexOf(highest), output);
	let refusedForGood = false;
	for (const [index, rung] of rungs.entries()) try {
		const answer = await call(rung);
		if (refusedForGood) knownFormat.set(model, rung.format.type);
		return answer;
	} catch (error) {
		if (!(error instanceof ModelError) || error.code !== "MODEL_FORMAT_UNSUPPORTED" || index === rungs.length - 1) throw error;
		if (errorData(error).schemaOnly !== true) refusedForGood = true;
	}
	throw new RangeError("a ladder has at least one rung");
}
function rungsFrom(place, output) {globalThis.__t?.("model/structured-output.js#rungsFrom@3909");
	return rungsFor(output).filter(({ format }) => (globalThis.__t?.("model/structured-output.js#anonymous@3977"),(order.indexOf(format.type) >= place)));
}
/** The conversation with what a rung must say in words, in the last thing the user says. */
function promptFor(messages, output, rung) {globalThis.__t?.("model/structured-output.js#promptFor@4126");
	if (rung.inPrompt === "nothing") return messages;
	const words = `Answer with ${rung.inPrompt === "schema" ? "one JSON object and nothing else" : "one JSON object in a ```json fenced block and nothing else"}. It must fit this JSON Schema:\n${JSON.stringify(output.json)}`;
	const last = messages.at(-1);
	if (last?.role !== "user") return [...messages, {
		role: "user",
		content: words
	}];
	return [...messages.slice(0, -1), {
		...last,
		content: last.content === void 0 || last.content === "" ? words : `${last.content}\n\n${words}`
	}];
}
/** The conversation with a bad reply and what is wrong with it, naming the bad fields only. It tells the schema in words for every rung. */
function askAgain(messages, output, reply, issues) {globalThis.__t?.("model/structured-output.js#askAgain@4859");
	const list = issues.slice(0, SHOWN_ISSUES).map((issue) => (globalThis.__t?.("model/structured-output.js#list@4960"),(`- ${issueLine(issue)}`)));
	if (issues.length > SHOWN_ISSUES) list.push(`- and ${issues.length - SHOWN_ISSUES} more like these`);
	const words = `That reply cannot be used:\n${list.join("\n")}\nGive the whole reply again with these mended and everything else as it was, as one JSON object and nothing else. It must fit this JSON Schema:\n${JSON.stringify(output.json)}`;
	return [
		...messages,
		{
			role: "assistant",
			content: shorten(reply, SHOWN_REPLY)
		},
		{
			role: "user",
			content: words
		}
	];
}
/** One line for people and models. */
function issueLine(issue) {globalThis.__t?.("model/structured-output.js#issueLine@5525");
	return `${issue.path === "" ? "the reply" : issue.path}: ${issue.message}${issue.got === void 0 ? "" : ` (got ${issue.got})`}`;
}
function check(found, schema, output) {globalThis.__t?.("model/structured-output.js#check@5684");
	const attempts = readings(found, output);
	let first;
	for (const value of attempts) {
		const parsed = schema.safeParse(value);
		if (parsed.success) return {
			ok: true,
			value: parsed.data
		};
		first ??= issuesOf(parsed.error.issues, value);
	}
	return {
		ok: false,
		issues: first ?? []
	};
}
/** A value in its wrapping or bare, and a string that holds JSON once more; first with the keys that the schema names, then as it came. */
function readings(found, output) {globalThis.__t?.("model/structured-output.js#readings@6169");
	if (!output.wrapped) {
		const plain = (typeof found === "string" ? findJson(found).values[0]?.value : void 0) ?? found;
		return [withSchemaKeys(plain, output.json), plain].map((value) => (globalThis.__t?.("model/structured-output.js#anonymous@6383"),(withoutFillers(value, output.json))));
	}
	const members = isRecord(found) ? Object.keys(found) : [];
	const inside = (value) => (globalThis.__t?.("model/structured-output.js#inside@6510"),(unwrap(withoutFillers(withSchemaKeys(value, output.json), output.json))));
	const bare = [inside({ value: found }), unwrap(withoutFillers({ value: found }, output.json))];
	return members.length === 1 && members[0] === "value" ? [
		inside(found),
		unwrap(withoutFillers(found, output.json)),
		...bare
	] : bare;
}
function unwrap(value) {globalThis.__t?.("model/structured-output.js#unwrap@6836");
	return value.value ?? null;
}
/** What zod found wrong with a value, in words a model can act on. */
function issuesOf(issues, value) {globalThis.__t?.("model/structured-output.js#issuesOf@6963");
	return issues.flatMap((issue) => (globalThis.__t?.("model/structured-output.js#anonymous@7021"),(flatten(issue, [])))).slice(0, KEPT_ISSUES).map(({ issue, path }) => {globalThis.__t?.("model/structured-output.js#anonymous@7078");
		const got = at(value, path);
		const message = got === void 0 && issue.code !== "custom" ? "is missing" : issue.message;
		return {
			path: pathText(path),
			message,
			...got === void 0 ? {} : { got: preview(got) }
		};
	});
}
/** An issue of a union is the issues of the branch that came closest. */
function flatten(issue, base) {globalThis.__t?.("model/structured-output.js#flatten@7408");
	const path = [...base, ...issue.path];
	if (issue.code !== "invalid_union") return [{
		issue,
		path
	}];
	const [closest] = issue.errors.toSorted((a, b) => (globalThis.__t?.("model/structured-output.js#anonymous@7589"),(a.length - b.length)));
	return closest === void 0 ? [{
		issue,
		path
	}] : closest.flatMap((inner) => (globalThis.__t?.("model/structured-output.js#anonymous@7691"),(flatten(inner, path))));
}
function preview(value) {globalThis.__t?.("model/structured-output.js#preview@7727");
	if (typeof value === "string") return JSON.stringify(value.length > SHOWN_VALUE ? `${value.slice(0, SHOWN_VALUE)}…` : value);
	if (Array.isArray(value)) return `an array of ${value.length}`;
	if (isObject(value)) return `an object with ${Object.keys(value).slice(0, 10).join(", ") || "no members"}`;
	return String(value);
}
function isEmpty(value) {globalThis.__t?.("model/structured-output.js#isEmpty@8079");
	return isObject(value) && Object.keys(value).length === 0;
}
function at(value, path) {globalThis.__t?.("model/structured-output.js#at@8167");
	let place = value;
	for (const key of path) {
		if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return void 0;
		place = place[key];
	}
	return place;
}
function pathText(path) {globalThis.__t?.("model/structured-output.js#pathText@8379");
	return path.map((key, index) => (globalThis.__t?.("model/structured-output.js#anonymous@8422"),(typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`))).join("");
}
function brokenIssue(text, broken) {globalThis.__t?.("model/structured-output.js#brokenIssue@8532");
	if (broken === void 0) return {
		path: "",
		message: "holds no JSON",
		got: preview(text.trim())
	};
	const near = preview(text.slice(Math.max(0, broken.at - 40), broken.at + 40));
	if (broken.reason === "truncated") return {
		path: "",
		message: "the JSON ends before it is complete",
		got: near
	};
	if (broken.reason === "too deep") return {
		path: "",
		message: "the JSON is nested too deep"
	};
	return {
		path: "",
		message: `is not JSON at character ${broken.at - broken.start}`,
		got: near
	};
}
/** Beginning and end of a long text, with a mark where something is left out. */
function shorten(text, limit) {globalThis.__t?.("model/structured-output.js#shorten@9167");
	if (text.length <= limit) return text;
	const half = Math.floor((limit - 20) / 2);
	return `${text.slice(0, half)} … [${text.length - 2 * half} characters] … ${text.slice(-half)}`;
}
/**
* A reply with the keys that its schema names: `fileName` or `File_Name` becomes `file_name` where that is wanted and absent, nothing in the
* schema is called so, and no other key comes as near. Case, `_`, `-` and spaces are all that may differ. Keys of records stay.
*/
function withSchemaKeys(value, root) {globalThis.__t?.("model/structured-output.js#withSchemaKeys@9659");
	return renamed(value, [root], root);
}
function renamed(value, nodes, root) {globalThis.__t?.("model/structured-output.js#renamed@9738");
	const fits = fitting(leaves(nodes, root), value, root);
	if (isList(value)) {
		const items = fits.flatMap((node) => (globalThis.__t?.("model/structured-output.js#items@9885"),(childNodes([node["items"] ?? null, ...listOf(node["prefixItems"])]))));
		return items.length === 0 ? value : value.map((item) => (globalThis.__t?.("model/structured-output.js#anonymous@10013"),(renamed(item, items, root))));
	}
	if (typeof value !== "object" || value === null) return value;
	const names = newNames(value, fits);
	const members = Object.entries(value).map(([given, member]) => {globalThis.__t?.("model/structured-output.js#members@10200");
		const name = names.get(given) ?? given;
		const owners = fits.filter((node) => (globalThis.__t?.("model/structured-output.js#owners@10294"),(Object.hasOwn(propertiesOf(node), name))));
		const children = childNodes(owners.length === 0 ? fits.map((node) => (globalThis.__t?.("model/structured-output.js#children@10407"),(node["additionalProperties"]))) : owners.map((node) => (globalThis.__t?.("model/structured-output.js#children@10460"),(propertiesOf(node)[name]))));
		return [name, children.length === 0 ? member : renamed(member, children, root)];
	});
	return Object.fromEntries(members);
}
/** The names of the schema by the keys that stand for them. Where several schemas may be meant nothing is renamed. */
function newNames(value, nodes) {globalThis.__t?.("model/structured-output.js#newNames@10744");
	const [node] = nodes;
	if (node === void 0 || nodes.length > 1 || isOpen(node)) return /* @__PURE__ */ new Map();
	const wanted = Object.keys(propertiesOf(node));
	const strangers = Object.keys(value).filter((key) => (globalThis.__t?.("model/structured-output.js#strangers@10987"),(!wanted.includes(key))));
	const pairs = wanted.filter((name) => (globalThis.__t?.("model/structured-output.js#pairs@11049"),(!Object.hasOwn(value, name)))).flatMap((name) => {globalThis.__t?.("model/structured-output.js#pairs@11096");
		const near = strangers.filter((key) => (globalThis.__t?.("model/structured-output.js#near@11140"),(folded(key) === folded(name))));
		const rivals = wanted.filter((other) => (globalThis.__t?.("model/structured-output.js#rivals@11211"),(folded(other) === folded(name))));
		return near.length === 1 && rivals.length === 1 ? [[near[0], name]] : [];
	});
	return new Map(pairs);
}
/**
* Whether a reply that ended before its objects were closed can have lost nothing: each of them has every member that its schema knows, also
* the optional ones, and may have no others.
*
* @param path the keys from the root to the innermost open object
*/
function holdsAllMembers(value, path, root) {globalThis.__t?.("model/structured-output.js#holdsAllMembers@11623");
	let nodes = [root];
	let member = value;
	for (let place = 0; place <= path.length; place += 1) {
		if (typeof member !== "object" || member === null || isList(member)) return false;
		const held = member;
		const keys = new Set(Object.keys(held).map(folded));
		const fits = fitting(leaves(nodes, root), held, root);
		const isWhole = (node) => (globalThis.__t?.("model/structured-output.js#isWhole@12006"),(!isOpen(node) && Object.keys(propertiesOf(node)).every((name) => (globalThis.__t?.("model/structured-output.js#anonymous@12071"),(keys.has(folded(name)))))));
		if (fits.length === 0 || !fits.every(isWhole)) return false;
		const key = path[place] ?? "";
		member = held[key];
		nodes = childNodes(fits.flatMap((node) => (globalThis.__t?.("model/structured-output.js#anonymous@12258"),(Object.entries(propertiesOf(node)).flatMap(([name, child]) => (globalThis.__t?.("model/structured-output.js#anonymous@12311"),(folded(name) === folded(key) ? [child] : [])))))));
	}
	return true;
}
/** Whether it may have members that it does not name. */
function isOpen(node) {globalThis.__t?.("model/structured-output.js#isOpen@12455");
	const { additionalProperties, propertyNames, patternProperties, properties } = node;
	return !(additionalProperties === void 0 || additionalProperties === false) || propertyNames !== void 0 || patternProperties !== void 0 || properties === void 0;
}
function folded(key) {globalThis.__t?.("model/structured-output.js#folded@12730");
	return key.toLowerCase().replace(/[\s_-]/g, "");
}
export { askAgain, holdsAllMembers, issueLine, issuesOf, promptFor, readReply, rungsFor, withLadder, withSchemaKeys };
