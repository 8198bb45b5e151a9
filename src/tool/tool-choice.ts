import { isObject } from "../kernel/value-kind.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ToolCall } from "../model/chat-message.ts";
import type { ChatRequest } from "../model/chat-model.ts";
import { notRun, type CalledTool } from "./call-outcome.ts";
import type { ToolCollection } from "./tool-collection.ts";

/** Whether a model may call tools: never, as it likes, at least one, or this one. */
export type ToolChoice = NonNullable<ChatRequest["toolChoice"]>;

/** @throws UsageError `TOOL_CHOICE_INVALID` for what is no choice at all. Programs without types write it by hand. */
export function checkChoiceForm(choice: unknown): void {
  if (choice === "none" || choice === "auto" || choice === "required") return;
  if (isObject(choice) && typeof (choice as { readonly name?: unknown }).name === "string") return;
  throw new UsageError(
    "TOOL_CHOICE_INVALID",
    `Expected a choice of tools, "none", "auto", "required" or { name: "<tool>" }, got ${valueText(choice)}.`,
  );
}

/**
 * @throws UsageError `TOOL_CHOICE_INVALID` for a choice that no reply could follow: a tool that is not there, or any of none; and for what is no choice.
 */
export function checkToolChoice(choice: ToolChoice, tools: ToolCollection): void {
  checkChoiceForm(choice);
  if (typeof choice === "object" ? tools.has(choice.name) : choice !== "required" || tools.size > 0) return;
  const wanted = typeof choice === "object" ? `the tool "${choice.name}" that must be called` : "at least one tool to call";
  throw new UsageError("TOOL_CHOICE_INVALID", `Expected ${wanted} among the tools, but there is none. Add it, or choose "auto".`);
}

/** The call's answer when the choice forbids it: providers let models call what they may not. */
export function forbiddenBy(choice: ToolChoice, call: ToolCall, tools: ToolCollection): CalledTool | undefined {
  if (choice === "none") return notRun(call, "denied", "tools cannot be called now. Answer in words.");
  if (typeof choice !== "object" || tools.find(call.function.name)?.name === choice.name) return undefined;
  return notRun(call, "denied", `only the tool "${choice.name}" can be called now.`);
}
