import { type Json, type JsonObject, parsedJson } from "../../kernel/json.ts";
import type { ChatMessage } from "../../model/chat-message.ts";
import type { ChatRequest, ChatResponse } from "../../model/chat-model.ts";
import type { ReadyQuestion } from "../../role/human.ts";
import { callsIn } from "../../agent/written-calls.ts";
import { fieldOrder } from "../../tool/form-fields.ts";
import { cutText } from "../../tool/shown-text.ts";

/** Characters. An agent may have read whole files. */
const LONGEST_QUESTION = 40_000;

/** The request of a step of kind `model`: its schema is a JSON Schema, or the form of a reply on the wire. */
export type ModelRequest = Omit<ChatRequest, "schema"> & { readonly schema?: JsonObject };

/** Returns what a role asks its model as a question to the person who has taken the role. */
export function questionFor({ messages, tools = [], schema }: ModelRequest): ReadyQuestion {
  const heard = messages.filter(({ role }) => role !== "system");
  const words = heard.map((message) => (heard.length === 1 ? (message.content ?? "") : spoken(message))).join("\n\n");
  const call = `Answer in words, or by {"name": "<tool>", "args": {...}} with a tool of the role: ${tools.map(({ name }) => name).join(", ")}.`;
  const question = `${cutText(words, LONGEST_QUESTION)}${tools.length === 0 ? "" : `\n\n${call}`}`;
  return schema?.["type"] === "object" ? { question, form: { kind: "fields", schema, order: fieldOrder(schema) } } : { question };
}

function spoken({ role, name, content = "", toolCalls = [] }: ChatMessage): string {
  const calls = toolCalls.map(({ function: { name: tool, arguments: args } }) => `calls ${tool} ${args}`);
  return `${name === undefined ? role : `${role} ${name}`}: ${[content, ...calls].filter((text) => text !== "").join("\n")}`;
}

/** Returns the answer of that person as the reply of a model. */
export function replyOf({ messages, tools = [] }: ModelRequest, answer: Json): ChatResponse {
  const content = typeof answer === "string" ? answer : JSON.stringify(answer);
  const calls = callsIn(parsedJson(content) ?? null).filter((call) => tools.some(({ name }) => name === call.function.name));
  if (calls.length === 0) return { content, toolCalls: [], finishReason: "stop" };
  const toolCalls = calls.map((call, nth) => ({ ...call, id: `person_${messages.length}_${nth}` }));
  return { content: "", toolCalls, finishReason: "tool_calls" };
}
