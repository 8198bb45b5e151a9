import type { ErrorRecord } from "../kernel/errors.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { StepEnded, StepStarted } from "../runtime/record/event.ts";
import { inputMessages, outputMessages, spanText } from "./otel-content.ts";
import { GEN_AI, OPERATIONS, TROUPE } from "./otel-names.ts";
import type { SpanValues, UsedTokens } from "./span-target.ts";

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
  readonly values: SpanValues;
}

/** The activation of a step. */
export interface StepPlace {
  readonly runId: string;
  readonly role: string;
}

/** Micro-dollars of a dollar. */
const MICRO = 1_000_000;

/** Micro-dollars as dollars. */
export function dollars(micro: number): number {
  return micro / MICRO;
}

/** The name, the kind and the attributes with which the span of a step begins. */
export function stepForm(started: StepStarted, place: StepPlace, words: SpanWords): StepForm {
  const { kind, name } = started;
  switch (kind) {
    case "model":
      return { name: `${OPERATIONS.chat} ${name}`, isClient: true, values: chatValues(started, place, words) };
    case "embedding":
      return { name: `${OPERATIONS.embeddings} ${name}`, isClient: true, values: embeddingValues(started, place, words) };
    case "tool":
      return { name: `${OPERATIONS.executeTool} ${name}`, isClient: false, values: toolValues(started, place, words) };
    case "memory":
      return {
        name: OPERATIONS.searchMemory,
        isClient: false,
        values: { ...common(started, place), [GEN_AI.operationName]: OPERATIONS.searchMemory },
      };
    case "human":
      return { name: "wait_for_person", isClient: false, values: questionValues(started, place, words) };
    default:
      return { name, isClient: false, values: { ...common(started, place), [TROUPE.stepName]: name } };
  }
}

function common({ kind, try: nth, reused }: StepStarted, { runId, role }: StepPlace): SpanValues {
  return {
    [GEN_AI.conversationId]: runId,
    [GEN_AI.agentName]: role,
    [TROUPE.stepKind]: kind,
    [TROUPE.stepTry]: nth,
    [TROUPE.stepReused]: reused === undefined ? undefined : true,
  };
}

function chatValues(started: StepStarted, place: StepPlace, { content, provider }: SpanWords): SpanValues {
  const request = isRecord(started.request) ? started.request : nothing;
  return {
    ...common(started, place),
    [GEN_AI.operationName]: OPERATIONS.chat,
    [GEN_AI.providerName]: provider,
    [GEN_AI.requestModel]: started.name,
    [GEN_AI.requestMaxTokens]: numberIn(request["maxTokens"]),
    [GEN_AI.requestTemperature]: numberIn(request["temperature"]),
    [GEN_AI.requestSeed]: numberIn(request["seed"]),
    [GEN_AI.outputType]: request["schema"] === undefined ? "text" : "json",
    [GEN_AI.inputMessages]: content ? inputMessages(request["messages"]) : undefined,
  };
}

const nothing: Readonly<Record<string, unknown>> = Object.freeze({});

function embeddingValues(started: StepStarted, place: StepPlace, { provider }: SpanWords): SpanValues {
  return {
    ...common(started, place),
    [GEN_AI.operationName]: OPERATIONS.embeddings,
    [GEN_AI.providerName]: provider,
    [GEN_AI.requestModel]: started.name,
  };
}

function toolValues(started: StepStarted, place: StepPlace, { content }: SpanWords): SpanValues {
  const args = isRecord(started.request) ? started.request["args"] : undefined;
  return {
    ...common(started, place),
    [GEN_AI.operationName]: OPERATIONS.executeTool,
    [GEN_AI.toolName]: started.name,
    [GEN_AI.toolType]: "function",
    [GEN_AI.toolCallArguments]: content && args !== undefined ? spanText(args) : undefined,
  };
}

function questionValues(started: StepStarted, place: StepPlace, { content }: SpanWords): SpanValues {
  const question = isRecord(started.request) ? started.request["question"] : undefined;
  return {
    ...common(started, place),
    [TROUPE.stepName]: started.name,
    [TROUPE.question]: content && typeof question === "string" ? spanText(question) : undefined,
  };
}

/** The tokens of a try of a model call. */
export interface TokenCounts extends UsedTokens {
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
  const { value, cost, retry, byDeadline } = ended;
  const tokens = tokensOf(ended);
  return {
    [TROUPE.stepRetry]: retry,
    [TROUPE.answerByDeadline]: byDeadline,
    [TROUPE.costUsd]: cost === null || cost === 0 ? undefined : dollars(cost),
    [GEN_AI.usageInputTokens]: tokens?.input,
    [GEN_AI.usageOutputTokens]: tokens?.output,
    [GEN_AI.usageCacheReadInputTokens]: tokens?.cached,
    [TROUPE.usageEstimated]: tokens?.isEstimated === true ? true : undefined,
    ...(value === undefined ? {} : valueValues(kind, value, words)),
  };
}

function valueValues(kind: string, value: unknown, { content }: SpanWords): SpanValues {
  switch (kind) {
    case "model": {
      const reason = isRecord(value) ? value["finishReason"] : undefined;
      return {
        [GEN_AI.responseFinishReasons]: typeof reason === "string" ? [reason] : undefined,
        [GEN_AI.outputMessages]: content ? outputMessages(value) : undefined,
      };
    }
    case "tool":
      return { [GEN_AI.toolCallResult]: content ? spanText(isRecord(value) ? value["result"] : value) : undefined };
    case "human":
      return { [TROUPE.answer]: content ? spanText(value) : undefined };
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
