import type { ErrorRecord } from "../kernel/errors.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { StepEnded, StepStarted } from "../runtime/record/event.ts";
import { inputMessages, outputMessages, spanText } from "./otel-content.ts";
import type { SpanValues } from "./span-target.ts";

/** What spans tell beyond the record. */
export interface SpanWords {
  /** True where texts of messages, prompts, answers, tools and errors are told too. */
  readonly content: boolean;
  /** The value of `gen_ai.provider.name`. */
  readonly provider: string;
}

/** The form of a step in a trace. */
export interface StepForm {
  readonly name: string;
  readonly isClient: boolean;
  /** The value of `gen_ai.operation.name`; undefined for a step that the conventions do not know. */
  readonly operation: "chat" | "embeddings" | "execute_tool" | "search_memory" | undefined;
  readonly values: SpanValues;
}

/** Micro-dollars of a dollar. */
const MICRO = 1_000_000;

/** Micro-dollars as dollars. */
export function dollars(micro: number): number {
  return micro / MICRO;
}

/** The name, the kind and the attributes with which the span of a step begins. */
export function stepForm(started: StepStarted, words: SpanWords): StepForm {
  const { kind, name, try: nth, reused } = started;
  const common = { "troupe.step.kind": kind, "troupe.step.try": nth, "troupe.step.reused": reused === undefined ? undefined : true };
  switch (kind) {
    case "model":
      return form(`chat ${name}`, "chat", true, { ...common, ...modelValues(started, words), ...chatValues(started.request, words) });
    case "embedding":
      return form(`embeddings ${name}`, "embeddings", true, { ...common, ...modelValues(started, words) });
    case "tool":
      return form(`execute_tool ${name}`, "execute_tool", false, { ...common, ...toolValues(started, words) });
    case "memory":
      return form("search_memory", "search_memory", false, common);
    case "human":
      return form("wait_for_person", undefined, false, { ...common, "troupe.step.name": name, ...questionValues(started.request, words) });
    default:
      return form(name, undefined, false, { ...common, "troupe.step.name": name });
  }
}

function form(name: string, operation: StepForm["operation"], isClient: boolean, values: SpanValues): StepForm {
  return { name, isClient, operation, values: operation === undefined ? values : { "gen_ai.operation.name": operation, ...values } };
}

function modelValues({ name }: StepStarted, { provider }: SpanWords): SpanValues {
  return { "gen_ai.provider.name": provider, "gen_ai.request.model": name };
}

function chatValues(request: unknown, { content }: SpanWords): SpanValues {
  if (!isRecord(request)) return {};
  const { maxTokens, temperature, seed, schema, messages } = request;
  return {
    "gen_ai.request.max_tokens": numberIn(maxTokens),
    "gen_ai.request.temperature": numberIn(temperature),
    "gen_ai.request.seed": numberIn(seed),
    "gen_ai.output.type": schema === undefined ? "text" : "json",
    "gen_ai.input.messages": content ? inputMessages(messages) : undefined,
  };
}

function toolValues({ name, request }: StepStarted, { content }: SpanWords): SpanValues {
  const args = isRecord(request) ? request["args"] : undefined;
  return {
    "gen_ai.tool.name": name,
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.arguments": content && args !== undefined ? spanText(args) : undefined,
  };
}

function questionValues(request: unknown, { content }: SpanWords): SpanValues {
  const question = isRecord(request) ? request["question"] : undefined;
  return { "troupe.question": content && typeof question === "string" ? spanText(question) : undefined };
}

/** The tokens of a try of a model call. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cached: number | undefined;
  readonly isEstimated: boolean;
}

/** Undefined where the record has none. */
export function tokensOf({ usage }: StepEnded): TokenCounts | undefined {
  if (!isRecord(usage)) return undefined;
  const [input, output] = [numberIn(usage["inputTokens"]), numberIn(usage["outputTokens"])];
  if (input === undefined || output === undefined) return undefined;
  return { input, output, cached: numberIn(usage["cachedTokens"]), isEstimated: usage["estimated"] === true };
}

/** The attributes with which the span of a step ends. */
export function answerValues(kind: string, ended: StepEnded, words: SpanWords): SpanValues {
  const { value, cost, retry } = ended;
  const tokens = tokensOf(ended);
  return {
    "troupe.step.retry": retry,
    "troupe.cost.usd": cost === null || cost === 0 ? undefined : dollars(cost),
    "gen_ai.usage.input_tokens": tokens?.input,
    "gen_ai.usage.output_tokens": tokens?.output,
    "gen_ai.usage.cache_read.input_tokens": tokens?.cached,
    "troupe.usage.estimated": tokens?.isEstimated === true ? true : undefined,
    ...(value === undefined ? {} : valueValues(kind, value, words)),
  };
}

function valueValues(kind: string, value: unknown, { content }: SpanWords): SpanValues {
  switch (kind) {
    case "model": {
      const reason = isRecord(value) ? value["finishReason"] : undefined;
      return {
        "gen_ai.response.finish_reasons": typeof reason === "string" ? [reason] : undefined,
        "gen_ai.output.messages": content ? outputMessages(value) : undefined,
      };
    }
    case "tool":
      return { "gen_ai.tool.call.result": content ? spanText(isRecord(value) ? value["result"] : value) : undefined };
    case "human":
      return { "troupe.answer": content ? spanText(value) : undefined };
    default:
      return {};
  }
}

/** The `error.type` of a step that has ended; undefined for a good one. A tool tells its failure in its answer. */
export function failureOf(kind: string, { ok, error, value }: StepEnded): string | undefined {
  if (!ok) return error?.code;
  const outcome = kind === "tool" && isRecord(value) ? value["outcome"] : undefined;
  return typeof outcome === "string" && outcome !== "ok" ? `tool_${outcome}` : undefined;
}

/** The description of a failure: its words only where content is told, because they may repeat a model's text. */
export function failureText({ message }: ErrorRecord, { content }: SpanWords): string | undefined {
  return content ? spanText(message) : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
