import { UsageError } from "../kernel/errors.ts";
import type { ToolCall } from "../model/chat-message.ts";
import type { ChatRequest } from "../model/chat-model.ts";
import { notRun, type CalledTool } from "./call-outcome.ts";
import type { ToolCollection } from "./tool-collection.ts";

/** Whether a model may call tools: never, as it likes, at least one, or this one. */
export type ToolChoice = NonNullable<ChatRequest["toolChoice"]>;

/**
 * @throws UsageError `TOOL_CHOICE_INVALID` for a choice that no reply could follow: a tool that is not there, or any of none.
 */
export function checkToolChoice(choice: ToolChoice, tools: ToolCollection): void {
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
