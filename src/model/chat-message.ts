import { kinds } from "../kernel/option-kinds.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import { isObject } from "../kernel/value-kind.ts";
import { aText, object, orNothing, readable, takes } from "../kernel/argument.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { canonicalJson, type Json, type JsonObject, unchanging } from "../kernel/json.ts";
import { lazily } from "../kernel/lazily.ts";
import { unlessMapped } from "../kernel/mapped.ts";
import { valueText } from "../kernel/value-text.ts";
import { fileWords } from "../message/file.ts";
import type { Message } from "../message/message.ts";
import { partsOf } from "./file-parts.ts";

/** A file of a message, without its bytes. */
export interface FilePart {
  readonly mediaType: string;
  readonly hash: string;
  readonly name: string;
  readonly size: number;
}

/** An image or another file: base64 data with its media type, an address, or a file that the run keeps. */
export type ImagePart =
  | { readonly mediaType: string; readonly data: string; readonly name?: string }
  | { readonly url: string }
  | { readonly mediaType: string; readonly hash: string; readonly name: string; readonly size: number };

/** A model's call of a tool in the wire's form. `arguments` is JSON as the model wrote it. */
export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  /** Data that the server requires back unchanged: Gemini refuses calls without their signatures. */
  readonly extra?: JsonObject;
}

/** A model's reasoning besides its answer. It is sent back only to a server that requires it. */
export interface Reasoning {
  readonly text?: string;
  /** Fields of the wire, such as signatures, as the provider gave them and wants them back. */
  readonly parts?: JsonObject;
}

/** One message of a conversation with a model. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly name?: string;
  readonly toolCallId?: string;
  readonly images?: readonly ImagePart[];
  /** Of an assistant's message. */
  readonly reasoning?: Reasoning;
}

interface ChatMessageFactories {
  user(content: string, more?: { readonly name?: string; readonly images?: readonly ImagePart[] }): ChatMessage;
  user(content: string, index: number, list: readonly string[]): ChatMessage;
  system(content: string): ChatMessage;
  assistant(content: string): ChatMessage;
  tool(answer: {
    readonly content: string;
    readonly name: string;
    readonly toolCallId: string;
    readonly images?: readonly ImagePart[];
  }): ChatMessage;
  /** The assistant's calls of tools. An id that came before in the same message gets a number, `call_0#2`. */
  fromToolCalls(calls: readonly ToolCall[], content?: string): ChatMessage;
  fromToolCalls(calls: readonly ToolCall[], index: number, list: readonly (readonly ToolCall[])[]): ChatMessage;
}

/** @throws UsageError `CHAT_MESSAGE_INVALID` for invalid content, pictures or calls */
export const ChatMessage: ChatMessageFactories = {
  user(content: string, given?: object | number, list?: readonly unknown[]) {
    const more = unlessMapped(given, list);
    takes("ChatMessage.user", "what goes with the content", more, orNothing(object("an object")));
    checkKnownOptions("ChatMessage.user", more, kinds.each(kinds.checked, "name", "images"));
    return parseChatMessage({ role: "user", content, ...more });
  },
  system: (content) => parseChatMessage({ role: "system", content }),
  assistant: (content) => parseChatMessage({ role: "assistant", content }),
  tool(answer) {
    takes("ChatMessage.tool", "what it is made of", answer, object("an object with content, name and toolCallId"));
    checkKnownOptions("ChatMessage.tool", answer, kinds.each(kinds.checked, "content", "name", "toolCallId", "images"));
    return parseChatMessage({ ...answer, role: "tool" });
  },
  fromToolCalls(calls: readonly ToolCall[], given?: string | number, list?: readonly unknown[]) {
    const content = unlessMapped(given, list) || undefined;
    takes("ChatMessage.fromToolCalls", "calls", calls, readable);
    return parseChatMessage({ role: "assistant", content, toolCalls: Array.isArray(calls) ? withOwnIds(calls) : (calls ?? "none") });
  },
};

function frozen(message: ChatMessage): ChatMessage {
  parsedBefore.add(unchanging(message));
  return message;
}

const messageShape = lazily(() => {
  const text = z.string();
  const mediaType = text.regex(/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/);
  const image = z.union([
    z.object({ mediaType, data: text.min(1), name: text.exactOptional() }),
    z.object({ mediaType, hash: text.min(1), name: text, size: z.number() }),
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
    reasoning: z
      .object({
        text: text.exactOptional(),
        parts: z.record(text, z.json() as z.ZodType<Json>).exactOptional(),
      })
      .nullish(),
  });
});

/** OpenAI's own names of fields: `tool_calls`, with `extra_content` in each call. */
function ownNames(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("tool_calls" in value || "tool_call_id" in value)) return value;
  const { tool_calls: given, tool_call_id: answered, ...rest } = value as { readonly [field: string]: unknown };
  const calls = Array.isArray(given) ? given.map(ownCall) : given;
  return {
    ...rest,
    ...(given === undefined ? {} : { toolCalls: sameOf("tool_calls", rest["toolCalls"], calls) }),
    ...(answered === undefined ? {} : { toolCallId: sameOf("tool_call_id", rest["toolCallId"], answered) }),
  };
}

