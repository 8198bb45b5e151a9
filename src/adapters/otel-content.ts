import { isRecord } from "../kernel/value-kind.ts";
import { plainValue } from "../tool/plain-result.ts";

/*
 * Texts of a run as attributes of spans, in the JSON that the GenAI conventions give for messages. Backends refuse large spans, so every text
 * is cut.
 */

/** Most characters of one text in a span. */
const TEXT_LIMIT = 8_000;
/** Most characters of all messages of one attribute, near enough. */
const MESSAGES_LIMIT = 64_000;

/** A text, or a value as JSON, cut to size. */
export function spanText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(plainValue(value, TEXT_LIMIT).value);
  if (text.length <= TEXT_LIMIT) return text;
  return `${text.slice(0, TEXT_LIMIT).replace(/[\uD800-\uDBFF]$/, "")}[${text.length - TEXT_LIMIT} more characters]`;
}

/** A part of a message in the conventions' form. */
type Part =
  | { readonly type: "text"; readonly content: string }
  | { readonly type: "tool_call"; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly type: "tool_call_response"; readonly id: string; readonly result: string };

/** The messages of a request as `gen_ai.input.messages`: the last ones, as many as have room. */
export function inputMessages(messages: unknown): string | undefined {
  if (!Array.isArray(messages)) return undefined;
  const told: string[] = [];
  let size = 0;
  for (let place = messages.length - 1; place >= 0 && size < MESSAGES_LIMIT; place -= 1) {
    const message: unknown = messages[place];
    if (!isRecord(message)) continue;
    const text = JSON.stringify({ role: message["role"], parts: partsOf(message) });
    size += text.length;
    told.unshift(text);
  }
  return `[${told.join(",")}]`;
}

/** The answer of a model as `gen_ai.output.messages`. */
export function outputMessages(answer: unknown): string | undefined {
  if (!isRecord(answer)) return undefined;
  return JSON.stringify([{ role: "assistant", parts: partsOf(answer), finish_reason: answer["finishReason"] }]);
}

function partsOf({ role, content, toolCalls, toolCallId }: { readonly [key: string]: unknown }): readonly Part[] {
  if (role === "tool") return [{ type: "tool_call_response", id: String(toolCallId), result: spanText(content) }];
  const calls = (Array.isArray(toolCalls) ? (toolCalls as readonly unknown[]) : []).flatMap(callPart);
  return typeof content === "string" && content !== "" ? [{ type: "text", content: spanText(content) }, ...calls] : calls;
}

function callPart(call: unknown): readonly Part[] {
  const called = isRecord(call) ? call["function"] : undefined;
  if (!isRecord(call) || !isRecord(called)) return [];
  return [{ type: "tool_call", id: String(call["id"]), name: String(called["name"]), arguments: spanText(called["arguments"]) }];
}
