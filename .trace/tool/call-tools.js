import { readable, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { valueText } from "../kernel/value-text.js";
import { askPermission } from "./approval.js";
import { readArguments } from "./call-arguments.js";
import { callToolOptions, checkChoiceForm, checkToolCalls, forbiddenBy, wholeOptions } from "./call-options.js";
import { notRun } from "./tool-result.js";
import { decide } from "./permission.js";
import { runTool } from "./run-tool.js";
import { throwIfAborted } from "../kernel/abort.js";
import { UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/tool/call-tools.ts
const SHOWN_NAMES = 500;
const NO_POLICY = {};
/** Checks a call without running anything. */
function check(call, { tools, policy = NO_POLICY }) {globalThis.__t?.("tool/call-tools.js#check@755");
	const { name, arguments: text } = call.function;
	const tool = tools.find(name);
	if (tool === void 0) return notRun(call, "unknown", `there is no tool ${valueText(name)}. ${toolsThere(tools)}`);
	const read = readArguments(text, tool);
	if (!read.ok) return notRun(call, "invalid", read.why);
	const decision = decide(tool, read.json, policy);
	if (decision !== "deny") return {
		call,
		tool,
		json: read.json,
		args: read.args,
		decision
	};
	const why = `the tool "${tool.name}" may not be used like this: a rule forbids it. Do not try it again; go another way.`;
	return notRun(call, "denied", why);
}
function isReady(call) {globalThis.__t?.("tool/call-tools.js#isReady@1421");
	return "decision" in call;
}
/** Asks a person where permission is needed. Returns a call that is ready to run or answered. */
async function permit(checked, { approve, steps, role = "agent", signal }) {globalThis.__t?.("tool/call-tools.js#permit@1574");
	if (!isReady(checked) || checked.decision === "allow") return checked;
	const { call, tool, json } = checked;
	if (approve === void 0) {
		const why = `the tool "${tool.name}" needs a person's permission, and nobody is there to give it. Do what you can without it, and say what it was for.`;
		return notRun(call, "denied", why);
	}
	const { isGiven, words } = await askPermission(steps, approve, {
		role,
		tool: tool.name,
		args: json
	}, signal);
	if (isGiven) return {
		...checked,
		decision: "allow"
	};
	const said = words === "" ? "" : ` and said: ${words}`;
	return notRun(call, "denied", `a person did not allow this use of the tool "${tool.name}"${said}. Do not try it again unchanged.`);
}
/** Runs a call that is ready, as one step, and tells that it has its answer. */
async function answer(checked, options) {globalThis.__t?.("tool/call-tools.js#answer@2438");
	const called = isReady(checked) ? await runReady(checked, options) : checked;
	options.tell?.({
		type: "tool.ended",
		called
	});
	return called;
}
async function runReady({ call, tool, json, args }, options) {globalThis.__t?.("tool/call-tools.js#runReady@2631");
	const { steps, clock, signal, role = "agent", ask, model, session, deps, tell, opened } = options;
	tell?.({
		type: "tool.started",
		call,
		tool: tool.name,
		args: json
	});
	const progress = (text) => (globalThis.__t?.("tool/call-tools.js#progress@2891"),(tell?.({
		type: "tool.progress",
		call,
		text
	})));
	const { name, idempotent, again, fresh } = tool;
	const end = await steps.step({
		kind: "tool",
		name,
		request: {
			name,
			args: json
		},
		idempotent,
		again,
		fresh
	}, (door) => {globalThis.__t?.("tool/call-tools.js#end@3137");
		opened?.(tool);
		return runTool(tool, args, door, {
			clock,
			signal,
			role,
			ask,
			model,
			session,
			deps,
			progress
		});
	});
	return {
		call,
		...end,
		ends: tool.ends && end.outcome === "ok"
	};
}
function toolsThere(tools) {globalThis.__t?.("tool/call-tools.js#toolsThere@3372");
	if (tools.size === 0) return "There are no tools. Answer in words.";
	return `There are: ${tools.names.join(", ").slice(0, SHOWN_NAMES)}.`;
}
const callToolsOptions = {
	...callToolOptions,
	concurrency: true,
	choice: true
};
/** Most calls of one reply: a model that makes more has gone astray. */
const MAX_CALLS = 128;
/**
* Answers the calls of one reply, in their order.
*
* `CallTools.B1` calls run at the same time, at most `concurrency`; a call of a tool that is not `parallel`, or that `ends`, runs alone,
* after all before it and before all after it ({@link parallelGroups}). `CallTools.B2` persons are asked one at a time, before any call of
* a group begins ({@link runGroup}). `CallTools.B3` after a call that ended the work none runs: the rest is `skipped`. `CallTools.B4` of
* two calls with one id the second does not run: their answers could not be told apart ({@link refusal}). `CallTools.B5` when a step throws,
* no further call begins, and calls under way are awaited first ({@link runGroup}).
*
* @throws like `callTool`; UsageError `CONCURRENCY_INVALID`, `TOOL_CHOICE_INVALID`
*/
async function callTools(calls, given) {globalThis.__t?.("tool/call-tools.js#callTools@4507");
	takes("callTools", "calls", calls, readable);
	takes("callTools", "options", given, readable);
	checkToolCalls(calls);
	checkKnownOptions("callTools", given, callToolsOptions);
	const options = wholeOptions(given);
	const { signal } = options;
	const { concurrency = 4, choice = "auto" } = given;
	checkChoiceForm(choice);
	if (!Number.isInteger(concurrency) || concurrency < 1) throw new UsageError("CONCURRENCY_INVALID", `Expected a whole number of 1 or more calls at once, got ${concurrency}.`);
	const taken = /* @__PURE__ */ new Set();
	const checked = calls.map((call, index) => (globalThis.__t?.("tool/call-tools.js#checked@5117"),(refusal(call, index, taken) ?? forbiddenBy(choice, call, options.tools) ?? check(call, options))));
	const answers = [];
	for (const group of parallelGroups(checked)) {
		throwIfAborted(signal);
		const open = answers.some(({ ends }) => (globalThis.__t?.("tool/call-tools.js#open@5355"),(ends))) ? group.map(({ call }) => (globalThis.__t?.("tool/call-tools.js#open@5387"),(notRun(call, "skipped", "a call before it had ended the work.")))) : group;
		answers.push(...await runGroup(open, concurrency, options));
	}
	return answers;
}
/** The answer to a call that does not run because of the calls before it. */
function refusal(call, index, taken) {globalThis.__t?.("tool/call-tools.js#refusal@5638");
	if (index >= MAX_CALLS) return notRun(call, "skipped", `only the first ${MAX_CALLS} calls of one reply are made. Make fewer at once.`);
	if (taken.has(call.id)) return notRun(call, "invalid", "a call before it has the same id, so that nobody can tell their answers apart. Call again, alone.");
	taken.add(call.id);
}
/** Groups of calls that may run at the same time, in their order. */
function parallelGroups(checked) {globalThis.__t?.("tool/call-tools.js#parallelGroups@6065");
	const groups = [];
	let isOpen = false;
	for (const one of checked) {
		const isAlone = isReady(one) && (!one.tool.parallel || one.tool.ends);
		const last = groups.at(-1);
		if (last === void 0 || !isOpen || isAlone) groups.push([one]);
		else last.push(one);
		isOpen = !isAlone;
	}
	return groups;
}
async function runGroup(group, concurrency, options) {globalThis.__t?.("tool/call-tools.js#runGroup@6404");
	const permitted = [];
	for (const one of group) permitted.push(await permit(one, options));
	const answers = /* @__PURE__ */ new Map();
	let next = 0;
	let isOver = false;
	const worker = async () => {globalThis.__t?.("tool/call-tools.js#worker@6648");
		for (let index = next++; index < permitted.length && !isOver; index = next++) {
			const one = permitted[index];
			if (one === void 0) continue;
			try {
				answers.set(index, await answer(one, options));
			} catch (error) {
				isOver = true;
				throw error;
			}
		}
	};
	const workers = Array.from({ length: Math.min(concurrency, permitted.length) }, worker);
	const failed = (await Promise.allSettled(workers)).find((end) => (globalThis.__t?.("tool/call-tools.js#failed@7088"),(end.status === "rejected")));
	if (failed !== void 0) throw failed.reason;
	return permitted.flatMap((_, index) => (globalThis.__t?.("tool/call-tools.js#anonymous@7196"),(answers.get(index) ?? [])));
}
export { callTools };
