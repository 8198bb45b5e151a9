import { isObject, isRecord, isText } from "../kernel/value-kind.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import type { Guard } from "./guard.ts";
import type { Deps, RunContext } from "../kernel/deps.ts";
import { UsageError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { directSteps, type StepPort } from "../kernel/step.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ToolCall } from "../model/chat-message.ts";
import type { ChatModel, ChatRequest } from "../model/chat-model.ts";
import { presentMeter } from "../model/meter.ts";
import type { Approver, HumanPort } from "./approval.ts";
import { type CalledTool, notRun } from "./tool-result.ts";
import type { PermissionPolicy } from "./permission.ts";
import type { Tool } from "./tool.ts";
import { ToolCollection } from "./tool-collection.ts";

/** A notice of a call under way. */
export type ToolNotice =
  | { readonly type: "tool.started"; readonly call: ToolCall; readonly tool: string; readonly args: JsonObject }
  | { readonly type: "tool.progress"; readonly call: ToolCall; readonly text: string }
  | { readonly type: "tool.ended"; readonly called: CalledTool };

/** Outside a role the tools are enough. */
export interface CallToolOptions {
  readonly tools: ToolCollection | Iterable<Tool>;
  /** Records the effects of the call. Default: the steps of the activation or the call of a tool around it; elsewhere none are recorded. */
  readonly steps?: StepPort | undefined;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default: the permission of each tool. */
  readonly policy?: PermissionPolicy | undefined;
  /** Asked before a call that needs permission; without one, such a call is denied. */
  readonly approve?: Approver | undefined;
  /** As persons see it. Default: "agent". */
  readonly role?: string | undefined;
  readonly ask?: HumanPort | undefined;
  /** Makes the model of a tool; its answers are steps inside the step of the call. */
  readonly model?: ((steps: StepPort) => ChatModel) | undefined;
  /** For tools that keep state between the calls of one agent. */
  readonly session?: object | undefined;
  /** Passed to tools as `ctx.deps`. Never recorded. */
  readonly deps?: Deps | undefined;
  /** Checks of each call before it is made: those with `on: "call"`. Default: those of the tool. */
  readonly guards?: readonly Guard[] | undefined;
  /** Passed to tools as `ctx.context`. Never recorded. */
  readonly context?: RunContext | undefined;
  /** Called with each tool that runs now, not with one whose answer is recorded: the caller closes it. */
  readonly opened?: ((tool: Tool) => void) | undefined;
  /** It must not throw: its error ends the call. */
  readonly tell?: ((notice: ToolNotice) => void) | undefined;
}

/** @internal */
export const callToolOptions: Known<CallToolOptions> = {
  ...kinds.each(kinds.checked, "tools", "role", "deps"),
  guards: kinds.guards,
  steps: kinds.steps,
  clock: kinds.clock,
  signal: kinds.signal,
  ...kinds.each(kinds.object, "policy", "session", "context"),
  ...kinds.each(kinds.function, "approve", "ask", "model", "opened", "tell"),
};

export interface WholeCallOptions extends CallToolOptions {
  readonly tools: ToolCollection;
  readonly steps: StepPort;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** @throws UsageError `CALL_OPTIONS_INVALID` without tools, or for a role that is no string; `TOOL_INVALID` */
export function wholeOptions(options: CallToolOptions): WholeCallOptions {
  const { tools, role } = ((options as unknown) ?? {}) as { readonly tools?: CallToolOptions["tools"]; readonly role?: unknown };
  if (!isObject(tools) || !(Symbol.iterator in tools)) throw invalid("the tools that can be called: { tools: [...] }", options);
  if (role !== undefined && typeof role !== "string") throw invalid("the role that calls to be a text", role);
  const collection = tools instanceof ToolCollection ? tools : new ToolCollection(tools);
  const signal = options.signal ?? new AbortController().signal;
  const steps = options.steps ?? presentMeter()?.port ?? directSteps(signal);
  return { ...options, tools: collection, signal, steps, clock: options.clock ?? systemClock };
}

/** Programs without types make calls by hand. @throws UsageError `TOOL_CALL_INVALID` */
export function checkToolCall(call: unknown): asserts call is ToolCall {
  if (isToolCall(call)) return;
  throw new UsageError(
    "TOOL_CALL_INVALID",
    `Expected a call of a tool, { id, type: "function", function: { name, arguments } } with texts for id, name and arguments, got ${valueText(call)}.`,
  );
}

export function checkToolCalls(calls: unknown): void {
  for (const call of Array.isArray(calls) ? (calls as readonly unknown[]) : [calls]) checkToolCall(call);
}

function isToolCall(call: unknown): boolean {
  if (!isRecord(call) || !isRecord(call["function"])) return false;
  const { name, arguments: args } = call["function"];
  return [call["id"], name, args].every(isText);
}

function invalid(expected: string, got: unknown): UsageError {
  return new UsageError("CALL_OPTIONS_INVALID", `Expected ${expected}, got ${valueText(got)}.`);
}

/** None, as it likes, at least one, or this one. */
export type ToolChoice = NonNullable<ChatRequest["toolChoice"]>;

/** @throws UsageError `TOOL_CHOICE_INVALID` */
export function checkChoiceForm(choice: unknown): void {
  if (choice === "none" || choice === "auto" || choice === "required") return;
  if (isObject(choice) && typeof (choice as { readonly name?: unknown }).name === "string") return;
  throw new UsageError(
    "TOOL_CHOICE_INVALID",
    `Expected a choice of tools, "none", "auto", "required" or { name: "<tool>" }, got ${valueText(choice)}.`,
  );
}

/** @throws UsageError `TOOL_CHOICE_INVALID` for a choice that no reply could follow */
export function checkToolChoice(choice: ToolChoice, tools: ToolCollection): void {
  checkChoiceForm(choice);
  if (typeof choice === "object" ? tools.has(choice.name) : choice !== "required" || tools.size > 0) return;
  const wanted = typeof choice === "object" ? `the tool "${choice.name}" that must be called` : "at least one tool to call";
  throw new UsageError("TOOL_CHOICE_INVALID", `Expected ${wanted} among the tools, but there is none. Add it, or choose "auto".`);
}

/** Providers let models call tools that the choice forbids. */
export function forbiddenBy(choice: ToolChoice, call: ToolCall, tools: ToolCollection): CalledTool | undefined {
  if (choice === "none") return notRun(call, "denied", "tools cannot be called now. Answer in words.");
  if (typeof choice !== "object" || tools.find(call.function.name)?.name === choice.name) return undefined;
  return notRun(call, "denied", `only the tool "${choice.name}" can be called now.`);
}
