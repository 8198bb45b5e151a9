import { isObject, isRecord, isText } from "../kernel/value-kind.js";
import { systemClock } from "../kernel/clock.js";
import { UsageError } from "../kernel/errors.js";
import { directSteps } from "../kernel/step.js";
import { valueText } from "../kernel/value-text.js";
import { notRun } from "./tool-result.js";
import { ToolCollection } from "./tool-collection.js";
// ../../work/wt/lead/src/tool/call-options.ts
/** The names of the options. @internal */
const callToolOptions = {
	tools: true,
	steps: true,
	clock: true,
	signal: true,
	policy: true,
	approve: true,
	role: true,
	ask: true,
	model: true,
	session: true,
	deps: true,
	opened: true,
	tell: true
};
/**
* Fills in the defaults.
*
* @throws UsageError `CALL_OPTIONS_INVALID` without tools, or for a role that is no text; `TOOL_INVALID` for a value that is no tool
*/
function wholeOptions(options) {globalThis.__t?.("tool/call-options.js#wholeOptions@839");
	const { tools, role } = checkedOptions(options);
	if (role !== void 0 && typeof role !== "string") throw invalid("the role that calls to be a text", role);
	const collection = tools instanceof ToolCollection ? tools : new ToolCollection(tools);
	const signal = options.signal ?? new AbortController().signal;
	return {
		...options,
		tools: collection,
		signal,
		steps: options.steps ?? directSteps(signal),
		clock: options.clock ?? systemClock
	};
}
/**
* Refuses a value that is no call of a tool in the wire's form. Programs without types make them by hand.
*
* @throws UsageError `TOOL_CALL_INVALID`
*/
function checkToolCall(call) {globalThis.__t?.("tool/call-options.js#checkToolCall@1484");
	if (isToolCall(call)) return;
	throw new UsageError("TOOL_CALL_INVALID", `Expected a call of a tool, { id, type: "function", function: { name, arguments } } with texts for id, name and arguments, got ${valueText(call)}.`);
}
/** Checks a list of calls. @throws UsageError `TOOL_CALL_INVALID` */
function checkToolCalls(calls) {globalThis.__t?.("tool/call-options.js#checkToolCalls@1811");
	if (!Array.isArray(calls)) return checkToolCall(calls);
	for (const call of calls) checkToolCall(call);
}
function isToolCall(call) {globalThis.__t?.("tool/call-options.js#isToolCall@1951");
	if (!isRecord(call) || !isRecord(call["function"])) return false;
	const { name, arguments: args } = call["function"];
	return [
		call["id"],
		name,
		args
	].every(isText);
}
function checkedOptions(options) {globalThis.__t?.("tool/call-options.js#checkedOptions@2158");
	const { tools } = options ?? {};
	if (isObject(tools) && Symbol.iterator in tools) return options;
	throw invalid("the tools that can be called: { tools: [...] }", options);
}
function invalid(expected, got) {globalThis.__t?.("tool/call-options.js#invalid@2370");
	return new UsageError("CALL_OPTIONS_INVALID", `Expected ${expected}, got ${valueText(got)}.`);
}
/** @throws UsageError `TOOL_CHOICE_INVALID` for a value that is no choice. Programs without types write it by hand. */
function checkChoiceForm(choice) {globalThis.__t?.("tool/call-options.js#checkChoiceForm@2622");
	if (choice === "none" || choice === "auto" || choice === "required") return;
	if (isObject(choice) && typeof choice.name === "string") return;
	throw new UsageError("TOOL_CHOICE_INVALID", `Expected a choice of tools, "none", "auto", "required" or { name: "<tool>" }, got ${valueText(choice)}.`);
}
/** @throws UsageError `TOOL_CHOICE_INVALID` for a choice that no reply could follow: a missing tool, or any tool of none. */
function checkToolChoice(choice, tools) {globalThis.__t?.("tool/call-options.js#checkToolChoice@3082");
	checkChoiceForm(choice);
	if (typeof choice === "object" ? tools.has(choice.name) : choice !== "required" || tools.size > 0) return;
	const wanted = typeof choice === "object" ? `the tool "${choice.name}" that must be called` : "at least one tool to call";
	throw new UsageError("TOOL_CHOICE_INVALID", `Expected ${wanted} among the tools, but there is none. Add it, or choose "auto".`);
}
/** The answer to a call that the choice forbids: providers let models call such tools. */
function forbiddenBy(choice, call, tools) {globalThis.__t?.("tool/call-options.js#forbiddenBy@3605");
	if (choice === "none") return notRun(call, "denied", "tools cannot be called now. Answer in words.");
	if (typeof choice !== "object" || tools.find(call.function.name)?.name === choice.name) return void 0;
	return notRun(call, "denied", `only the tool "${choice.name}" can be called now.`);
}
export { callToolOptions, checkChoiceForm, checkToolCall, checkToolCalls, checkToolChoice, forbiddenBy, wholeOptions };
