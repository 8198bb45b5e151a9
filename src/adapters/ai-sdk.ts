import { stopSignal } from "../kernel/abort.ts";
import { having, type Shape, takes } from "../kernel/argument.ts";
import { systemClock } from "../kernel/clock.ts";
import { type Json, type JsonObject, parsedJson } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { redact } from "../kernel/mask.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { defined, isCount, isList, isObject, isRecord, isText } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { calledHere } from "../model/ask.ts";
import { ReplyBuilder } from "../model/attempt.ts";
import type { ChatMessage, ImagePart, ToolCall } from "../model/chat-message.ts";
import { partWords } from "../model/file-parts.ts";
import type { ChatChunk, ChatModel, ChatOptions, ChatRequest, FinishReason, Usage } from "../model/chat-model.ts";
import { failureOf, modelError, type ModelErrorCode } from "../model/failure.ts";
import type { ModelPrice } from "../model/price.ts";
import { type CallTimeouts, checkTimeouts } from "../model/timeouts.ts";
import { RefusedRequest, requestError } from "./openai-server.ts";

/** A language model of the AI SDK, of specification V2, V3 or V4. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** Options of {@link aiSdk}. */
export interface AiSdkOptions {
  /** Default: the built-in table by the id of the model. */
  readonly price?: ModelPrice | undefined;
  /** Tokens of one reply, where the model has a limit. */
  readonly maxOutputTokens?: number | undefined;
  /** The media types of files that it reads. Default: `["image/*"]`. */
  readonly takes?: readonly string[] | undefined;
  /** Options of providers, sent with each request: `{ anthropic: { thinking: { type: "enabled", budgetTokens: 2000 } } }`. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>> | undefined;
  readonly timeouts?: CallTimeouts | undefined;
}

const aiSdkOptions: Known<AiSdkOptions> = {
  price: kinds.price,
  maxOutputTokens: kinds.count,
  takes: kinds.list(kinds.text),
  providerOptions: kinds.record(kinds.object),
  timeouts: kinds.checked,
};

const aModel: Shape = {
  says: "a language model of the AI SDK, of specification v2, v3 or v4, such as anthropic(id) returns",
  fits: (value) =>
    isObject(value) &&
    ["v2", "v3", "v4"].includes((value as AiSdkModel).specificationVersion) &&
    having("", "doGenerate", "doStream").fits(value),
};

/**
 * A {@link ChatModel} of a language model of the AI SDK. One call is one `doStream` or `doGenerate`: retries, limits and money are those of
 * the run. `extra` of a request is passed as `providerOptions`.
 *
 * @throws UsageError `ARGUMENT_INVALID` for a value that is no language model of specification V2, V3 or V4; `OPTION_UNKNOWN`, `TIMEOUT_INVALID`
 * @example
 * import { defineRole, Team } from "troupe";
 * import { aiSdk, type AiSdkModel } from "troupe/ai-sdk";
 *
 * // const model = anthropic("claude-sonnet-4-5"), of the package @ai-sdk/anthropic
 * export function teamOf(model: AiSdkModel): Team {
 *   return new Team({ model: aiSdk(model), roles: [defineRole({ name: "Ada", goal: "answer questions" })] });
 * }
 */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): ChatModel {
  checkGivenOptions("aiSdk", options, aiSdkOptions);
  checkTimeouts(options.timeouts);
  takes("aiSdk", "the model", model, aModel);
  const { price, maxOutputTokens, takes: taken, providerOptions: extra, timeouts } = options;
  const own: ChatModel = {
    id: model.modelId,
    ...defined({ price, maxOutputTokens, takes: taken, extra, timeouts }),
    async chat(request, o) {
      const reply = new ReplyBuilder(model.modelId);
      reply.add(await generated(model, request, extra, o));
      return reply.finish();
    },
    stream: (request, o) => streamed(model, request, extra, o),
  };
  return { ...own, chat: (request, o) => calledHere(own).chat(request, o), stream: (request, o) => calledHere(own).stream(request, o) };
}

type Extra = Readonly<Record<string, Json>> | undefined;
type Fields = { readonly [key: string]: unknown };

async function generated(model: AiSdkModel, request: ChatRequest, extra: Extra, o: ChatOptions): Promise<ChatChunk> {
  const { signal, end } = stopSignal(o.signal);
  try {
    const reply = fieldsOf(await model.doGenerate(callOptions(model, request, extra, signal) as never));
    refuseIgnoredSchema(model, request, reply["warnings"]);
    const reader = new PartReader(model);
    const parts = (Array.isArray(reply["content"]) ? reply["content"] : []).map((part) => reader.whole(fieldsOf(part)));
    return merged([...parts, reader.end(reply)]);
  } catch (error) {
    throw o.signal.aborted ? o.signal.reason : sdkError(model, request, error, false);
  } finally {
    end();
  }
}

