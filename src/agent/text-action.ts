import { isRecord } from "../kernel/value-kind.ts";
import type { Json } from "../kernel/json.ts";
import type { ChatMessage, ToolCall } from "../model/chat-message.ts";
import { findJson } from "../model/json-in-text.ts";
import { withoutThoughts } from "../model/thoughts.ts";
import { readArguments } from "../tool/call-arguments.ts";
import type { ToolCollection } from "../tool/tool-collection.ts";
import { callsIn, functionCalls, markedCalls, NAME_KEYS } from "./written-calls.ts";

/** Calls, none (the text is an answer), or calls that cannot be read. */
export type TextAction =
  | { readonly kind: "calls"; readonly calls: readonly ToolCall[] }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "malformed"; readonly why: string };

export interface TextOrigin {
  readonly tools: ToolCollection;
  readonly messages: readonly ChatMessage[];
}

const LOOKS_LIKE_ACTION = new RegExp(`"(${NAME_KEYS.join("|")})"\\s*:`);
const SHOWN = 200;

export function actionInstructions(tools: string): string {
  return [
    `You can use these tools, told as JSON:\n${tools}`,
    'To use one, answer with one JSON object and nothing after it: {"name": "<tool>", "args": {...}}. You are then told what came of it.',
    "When you know the answer, give it as plain text without such an object.",
  ].join("\n\n");
}

/** Only the first action counts, or a whole array: models make up the text after it. JSON of no tool, or of the request, is an answer. */
export function readTextAction(text: string, origin: TextOrigin): TextAction {
  const isTool = (name: string): boolean => origin.tools.find(name) !== undefined;
  const marked = writtenAction(text, origin);
  if (marked.kind === "calls") return marked;
  const { values, broken } = findJson(text);
  const found = values.toSorted((a, b) => a.start - b.start);
  for (const { value, start, end } of found) {
    const calls = callsIn(value, isTool);
    if (calls.length > 0 && !isQuoted(text.slice(start, end), origin)) return { kind: "calls", calls };
  }
  if (broken !== undefined && LOOKS_LIKE_ACTION.test(text.slice(broken.start, broken.end))) {
    const near = text.slice(Math.max(0, broken.at - SHOWN / 2), broken.at + SHOWN / 2);
    return { kind: "malformed", why: `it is ${broken.reason} JSON near ${JSON.stringify(near)}` };
  }
  return { kind: "answer", text: answerIn(found.map(({ value }) => value)) ?? text };
}

/**
 * Reads an action that a model wrote as text though it was given tools: it was not made for tools, or its server does not know its marks.
 *
 * WrittenAction.W1 a model that has called natively does so again: its marks are no call. WrittenAction.W2 marks in code and in quotations
 * are text ({@link markedCalls}). WrittenAction.W3 so are marks that a message of the request has: the model quotes a page, a file or a
 * result. WrittenAction.W4 each call names an existing tool, and its arguments fit. WrittenAction.W5 other marks are no answer.
 */
export function writtenAction(text: string, origin: TextOrigin): TextAction {
  const answer: TextAction = { kind: "answer", text };
  const said = (withoutThoughts(text) || text).trim();
  const marked = markedCalls(said);
  if (marked !== undefined) {
    if (marked.marks.some((mark) => isQuoted(mark, origin))) return answer;
    if (isNative(origin)) return { kind: "malformed", why: "a call that is written as text is not made. Call the tool itself" };
    if (marked.left !== "") return { kind: "malformed", why: "there are words around it, or it is in no known form" };
    return marked.calls.length === 0 ? { kind: "malformed", why: "it names no tool" } : fitting(marked.calls, origin);
  }
  const calls = wholeCalls(said, origin);
  if (calls.length === 0 || isQuoted(said, origin)) return answer;
  if (isNative(origin)) return { kind: "malformed", why: "a call that is written as text is not made. Call the tool itself" };
  return { kind: "calls", calls };
}

function isNative({ messages }: TextOrigin): boolean {
  return messages.some(({ role, toolCalls = [] }) => role === "assistant" && toolCalls.length > 0);
}

/** Finds the marks in a page also if it has other spaces, entities, escapes or invisible characters in them. */
function isQuoted(marks: string, { messages }: TextOrigin): boolean {
  const sought = squashed(marks);
  return messages.some(({ role, content = "" }) => role !== "assistant" && squashed(content).includes(sought));
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  vert: "|",
  lbrack: "[",
  rbrack: "]",
};

function squashed(text: string): string {
  return text
    .replace(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|([a-z]{2,6}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
      return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex ?? "0", 16) : Math.min(Number(decimal), 0x10_ffff));
    })
    .replace(/\\u00([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .normalize("NFKC")
    .replace(/\\+[nrt]|[\s\\\p{Cf}\p{Cc}]+/gu, "")
    .replaceAll("|DSML|", "")
    .replaceAll("▁", "_")
    .toLowerCase();
}

function fitting(calls: readonly ToolCall[], { tools }: TextOrigin): TextAction {
  for (const { function: wanted } of calls) {
    const tool = tools.find(wanted.name);
    if (tool === undefined) return { kind: "malformed", why: `there is no tool ${JSON.stringify(wanted.name.slice(0, SHOWN))}` };
    const read = readArguments(wanted.arguments, tool);
    if (!read.ok) return { kind: "malformed", why: read.why };
  }
  return { kind: "calls", calls };
}

function wholeCalls(text: string, { tools }: TextOrigin): readonly ToolCall[] {
  const isTool = (name: string): boolean => tools.find(name) !== undefined;
  const bare = text
    .trim()
    .replace(/^```(?:json|tool_code|tool_call|python)?\s*/, "")
    .replace(/```$/, "")
    .trimEnd()
    .replace(/^print\((.*)\)$/s, "$1");
  const [only, ...others] = /^[[{]/.test(bare) && /[\]}]$/.test(bare) ? findJson(bare).values : [];
  const isWhole = only?.start === 0 && only.end === bare.length && others.length === 0;
  const calls = isWhole ? callsIn(only.value, isTool) : [];
  const all = calls.length > 0 ? calls : functionCalls(bare);
  return all.every((call) => isTool(call.function.name)) ? all : [];
}

/** For a model that wraps its answer in JSON too. */
function answerIn(values: readonly Json[]): string | undefined {
  const [only, ...others] = values;
  if (only === undefined || others.length > 0 || !isRecord(only)) return undefined;
  const { answer, final_answer: final } = only as { readonly answer?: Json; readonly final_answer?: Json };
  const said = final ?? answer;
  return Object.keys(only).length === 1 && typeof said === "string" ? said : undefined;
}
