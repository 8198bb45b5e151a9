import { readable, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { defined, isRecord } from "../kernel/value-kind.ts";
import { wellFormed } from "../kernel/value-text.ts";
import { type ChatMessage, type ImagePart, parseChatMessage, type ToolCall } from "./chat-message.ts";
import { partWords } from "./file-parts.ts";
import type { ChatRequest, ReplyFormat, ToolSpec } from "./chat-model.ts";

export interface WireForm {
  readonly model: string;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  readonly extra: Readonly<Record<string, Json>>;
}

/**
 * The body of a `chat/completions` request, without empty fields. The fields of this package override `extra`.
 *
 * @throws UsageError `IMAGES_UNSUPPORTED`
 */
export function requestBody(request: ChatRequest, wire: WireForm, stream: boolean): JsonObject {
  return {
    ...wire.extra,
    ...request.extra,
    model: wire.model,
    messages: openaiMessages(request.messages),
    ...(request.tools === undefined || request.tools.length === 0 ? {} : { tools: request.tools.map(wireTool) }),
    ...(request.toolChoice === undefined ? {} : { tool_choice: wireToolChoice(request.toolChoice) }),
    ...wireFormat(request.schema),
    ...defined({ temperature: request.temperature, [wire.maxTokensField]: request.maxTokens, seed: request.seed }),
    ...(request.stop === undefined || request.stop.length === 0 ? {} : { stop: [...request.stop] }),
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

function wireTool(tool: ToolSpec): JsonObject {
  return { type: "function", function: { name: tool.name, description: tool.description, parameters: tool.parameters } };
}

function wireToolChoice(choice: NonNullable<ChatRequest["toolChoice"]>): Json {
  return typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };
}

function wireFormat(format: ReplyFormat | undefined): JsonObject {
  switch (format?.type) {
    case "schema":
      return { response_format: { type: "json_schema", json_schema: { name: format.name, schema: format.schema, strict: true } } };
    case "json":
      return { response_format: { type: "json_object" } };
    case "text":
    case undefined:
      return {};
  }
}

/** Refused by servers in the name of a speaker or a tool. */
const UNNAMEABLE = /[^a-zA-Z0-9_-]/g;

/**
 * Returns a conversation in OpenAI's form, without empty fields. Pictures that tools return follow as a user's message after the last of
 * their answers: tool messages carry text alone and stand together.
 *
 * @throws UsageError `IMAGES_UNSUPPORTED` for pictures in a system's or assistant's message
 */
export function openaiMessages(messages: readonly ChatMessage[]): JsonObject[] {
  const wire: JsonObject[] = [];
  let pictures: ImagePart[] = [];
  for (const [index, message] of messages.entries()) {
    wire.push(wireMessage(message));
    if (message.role !== "tool") continue;
    pictures.push(...(message.images ?? []));
    if (pictures.length === 0 || messages[index + 1]?.role === "tool") continue;
    wire.push({ role: "user", content: contentParts("Pictures returned by the tools above:", pictures) });
    pictures = [];
  }
  return wire;
}

/**
 * Returns a message, or a whole conversation, in OpenAI's form. Pictures of a single tool's message are left out; those of a conversation
 * follow as a user's message.
 *
 * @throws UsageError `CHAT_MESSAGE_INVALID` for a value that is no message, `IMAGES_UNSUPPORTED` for pictures in a system's or assistant's
 * message
 */
export function toOpenAI(messages: readonly ChatMessage[]): JsonObject[];
export function toOpenAI(message: ChatMessage): JsonObject;
export function toOpenAI(given: ChatMessage | readonly ChatMessage[]): JsonObject | JsonObject[] {
  takes("toOpenAI", "messages", given, readable);
  return Array.isArray(given) ? openaiMessages(given.map(parseChatMessage)) : wireMessage(parseChatMessage(given));
}

function wireMessage(message: ChatMessage): JsonObject {
  const { role, images = [] } = message;
  const content = wellFormed(message.content ?? "");
  if (role === "tool") return { role, content, tool_call_id: message.toolCallId ?? "" };
  const name = message.name?.replace(UNNAMEABLE, "_").slice(0, 64);
  const speaker: JsonObject = name === undefined || name === "" ? {} : { name };
  if (images.length > 0 && role !== "user") {
    throw new UsageError("IMAGES_UNSUPPORTED", `Expected pictures in messages of users and tools only, got some in one of role ${role}.`);
  }
  if (role === "user") return { role, ...speaker, content: images.length === 0 ? content : contentParts(content, images) };
  if (role === "system") return { role, ...speaker, content };
  const calls = message.toolCalls ?? [];
  if (calls.length === 0) return { role, ...speaker, content };
  return { role, ...speaker, ...(content === "" ? {} : { content }), ...wireReasoning(message), tool_calls: calls.map(wireCall) };
}

/** Servers want it back with the calls that it led to, in the form in which they gave it. */
function wireReasoning({ reasoning: { parts = {} } = {} }: ChatMessage): JsonObject {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, typeof part === "string" ? wellFormed(part) : part]));
}

/** Arguments that are JSON with escapes: `\\ud83d` without its other half is one half too. */
function wellFormedJson(text: string): string {
  if (!/\\ud[89a-f]/i.test(text)) return wellFormed(text);
  return wellFormed(text).replace(/\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\ud[89a-f][0-9a-f]{2}/gi, (found) =>
    found.length === 6 ? "\\ufffd" : found,
  );
}

function contentParts(text: string, images: readonly ImagePart[]): JsonObject[] {
  const parts = images.map(contentPart);
  return text === "" ? parts : [{ type: "text", text }, ...parts];
}

const SOUNDS: Readonly<Record<string, string>> = { "audio/wav": "wav", "audio/mpeg": "mp3" };

function contentPart(part: ImagePart): JsonObject {
  if ("url" in part) return { type: "image_url", image_url: { url: part.url } };
  if ("hash" in part) return { type: "text", text: partWords(part) };
  const { mediaType, data, name = "file" } = part;
  const url = `data:${mediaType};base64,${data}`;
  const format = SOUNDS[mediaType];
  if (mediaType.startsWith("image/")) return { type: "image_url", image_url: { url } };
  if (format !== undefined) return { type: "input_audio", input_audio: { data, format } };
  return { type: "file", file: { filename: name, file_data: url } };
}

/** Models call tools by names that no tool may have and with arguments that are no JSON; servers refuse such calls in a conversation. */
function wireCall({ id, function: { name, arguments: given }, extra }: ToolCall): JsonObject {
  const wireName = name.replace(UNNAMEABLE, "_").slice(0, 64);
  return {
    id,
    type: "function",
    function: {
      name: wireName === "" ? "_" : wireName,
      arguments: isJsonObject(given) ? wellFormedJson(given) : JSON.stringify({ unreadable: wellFormed(given) }),
    },
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
