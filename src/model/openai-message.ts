import { isRecord } from "../kernel/value-kind.ts";
import { readable, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { type ChatMessage, type ImagePart, parseChatMessage, type ToolCall } from "./chat-message.ts";

/** What servers take in no name of a speaker or a tool. */
const UNNAMEABLE = /[^a-zA-Z0-9_-]/g;

/**
 * A conversation in the form that OpenAI's servers take, without empty fields. Pictures that tools return follow as a user's message after
 * the last of their answers: tool messages carry text alone and stand together.
 *
 * @throws UsageError `IMAGES_UNSUPPORTED` for pictures in a system's or assistant's message.
 */
export function openaiMessages(messages: readonly ChatMessage[]): JsonObject[] {
  const wire: JsonObject[] = [];
  let pictures: ImagePart[] = [];
  const flush = (): void => {
    if (pictures.length > 0) wire.push({ role: "user", content: parts("Pictures returned by the tools above:", pictures) });
    pictures = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") flush();
    wire.push(wireMessage(message));
    if (message.role === "tool") pictures.push(...(message.images ?? []));
  }
  flush();
  return wire;
}

/**
 * A message, or a whole conversation, in the form that OpenAI's servers take. Pictures of one tool's message have no place in it; those of a
 * conversation follow as a user's message after the last of the tools' answers.
 *
 * @throws UsageError `CHAT_MESSAGE_INVALID` for what is no message, `IMAGES_UNSUPPORTED` for pictures in a system's or assistant's message.
 */
export function toOpenAI(messages: readonly ChatMessage[]): JsonObject[];
export function toOpenAI(message: ChatMessage): JsonObject;
export function toOpenAI(given: ChatMessage | readonly ChatMessage[]): JsonObject | JsonObject[] {
  takes("toOpenAI", "messages", given, readable);
  return Array.isArray(given) ? openaiMessages(given.map(parseChatMessage)) : wireMessage(parseChatMessage(given));
}

function wireMessage(message: ChatMessage): JsonObject {
  const { role, content = "", images = [] } = message;
  if (role === "tool") return { role, content, tool_call_id: message.toolCallId ?? "" };
  const name = message.name?.replace(UNNAMEABLE, "_").slice(0, 64);
  const speaker: JsonObject = name === undefined || name === "" ? {} : { name };
  if (images.length > 0 && role !== "user") {
    throw new UsageError("IMAGES_UNSUPPORTED", `Expected pictures in messages of users and tools only, got some in one of role ${role}.`);
  }
  if (role === "user") return { role, ...speaker, content: images.length === 0 ? content : parts(content, images) };
  if (role === "system") return { role, ...speaker, content };
  const calls = message.toolCalls ?? [];
  if (calls.length === 0) return { role, ...speaker, content };
  return { role, ...speaker, ...(content === "" ? {} : { content }), tool_calls: calls.map(wireCall) };
}

function parts(text: string, images: readonly ImagePart[]): JsonObject[] {
  const pictures = images.map((image) => {
    const url = "url" in image ? image.url : `data:${image.mediaType};base64,${image.data}`;
    return { type: "image_url", image_url: { url } };
  });
  return text === "" ? pictures : [{ type: "text", text }, ...pictures];
}

/** Models call tools by names that no tool may have and with arguments that are no JSON; servers refuse to be told so. */
function wireCall({ id, function: { name, arguments: given }, extra }: ToolCall): JsonObject {
  const wireName = name.replace(UNNAMEABLE, "_").slice(0, 64);
  return {
    id,
    type: "function",
    function: { name: wireName === "" ? "_" : wireName, arguments: isJsonObject(given) ? given : JSON.stringify({ unreadable: given }) },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value);
  } catch {
    return false;
  }
}
