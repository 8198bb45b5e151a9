import type { Json, JsonObject } from "../kernel/json.ts";
import type { ChatRequest, ReplyFormat, ToolSpec } from "../model/chat-model.ts";
import { openaiMessages } from "../model/openai-message.ts";

/** What differs between servers that speak the same protocol. */
export interface WireDialect {
  readonly model: string;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  readonly extra: Readonly<Record<string, Json>>;
}

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
    messages: openaiMessages(request.messages),
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
