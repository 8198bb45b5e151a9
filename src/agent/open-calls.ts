import type { ChatMessage, ToolCall } from "../model/chat-message.ts";
import { notRun, toolMessage } from "../tool/call-outcome.ts";
import type { AgentMemory } from "./agent-memory.ts";

/** The calls of the latest group that have no result yet. */
export function openCalls(messages: readonly ChatMessage[]): readonly ToolCall[] {
  const last = messages.findLastIndex((message) => message.role !== "tool");
  const calls = messages[last]?.toolCalls ?? [];
  if (calls.length === 0) return [];
  const answered = new Set(messages.slice(last + 1).map((message) => message.toolCallId));
  return calls.filter((call) => !answered.has(call.id));
}

/** Results for calls whose run was cut off: without one a server refuses the whole conversation. */
function cutOff(calls: readonly ToolCall[]): readonly ChatMessage[] {
  return calls.map((call) =>
    toolMessage(
      notRun(call, "skipped", "the run was stopped here. Nobody knows whether this call has run; look before you call it again."),
    ),
  );
}

/** Gives every open call of a memory a result, unless they are to be run now. */
export async function closeOpenCalls(memory: AgentMemory): Promise<void> {
  if (memory.done || memory.nextAction !== undefined) return;
  const open = openCalls(await memory.dump());
  if (open.length > 0) await memory.update(cutOff(open));
}
