import { aText, object, takes } from "../kernel/argument.ts";
import { type ToolCall, ChatMessage } from "../model/chat-message.ts";
import { resultText, toolFailure, type ToolResult } from "./tool-result.ts";

/**
 * How a call ended. `unknown`: no tool of that name; `invalid`: its arguments do not fit; `denied`: it may not run; `timeout`: its time was
 * up; `failed`: the tool said or threw so; `skipped`: a call before it had ended the work.
 */
export type ToolOutcome = "ok" | "failed" | "unknown" | "invalid" | "denied" | "timeout" | "skipped";

/** A call and what came of it. */
export interface CalledTool {
  readonly call: ToolCall;
  readonly result: ToolResult;
  readonly outcome: ToolOutcome;
  /** Whether the call ends the agent's run. */
  readonly ends: boolean;
}

/** A call that did not run, and why, in words the model can act on. */
export function notRun(call: ToolCall, outcome: ToolOutcome, why: string): CalledTool {
  return { call, result: toolFailure(why), outcome, ends: false };
}

/** The answer to a call, as the model reads it. */
export function toolMessage(called: CalledTool): ChatMessage {
  takes(
    "toolMessage",
    "what was called",
    called,
    object("a call and its result", { call: object("a call", { id: aText, function: object("a function") }), result: object("a result") }),
  );
  const { call, result } = called;
  return ChatMessage.tool({
    content: resultText(result),
    name: call.function.name,
    toolCallId: call.id,
    ...(result.images === undefined ? {} : { images: result.images }),
  });
}
