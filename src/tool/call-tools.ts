import { readable, takes } from "../kernel/argument.ts";
import type { JsonObject } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ToolCall } from "../model/chat-message.ts";
import { loadRepair } from "../model/json-in-text.ts";
import { askPermission } from "./approval.ts";
import { readArguments } from "./call-arguments.ts";
import {
  type CallToolOptions,
  callToolOptions,
  checkChoiceForm,
  checkToolCall,
  checkToolCalls,
  forbiddenBy,
  type ToolChoice,
  type WholeCallOptions,
  wholeOptions,
} from "./call-options.ts";
import { cutText } from "./shown-text.ts";
import { type CalledTool, combineResults, notRun, resultText, toolFailure } from "./tool-result.ts";
import { decide, type PermissionPolicy } from "./permission.ts";
import { type GuardPlace, judge, refusedBy, unfit } from "./guard.ts";
import { runTool } from "./run-tool.ts";
import { toolEndIn } from "./plain-result.ts";
import type { Tool } from "./tool.ts";
import type { ToolCollection } from "./tool-collection.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { UsageError } from "../kernel/errors.ts";

interface ReadyCall {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly json: JsonObject;
  readonly args: unknown;
  readonly decision: "allow" | "ask";
  /** Who changed the arguments. */
  readonly changedBy?: "A person" | "A guard" | undefined;
}

/** Ready to run, or answered already. */
type CheckedCall = ReadyCall | CalledTool;

const SHOWN_NAMES = 500;
const SHOWN_ARGUMENTS = 2_000;
/** Answers of a person to one question, where the arguments of each do not fit. */
const MOST_ANSWERS = 3;
const NO_POLICY: PermissionPolicy = {};

/**
 * Checks one call of a model, asks for permission, runs the tool within its limits and records it. Any failure of the model or of the tool
 * is a result that the model can read.
 *
 * @throws UsageError `TOOL_CALL_INVALID` for a value that is no call in the wire's form, `CALL_OPTIONS_INVALID` without tools. ControlError
 * when the run stops; also an error of the steps: a call may have happened before a crash (`STEP_UNCERTAIN`), or the activation has ended.
 * @example
 * import { callTool } from "troupe/agents";
 * import { planningTool } from "troupe/tools";
 *
 * const call = { id: "call_1", type: "function", function: { name: "fax", arguments: "{}" } } as const;
 * const { outcome } = await callTool(call, { tools: [planningTool()] });
 * console.log(outcome); // unknown
 */
export async function callTool(call: ToolCall, options: CallToolOptions): Promise<CalledTool> {
  takes("callTool", "call", call, readable);
  takes("callTool", "options", options, readable);
  checkToolCall(call);
  checkKnownOptions("callTool", options, callToolOptions);
  const whole = wholeOptions(options);
  const loading = loadRepair(call.function.arguments);
  if (loading !== undefined) await loading;
  return answer(await permit(check(call, whole), whole), whole);
}

function check(call: ToolCall, { tools, policy = NO_POLICY }: WholeCallOptions): CheckedCall {
  const { name, arguments: text } = call.function;
  const tool = tools.find(name);
  if (tool === undefined) return notRun(call, "unknown", `there is no tool ${valueText(name)}. ${toolsThere(tools)}`);
  const read = readArguments(text, tool);
  if (!read.ok) return notRun(call, "invalid", read.why);
  const decision = decide(tool, read.json, policy);
  if (decision !== "deny") return { call, tool, json: read.json, args: read.args, decision };
  const why = `the tool "${tool.name}" may not be used like this: a rule forbids it. Do not try it again; go another way.`;
  return notRun(call, "denied", why);
}

function isReady(call: CheckedCall): call is ReadyCall {
  return "decision" in call;
}

async function permit(given: CheckedCall, options: WholeCallOptions): Promise<CheckedCall> {
  const checked = isReady(given) ? await guarded(given, options) : given;
  const { approve, steps, role = "agent", signal, policy = NO_POLICY } = options;
  if (!isReady(checked) || checked.decision === "allow") return checked;
  const { call, tool, json } = checked;
  if (approve === undefined) {
    const why = `the tool "${tool.name}" needs a person's permission, and nobody is there to give it. Do what you can without it, and say what it was for.`;
    return notRun(call, "denied", why);
  }
  let fault: string | undefined;
  for (let answers = 0; answers < MOST_ANSWERS; answers += 1) {
    const asked = { role, tool: tool.name, description: tool.description, args: json, parameters: tool.spec.parameters, fault };
    const { isGiven, words, args } = await askPermission(steps, approve, asked, signal);
    if (!isGiven) {
      const said = words === "" ? "" : ` and said: ${words}`;
      return notRun(call, "denied", `a person did not allow this use of the tool "${tool.name}"${said}. Do not try it again unchanged.`);
    }
    if (args === undefined) return { ...checked, decision: "allow" };
    const changed = readArguments(JSON.stringify(args), tool);
    if (changed.ok && decide(tool, changed.json, policy) !== "deny") {
      return guarded({ call, tool, json: changed.json, args: changed.args, decision: "allow", changedBy: "A person" }, options);
    }
    fault = changed.ok ? "a rule forbids such a call." : changed.why;
  }
  return notRun(call, "denied", `a person wanted to call the tool "${tool.name}" differently, but ${fault ?? ""} Go another way.`);
}

