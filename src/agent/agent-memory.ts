import type { Json } from "../kernel/json.ts";
import type { ChatMeasure } from "../memory/chat-list.ts";
import type { ChatMessage, ToolCall } from "../model/chat-message.ts";
import type { Tool } from "../tool/tool.ts";
import type { ToolCollection } from "../tool/tool-collection.ts";

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
