import { isRecord } from "../kernel/value-kind.js";
import { findJson } from "../model/json-in-text.js";
// ../../work/wt/lead/src/agent/text-action.ts
/** Keys that models use for the name and the arguments of a tool; the first is the one in the instructions. */
const NAME_KEYS = [
	"name",
	"tool",
	"action",
	"tool_name",
	"function"
];
const ARGS_KEYS = [
	"args",
	"arguments",
	"parameters",
	"input",
	"action_input",
	"tool_input"
];
/** Marks broken JSON as an action. */
const LOOKS_LIKE_ACTION = new RegExp(`"(${NAME_KEYS.join("|")})"\\s*:`);
/** Longest part of broken JSON that is shown. */
const SHOWN = 200;
/** Tells a model without native tool calls how to act. */
function actionInstructions(tools) {globalThis.__t?.("agent/text-action.js#actionInstructions@684");
	return [
		`You can use these tools, told as JSON:\n${tools}`,
		"To use one, answer with one JSON object and nothing after it: {\"name\": \"<tool>\", \"args\": {...}}. You are then told what came of it.",
		"When you know the answer, give it as plain text without such an object."
	].join("\n\n");
}
/**
* Reads the seed's form of an action, JSON in text: bare, fenced or with prose around it, mended where it can be. Only the first action
* counts, or a whole array of them: models make up the text after their action. JSON that names no tool is part of an answer.
*
* @param isTool true for the name of a tool
*/
function readTextAction(text, isTool) {globalThis.__t?.("agent/text-action.js#readTextAction@1338");
	const { values, broken } = findJson(text);
	const found = values.toSorted((a, b) => (globalThis.__t?.("agent/text-action.js#found@1453"),(a.start - b.start)));
	for (const { value } of found) {
		const calls = callsIn(value, isTool);
		if (calls.length > 0) return {
			kind: "calls",
			calls
		};
	}
	if (broken !== void 0 && LOOKS_LIKE_ACTION.test(text.slice(broken.start, broken.end))) {
		const near = text.slice(Math.max(0, broken.at - SHOWN / 2), broken.at + SHOWN / 2);
		return {
			kind: "malformed",
			why: `it is ${broken.reason} JSON near ${JSON.stringify(near)}`
		};
	}
	return {
		kind: "answer",
		text: answerIn(found.map(({ value }) => (globalThis.__t?.("agent/text-action.js#text@1964"),(value)))) ?? text
	};
}
/** Marks that models put around actions and thoughts; servers remove them only for models they know. */
const MARKED = /<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g;
const THOUGHTS = /^\s*<think>[\s\S]*?<\/think>/;
/**
* Reads an action that is the whole text, fence, marks and thoughts aside, and names an existing tool: models that were not made for
* tools write it, and models whose server does not know their marks. An action in marks with words around it may be a quotation: it does
* not run, and is no answer either.
*/
function wholeTextAction(text, isTool) {globalThis.__t?.("agent/text-action.js#wholeTextAction@2528");
	const said = text.replace(THOUGHTS, "").trim();
	const marked = [...said.matchAll(MARKED)].flatMap(([, inside = ""]) => (globalThis.__t?.("agent/text-action.js#marked@2669"),(wholeCalls(inside, isTool))));
	if (marked.length > 0 && said.replace(MARKED, "").trim() !== "") return {
		kind: "malformed",
		why: "there are words around it"
	};
	const calls = marked.length > 0 ? marked : wholeCalls(said, isTool);
	if (calls.length === 0) return {
		kind: "answer",
		text
	};
	return {
		kind: "calls",
		calls: calls.map((call, place) => ((globalThis.__t?.("agent/text-action.js#calls@3033"),({
			...call,
			id: `text_${place}`
		}))))
	};
}
function wholeCalls(text, isTool) {globalThis.__t?.("agent/text-action.js#wholeCalls@3100");
	const bare = text.trim().replace(/^```(?:json)?\s*/, "").replace(/\s*```$/, "");
	if (!/^[[{]/.test(bare) || !/[\]}]$/.test(bare)) return [];
	const [only, ...others] = findJson(bare).values;
	if (only === void 0 || others.length > 0 || only.start !== 0 || only.end !== bare.length) return [];
	const calls = callsIn(only.value, isTool);
	return calls.every((call) => (globalThis.__t?.("agent/text-action.js#anonymous@3495"),(isTool(call.function.name)))) ? calls : [];
}
function callsIn(value, isTool) {globalThis.__t?.("agent/text-action.js#callsIn@3549");
	const calls = (Array.isArray(value) ? value : [value]).map((item, place) => (globalThis.__t?.("agent/text-action.js#calls@3643"),(callOf(item, place, isTool))));
	return calls.every((call) => (globalThis.__t?.("agent/text-action.js#anonymous@3710"),(call !== void 0))) ? calls : [];
}
function callOf(item, place, isTool) {globalThis.__t?.("agent/text-action.js#callOf@3753");
	if (!isRecord(item)) return void 0;
	const name = NAME_KEYS.map((key) => (globalThis.__t?.("agent/text-action.js#name@3857"),(item[key]))).find((one) => (globalThis.__t?.("agent/text-action.js#name@3882"),(typeof one === "string")));
	const argsKey = ARGS_KEYS.find((key) => (globalThis.__t?.("agent/text-action.js#argsKey@3949"),(Object.hasOwn(item, key))));
	if (typeof name !== "string" || argsKey === void 0 && !isTool(name)) return void 0;
	const args = argsKey === void 0 ? {} : item[argsKey];
	const written = typeof args === "string" ? args : JSON.stringify(args ?? {});
	return {
		id: `text_${place}`,
		type: "function",
		function: {
			name,
			arguments: written
		}
	};
}
/** The answer of a model that wraps it in JSON too. */
function answerIn(values) {globalThis.__t?.("agent/text-action.js#answerIn@4368");
	const [only, ...others] = values;
	if (only === void 0 || others.length > 0 || !isRecord(only)) return void 0;
	const { answer, final_answer: final } = only;
	const said = final ?? answer;
	return Object.keys(only).length === 1 && typeof said === "string" ? said : void 0;
}
export { actionInstructions, readTextAction, wholeTextAction };
