import type { Json } from "../kernel/json.ts";
import type { ChatMeasure } from "../memory/chat-list.ts";
import type { ChatMessage, ToolCall } from "../model/chat-message.ts";
import type { Tool } from "../tool/tool.ts";
import type { ToolCollection } from "../tool/tool-collection.ts";
import { notRun, toolMessage } from "../tool/tool-result.ts";

/** What the model wants done next. */
export interface NextAction {
  readonly calls: readonly ToolCall[];
  /** `native`: the model called tools on the wire, and each call needs its tool message; `text`: it wrote them as JSON in its text. */
  readonly form: "native" | "text";
  /** Ids of calls that were cut with the reply they stand in: they are answered, and not run. */
  readonly cut?: readonly string[] | undefined;
}

/** How a task came out, in the words of who did it. */
export interface Answer {
  readonly text: string;
  readonly status: "success" | "failure";
}

/**
 * Everything an agent holds of its work: goal, history, tools, the action at hand and what came of it. States of a net read and write it
 * and keep nothing themselves. What may reach a database or another process is async.
 */
export interface AgentMemory {
  readonly tools: ToolCollection;
  /** The task has an answer, or will have none. */
  done: boolean;
  nextAction: NextAction | undefined;
  answer: Answer | undefined;
  /** Begins a task: what is said from now on belongs to it. Calls of an earlier one that were never answered are closed. */
  setGoal(goal: string): Promise<void>;
  /** Puts messages at the end. */
  update(messages: readonly ChatMessage[]): Promise<void>;
  /** The goal as messages; none before the first. */
  goal(): Promise<readonly ChatMessage[]>;
  /** The whole record so far, goal included, in order. The caller's own array. */
  dump(): Promise<readonly ChatMessage[]>;
  /** The sum over what `dump` gives of a measure that never changes for a message. A memory without it is looked through for each request. */
  weigh?(measure: ChatMeasure): number;
  /** Takes this for the whole record, to make room. A memory without it grows, and is cut in each request instead. */
  rewrite?(messages: readonly ChatMessage[]): Promise<void>;
  /** What a net wrote down for itself. */
  note(key: string): Promise<Json | undefined>;
  setNote(key: string, value: Json): Promise<void>;
  /** The tools as JSON text, for a prompt or a log. */
  listTools(): string;
  getTool(name: string): Tool | undefined;
}

/** The goal in words. */
export async function goalText(memory: AgentMemory): Promise<string> {
  const goal = await memory.goal();
  return goal.map((message) => message.content ?? "").join("\n\n");
}

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
