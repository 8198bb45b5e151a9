import { isRecord } from "../kernel/value-kind.ts";
import type { ToolCall } from "../model/chat-message.ts";
import type { ChatResponse } from "../model/chat-model.ts";
import { readArguments } from "../tool/call-arguments.ts";
import { type CalledTool, notRun } from "../tool/tool-result.ts";
import type { ToolCollection } from "../tool/tool-collection.ts";

/**
 * Which calls of a reply were cut by its length limit. A call is whole when its arguments are one JSON object as they stand, not mended, and
 * fit the tool: what is missing at the end of a text nobody can know.
 */
export function cutCallsOf(
  reply: Pick<ChatResponse, "finishReason">,
  calls: readonly ToolCall[],
  tools: ToolCollection,
): readonly ToolCall[] {
  return reply.finishReason === "length" ? calls.filter((call) => !isWhole(call, tools)) : [];
}

/** The answer to a call that was cut. */
export function cutOff(call: ToolCall): CalledTool {
  const why =
    "your reply reached its length limit before this call was whole, so it was not made. Call again, and write less at once: in several calls if need be.";
  return notRun(call, "invalid", why);
}

function isWhole({ function: { name, arguments: text } }: ToolCall, tools: ToolCollection): boolean {
  const tool = tools.find(name);
  if (tool === undefined || !isObject(text)) return false;
  return readArguments(text, tool).ok;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value);
  } catch {
    return false;
  }
}
