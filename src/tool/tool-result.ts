import { defined } from "../kernel/value-kind.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { aText, either, listOf, object, orNothing, type Shape, takes } from "../kernel/argument.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import type { Json } from "../kernel/json.ts";
import { unlessMapped } from "../kernel/mapped.ts";
import type { FileGiven } from "../message/file.ts";
import { ChatMessage, type ImagePart, type ToolCall } from "../model/chat-message.ts";
import { cutText } from "./shown-text.ts";

/** Plain JSON. Its text comes from outside: a model reads it, and no code here obeys it. */
export interface ToolResult {
  readonly output?: Json;
  /** The reason why the tool failed, in words that the model can act on. */
  readonly error?: string;
  readonly images?: readonly ImagePart[];
  /** Files that a tool returns, with their bytes or base64. The model that takes them reads them; the result has them among `images`. */
  readonly files?: readonly FileGiven[];
  /** A note of the system, such as that something was left out. */
  readonly system?: string;
  /** For programs. A model reads it only without output and error. */
  readonly data?: Json;
}

const FAILED = "Error: ";

/** The result of a tool that succeeded. */
export function toolOutput(output: Json, more?: Omit<ToolResult, "output" | "error">): ToolResult;
export function toolOutput(output: Json, index: number, list: readonly Json[]): ToolResult;
export function toolOutput(output: Json, given?: Omit<ToolResult, "output" | "error"> | number, list?: readonly Json[]): ToolResult {
  const more = unlessMapped(given, list, {});
  takes("toolOutput", "what goes with the output", more, aToolResult);
  checkKnownOptions("toolOutput", more, kinds.each(kinds.checked, "images", "files", "system", "data"));
  return { ...more, output };
}

/** `more.output` is the output before the failure. */
export function toolFailure(error: string, more?: Omit<ToolResult, "error">): ToolResult;
export function toolFailure(error: string, index: number, list: readonly string[]): ToolResult;
export function toolFailure(error: string, given?: Omit<ToolResult, "error"> | number, list?: readonly string[]): ToolResult {
  const more = unlessMapped(given, list, {});
  takes("toolFailure", "error", error, aText);
  takes("toolFailure", "what goes with the error", more, aToolResult);
  checkKnownOptions("toolFailure", more, kinds.each(kinds.checked, "output", "images", "files", "system", "data"));
  return { ...more, error };
}

/** 0, false and "" are outputs like others. */
export function isFailure(result: ToolResult): boolean {
  takes("isFailure", "result", result, aToolResult);
  return result.error !== undefined;
}

/** A result as a model reads it: `Error: ...` first, the output, the note of the system. @param limit characters of output and error. Default: all */
export function resultText(result: ToolResult, limit?: number): string;
export function resultText(result: ToolResult, index: number, list: readonly ToolResult[]): string;
export function resultText(result: ToolResult, given?: number, list?: readonly ToolResult[]): string {
  const limit = unlessMapped<number>(given, list, Infinity);
  takes("resultText", "limit", limit, kinds.amount);
  takes("resultText", "result", result, aToolResult);
  const { error, system } = result;
  const output = outputText(result);
  const parts = [
    ...(error === undefined ? [] : [`${FAILED}${cutText(error === "" ? "the tool failed and said nothing" : error, limit)}`]),
    ...(output === "" ? [] : [cutText(output, limit)]),
    ...(system === undefined || system === "" ? [] : [`Note: ${cutText(system, limit)}`]),
  ];
  return parts.length === 0 ? "(no output)" : parts.join("\n");
}

export function shortResult(result: ToolResult, limit: number): ToolResult {
  const text = resultText(result);
  if (text.length <= limit) return result;
  const { output: _output, error, system: _system, ...rest } = result;
  return error === undefined ? { ...rest, output: cutText(text, limit) } : { ...rest, error: cutText(text.slice(FAILED.length), limit) };
}

/** Joins texts one after another, all pictures, data as a list. It failed when one of them did. */
export function combineResults(first: ToolResult, second: ToolResult): ToolResult {
  takes("combineResults", "the first result", first, aToolResult);
  takes("combineResults", "the second result", second, aToolResult);
  const images = [...(first.images ?? []), ...(second.images ?? [])];
  const error = joined(first.error, second.error);
  const system = joined(first.system, second.system);
  const output = combinedOutput(first.output, second.output);
  const data = first.data === undefined ? second.data : second.data === undefined ? first.data : [first.data, second.data];
  return defined({ output, error, images: images.length === 0 ? undefined : images, system, data });
}

function outputText({ output, error, images, data }: ToolResult): string {
  if (output !== undefined) return jsonText(output);
  return error === undefined && images === undefined && data !== undefined ? jsonText(data) : "";
}

function jsonText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function combinedOutput(first: Json | undefined, second: Json | undefined): Json | undefined {
  if (first === undefined) return second;
  return second === undefined ? first : joined(jsonText(first), jsonText(second));
}

function joined(first: string | undefined, second: string | undefined): string | undefined {
  const parts = [first, second].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.filter((part) => part !== "").join("\n");
}

const aPicture = either(object("a picture { mediaType, data }", { data: aText, mediaType: aText }), object("one { url }", { url: aText }));

const aToolResult: Shape = object("a result that toolOutput or toolFailure made", {
  error: orNothing(aText),
  system: orNothing(aText),
  images: orNothing(listOf(aPicture)),
});

/**
 * `unknown`: no tool of that name; `invalid`: its arguments do not fit; `denied`: it may not run; `timeout`: its time was up; `failed`: the
 * tool failed; `skipped`: a call before it had ended the work.
 */
export type ToolOutcome = "ok" | "failed" | "unknown" | "invalid" | "denied" | "timeout" | "skipped";

/** A call and its result. */
export interface CalledTool {
  readonly call: ToolCall;
  readonly result: ToolResult;
  readonly outcome: ToolOutcome;
  /** The call ends the agent's run. */
  readonly ends: boolean;
}

/** @param why in words that the model can act on */
export function notRun(call: ToolCall, outcome: ToolOutcome, why: string): CalledTool {
  return { call, result: toolFailure(why), outcome, ends: false };
}

/** The answer to a call, as the model reads it. */
export function toolMessage(called: CalledTool): ChatMessage {
  takes(
    "toolMessage",
    "what was called",
    called,
    object("a call and its result", {
      call: object("a call", { id: aText, function: object("a function", { name: aText, arguments: aText }) }),
      result: object("a result"),
    }),
  );
  const { call, result } = called;
  return ChatMessage.tool({
    content: resultText(result),
    name: call.function.name,
    toolCallId: call.id,
    ...defined({ images: result.images }),
  });
}
