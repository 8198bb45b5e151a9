import { readable, takes } from "../kernel/argument.ts";
import type { JsonObject } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ToolCall } from "../model/chat-message.ts";
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
import { type CalledTool, notRun } from "./tool-result.ts";
import { decide, type PermissionPolicy } from "./permission.ts";
import { runTool } from "./run-tool.ts";
import type { Tool } from "./tool.ts";
import type { ToolCollection } from "./tool-collection.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { UsageError } from "../kernel/errors.ts";

/** A call that may run, or has to be asked for. */
interface ReadyCall {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly json: JsonObject;
  readonly args: unknown;
  readonly decision: "allow" | "ask";
}

const SHOWN_NAMES = 500;
const NO_POLICY: PermissionPolicy = {};

/**
 * One call of a model: checked, permitted, run within its limits, recorded. Whatever the model wrote and the tool does comes back as a
 * result that the model can read. Outside a role the tools are all it needs: `callTool(call, { tools })`.
 *
 * @throws UsageError `TOOL_CALL_INVALID` for what is no call in the wire's form, `CALL_OPTIONS_INVALID` without tools.
 * @throws ControlError when the run stops, and what else the door throws: that a call may have happened before a crash (`STEP_UNCERTAIN`),
 * that the activation has ended.
 */
export async function callTool(call: ToolCall, options: CallToolOptions): Promise<CalledTool> {
  takes("callTool", "call", call, readable);
  takes("callTool", "options", options, readable);
  checkToolCall(call);
  checkKnownOptions("callTool", options, callToolOptions);
  const whole = wholeOptions(options);
  return answered(readyCall(call, whole), whole);
}

/** The answer to a call that was looked at: it is permitted and run, unless it has one already. */
function answered(looked: ReadyCall | CalledTool, options: WholeCallOptions): CalledTool | Promise<CalledTool> {
  if (!isReady(looked)) return told(looked, options);
  return looked.decision === "allow" ? runReady(looked, options) : permittedFirst(looked, options);
}

async function permittedFirst(ready: ReadyCall, options: WholeCallOptions): Promise<CalledTool> {
  const permitted = await permit(ready, options);
  return isReady(permitted) ? runReady(permitted, options) : told(permitted, options);
}

/** Looks at a call without running anything. */
function readyCall(call: ToolCall, { tools, policy = NO_POLICY }: WholeCallOptions): ReadyCall | CalledTool {
  const { name, arguments: text } = call.function;
  const tool = tools.find(name);
  if (tool === undefined) return notRun(call, "unknown", `there is no tool ${valueText(name)}. ${toolsThere(tools)}`);
  const read = readArguments(text, tool);
  if (!read.ok) return notRun(call, "invalid", read.why);
  const decision = decide(tool, read.json, policy);
  if (decision === "deny") {
    return notRun(
      call,
      "denied",
      `the tool "${tool.name}" may not be used like this: a rule forbids it. Do not try it again; go another way.`,
    );
  }
  return { call, tool, json: read.json, args: read.args, decision };
}

/** Whether a call may run, rather than having its answer already. */
function isReady(call: ReadyCall | CalledTool): call is ReadyCall {
  return "decision" in call;
}

/** Asks a person where a person has to be asked. */
async function permit(ready: ReadyCall, options: WholeCallOptions): Promise<ReadyCall | CalledTool> {
  if (ready.decision === "allow") return ready;
  const { call, tool, json } = ready;
  const { approve, steps, role = "agent", signal } = options;
  if (approve === undefined) {
    return notRun(
      call,
      "denied",
      `the tool "${tool.name}" needs a person's permission, and nobody is there to give it. Do what you can without it, and say what it was for.`,
    );
  }
  const { isGiven, words } = await askPermission(steps, approve, { role, tool: tool.name, args: json }, signal);
  if (isGiven) return { ...ready, decision: "allow" };
  return notRun(
    call,
    "denied",
    `a person did not allow this use of the tool "${tool.name}"${words === "" ? "" : ` and said: ${words}`}. Do not try it again unchanged.`,
  );
}

