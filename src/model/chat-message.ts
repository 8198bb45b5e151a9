import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { deepFreeze, type Json, type JsonObject } from "../kernel/json.ts";
import { lazily } from "../kernel/lazily.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Message } from "../message/message.ts";

/** A picture in a message: base64 data with its media type, or an address. */
export type ImagePart = { readonly mediaType: string; readonly data: string } | { readonly url: string };

/** A model's wish to call a tool, in the wire's own form. `arguments` is JSON text as the model wrote it. */
export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  /** What its server wants to be given back with it, as it came: Gemini signs calls, and refuses them without. */
  readonly extra?: JsonObject;
}

/** One message of a conversation with a model. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly name?: string;
  readonly toolCallId?: string;
  readonly images?: readonly ImagePart[];
}

/** Makes chat messages, each with exactly the fields it needs. */
interface ChatMessageFactories {
  user(content: string, more?: { readonly name?: string; readonly images?: readonly ImagePart[] }): ChatMessage;
  system(content: string): ChatMessage;
  assistant(content: string): ChatMessage;
  /** The answer to a call. */
  tool(answer: {
    readonly content: string;
    readonly name: string;
    readonly toolCallId: string;
    readonly images?: readonly ImagePart[];
  }): ChatMessage;
  /**
   * The assistant's wish to call tools. Calls are told apart by their ids alone: an id that came before in the same message is given a
   * number, `call_0#2`.
   */
  fromToolCalls(calls: readonly ToolCall[], content?: string): ChatMessage;
}

/**
 * Makes the messages of a conversation.
 *
 * @throws UsageError `CHAT_MESSAGE_INVALID` for content that is no text, and for pictures and calls that are none.
 */
export const ChatMessage: ChatMessageFactories = {
  user: (content, more) =>
    more === undefined && isText(content) ? frozen({ role: "user", content }) : parseChatMessage({ role: "user", content, ...more }),
  system: (content) => (isText(content) ? frozen({ role: "system", content }) : parseChatMessage({ role: "system", content })),
  assistant: (content) => (isText(content) ? frozen({ role: "assistant", content }) : parseChatMessage({ role: "assistant", content })),
  tool({ content, name, toolCallId, images }) {
    const isPlain = images === undefined && isText(content) && isText(name) && isText(toolCallId);
    const message = { role: "tool", content, name, toolCallId } as const;
    return isPlain ? frozen(message) : parseChatMessage({ ...message, images });
  },
  fromToolCalls(calls, content = "") {
    const toolCalls = withOwnIds(calls);
    const message: ChatMessage = content === "" ? { role: "assistant", toolCalls } : { role: "assistant", content, toolCalls };
    return toolCalls.length > 0 && isText(content) && toolCalls.every(isPlainCall) ? frozen(message) : parseChatMessage(message);
  },
};

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** Made here, with nothing in it that had to be looked into. */
function isPlainCall({ id, function: { name, arguments: given }, extra }: ToolCall): boolean {
  return extra === undefined && isText(id) && isText(name) && isText(given);
}

/** A message that is known to be one. */
function frozen(message: ChatMessage): ChatMessage {
  for (const call of message.toolCalls ?? []) {
    Object.freeze(call.function);
    Object.freeze(call);
  }
  if (message.toolCalls !== undefined) Object.freeze(message.toolCalls);
  Object.freeze(message);
  parsedBefore.add(message);
  return message;
}

const messageShape = lazily(() => {
  const text = z.string();
  const image = z.union([
    z.object({ mediaType: text.regex(/^image\/[\w.+-]{1,100}$/), data: text.min(1) }),
    z.object({ url: text.min(1) }),
  ]);
  const call = z.object({
    id: text,
    type: z.literal("function").default("function"),
    function: z.object({ name: text, arguments: text }),
    extra: z.record(text, z.json() as z.ZodType<Json>).exactOptional(),
  });
  return z.object({
    role: z.enum(["system", "user", "assistant", "tool"]),
    content: text.nullish(),
    toolCalls: z.array(call).nullish(),
    name: text.nullish(),
    toolCallId: text.nullish(),
    images: z.array(image).nullish(),
  });
});

