import { canonicalJson, contentHash, type Json, type JsonObject } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ChatRequest, ReplyFormat } from "../model/chat-model.ts";
import { strictSchema } from "../model/json-schema.ts";
import { promptFor, rungsFor } from "../model/structured-output.ts";
import { masked } from "../run/masking.ts";

/*
 * A recorded request and the same one on its way to a model do not look the same. The record has the schema that was asked for; on the
 * way it is a reply format, or words at the end of the prompt, and its members stand in another order. The record has no secrets. And
 * how long a reply may be is only said where a price is known. Here both are brought into one form.
 */

/** A request on its way as it would be recorded: plain JSON without secrets. */
export function plainRequest(request: ChatRequest, mask: Mask): JsonObject {
  return masked(mask, JSON.parse(canonicalJson(request)) as JsonObject);
}

/** What tells requests on their way apart: equal for equal ones, whatever `maxTokens` says. */
export function liveForm(request: JsonObject): string {
  const { maxTokens: _, messages, schema, ...rest } = request;
  return form(rest, messages as unknown as readonly ChatMessage[], schema as ReplyFormat | undefined);
}

/** The forms that a recorded request can have on its way. */
export function recordedForms(request: JsonObject): ReadonlySet<string> {
  const { maxTokens: _, model: _model, messages, schema, ...rest } = request;
  const chat = messages as unknown as readonly ChatMessage[];
  if (schema === undefined) return new Set([form(rest, chat, undefined)]);
  const output = outputOf(schema);
  return new Set(
    rungsFor(output).flatMap((rung) => [form(rest, chat, rung.format), form(rest, promptFor(chat, output, rung), rung.format)]),
  );
}

/** Whether both allow a reply of the same length. Where one does not say, the other may say what it likes. */
export function isSameLength(recorded: JsonObject, live: JsonObject): boolean {
  const [then, now] = [recorded["maxTokens"], live["maxTokens"]];
  return then === undefined || now === undefined || then === now;
}

/** The two requests so that what is different in them is different: the recorded one as it would go now, and the live one. */
export function comparable(recorded: JsonObject, live: JsonObject): readonly [recorded: JsonObject, live: JsonObject] {
  const { model: _, schema, maxTokens: then, messages, ...rest } = recorded;
  const { schema: format, maxTokens: now, ...liveRest } = live;
  const length = (maxTokens: Json | undefined): JsonObject => (isSameLength(recorded, live) ? {} : { maxTokens: maxTokens ?? null });
  const chat = messages as unknown as readonly ChatMessage[];
  const asked = schema === undefined ? undefined : outputOf(schema);
  const rung = asked === undefined ? undefined : rungsFor(asked).find((one) => one.format.type === (format as ReplyFormat | undefined)?.type);
  const told = asked === undefined || rung === undefined ? chat : promptFor(chat, asked, rung);
  const isTold = liveForm({ ...live, schema: null }) === liveForm({ ...rest, messages: chat as unknown as Json, schema: null });
  return [
    { ...rest, ...length(then), messages: (isTold ? chat : told) as unknown as Json, schema: formatForm(rung?.format) },
    { ...liveRest, ...length(now), schema: formatForm(format as ReplyFormat | undefined) },
  ];
}
