import { UsageError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { ChatMessage, ImagePart, ToolCall } from "../model/chat-message.ts";
import type { ChatRequest, ReplyFormat, ToolSpec } from "../model/chat-model.ts";

/** What differs between servers that speak the same protocol. */
export interface WireDialect {
  readonly model: string;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  readonly extra: Readonly<Record<string, Json>>;
}

/** Names that servers take for speakers. */
const SPEAKER = /[^a-zA-Z0-9_-]/g;

/**
 * The body of a `chat/completions` request: what OpenAI's servers accept, without empty fields. Fields that this package is
 * responsible for win over `extra`.
 *
 * @throws UsageError `IMAGES_UNSUPPORTED` for pictures in a system's or assistant's message.
 */
export function requestBody(request: ChatRequest, dialect: WireDialect, stream: boolean): JsonObject {
  return {
    ...dialect.extra,
    ...request.extra,
    model: dialect.model,
    messages: wireMessages(request.messages),
    ...(request.tools === undefined || request.tools.length === 0 ? {} : { tools: request.tools.map(wireTool) }),
    ...(request.toolChoice === undefined ? {} : { tool_choice: wireToolChoice(request.toolChoice) }),
    ...wireFormat(request.schema),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { [dialect.maxTokensField]: request.maxTokens }),
    ...(request.seed === undefined ? {} : { seed: request.seed }),
    ...(request.stop === undefined || request.stop.length === 0 ? {} : { stop: [...request.stop] }),
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

/** Pictures that tools return follow as a user's message after the last of their answers: tool messages carry text alone and stand together. */
function wireMessages(messages: readonly ChatMessage[]): JsonObject[] {
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

function wireMessage(message: ChatMessage): JsonObject {
  const { role, content = "", images = [] } = message;
  if (role === "tool") return { role, content, tool_call_id: message.toolCallId ?? "" };
  const name = message.name?.replace(SPEAKER, "_").slice(0, 64);
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

function wireCall(call: ToolCall): JsonObject {
  return { id: call.id, type: "function", function: { name: call.function.name, arguments: call.function.arguments } };
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
