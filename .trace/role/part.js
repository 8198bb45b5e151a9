import { valueText } from "../kernel/value-text.js";
import { valueFault } from "../model/json-schema.js";
import { readable, takes } from "../kernel/argument.js";
import { UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/role/part.ts
/** A part that is one value. */
function part(name, { fits, expected, todo }) {globalThis.__t?.("role/part.js#part@286");
	return {
		name,
		misfit: (came) => (globalThis.__t?.("role/part.js#misfit@362"),(fits(came) ? void 0 : {
			at: name,
			expected,
			came,
			todo
		}))
	};
}
/** A part that is a list, each item of one kind. */
function listPart(name, { fits, expected, todo }) {globalThis.__t?.("role/part.js#listPart@502");
	return itemsPart(name, {
		expected,
		todo
	}, (item) => (globalThis.__t?.("role/part.js#anonymous@603"),(fits(item) ? void 0 : {
		at: "",
		expected,
		came: item,
		todo
	})));
}
/** A part that is a list of definitions, each with parts of its own. */
function definitionsPart(name, { fits, expected, todo }, parts) {globalThis.__t?.("role/part.js#definitionsPart@760");
	return itemsPart(name, {
		expected,
		todo
	}, (item) => {globalThis.__t?.("role/part.js#anonymous@875");
		if (!fits(item)) return {
			at: "",
			expected,
			came: item,
			todo
		};
		const inner = misfitIn(item, parts);
		return inner === void 0 ? void 0 : {
			...inner,
			at: `.${inner.at}`
		};
	});
}
/** A part that is a schema of values that are recorded and handed on. */
function schemaPart(name) {globalThis.__t?.("role/part.js#schemaPart@1166");
	return {
		name,
		misfit(came) {globalThis.__t?.("role/part.js#misfit@1220");
			const fault = valueFault(came);
			return fault && {
				at: name,
				came,
				...fault
			};
		}
	};
}
/** A part that may be left out. */
function optional({ name, misfit }) {globalThis.__t?.("role/part.js#optional@1374");
	return {
		name,
		misfit: (value) => (globalThis.__t?.("role/part.js#misfit@1440"),(value === void 0 ? void 0 : misfit(value)))
	};
}
/** The first part of a definition that does not fit. */
function misfitIn(definition, parts) {globalThis.__t?.("role/part.js#misfitIn@1556");
	for (const { name, misfit } of parts) {
		const found = misfit(definition[name]);
		if (found !== void 0) return found;
	}
}
/** A misfit in words: what was expected, what came, what to do. */
function misfitText({ at, expected, came, got, todo }, owner) {globalThis.__t?.("role/part.js#misfitText@1789");
	return `Expected ${at} of ${owner} to be ${expected}, got ${got ?? valueText(came)}. ${todo}`;
}
function itemsPart(name, { expected, todo }, misfitOf) {globalThis.__t?.("role/part.js#itemsPart@1951");
	return {
		name,
		misfit(list) {globalThis.__t?.("role/part.js#misfit@2034");
			if (!Array.isArray(list)) return {
				at: name,
				expected: `a list, each item ${expected}`,
				came: list,
				todo
			};
			for (const [place, item] of Array.from(list).entries()) {
				const found = misfitOf(item);
				if (found !== void 0) return {
					...found,
					at: `${name}[${place}]${found.at}`
				};
			}
		}
	};
}
/** Kinds that parts of many definitions are of. */
const text = {
	fits: (value) => (globalThis.__t?.("role/part.js#fits@2454"),(typeof value === "string")),
	expected: "a text"
};
const callable = {
	fits: (value) => (globalThis.__t?.("role/part.js#fits@2541"),(typeof value === "function")),
	expected: "a function"
};
const address = {
	fits: hasName,
	expected: "a name, an action, a role or an Action class"
};
function hasName(value) {globalThis.__t?.("role/part.js#hasName@2703");
	if (typeof value === "string") return true;
	return (typeof value === "object" || typeof value === "function") && typeof value?.name === "string";
}
const parts = [part("name", {
	fits: isActionName,
	expected: "a text that is not empty",
	todo: "Its name is its identity in routing."
}), ...[
	part("description", {
		...text,
		todo: "Tell the model what it does."
	}),
	listPart("needs", {
		...address,
		todo: "Write needs: [WriteDraft]."
	}),
	schemaPart("output"),
	schemaPart("state"),
	...[
		"prompt",
		"run",
		"render",
		"sendTo"
	].map((name) => (globalThis.__t?.("role/part.js#parts@3281"),(part(name, {
		...callable,
		todo: `Write ${name}: (ctx) => ... .`
	}))))
].map(optional)];
/**
* Refuses what an action cannot be made of.
*
* @throws UsageError `ACTION_INVALID`
*/
function assertActionParts(options) {globalThis.__t?.("role/part.js#assertActionParts@3473");
	if (typeof options !== "object" || options === null) throw new UsageError("ACTION_INVALID", `Expected the parts of an action, got ${valueText(options)}. Write defineAction({ name, ... }).`);
	takes("defineAction", "options", options, readable);
	const misfit = misfitIn(options, parts);
	if (misfit === void 0) return;
	const { name } = options;
	throw new UsageError("ACTION_INVALID", misfitText(misfit, isActionName(name) ? `action ${name}` : "an action"));
}
/** Whether a value can be the name of an action. */
function isActionName(value) {globalThis.__t?.("role/part.js#isActionName@4027");
	return typeof value === "string" && value.trim() !== "";
}
export { address, assertActionParts, callable, definitionsPart, isActionName, listPart, misfitIn, misfitText, optional, part, schemaPart, text };
