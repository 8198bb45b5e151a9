import type { Json, JsonObject } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { ToolCall } from "../model/chat-message.ts";
import { findJson } from "../model/json-in-text.ts";
import { readValue } from "../model/json-reader.ts";

/*
 * Calls of tools that models write as text when their server has no parser for their marks. The forms are those of Hermes, Qwen, Qwen
 * Coder, Llama, Mistral, DeepSeek, Kimi, GLM, gpt-oss, MiniMax, Granite, Phi, Command-R, Seed, Nemotron and Gemma, and OpenAI's own.
 */

const OPENINGS = [
  "<(?:[a-z]+[:_])?(?:tool_calls?|function_?calls?|tool_code)>",
  "<tools>(?=\\s*[[{])",
  "<TOOLCALL>",
  "<\\|(?:tool|function)_calls?(?:_section)?(?:_begin|_start)?\\|?>",
  "<\\|tools_prefix\\|>",
  "✿FUNCTION✿:",
  "<(?:[a-z]+:)?(?:function|invoke|tool_call)(?:=| name=|\\()",
  "<\\|python_(?:tag|start)\\|>",
  "\\[TOOL_CALLS\\]",
  "(?:<\\|start\\|>\\s*assistant\\s*)?(?:<\\|channel\\|>\\s*(?:commentary|analysis)\\s+)?to=functions\\.",
  "<\\|(?:START_ACTION|action_start)\\|>",
  "functools(?=\\s*\\[)",
  "<start_function_call>",
  "Action:(?=\\s*```|[^\\n]+\\n\\s*Action Input:)",
].join("|");
/** Code and quoted lines, in which marks are text, and marks. The second group is a mark. */
const CODE_OR_MARK = new RegExp(
  `(?:^|\\n) {0,3}(\`{3,}|~{3,})[^]*?(?:\\n {0,3}\\1|$)|\`[^\`\\n]+\`|(?:^|\\n)(?:>|    |\\t)[^\\n]*|(${OPENINGS})`,
  "g",
);
const ANY_MARK = new RegExp(OPENINGS, "g");
/** Before a mark in its line: a quotation begins, in marks or in words. */
const QUOTES_NEXT = /["'“‘«„(:]\s*$/;
const NOISE =
  /(?:[\s,;]+|function\s*<\|tool_sep\|>(?=\s*<)|✿(?:FUNCTION✿:|RESULT✿)|```(?:json|python|tool_code)?|<\/?(?:[a-z]+[:_])?(?:tool_calls?|function_?calls?|function|invoke|parameters?|tools|tool_code|TOOLCALL)>|<\|?\/?(?:tool_calls?(?:_section)?(?:_begin|_start|_end)?|function_call|tool_response|python_tag|python_start|python_end|call|end|start|return|im_end|eot_id|eom_id|endoftext|end_of_sentence|START_ACTION|END_ACTION|action_start|action_end|plugin)\|?>|\[\/?TOOL_CALLS\]|<(?:start|end)_function_call>|functools(?=\s*\[)|Action:)/y;
const NAME = "[\"']?([\\w.:/-]+)[\"']?";
/** `<function=add>`, `<invoke name="add">`; members or JSON follow. */
const ELEMENT = new RegExp(`<(?:[a-z]+:)?(?:function|invoke|tool_call)(?:=|\\s+name=|\\()${NAME}\\)?\\s*>?`, "y");
const PARAMETER =
  /\s*<(?:[a-z]+:)?(?:parameter|param|arg)(?:=|\s+name=)["']?([^"'>\n]+)["']?[^>\n]*>([^]*?)(?:<\/(?:[a-z]+:)?(?:parameter|param|arg)>|(?=<(?:parameter|param|arg)[= ])|(?=<\/(?:[a-z]+:)?(?:function|invoke|tool_call))|$)/y;
const PAIR = /\s*<arg_key>([^]*?)<\/arg_key>\s*<arg_value>([^]*?)(?:<\/arg_value>|$)/y;
const CHANNEL = new RegExp(
  `(?:<\\|start\\|>\\s*assistant\\s*)?(?:<\\|channel\\|>\\s*(?:commentary|analysis)\\s*)?to=${NAME}[^<{]*(?:<\\|(?:channel|constrain)\\|>[^<{]*)*<\\|message\\|>`,
  "y",
);
/** A name, a mark or a fence, then JSON or members. */
const NAMED = new RegExp(
  `(?:function\\s*<\\|tool_sep\\|>|call:)?\\s*${NAME}\\s*(?:\\[CALL_ID\\][\\w-]*)?\\s*(?:\\[ARGS\\]|\\n\\s*(?:Action Input:|✿ARGS✿:)|<\\|tool_sep\\|>|<\\|tool_call_argument_begin\\|>|(?=\`\`\`|\\{|<arg_key>|</tool_call>))\\s*(?:\`\`\`(?:json)?)?`,
  "y",
);
const FUNCTION = /\[?\s*([\w.]+?)(?:\.call)?\(/y;
const ARGUMENT = /\s*,?\s*([A-Za-z_]\w*)\s*=\s*/y;
const CLOSING = /\s*\)\s*\]?/y;

/** Returns the calls that begin with the first mark outside of code; undefined without such a mark. A quoted mark has no calls. */
export function markedCalls(said: string) {
  const text = plainMarks(said);
  for (const match of text.matchAll(CODE_OR_MARK)) {
    const [, , mark] = match;
    if (mark === undefined) continue;
    const line = text.slice(text.lastIndexOf("\n", match.index) + 1, match.index);
    const isQuoted = QUOTES_NEXT.test(line) || (line.match(/"/g)?.length ?? 0) % 2 === 1;
    const marks = [...new Set(text.slice(match.index).match(ANY_MARK))];
    return isQuoted ? { marks, calls: [], left: line.trim() } : { marks, ...callsFrom(text, match.index) };
  }
  return undefined;
}

/** Reads a whole text that is one function or a list of them: `[add(a=1), now()]`. */
export function functionCalls(text: string): readonly ToolCall[] {
  if (!/^\[?\s*[\w.]+\([^]*\)\s*\]?$/.test(text)) return [];
  const { calls, left } = callsFrom(text, 0);
  return left === "" ? calls : [];
}

/** DeepSeek's marks have wide bars and lines. */
function plainMarks(text: string): string {
  return text
    .replace(/<(\/?)｜DSML｜/g, "<$1")
    .replace(/<[｜|]([^｜|>\n]{1,40})[｜|]>/g, (_, name: string) => `<|${name.replaceAll("▁", "_")}|>`);
}

function callsFrom(text: string, start: number): { readonly calls: readonly ToolCall[]; readonly left: string } {
  const calls: ToolCall[] = [];
  let at = skipped(text, start);
  while (at < text.length) {
    const read = named(text, at, ELEMENT) ?? named(text, at, CHANNEL) ?? json(text, at) ?? pythonic(text, at) ?? named(text, at, NAMED);
    if (read === undefined) break;
    calls.push(...read.calls);
    at = skipped(text, read.end);
  }
  return { calls: calls.map((call, index) => ({ ...call, id: `text_${index}` })), left: text.slice(at).trim() };
}

interface Read {
  readonly calls: readonly ToolCall[];
  readonly end: number;
}

function skipped(text: string, from: number): number {
  let at = from;
  for (let found = matchAt(NOISE, text, at); found !== undefined; found = matchAt(NOISE, text, at)) {
    // The start of an element or of a channel is no noise.
    if (matchAt(CHANNEL, text, at) !== undefined || found[0] === "") break;
    at += found[0].length;
  }
  return at;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function named(text: string, at: number, form: RegExp): Read | undefined {
  const opening = matchAt(form, text, at);
  return opening && withBody(text, at + opening[0].length, opening[1] ?? "");
}

function withBody(text: string, start: number, name: string): Read {
  let at = start;
  const members: [string, Json][] = [];
  for (;;) {
    const member = matchAt(PARAMETER, text, at) ?? matchAt(PAIR, text, at);
    if (member === undefined || member[0] === "") break;
    members.push([(member[1] ?? "").trim(), (member[2] ?? "").replace(/^\n|\n$/g, "")]);
    at += member[0].length;
  }
  if (members.length > 0) return { calls: [callNamed(name, JSON.stringify(Object.fromEntries(members)))], end: at };
  const from = start + (/^\s*/.exec(text.slice(start))?.[0].length ?? 0);
  if (text[from] !== "{") return { calls: [callNamed(name, "{}")], end: from };
  const read = readValue(text, from);
  if (read.ok) return { calls: [callNamed(name, JSON.stringify(read.value))], end: read.end };
  const end = bodyEnd(text, from, /<\/|<\||\[TOOL_CALLS\]/g);
  return { calls: [callNamed(name, text.slice(from, end))], end };
}

/** Returns the end of JSON that cannot be read: at a mark, without the fence and the spaces before it. Linear in the length of the text. */
function bodyEnd(text: string, from: number, mark: RegExp): number {
  mark.lastIndex = from;
  const body = text.slice(from, mark.exec(text)?.index).trimEnd();
  return from + (body.endsWith("```") ? body.slice(0, -3).trimEnd() : body).length;
}

function json(text: string, at: number): Read | undefined {
  if (text[at] !== "{" && text[at] !== "[") return undefined;
  const read = readValue(text, at);
  const end = read.ok ? read.end : bodyEnd(text, at, /<\/|<\|/g);
  const values = read.ok ? [read] : findJson(text.slice(at, end)).values;
  const [only, ...others] = values;
  const calls = only === undefined || others.length > 0 ? [] : callsIn(only.value);
  return calls.length === 0 ? undefined : { calls, end };
}

/** `add(a=1, b="x")` */
function pythonic(text: string, at: number): Read | undefined {
  const opening = matchAt(FUNCTION, text, at);
  if (opening === undefined) return undefined;
  let end = at + opening[0].length;
  const members: [string, Json][] = [];
  for (let next = matchAt(ARGUMENT, text, end); next !== undefined; next = matchAt(ARGUMENT, text, end)) {
    const read = readValue(text, end + next[0].length);
    if (!read.ok) return undefined;
    members.push([next[1] ?? "", read.value]);
    end = read.end;
  }
  const closing = matchAt(CLOSING, text, end);
  if (closing === undefined) return undefined;
  return { calls: [callNamed(opening[1] ?? "", JSON.stringify(Object.fromEntries(members)))], end: end + closing[0].length };
}

function callNamed(name: string, written: string): ToolCall {
  return { id: "text_0", type: "function", function: { name, arguments: written }, extra: FROM_TEXT };
}

const FROM_TEXT: JsonObject = { fromText: true };

/** The first key of each is the one in the instructions. */
export const NAME_KEYS: readonly string[] = ["name", "tool", "action", "tool_name", "function", "recipient_name"];
const ARGS_KEYS = ["args", "arguments", "parameters", "input", "action_input", "tool_input"];

/** The calls that a value is: one, a list of them, or OpenAI's message of them. None if a part of it is no call. */
export function callsIn(value: Json, isTool: (name: string) => boolean = () => false): readonly ToolCall[] {
  const inner = isRecord(value) ? (value["tool_calls"] ?? value["function_call"] ?? value) : value;
  const items = Array.isArray(inner) ? (inner as readonly Json[]) : [inner as Json];
  const calls = items.map((item, index) => callOf(item, index, isTool));
  return calls.every((call) => call !== undefined) ? calls : [];
}

function callOf(item: Json, index: number, isTool: (name: string) => boolean): ToolCall | undefined {
  if (!isRecord(item)) return undefined;
  if (isRecord(item["function"])) return callOf(item["function"] as Json, index, isTool);
  const name = NAME_KEYS.map((key) => item[key]).find((one) => typeof one === "string");
  const argsKey = ARGS_KEYS.find((key) => Object.hasOwn(item, key));
  if (typeof name !== "string" || (argsKey === undefined && !isTool(name))) return undefined;
  const args = argsKey === undefined ? {} : (item[argsKey] as Json);
  return { ...callNamed(name, typeof args === "string" ? args : JSON.stringify(args ?? {})), id: `text_${index}` };
}
