import type { ErrorRecord } from "../kernel/errors.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { StepEnded, StepStarted } from "../runtime/record/event.ts";
import { plainValue } from "../tool/plain-result.ts";
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
    "gen_ai.conversation.id": runId,
    "gen_ai.agent.name": role,
    "troupe.step.kind": kind,
    "troupe.step.try": nth,
    "troupe.step.reused": reused === undefined ? undefined : true,
  };
  const request = isRecord(started.request) ? started.request : {};
  const form = (operation: string, isClient: boolean, values: SpanValues): StepForm => ({
    name: kind === "memory" ? operation : `${operation} ${name}`,
    isClient,
    values: { ...common, "gen_ai.operation.name": operation, ...values },
  });
  const asked = { "gen_ai.provider.name": o.provider, "gen_ai.request.model": started.model ?? name };
  switch (kind) {
    case "model":
      return form("chat", true, { ...asked, ...chatValues(request, o) });
    case "embedding":
      return form("embeddings", true, asked);
    case "tool": {
      const args = o.content && request["args"] !== undefined ? spanText(request["args"]) : undefined;
      return form("execute_tool", false, {
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": args,
      });
    }
    case "memory":
      return form("search_memory", false, {});
    case "human": {
      const { question } = request;
      const text = o.content && typeof question === "string" ? spanText(question) : undefined;
      return { name: "wait_for_person", isClient: false, values: { ...common, "troupe.step.name": name, "troupe.question": text } };
    }
    default:
      return { name, isClient: false, values: { ...common, "troupe.step.name": name } };
  }
}

function chatValues(request: Readonly<Record<string, unknown>>, { content }: SpanContent): SpanValues {
  return {
    "gen_ai.request.max_tokens": numberIn(request["maxTokens"]),
    "gen_ai.request.temperature": numberIn(request["temperature"]),
    "gen_ai.request.seed": numberIn(request["seed"]),
    "gen_ai.output.type": request["schema"] === undefined ? "text" : "json",
    "gen_ai.input.messages": content ? inputMessages(request["messages"]) : undefined,
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
    "troupe.step.retry": retry,
    "troupe.answer.by_deadline": byDeadline,
    "troupe.cost.usd": cost === null || cost === 0 ? undefined : dollars(cost),
    "gen_ai.usage.input_tokens": tokens?.input,
    "gen_ai.usage.output_tokens": tokens?.output,
    "gen_ai.usage.cache_read.input_tokens": tokens?.cached,
    "troupe.usage.estimated": tokens?.isEstimated === true ? true : undefined,
    "gen_ai.response.finish_reasons": typeof reason === "string" ? [reason] : undefined,
    "gen_ai.output.messages": has && kind === "model" ? outputMessages(value) : undefined,
    "gen_ai.tool.call.result": has && kind === "tool" ? spanText(isRecord(value) ? value["result"] : value) : undefined,
    "troupe.answer": has && kind === "human" ? spanText(value) : undefined,
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
