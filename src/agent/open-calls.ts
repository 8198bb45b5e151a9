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

/** The result of a call whose run was cut off: without one a server refuses the whole conversation. */
function cutOff(call: ToolCall): ChatMessage {
  const why = "the run was stopped here. Nobody knows whether this call has run; look before you call it again.";
  return toolMessage(notRun(call, "skipped", why));
}

/** Results for all calls that were decided on and not answered, before a new task takes their place. What was not begun is told as such. */
export async function closeAllCalls(memory: AgentMemory): Promise<void> {
  const open = openCalls(await memory.dump());
  if (open.length === 0) return;
  const waiting = new Set((memory.nextAction?.calls ?? []).map(({ id }) => id));
  const answers = open.map((call) => (waiting.has(call.id) ? toolMessage(notRun(call, "skipped", NOT_BEGUN)) : cutOff(call)));
  memory.nextAction = undefined;
  await memory.update(answers);
}

const NOT_BEGUN = "the run was stopped before this call was made.";

/** Gives every open call of a memory a result, unless they are to be run now. */
export async function closeOpenCalls(memory: AgentMemory): Promise<void> {
  if (memory.done || memory.nextAction !== undefined) return;
  const open = openCalls(await memory.dump());
  if (open.length > 0) await memory.update(open.map(cutOff));
}