/**
 * A chat message from a value of unknown origin: the fields it has, without empty ones, frozen through and through.
 *
 * @throws UsageError `CHAT_MESSAGE_INVALID` when it is none, or when a tool's message does not say which call it answers.
 */
export function parseChatMessage(value: unknown): ChatMessage {
  if (isParsedMessage(value)) return value;
  const parsed = messageShape().safeParse(value);
  if (!parsed.success) throw notAMessage(z.prettifyError(parsed.error).slice(0, MOST_TOLD));
  const { role, content, toolCalls, name, toolCallId, images } = parsed.data;
  if (role === "tool" && typeof toolCallId !== "string") throw notAMessage("a tool's message has the toolCallId of the call it answers");
  if (role !== "assistant" && toolCalls !== undefined && toolCalls !== null) throw notAMessage(`a message of role ${role} calls no tools`);
  const message: ChatMessage = deepFreeze({
    role,
    ...(typeof content === "string" ? { content } : {}),
    ...(toolCalls === undefined || toolCalls === null || toolCalls.length === 0 ? {} : { toolCalls }),
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof toolCallId === "string" ? { toolCallId } : {}),
    ...(images === undefined || images === null || images.length === 0 ? {} : { images }),
  });
  parsedBefore.add(message);
  return message;
}

/** Whether a value is a message that was made or read here: plain, and frozen through and through, so what it was it still is. */
export function isParsedMessage(value: unknown): value is ChatMessage {
  return typeof value === "object" && value !== null && parsedBefore.has(value);
}

const parsedBefore = new WeakSet<object>();

/** Most characters of an error about a message. */
const MOST_TOLD = 500;

function notAMessage(why: string): UsageError {
  return new UsageError("CHAT_MESSAGE_INVALID", `Expected a chat message with a role and what that role says, got something else: ${why}`);
}

/** Calls with ids of their own, in the wire's form. */
function withOwnIds(calls: readonly ToolCall[]): ToolCall[] {
  const [only] = calls;
  if (calls.length === 1 && only !== undefined) return [wireForm(only, only.id)];
  const taken = new Set<string>();
  return calls.map((call) => {
    let own = call.id;
    for (let nth = 2; taken.has(own); nth++) own = `${call.id}#${nth}`;
    taken.add(own);
    return wireForm(call, own);
  });
}

function wireForm({ function: { name, arguments: given }, extra }: ToolCall, id: string): ToolCall {
  const call: ToolCall = { id, type: "function", function: { name, arguments: given } };
  return extra === undefined ? call : { ...call, extra };
}

/**
 * Messages and lists of messages as one list, in the order given: the caller's own, under no limit of any memory.
 *
 * @throws UsageError `CHAT_MESSAGE_INVALID` for a part that is neither, naming its place.
 */
export function joinMessages(...parts: readonly (ChatMessage | readonly ChatMessage[])[]): ChatMessage[] {
  return parts.flatMap((part, index) => {
    const list = Array.isArray(part) ? (part as readonly ChatMessage[]) : [part as ChatMessage];
    if (list.every(isMessage)) return list;
    throw new UsageError(
      "CHAT_MESSAGE_INVALID",
      `Expected chat messages or lists of them to join, got ${valueText(part)} as number ${index + 1}.`,
    );
  });
}

function isMessage(value: unknown): boolean {
  return typeof value === "object" && value !== null && "role" in value;
}

/**
 * A message as a model reads it: who said it and what. Ids, times and run ids never reach a prompt, or every fork would pay again.
 * A tool's message is given as the user's: outside a tool call no server accepts the role "tool".
 */
export function toChat(message: Message): ChatMessage {
  const role = message.role === "tool" ? "user" : message.role;
  return { role, content: renderForPrompt(message) };
}

/** `sender: content`, or the content alone when nobody is named. */
export function renderForPrompt(message: Message): string {
  return message.sentFrom === "" ? message.content : `${message.sentFrom}: ${message.content}`;
}