async function* streamed(model: AiSdkModel, request: ChatRequest, extra: Extra, o: ChatOptions): AsyncGenerator<ChatChunk> {
  let began = false;
  let pieces: ReadableStreamDefaultReader<unknown> | undefined;
  const { signal, end } = stopSignal(o.signal);
  try {
    const { stream } = fieldsOf(await model.doStream(callOptions(model, request, extra, signal) as never));
    if (!(stream instanceof ReadableStream)) throw protocolError(model, "a stream", stream);
    pieces = stream.getReader();
    const reader = new PartReader(model);
    for (;;) {
      const next = await pieces.read();
      o.signal.throwIfAborted();
      if (next.done) return;
      o.alive?.();
      const part = fieldsOf(next.value);
      if (part["type"] === "error") throw part["error"];
      if (part["type"] === "stream-start") refuseIgnoredSchema(model, request, part["warnings"]);
      const chunk = part["type"] === "finish" ? reader.end(part) : reader.piece(part);
      if (chunk === undefined) continue;
      began = true;
      yield chunk;
    }
  } catch (error) {
    throw o.signal.aborted ? o.signal.reason : sdkError(model, request, error, began);
  } finally {
    end();
    // Not awaited: a stream that hangs never answers.
    void pieces?.cancel().then(undefined, () => {});
  }
}

/** A model without a mode for JSON was never told the schema: the next format writes it into the prompt. */
function refuseIgnoredSchema(model: AiSdkModel, { schema }: ChatRequest, warnings: unknown): void {
  if (schema === undefined || schema.type === "text" || !Array.isArray(warnings)) return;
  const isIgnored = warnings
    .map(fieldsOf)
    .some(({ type, setting, feature }) => String(type).startsWith("unsupported") && /responseFormat/.test(String(setting ?? feature)));
  if (!isIgnored) return;
  throw modelError("MODEL_FORMAT_UNSUPPORTED", `Expected ${model.modelId} to enforce the reply format, but its provider ignores it.`, {
    data: { mayHaveRun: true },
  });
}

function callOptions(model: AiSdkModel, request: ChatRequest, extra: Extra, signal: AbortSignal): JsonObject {
  const { tools = [], toolChoice, schema, stop = [] } = request;
  const providerOptions = { ...extra, ...request.extra };
  return {
    prompt: promptOf(request.messages, model.specificationVersion),
    abortSignal: signal,
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(({ name, description, parameters }) => ({ type: "function", name, description, inputSchema: parameters })) }),
    ...(toolChoice === undefined
      ? {}
      : { toolChoice: typeof toolChoice === "string" ? { type: toolChoice } : { type: "tool", toolName: toolChoice.name } }),
    ...(schema === undefined || schema.type === "text"
      ? {}
      : { responseFormat: { type: "json", ...(schema.type === "schema" ? { name: schema.name, schema: schema.schema } : {}) } }),
    ...defined({ maxOutputTokens: request.maxTokens, temperature: request.temperature, seed: request.seed }),
    ...(stop.length === 0 ? {} : { stopSequences: [...stop] }),
    ...(Object.keys(providerOptions).length === 0 ? {} : { providerOptions }),
  } as unknown as JsonObject;
}

type Part = Record<string, unknown>;
interface PromptMessage {
  readonly role: ChatMessage["role"];
  readonly content: string | Part[];
}

/** Answers of tools stand together in one message. Pictures that tools return follow as a user's message. */
function promptOf(messages: readonly ChatMessage[], version: string): PromptMessage[] {
  const prompt: PromptMessage[] = [];
  const names = new Map<string, string>();
  let pictures: ImagePart[] = [];
  for (const [index, message] of messages.entries()) {
    const { role, content = "", images = [], toolCalls = [] } = message;
    for (const call of toolCalls) names.set(call.id, call.function.name);
    if (role === "system") prompt.push({ role, content });
    if (role === "user") prompt.push({ role, content: [...textPart(content), ...images.map((image) => picturePart(image, version))] });
    if (role === "assistant")
      prompt.push({ role, content: [...reasoningParts(message), ...textPart(content), ...toolCalls.map(callPart)] });
    if (role !== "tool") continue;
    const before = prompt.at(-1);
    const answers = before?.role === "tool" && Array.isArray(before.content) ? before.content : [];
    if (answers.length === 0) prompt.push({ role, content: answers });
    const toolCallId = message.toolCallId ?? "";
    const toolName = message.name ?? names.get(toolCallId) ?? "";
    answers.push({ type: "tool-result", toolCallId, toolName, output: { type: "text", value: content } });
    pictures.push(...images);
    if (pictures.length === 0 || messages[index + 1]?.role === "tool") continue;
    const shown = pictures.map((image) => picturePart(image, version));
    prompt.push({ role: "user", content: [...textPart("Pictures returned by the tools above:"), ...shown] });
    pictures = [];
  }
  return prompt;
}

