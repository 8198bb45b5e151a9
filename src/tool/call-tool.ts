import { readable, takes } from "../kernel/argument.ts";
import type { JsonObject } from "../kernel/json.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ToolCall } from "../model/chat-message.ts";
import { askPermission } from "./approval.ts";
import { readArguments } from "./call-arguments.ts";
import { type CallToolOptions, callToolOptions, checkToolCall, wholeOptions, type WholeCallOptions } from "./call-options.ts";
import { type CalledTool, notRun } from "./call-outcome.ts";
import { decide, type PermissionPolicy } from "./permission.ts";
import { runTool } from "./run-tool.ts";
import type { Tool } from "./tool.ts";
import type { ToolCollection } from "./tool-collection.ts";

/** A call that may run, or has to be asked for. */
export interface ReadyCall {
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
export function answered(looked: ReadyCall | CalledTool, options: WholeCallOptions): CalledTool | Promise<CalledTool> {
  if (!isReady(looked)) return told(looked, options);
  return looked.decision === "allow" ? runReady(looked, options) : permittedFirst(looked, options);
}

async function permittedFirst(ready: ReadyCall, options: WholeCallOptions): Promise<CalledTool> {
  const permitted = await permit(ready, options);
  return isReady(permitted) ? runReady(permitted, options) : told(permitted, options);
}

/** Looks at a call without running anything. */
export function readyCall(call: ToolCall, { tools, policy = NO_POLICY }: WholeCallOptions): ReadyCall | CalledTool {
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
export function isReady(call: ReadyCall | CalledTool): call is ReadyCall {
  return "decision" in call;
}

/** Asks a person where a person has to be asked. */
export async function permit(ready: ReadyCall, options: WholeCallOptions): Promise<ReadyCall | CalledTool> {
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
export async function runReady({ call, tool, json, args }: ReadyCall, options: WholeCallOptions): Promise<CalledTool> {
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
export function told(called: CalledTool, { tell }: WholeCallOptions): CalledTool {
  tell?.({ type: "tool.ended", called });
  return called;
}

function toolsThere(tools: ToolCollection): string {
  if (tools.size === 0) return "There are no tools. Answer in words.";
  return `There are: ${tools.names.join(", ").slice(0, SHOWN_NAMES)}.`;
}