/** Runs a call that may run, as one step. */
async function runReady({ call, tool, json, args }: ReadyCall, options: WholeCallOptions): Promise<CalledTool> {
  const { steps, clock, signal, role = "agent", ask, model, session, deps, tell, opened } = options;
  tell?.({ type: "tool.started", call, tool: tool.name, args: json });
  const progress = (text: string): void => tell?.({ type: "tool.progress", call, text });
  const { name, idempotent, again, fresh } = tool;
  const end = await steps.step({ kind: "tool", name, request: { name, args: json }, idempotent, again, fresh }, (door) => {
    opened?.(tool);
    return runTool(tool, args, door, { clock, signal, role, ask, model, session, deps, progress });
  });
  return told({ call, ...end, ends: tool.ends && end.outcome === "ok" }, options);
}

/** Tells that a call has its answer. */
function told(called: CalledTool, { tell }: WholeCallOptions): CalledTool {
  tell?.({ type: "tool.ended", called });
  return called;
}

function toolsThere(tools: ToolCollection): string {
  if (tools.size === 0) return "There are no tools. Answer in words.";
  return `There are: ${tools.names.join(", ").slice(0, SHOWN_NAMES)}.`;
}

/** What the calls of one reply are made with. */
export interface CallToolsOptions extends CallToolOptions {
  /** Calls under way at once. Default: 4. */
  readonly concurrency?: number | undefined;
  /** What the model was told it may call: providers let models call more than that. Default: "auto". */
  readonly choice?: ToolChoice | undefined;
}

const callToolsOptions: Known<CallToolsOptions> = { ...callToolOptions, concurrency: true, choice: true };

/** More calls in one reply are not made: a model that asks for so many has gone astray. */
const MAX_CALLS = 128;

/**
 * The calls of one reply, each answered, in their order.
 *
 * B1 calls run side by side, at most `concurrency` at once; one of a tool that is not `parallel`, or that `ends`, runs alone, after all
 * before it and before all after it. B2 persons are asked one at a time, before any call of those that run side by side begins. B3 after a
 * call that ended the work none runs: the rest is `skipped`. B4 two calls of one id cannot be told apart by their answers: the second does not
 * run. B5 when the door throws, no further call begins, and what is under way is awaited first.
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
  const taken = new Set<string>();
  const looked = calls.map(
    (call, index) => refusal(call, index, taken) ?? forbiddenBy(choice, call, options.tools) ?? readyCall(call, options),
  );
  const answers: CalledTool[] = [];
  for (const group of sideBySide(looked)) {
    throwIfAborted(signal);
    const [only] = group;
    if (answers.some((answer) => answer.ends)) answers.push(...group.map((one) => told(skipped(one.call), options)));
    else if (group.length === 1 && only !== undefined) answers.push(await answered(only, options));
    else answers.push(...(await runGroup(group, concurrency, options)));
  }
  return answers;
}

type Looked = ReadyCall | CalledTool;

function refusal(call: ToolCall, index: number, taken: Set<string>): CalledTool | undefined {
  if (index >= MAX_CALLS) return notRun(call, "skipped", `only the first ${MAX_CALLS} calls of one reply are made. Make fewer at once.`);
  if (taken.has(call.id)) {
    return notRun(call, "invalid", "a call before it has the same id, so that nobody can tell their answers apart. Call again, alone.");
  }
  taken.add(call.id);
  return undefined;
}

function skipped(call: ToolCall): CalledTool {
  return notRun(call, "skipped", "a call before it had ended the work.");
}

/** Calls that may run side by side, in their order. */
function sideBySide(looked: readonly Looked[]): readonly (readonly Looked[])[] {
  const groups: Looked[][] = [];
  let isOpen = false;
  for (const one of looked) {
    const isAlone = isReady(one) && (!one.tool.parallel || one.tool.ends);
    const last = groups.at(-1);
    if (last === undefined || !isOpen || isAlone) groups.push([one]);
    else last.push(one);
    isOpen = !isAlone;
  }
  return groups;
}

async function runGroup(group: readonly Looked[], concurrency: number, options: WholeCallOptions): Promise<readonly CalledTool[]> {
  const permitted: Looked[] = [];
  for (const one of group) permitted.push(isReady(one) && one.decision === "ask" ? await permit(one, options) : one);
  const answers = new Map<number, CalledTool>();
  let next = 0;
  let isOver = false;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < permitted.length && !isOver; index = next++) {
      const one = permitted[index];
      if (one === undefined) continue;
      try {
        answers.set(index, isReady(one) ? await runReady(one, options) : told(one, options));
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
