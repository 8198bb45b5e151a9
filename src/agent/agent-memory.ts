import type { Json } from "../kernel/json.ts";
import type { ChatMeasure } from "../memory/chat-unit.ts";
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

/** The outcome of a task, in the words of the agent. */
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

/** The text of the goal. */
export async function goalText(memory: AgentMemory): Promise<string> {
  return (await memory.goal()).map((message) => message.content ?? "").join("\n\n");
}

/** True for a message of the goal. A memory may return copies. */
export function isOneOf(goal: readonly ChatMessage[], message: ChatMessage): boolean {
  return goal.some((one) => one === message || (one.role === message.role && one.content === message.content));
}

/** A note that counts; 0 when it is not set. */
export async function numberNote(memory: AgentMemory, key: string): Promise<number> {
  const note = await memory.note(key);
  return typeof note === "number" ? note : 0;
}

/** A note that is a list, as its net wrote it; undefined when it is not set. */
export async function listNote<T>(memory: AgentMemory, key: string): Promise<readonly T[] | undefined> {
  const note = await memory.note(key);
  return Array.isArray(note) ? (note as readonly T[]) : undefined;
}

/** The calls of the latest group that have no result yet. */
export function openCalls(messages: readonly ChatMessage[]): readonly ToolCall[] {
  const last = messages.findLastIndex((message) => message.role !== "tool");
  const calls = messages[last]?.toolCalls ?? [];
  if (calls.length === 0) return [];
  const answered = new Set(messages.slice(last + 1).map((message) => message.toolCallId));
  return calls.filter((call) => !answered.has(call.id));
}

const NOT_BEGUN = "the run was stopped before this call was made.";
const UNKNOWN = "the run was stopped here. Nobody knows whether this call has run; look before you call it again.";

/** Gives every open call a result, before a new task takes the place of the old one. The result tells whether the call began. */
export async function closeAllCalls(memory: AgentMemory): Promise<void> {
  const waiting = new Set((memory.nextAction?.calls ?? []).map(({ id }) => id));
  if (await answerOpenCalls(memory, ({ id }) => (waiting.has(id) ? NOT_BEGUN : UNKNOWN))) memory.nextAction = undefined;
}

/** Gives every open call a result, unless the calls are to be run now. Servers refuse a conversation with a call without one. */
export async function closeOpenCalls(memory: AgentMemory): Promise<void> {
  if (!memory.done && memory.nextAction === undefined) await answerOpenCalls(memory, () => UNKNOWN);
}

async function answerOpenCalls(memory: AgentMemory, why: (call: ToolCall) => string): Promise<boolean> {
  const open = openCalls(await memory.dump());
  if (open.length > 0) await memory.update(open.map((call) => toolMessage(notRun(call, "skipped", why(call)))));
  return open.length > 0;
}