/** Lets the guards of the caller and of the tool judge a call. @throws StepError `GUARD_REFUSED`, `GUARD_FAILED` */
async function guarded(ready: ReadyCall, options: WholeCallOptions): Promise<CheckedCall> {
  const { call, tool, json } = ready;
  const { guards = [], policy = NO_POLICY } = options;
  const own = tool.guards ?? [];
  if (guards.length === 0 && own.length === 0) return ready;
  const place = placeOf(options);
  let now = ready;
  for (const [on, list] of [["call", guards] as const, ["input", own] as const]) {
    const judged = await judge(list, { on, text: JSON.stringify(now.json), call: { tool: tool.name, args: now.json } }, place);
    if (judged.kind === "refused") {
      if (judged.by.then === "stop") throw refusedBy(judged.by, { on, role: place.role }, judged.why);
      return notRun(call, "denied", `the guard "${judged.by.name}" refuses this call of "${tool.name}": ${judged.why}`);
    }
    if (judged.kind === "passes") continue;
    const changed = readArguments(JSON.stringify(judged.value), tool);
    if (!changed.ok) throw unfit(judged.by, `the arguments of "${tool.name}"`, changed.why);
    now = { ...now, json: changed.json, args: changed.args };
  }
  if (now === ready) return ready;
  const decision = decide(tool, now.json, policy);
  if (decision === "deny") return notRun(call, "denied", `a rule forbids the call of "${tool.name}" as the guards rewrote it.`);
  return { ...now, decision, changedBy: json === now.json ? undefined : "A guard" };
}

function placeOf({ steps, clock, signal, ask, model, deps, context, role = "agent" }: WholeCallOptions): GuardPlace {
  return { steps, clock, signal, ask, model, deps, context, role };
}

async function answer(checked: CheckedCall, options: WholeCallOptions): Promise<CalledTool> {
  const called = isReady(checked) ? await judgedResult(checked, await runReady(checked, options), options) : checked;
  options.tell?.({ type: "tool.ended", called });
  return called;
}

async function runReady({ call, tool, json, args, changedBy }: ReadyCall, options: WholeCallOptions): Promise<CalledTool> {
  const { steps, clock, signal, role = "agent", ask, model, session, deps, context, tell, opened } = options;
  tell?.({ type: "tool.started", call, tool: tool.name, args: json });
  const progress = (text: string): void => tell?.({ type: "tool.progress", call, text });
  const { name, idempotent, again, fresh } = tool;
  const spec = { kind: "tool", name, request: { name, args: json }, idempotent, again, fresh };
  const answered = await steps.step<unknown>(spec, (door) => {
    opened?.(tool);
    return runTool(tool, args, door, { clock, signal, role, ask, model, session, deps, context, progress });
  });
  const end = toolEndIn(answered, tool);
  const called = { call, ...end, ends: tool.ends && end.outcome === "ok" };
  return changedBy === undefined ? called : { ...called, result: combineResults(end.result, { system: changedText(changedBy, json) }) };
}

/** Lets the guards of a tool judge its result. @throws StepError `GUARD_REFUSED`, `GUARD_FAILED` */
async function judgedResult({ tool, json }: ReadyCall, called: CalledTool, options: WholeCallOptions): Promise<CalledTool> {
  if (tool.guards === undefined || called.outcome !== "ok") return called;
  const place = placeOf(options);
  const judging = { on: "output", text: resultText(called.result), call: { tool: tool.name, args: json } } as const;
  const judged = await judge(tool.guards, judging, place);
  if (judged.kind === "passes") return called;
  if (judged.kind === "rewritten") return { ...called, result: { output: judged.value } };
  if (judged.by.then === "stop") throw refusedBy(judged.by, { on: "output", role: place.role }, judged.why);
  const result = toolFailure(`the guard "${judged.by.name}" withholds the result of "${tool.name}": ${judged.why}`);
  return { ...called, outcome: "failed", result, ends: false };
}