function textPart(text: string): Part[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function picturePart(image: ImagePart, version: string): Part {
  if ("hash" in image) return { type: "text", text: partWords(image) };
  const source = "url" in image ? { type: "url", url: new URL(image.url) } : { type: "data", data: image.data };
  const data = version === "v4" ? source : "url" in image ? new URL(image.url) : image.data;
  if ("url" in image) return { type: "file", mediaType: "image/*", data };
  return { type: "file", mediaType: image.mediaType, data, ...defined({ filename: image.name }) };
}

function reasoningParts({ reasoning }: ChatMessage): readonly Part[] {
  const parts = reasoning?.parts?.[PARTS];
  return isList(parts) ? (parts as readonly unknown[]).filter((part): part is Part => isRecord(part)) : [];
}

function callPart({ id, function: { name, arguments: given }, extra }: ToolCall): Part {
  const parsed = parsedJson(given);
  const input = isRecord(parsed) ? parsed : { unreadable: given };
  return { type: "tool-call", toolCallId: id, toolName: name, input, ...(extra === undefined ? {} : { providerOptions: extra }) };
}

const FINISH: Readonly<Record<string, FinishReason>> = { length: "length", "content-filter": "content_filter", "tool-calls": "tool_calls" };

/** Reads the parts of one reply. It owns the count of calls and the thoughts under way. */
class PartReader {
  readonly #addsCache: boolean;
  #calls = 0;
  readonly #thoughts = new Map<string, { text: string; metadata: unknown }>();

  constructor({ provider, specificationVersion }: AiSdkModel) {
    this.#addsCache = specificationVersion === "v2" && /anthropic|bedrock/.test(provider);
  }

  whole(part: Fields): ChatChunk | undefined {
    if (part["type"] === "text") return { content: wordsOf(part["text"]) };
    if (part["type"] === "reasoning") return thought(wordsOf(part["text"]), part["providerMetadata"]);
    return this.#call(part);
  }

  /** A part of a stream. The pieces of a call are not read, because the whole call follows them. */
  piece(part: Fields): ChatChunk | undefined {
    const id = String(part["id"]);
    const open = this.#thoughts.get(id);
    switch (part["type"]) {
      case "text-delta":
        return { content: wordsOf(part["delta"]) };
      case "reasoning-start":
        this.#thoughts.set(id, { text: "", metadata: part["providerMetadata"] });
        return undefined;
      case "reasoning-delta":
        if (open !== undefined) open.text += wordsOf(part["delta"]);
        if (open !== undefined) open.metadata = part["providerMetadata"] ?? open.metadata;
        return undefined;
      case "reasoning-end":
        this.#thoughts.delete(id);
        return open && thought(open.text, part["providerMetadata"] ?? open.metadata);
      default:
        return this.#call(part);
    }
  }

  /** The end of a reply. A reason that is not known ends it as "stop". */
  end(reply: Fields): ChatChunk {
    const given = reply["finishReason"];
    const reason = String(isRecord(given) ? given["unified"] : given);
    if (reason === "error") throw modelError("MODEL_SERVER", "Expected an answer, but the provider ended it by an error.");
    if (reason === "interrupted") throw modelError("MODEL_CUT", "Expected a whole answer, but the provider interrupted it.");
    const usage = usageOf(reply["usage"], this.#addsCache);
    return { finishReason: this.#calls > 0 && reason !== "length" ? "tool_calls" : (FINISH[reason] ?? "stop"), ...(usage && { usage }) };
  }

  #call(part: Fields): ChatChunk | undefined {
    if (part["type"] !== "tool-call" || part["providerExecuted"] === true) return undefined;
    const { toolCallId, toolName, input, providerMetadata } = part;
    const given = isText(input) ? input : JSON.stringify(input ?? {});
    const extra = isRecord(providerMetadata) ? { extra: providerMetadata as JsonObject } : {};
    return { toolCalls: [{ index: this.#calls++, id: wordsOf(toolCallId), name: wordsOf(toolName), arguments: given, ...extra }] };
  }
}

/** The member of kept reasoning that has the parts of the AI SDK. */
const PARTS = "ai-sdk";

function thought(text: string, metadata: unknown): ChatChunk {
  const part: JsonObject = { type: "reasoning", text, ...(isRecord(metadata) ? { providerOptions: metadata as JsonObject } : {}) };
  return { reasoning: { ...(text === "" ? {} : { text }), parts: { [PARTS]: [part] } } };
}

/** Tokens as V3 and V4 report them, or V2, whose Anthropic models count cached input beside the input. */
function usageOf(value: unknown, addsCache: boolean): Usage | undefined {
  const told = fieldsOf(value);
  const [input, output] = [fieldsOf(told["inputTokens"]), fieldsOf(told["outputTokens"])];
  const cached = input["cacheRead"] ?? told["cachedInputTokens"];
  const fresh = input["total"] ?? told["inputTokens"];
  const written = output["total"] ?? told["outputTokens"];
  if (!isCount(fresh) || !isCount(written)) return undefined;
  const inputTokens = addsCache && isCount(cached) ? fresh + cached : fresh;
  const total = told["totalTokens"];
  const outputTokens = isCount(total) ? Math.max(written, total - inputTokens) : written;
  return { inputTokens, outputTokens, ...(isCount(cached) && cached > 0 && cached <= inputTokens ? { cachedTokens: cached } : {}) };
}

function merged(chunks: readonly (ChatChunk | undefined)[]): ChatChunk {
  const parts = chunks.filter((chunk) => chunk !== undefined);
  const toolCalls = parts.flatMap((chunk) => chunk.toolCalls ?? []);
  const thoughts = parts.flatMap((chunk) => (chunk.reasoning === undefined ? [] : [chunk.reasoning]));
  const text = thoughts.map((one) => one.text ?? "").join("");
  return {
    ...parts.at(-1),
    content: parts.map((chunk) => chunk.content ?? "").join(""),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(thoughts.length === 0
      ? {}
      : {
          reasoning: {
            ...(text === "" ? {} : { text }),
            parts: { [PARTS]: thoughts.flatMap((one) => (one.parts?.[PARTS] as readonly JsonObject[] | undefined) ?? []) },
          },
        }),
  };
}

/** Codes of the errors that the AI SDK throws before an answer or instead of one, by their names. */
const NAMED: Readonly<Record<string, ModelErrorCode>> = {
  AI_LoadAPIKeyError: "MODEL_AUTH",
  AI_LoadSettingError: "MODEL_AUTH",
  AI_NoSuchModelError: "MODEL_NOT_FOUND",
  AI_UnsupportedFunctionalityError: "MODEL_BAD_REQUEST",
  AI_InvalidPromptError: "MODEL_BAD_REQUEST",
  AI_EmptyResponseBodyError: "MODEL_EMPTY",
  AI_NoContentGeneratedError: "MODEL_EMPTY",
  AI_InvalidResponseDataError: "MODEL_PROTOCOL",
  AI_JSONParseError: "MODEL_PROTOCOL",
  AI_TypeValidationError: "MODEL_PROTOCOL",
};

function sdkError(model: AiSdkModel, request: ChatRequest, error: unknown, began: boolean): Error {
  const { name, message, statusCode, responseHeaders, responseBody, cause } = fieldsOf(error);
  if (isCount(statusCode) && statusCode >= 400) {
    const headers = new Headers(isRecord(responseHeaders) ? (responseHeaders as Record<string, string>) : {});
    const refused = new RefusedRequest(statusCode, headers, wordsOf(responseBody) || wordsOf(message));
    const hasSchema = request.schema !== undefined && request.schema.type !== "text";
    return requestError(refused, { model: model.modelId, mask: redact, now: systemClock.now(), began, hasSchema });
  }
  const code = NAMED[wordsOf(name)];
  if (code === undefined) return failureOf(model.modelId, name === "AI_APICallError" ? (cause ?? error) : error, { began });
  const came = redact(wordsOf(message));
  return modelError(code, `Expected an answer from ${model.modelId} of ${model.provider}, got: ${came}`, { data: { mayHaveRun: began } });
}

function protocolError(model: AiSdkModel, expected: string, came: unknown): Error {
  return modelError("MODEL_PROTOCOL", `Expected ${expected} from the provider of ${model.modelId}, got ${valueText(came)}.`);
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? (value as Fields) : {};
}

function wordsOf(value: unknown): string {
  return isText(value) ? value : "";
}
