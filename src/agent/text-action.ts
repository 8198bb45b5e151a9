import { isRecord } from "../kernel/value-kind.ts";
import type { Json } from "../kernel/json.ts";
import type { ToolCall } from "../model/chat-message.ts";
import { findJson } from "../model/json-in-text.ts";
import { withoutThoughts } from "../model/thoughts.ts";

/** Calls, none (the text is an answer), or calls that cannot be read. */
export type TextAction =
  | { readonly kind: "calls"; readonly calls: readonly ToolCall[] }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "malformed"; readonly why: string };

/** The first key of each is the one in the instructions. */
const NAME_KEYS = ["name", "tool", "action", "tool_name", "function"];
const ARGS_KEYS = ["args", "arguments", "parameters", "input", "action_input", "tool_input"];
const LOOKS_LIKE_ACTION = new RegExp(`"(${NAME_KEYS.join("|")})"\\s*:`);
const SHOWN = 200;

/** For a model without native tool calls. */
export function actionInstructions(tools: string): string {
  return [
    `You can use these tools, told as JSON:\n${tools}`,
    'To use one, answer with one JSON object and nothing after it: {"name": "<tool>", "args": {...}}. You are then told what came of it.',
    "When you know the answer, give it as plain text without such an object.",
  ].join("\n\n");
}

/**
 * Reads an action that is JSON in text: bare, fenced or with prose around it. Only the first action counts, or a whole array: models make
 * up the text after their action. JSON that names no tool is part of an answer.
 *
 * @param isTool true for the name of a tool
 */
export function readTextAction(text: string, isTool: (name: string) => boolean): TextAction {
  const { values, broken } = findJson(text);
  const found = values.toSorted((a, b) => a.start - b.start);
  for (const { value } of found) {
    const calls = callsIn(value, isTool);
    if (calls.length > 0) return { kind: "calls", calls };
  }
  if (broken !== undefined && LOOKS_LIKE_ACTION.test(text.slice(broken.start, broken.end))) {
    const near = text.slice(Math.max(0, broken.at - SHOWN / 2), broken.at + SHOWN / 2);
    return { kind: "malformed", why: `it is ${broken.reason} JSON near ${JSON.stringify(near)}` };
  }
  return { kind: "answer", text: answerIn(found.map(({ value }) => value)) ?? text };
}

/** Servers remove these marks only for models they know. */
const MARKED = /<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g;

/**
 * Reads an action that is the whole text, fence, marks and thoughts aside, and names an existing tool: models that were not made for tools
 * write it, and models whose server does not know their marks. An action in marks with words around it may be a quotation: it does not run,
 * and is no answer either.
 */
export function wholeTextAction(text: string, isTool: (name: string) => boolean): TextAction {
  const said = withoutThoughts(text).trim();
  const marked = [...said.matchAll(MARKED)].flatMap(([, inside = ""]) => wholeCalls(inside, isTool));
  if (marked.length > 0 && said.replace(MARKED, "").trim() !== "") return { kind: "malformed", why: "there are words around it" };
  const calls = marked.length > 0 ? marked : wholeCalls(said, isTool);
  if (calls.length === 0) return { kind: "answer", text };
  return { kind: "calls", calls: calls.map((call, index) => ({ ...call, id: `text_${index}` })) };
}

function wholeCalls(text: string, isTool: (name: string) => boolean): readonly ToolCall[] {
  const bare = text
    .trim()
    .replace(/^```(?:json)?\s*/, "")
    .replace(/\s*```$/, "");
  if (!/^[[{]/.test(bare) || !/[\]}]$/.test(bare)) return [];
  const [only, ...others] = findJson(bare).values;
  if (only === undefined || others.length > 0 || only.start !== 0 || only.end !== bare.length) return [];
  const calls = callsIn(only.value, isTool);
  return calls.every((call) => isTool(call.function.name)) ? calls : [];
}

function callsIn(value: Json, isTool: (name: string) => boolean): ToolCall[] {
  const items = Array.isArray(value) ? (value as readonly Json[]) : [value];
  const calls = items.map((item, index) => callOf(item, index, isTool));
  return calls.every((call) => call !== undefined) ? calls : [];
}

function callOf(item: Json, index: number, isTool: (name: string) => boolean): ToolCall | undefined {
  if (!isRecord(item)) return undefined;
  const name = NAME_KEYS.map((key) => item[key]).find((one) => typeof one === "string");
  const argsKey = ARGS_KEYS.find((key) => Object.hasOwn(item, key));
  if (typeof name !== "string" || (argsKey === undefined && !isTool(name))) return undefined;
  const args = argsKey === undefined ? {} : item[argsKey];
  const written = typeof args === "string" ? args : JSON.stringify(args ?? {});
  return { id: `text_${index}`, type: "function", function: { name, arguments: written } };
}

/** For a model that wraps its answer in JSON too. */
function answerIn(values: readonly Json[]): string | undefined {
  const [only, ...others] = values;
  if (only === undefined || others.length > 0 || !isRecord(only)) return undefined;
  const { answer, final_answer: final } = only as { readonly answer?: Json; readonly final_answer?: Json };
  const said = final ?? answer;
  return Object.keys(only).length === 1 && typeof said === "string" ? said : undefined;
}