/** The model's own message still has the arguments that it asked for. */
function changedText(by: string, args: JsonObject): string {
  return `${by} changed the arguments. The tool was called with ${cutText(JSON.stringify(args), SHOWN_ARGUMENTS)}`;
}

function toolsThere(tools: ToolCollection): string {
  if (tools.size === 0) return "There are no tools. Answer in words.";
  return `There are: ${tools.names.join(", ").slice(0, SHOWN_NAMES)}.`;
}

/** Options of the calls of one reply. */
export interface CallToolsOptions extends CallToolOptions {
  /** Calls that run at the same time. Default: 4. */
  readonly concurrency?: number | undefined;
  /** Default: "auto". */
  readonly choice?: ToolChoice | undefined;
}

const callToolsOptions: Known<CallToolsOptions> = { ...callToolOptions, concurrency: kinds.checked, choice: kinds.checked };

/** A model that makes more has gone astray. */
const MAX_CALLS = 128;

/**
 * Answers the calls of one reply, in their order.
 *
 * `CallTools.B1` calls run at the same time, at most `concurrency`; a call of a tool that is not `parallel`, or that `ends`, runs alone,
 * after all before it and before all after it ({@link parallelGroups}). `CallTools.B2` persons are asked one at a time, before any call of
 * a group begins ({@link runGroup}). `CallTools.B3` after a call that ended the work none runs: the rest is `skipped`. `CallTools.B4` of
 * two calls with one id the second does not run: their answers could not be distinguished ({@link refusal}). `CallTools.B5` when a step
 * throws, no further call begins, and calls under way are awaited first ({@link runGroup}).
 *
 * @throws like `callTool`; UsageError `CONCURRENCY_INVALID`, `TOOL_CHOICE_INVALID`
 */
export async function callTools(calls: readonly ToolCall[], given: CallToolsOptions): Promise<readonly CalledTool[]> {
  takes("callTools", "calls", calls, readable);
  takes("callTools", "options", given, readable);
  checkToolCalls(calls);
  checkKnownOptions("callTools", given, callToolsOptions);
  const options = wholeOptions(given);
  const { signal } = options;
  const { concurrency = 4, choice = "auto" } = given;
  checkChoiceForm(choice);
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new UsageError("CONCURRENCY_INVALID", `Expected a whole number of 1 or more calls at once, got ${concurrency}.`);
  }
  const loading = loadRepair(...calls.map((call) => call.function.arguments));
  if (loading !== undefined) await loading;
  const taken = new Set<string>();
  const checked = calls.map(
    (call, index) => refusal(call, index, taken) ?? forbiddenBy(choice, call, options.tools) ?? check(call, options),
  );
  const answers: CalledTool[] = [];
  for (const group of parallelGroups(checked)) {
    throwIfAborted(signal);
    const isOver = answers.some(({ ends }) => ends);
    const open = isOver ? group.map(({ call }) => notRun(call, "skipped", "a call before it had ended the work.")) : group;
    answers.push(...(await runGroup(open, concurrency, options)));
  }
  return answers;
}

function refusal(call: ToolCall, index: number, taken: Set<string>): CalledTool | undefined {
  if (index >= MAX_CALLS) return notRun(call, "skipped", `only the first ${MAX_CALLS} calls of one reply are made. Make fewer at once.`);
  if (taken.has(call.id)) {
    return notRun(call, "invalid", "a call before it has the same id, so that nobody can tell their answers apart. Call again, alone.");
  }
  taken.add(call.id);
  return undefined;
}

function parallelGroups(checked: readonly CheckedCall[]): readonly (readonly CheckedCall[])[] {
  const groups: CheckedCall[][] = [];
  let isOpen = false;
  for (const one of checked) {
    const isAlone = isReady(one) && (!one.tool.parallel || one.tool.ends);
    const last = groups.at(-1);
    if (last === undefined || !isOpen || isAlone) groups.push([one]);
    else last.push(one);
    isOpen = !isAlone;
  }
  return groups;
}

async function runGroup(group: readonly CheckedCall[], concurrency: number, options: WholeCallOptions): Promise<readonly CalledTool[]> {
  const permitted: CheckedCall[] = [];
  for (const one of group) permitted.push(await permit(one, options));
  const answers = new Map<number, CalledTool>();
  let next = 0;
  let isOver = false;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < permitted.length && !isOver; index = next++) {
      const one = permitted[index];
      if (one === undefined) continue;
      try {
        answers.set(index, await answer(one, options));
      } catch (error) {
        isOver = true;
        throw error;
      }
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, permitted.length) }, worker);
  const failed = (await Promise.allSettled(workers)).find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return permitted.flatMap((_, index) => answers.get(index) ?? []);
}
