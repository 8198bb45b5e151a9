import { aText, listOf, object, orNothing, type Shape, takes } from "../kernel/argument.ts";
import type { Json } from "../kernel/json.ts";
import { ChatMessage, type ImagePart, type ToolCall } from "../model/chat-message.ts";
import { cutText } from "./cut-text.ts";

/** What a tool gave back. Plain JSON. All of it is words of the outside world: a model reads it, nothing here obeys it. */
export interface ToolResult {
  /** What the model reads. */
  readonly output?: Json;
  /** Set when the tool failed: what went wrong, in words the model can act on. */
  readonly error?: string;
  readonly images?: readonly ImagePart[];
  /** What the system has to say besides, for example that something was left out. */
  readonly system?: string;
  /** For programs. A model reads it only where there is neither output nor error. */
  readonly data?: Json;
}

/** The result of a tool that did what it was asked. */
export function toolOutput(output: Json, more: Omit<ToolResult, "output" | "error"> = {}): ToolResult {
  takes("toolOutput", "what goes with the output", more, aToolResult);
  return { ...more, output };
}

/** The result of a tool that could not. What it printed before may stand beside it. */
export function toolFailure(error: string, more: Omit<ToolResult, "error"> = {}): ToolResult {
  takes("toolFailure", "what goes with the error", more, aToolResult);
  return { ...more, error };
}

/** Whether the tool failed. An output of 0, false or "" is none the less an output. */
export function isFailure(result: ToolResult): boolean {
  takes("isFailure", "result", result, aToolResult);
  return result.error !== undefined;
}

/**
 * A result as a model reads it: `Error: ...` first when it failed, then what the tool put out, then what the system has to say.
 *
 * @param limit most characters of the output and of the error; what is left out is told in its place. Default: all
 */
export function resultText(result: ToolResult, limit: number = Infinity): string {
  takes("resultText", "result", result, aToolResult);
  const { error, system } = result;
  const output = outputText(result);
  const parts = [
    ...(error === undefined ? [] : [`Error: ${cutText(error === "" ? "the tool failed and said nothing" : error, limit)}`]),
    ...(output === "" ? [] : [cutText(output, limit)]),
    ...(system === undefined || system === "" ? [] : [`Note: ${cutText(system, limit)}`]),
  ];
  return parts.length === 0 ? "(no output)" : parts.join("\n");
}

/** Two results as one: texts one after another, all pictures kept, data as a list. It failed when one of them did. */
export function combineResults(first: ToolResult, second: ToolResult): ToolResult {
  takes("combineResults", "the first result", first, aToolResult);
  takes("combineResults", "the second result", second, aToolResult);
  const images = [...(first.images ?? []), ...(second.images ?? [])];
  const error = joined(first.error, second.error);
  const system = joined(first.system, second.system);
  const output = combinedOutput(first.output, second.output);
  const data = first.data === undefined ? second.data : second.data === undefined ? first.data : [first.data, second.data];
  return {
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(images.length === 0 ? {} : { images }),
    ...(system === undefined ? {} : { system }),
    ...(data === undefined ? {} : { data }),
  };
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

/** What of a result is relied on. */
const aToolResult: Shape = object("a result that toolOutput or toolFailure made", {
  error: orNothing(aText),
  system: orNothing(aText),
  images: orNothing(listOf(object("a picture"))),
});

/**
 * How a call ended. `unknown`: no tool of that name; `invalid`: its arguments do not fit; `denied`: it may not run; `timeout`: its time was
 * up; `failed`: the tool said or threw so; `skipped`: a call before it had ended the work.
 */
export type ToolOutcome = "ok" | "failed" | "unknown" | "invalid" | "denied" | "timeout" | "skipped";

/** A call and what came of it. */
export interface CalledTool {
  readonly call: ToolCall;
  readonly result: ToolResult;
  readonly outcome: ToolOutcome;
  /** Whether the call ends the agent's run. */
  readonly ends: boolean;
}

/** A call that did not run, and why, in words the model can act on. */
export function notRun(call: ToolCall, outcome: ToolOutcome, why: string): CalledTool {
  return { call, result: toolFailure(why), outcome, ends: false };
}

/** The answer to a call, as the model reads it. */
export function toolMessage(called: CalledTool): ChatMessage {
  takes(
    "toolMessage",
    "what was called",
    called,
    object("a call and its result", { call: object("a call", { id: aText, function: object("a function") }), result: object("a result") }),
  );
  const { call, result } = called;
  return ChatMessage.tool({
    content: resultText(result),
    name: call.function.name,
    toolCallId: call.id,
    ...(result.images === undefined ? {} : { images: result.images }),
  });
}