function ownCall(call: unknown): unknown {
  if (typeof call !== "object" || call === null || !("extra_content" in call)) return call;
  const { extra_content: extra, ...rest } = call as { readonly [field: string]: unknown };
  return { ...rest, ...(extra === undefined || extra === null ? {} : { extra }) };
}

/** @throws UsageError `CHAT_MESSAGE_INVALID`, also for a value with getters that throw */
function readAs(value: unknown): z.infer<ReturnType<typeof messageShape>> {
  try {
    const parsed = messageShape().safeParse(ownNames(value));
    if (parsed.success) return parsed.data;
    throw notAMessage(z.prettifyError(parsed.error).slice(0, MOST_TOLD));
  } catch (error) {
    throw error instanceof UsageError ? error : notAMessage("a value that cannot be read");
  }
}

function sameOf(name: string, own: unknown, theirs: unknown): unknown {
  if (own === undefined || own === null || canonicalJson(own) === canonicalJson(theirs ?? null)) return theirs;
  throw notAMessage(`it says ${name} twice, under two names, and not the same`);
}

/**
 * Returns a chat message from a value of unknown origin: its fields without empty ones, deeply frozen. OpenAI's form, with `tool_calls` and
 * `tool_call_id`, is read too.
 *
 * @throws UsageError `CHAT_MESSAGE_INVALID`, also when a tool's message does not name the call it answers
 */
export function parseChatMessage(value: unknown): ChatMessage {
  if (isParsedMessage(value)) return value;
  const { role, content, toolCalls, name, toolCallId, images, reasoning } = readAs(value);
  if (role === "tool" && typeof toolCallId !== "string") throw notAMessage("a tool's message has the toolCallId of the call it answers");
  if (role !== "assistant" && toolCalls !== undefined && toolCalls !== null) throw notAMessage(`a message of role ${role} calls no tools`);
  const given = { content, toolCalls: some(toolCalls), name, toolCallId, images: some(images) };
  const known = { ...given, reasoning: role === "assistant" ? reasoning : undefined };
  const kept = Object.entries(known).filter(([, part]) => part !== undefined && part !== null);
  return frozen({ role, ...Object.fromEntries(kept) });
}

function some<T>(list: readonly T[] | null | undefined): readonly T[] | undefined {
  return list === null || list?.length === 0 ? undefined : list;
}

/** Plain, deeply frozen, and valid. */
export function isParsedMessage(value: unknown): value is ChatMessage {
  return isObject(value) && parsedBefore.has(value);
}

const parsedBefore = new WeakSet<object>();

const MOST_TOLD = 500;

function notAMessage(why: string): UsageError {
  return new UsageError("CHAT_MESSAGE_INVALID", `Expected a chat message with a role and what that role says, got something else: ${why}`);
}

function withOwnIds(calls: readonly ToolCall[]): readonly ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    let own = call?.id;
    for (let nth = 2; taken.has(own); nth++) own = `${call.id}#${nth}`;
    taken.add(own);
    return isObject(call) ? { ...call, type: "function", id: own } : call;
  });
}

/**
 * Joins messages and lists of messages to one list of the caller's. No limit of a memory applies.
 *
 * @throws UsageError `CHAT_MESSAGE_INVALID` for a part that is neither
 */
export function joinMessages(...parts: readonly (ChatMessage | readonly ChatMessage[])[]): ChatMessage[] {
  return parts.flatMap((part, index) => {
    takes("joinMessages", "what is joined", part, readable);
    const list = Array.isArray(part) ? (part as readonly ChatMessage[]) : [part as ChatMessage];
    if (list.every((value) => isObject(value) && typeof (value as { readonly role?: unknown }).role === "string")) return list;
    throw new UsageError(
      "CHAT_MESSAGE_INVALID",
      `Expected chat messages or lists of them to join, got ${valueText(part)} as number ${index + 1}.`,
    );
  });
}

/**
 * Turns a message into a chat message: `sender: content`, or the content alone without a sender. Ids and times are left out, because with them
 * a fork would pay for every call again. Its files are parts, which the model of a run reads. Every role but `system` and `assistant` becomes `user`, because servers know no others.
 *
 * @throws UsageError `ARGUMENT_INVALID` for a value that is no message
 * @example
 * import { createMessage, toChat } from "troupe";
 *
 * console.log(toChat(createMessage("Hello", { sentFrom: "Ada" }))); // { role: 'user', content: 'Ada: Hello' }
 */
export function toChat(message: Message): ChatMessage {
  takes("toChat", "message", message, object("a message", { role: aText, content: aText, sentFrom: aText }));
  const role = chatRoleOf(message.role);
  const content = renderForPrompt(message);
  if (message.files === undefined) return { role, content };
  if (role === "user") return { role, content, images: partsOf([message]) ?? [] };
  return { role, content: [content, ...message.files.map((file) => fileWords(file, "only its name is here"))].join("\n\n") };
}

function chatRoleOf(role: string): ChatMessage["role"] {
  return role === "system" || role === "assistant" ? role : "user";
}

export function renderForPrompt(message: Message): string {
  return message.sentFrom === "" ? message.content : `${message.sentFrom}: ${message.content}`;
}
