import { isList } from "../kernel/value-kind.ts";
import { canonicalJson, type Json, type JsonObject } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ChatRequest } from "../model/chat-model.ts";
import { strictSchema } from "../model/json-schema.ts";
import { promptFor, rungsFor } from "../model/structured-output.ts";
import { masked } from "../runtime/record/masking.ts";

/*
 * A request as it was recorded and the same one on its way to a model do not look the same. The record has the schema that was asked
 * for; on the way it is a reply format, or words at the end of the prompt, and its members stand in another order. The record names
 * the model and has no secrets. How long a reply may be is only said where a price is known. Here both are brought into one form, in which
 * they are equal exactly when the same was asked.
 */

/** A request on its way, in the form in which requests are compared. */
export function liveForm(request: ChatRequest, mask: Mask): JsonObject {
  return formOf(masked(mask, JSON.parse(canonicalJson(request)) as JsonObject));
}

/** A recorded request in all the forms that it can have on its way; the most likely one first. */
export function recordedForms({ model: _model, schema, ...request }: JsonObject): readonly JsonObject[] {
  if (schema === undefined) return [formOf(request)];
  const messages = request["messages"] as unknown as readonly ChatMessage[];
  const output = { json: schema as JsonObject, strict: strictSchema(schema as JsonObject), wrapped: false };
  return rungsFor(output).flatMap((rung) => {
    const withFormat = { ...request, schema: rung.format as unknown as Json };
    const withWords = { ...withFormat, messages: promptFor(messages, output, rung) as unknown as Json };
    return [formOf(withWords), formOf(withFormat)];
  });
}

/** Whether two requests allow a reply of the same length. Where one does not say, the other may say what it likes. */
export function isSameLength(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}

function formOf({ maxTokens: _maxTokens, messages, schema, ...rest }: JsonObject): JsonObject {
  const form = { ...rest, messages: withPlainTail(messages) };
  return schema === undefined ? form : { ...form, schema: unordered(schema) };
}

/** Where the last line of a prompt is a JSON object, as a schema told in words is, the order of its members does not count. */
function withPlainTail(messages: Json | undefined): Json {
  const list = Array.isArray(messages) ? (messages as readonly JsonObject[]) : [];
  const last = list.at(-1);
  const content = last?.["content"];
  if (last === undefined || typeof content !== "string") return list;
  const tail = content.lastIndexOf("\n") + 1;
  return [...list.slice(0, -1), { ...last, content: content.slice(0, tail) + plainLine(content.slice(tail)) }];
}

function plainLine(line: string): string {
  if (!line.startsWith("{")) return line;
  try {
    return canonicalJson(JSON.parse(line));
  } catch {
    return line;
  }
}

/** A reply format without the orders that follow from the order of a schema's members: of names, and of rules told in a description. */
function unordered(format: Json): Json {
  return JSON.parse(JSON.stringify(format), (key, value: Json): Json => {
    if (key === "required" && isList(value)) return value.map((name) => canonicalJson(name)).sort();
    return key === "description" && typeof value === "string"
      ? value
          .split(/[ ,()]+/)
          .sort()
          .join(" ")
      : value;
  }) as Json;
}
