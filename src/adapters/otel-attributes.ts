import type { ErrorRecord } from "../kernel/errors.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { StepEnded, StepStarted } from "../runtime/record/event.ts";
import { plainValue } from "../tool/plain-result.ts";
import { GEN_AI, OPERATIONS, TROUPE } from "./otel-names.ts";
import type { SpanValues, UsedTokens } from "./otel-spans.ts";

export interface SpanContent {
  readonly content: boolean;
  readonly provider: string;
}

export interface StepForm {
  readonly name: string;
  readonly isClient: boolean;
  readonly values: SpanValues;
}

export function dollars(micro: number): number {
  return micro / 1_000_000;
}

export function stepForm(
  started: StepStarted,
  { runId, role }: { readonly runId: string; readonly role: string },
  o: SpanContent,
): StepForm {
  const { kind, name, try: nth, reused } = started;
  const common = {
    [GEN_AI.conversationId]: runId,
    [GEN_AI.agentName]: role,
    [TROUPE.stepKind]: kind,
    [TROUPE.stepTry]: nth,
    [TROUPE.stepReused]: reused === undefined ? undefined : true,
  };
  const request = isRecord(started.request) ? started.request : {};
  const form = (operation: string, isClient: boolean, values: SpanValues): StepForm => ({
    name: kind === "memory" ? operation : `${operation} ${name}`,
    isClient,
    values: { ...common, [GEN_AI.operationName]: operation, ...values },
  });
  const asked = { [GEN_AI.providerName]: o.provider, [GEN_AI.requestModel]: started.model ?? name };
  switch (kind) {
    case "model":
      return form(OPERATIONS.chat, true, { ...asked, ...chatValues(request, o) });
    case "embedding":
      return form(OPERATIONS.embeddings, true, asked);
    case "tool": {
      const args = o.content && request["args"] !== undefined ? spanText(request["args"]) : undefined;
      return form(OPERATIONS.executeTool, false, {
        [GEN_AI.toolName]: name,
        [GEN_AI.toolType]: "function",
        [GEN_AI.toolCallArguments]: args,
      });
    }
    case "memory":
      return form(OPERATIONS.searchMemory, false, {});
    case "human": {
      const { question } = request;
      const text = o.content && typeof question === "string" ? spanText(question) : undefined;
      return { name: "wait_for_person", isClient: false, values: { ...common, [TROUPE.stepName]: name, [TROUPE.question]: text } };
    }
    default:
      return { name, isClient: false, values: { ...common, [TROUPE.stepName]: name } };
  }
}

function chatValues(request: Readonly<Record<string, unknown>>, { content }: SpanContent): SpanValues {
  return {
    [GEN_AI.requestMaxTokens]: numberIn(request["maxTokens"]),
    [GEN_AI.requestTemperature]: numberIn(request["temperature"]),
    [GEN_AI.requestSeed]: numberIn(request["seed"]),
    [GEN_AI.outputType]: request["schema"] === undefined ? "text" : "json",
    [GEN_AI.inputMessages]: content ? inputMessages(request["messages"]) : undefined,
  };
}

export function tokensOf({ usage }: StepEnded): (UsedTokens & { readonly isEstimated: boolean }) | undefined {
  if (!isRecord(usage)) return undefined;
  const [input, output] = [numberIn(usage["inputTokens"]), numberIn(usage["outputTokens"])];
  if (input === undefined || output === undefined) return undefined;
  return { input, output, cached: numberIn(usage["cachedTokens"]), isEstimated: usage["estimated"] === true };
}

export function answerValues(kind: string, ended: StepEnded, { content }: SpanContent): SpanValues {
  const { value, cost, retry, byDeadline } = ended;
  const tokens = tokensOf(ended);
  const has = content && value !== undefined;
  const reason = kind === "model" && isRecord(value) ? value["finishReason"] : undefined;
  return {
    [TROUPE.stepRetry]: retry,
    [TROUPE.answerByDeadline]: byDeadline,
    [TROUPE.costUsd]: cost === null || cost === 0 ? undefined : dollars(cost),
    [GEN_AI.usageInputTokens]: tokens?.input,
    [GEN_AI.usageOutputTokens]: tokens?.output,
    [GEN_AI.usageCacheReadInputTokens]: tokens?.cached,
    [TROUPE.usageEstimated]: tokens?.isEstimated === true ? true : undefined,
    [GEN_AI.responseFinishReasons]: typeof reason === "string" ? [reason] : undefined,
    [GEN_AI.outputMessages]: has && kind === "model" ? outputMessages(value) : undefined,
    [GEN_AI.toolCallResult]: has && kind === "tool" ? spanText(isRecord(value) ? value["result"] : value) : undefined,
    [TROUPE.answer]: has && kind === "human" ? spanText(value) : undefined,
  };
}

export function failureOf(kind: string, { ok, error, value }: StepEnded): string | undefined {
  if (!ok) return error?.code;
  const outcome = kind === "tool" && isRecord(value) ? value["outcome"] : undefined;
  return typeof outcome === "string" && outcome !== "ok" ? `tool_${outcome}` : undefined;
}

/** The description of a failure, only with content: it may repeat a model's text. */
export function failureText(error: ErrorRecord | undefined, { content }: SpanContent): string | undefined {
  return content && error !== undefined ? spanText(error.message) : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/* Backends refuse large spans, so every string is cut. */

const TEXT_LIMIT = 8_000;
const MESSAGES_LIMIT = 64_000;

function spanText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(plainValue(value, TEXT_LIMIT).value);
  if (text.length <= TEXT_LIMIT) return text;
  return `${text.slice(0, TEXT_LIMIT).replace(/[\uD800-\uDBFF]$/, "")}[${text.length - TEXT_LIMIT} more characters]`;
}

function inputMessages(messages: unknown): string | undefined {
  if (!Array.isArray(messages)) return undefined;
  const last: string[] = [];
  let size = 0;
  for (const message of (messages as readonly unknown[]).toReversed()) {
    if (size >= MESSAGES_LIMIT) break;
    if (!isRecord(message)) continue;
    const text = JSON.stringify({ role: message["role"], parts: partsOf(message) });
    size += text.length;
    last.unshift(text);
  }
  return `[${last.join(",")}]`;
}

function outputMessages(answer: unknown): string | undefined {
  if (!isRecord(answer)) return undefined;
  return JSON.stringify([{ role: "assistant", parts: partsOf(answer), finish_reason: answer["finishReason"] }]);
}

function partsOf({ role, content, toolCalls, toolCallId }: { readonly [key: string]: unknown }): readonly object[] {
  if (role === "tool") return [{ type: "tool_call_response", id: String(toolCallId), result: spanText(content) }];
  const calls = (Array.isArray(toolCalls) ? (toolCalls as readonly unknown[]) : []).flatMap(callPart);
  return typeof content === "string" && content !== "" ? [{ type: "text", content: spanText(content) }, ...calls] : calls;
}

function callPart(call: unknown): readonly object[] {
  const called = isRecord(call) ? call["function"] : undefined;
  if (!isRecord(call) || !isRecord(called)) return [];
  return [{ type: "tool_call", id: String(call["id"]), name: String(called["name"]), arguments: spanText(called["arguments"]) }];
}
