import { isRecord, isList } from "../kernel/value-kind.ts";
import { z } from "zod";
import { type ErrorRecord, UsageError } from "../kernel/errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../kernel/json.ts";
import type { ChatResponse, ChatRequest } from "../model/chat-model.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { type Mask, masked } from "../kernel/mask.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import { strictSchema } from "../model/json-schema.ts";
import { promptFor, rungsFor } from "../model/format-ladder.ts";
import { requestDifference, requestDifferenceText } from "../runtime/replay/difference.ts";
import { type ModelPrice, priceOf } from "../model/price.ts";

/** The result of a recorded call. */
export type RecordedAnswer = { readonly ok: true; readonly response: ChatResponse } | { readonly ok: false; readonly error: ErrorRecord };

/** A call of a model as a run recorded it. */
export interface RecordedCall {
  /** The activation that asked: `role#n~attempt`. */
  readonly act: string;
  /** Id of the model. */
  readonly model: string;
  /** The request, without secrets. A schema stands as it was asked for, however it went over the wire. */
  readonly request: JsonObject;
  /** Undefined: the run stopped before it came. */
  readonly answer: RecordedAnswer | undefined;
  /** Micro-dollars of all its tries; null when the price of one is unknown. */
  readonly cost: number | null;
  /** Why tries failed on the way: all of a call that failed, else those that were paid for. Of the last process that asked. */
  readonly failed: readonly ErrorRecord[];
}

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number().exactOptional(),
  estimated: z.boolean().exactOptional(),
});

const ResponseSchema: z.ZodType<ChatResponse> = z.object({
  content: z.string(),
  toolCalls: z.array(
    z.object({
      id: z.string(),
      type: z.literal("function"),
      function: z.object({ name: z.string(), arguments: z.string() }),
      extra: z.record(z.string(), z.json() as z.ZodType<Json>).exactOptional(),
    }),
  ),
  finishReason: z.enum(["stop", "length", "tool_calls", "content_filter"]),
  usage: usage.exactOptional(),
  refusal: z.string().exactOptional(),
});

/** A call that is being read, with all of its tries that failed. */
interface Reading extends RecordedCall {
  readonly tries: readonly FailedTry[];
}

interface FailedTry {
  readonly error: ErrorRecord;
  readonly isPaid: boolean;
}

/**
 * Returns the calls of models in a run in order, without the failed tries on the way to an answer. @throws UsageError `CASSETTE_INVALID`
 */
export function recordedCalls(events: Iterable<RunEvent>): readonly RecordedCall[] {
  const calls = new Map<string, Reading>();
  for (const event of events) {
    if (event.type === "run.resumed") forgetTries(calls);
    if (event.type === "step.started" && event.kind === "model") {
      const { act, name, request } = event;
      const key = `${act} ${event.key}`;
      if (!calls.has(key))
        calls.set(key, { act, model: name, request: asObject(request), answer: undefined, cost: 0, failed: [], tries: [] });
    }
    if (event.type !== "step.ended") continue;
    const call = calls.get(`${event.act} ${event.key}`);
    if (call === undefined) continue;
    const cost = event.cost === null || call.cost === null ? null : call.cost + event.cost;
    const tries = [...call.tries, ...failedTry(event)];
    calls.set(`${event.act} ${event.key}`, { ...call, cost, tries, answer: event.retry === true ? undefined : answerOf(event) });
  }
  return [...calls.values()].map(({ tries, ...call }) => ({ ...call, failed: failedOf(call, tries) }));
}

/** A resumed run retries from the first try. */
function forgetTries(calls: Map<string, Reading>): void {
  for (const [key, call] of calls) if (call.answer === undefined) calls.set(key, { ...call, tries: [] });
}

/** A try that was cut off is none: it did not fail by itself. */
function failedTry(event: StepEnd): readonly FailedTry[] {
  const { retry, error, cost } = event;
  if (retry !== true || error?.name !== "ModelError") return [];
  return [{ error, isPaid: cost !== 0 || event.usage !== undefined }];
}

function failedOf({ answer }: Pick<RecordedCall, "answer">, tries: readonly FailedTry[]): readonly ErrorRecord[] {
  return tries.filter(({ isPaid }) => isPaid || answer?.ok === false).map(({ error }) => error);
}

type StepEnd = Extract<RunEvent, { readonly type: "step.ended" }>;

function answerOf(event: StepEnd): RecordedAnswer {
  if (!event.ok) return { ok: false, error: event.error ?? { name: "StepError", code: "ERROR", message: "It failed." } };
  const parsed = ResponseSchema.safeParse(event.value);
  if (parsed.success) return { ok: true, response: parsed.data };
  throw new UsageError(
    "CASSETTE_INVALID",
    `Expected the answer of a model at event ${event.seq} of run ${event.runId}, got something else: ${z.prettifyError(parsed.error).slice(0, 300)}. Record the run again.`,
  );
}

function asObject(request: Json): JsonObject {
  return isRecord(request) ? (request as JsonObject) : {};
}

/*
 * A recorded request and the same request to a model have different forms. The record has the schema; the request has a reply format, or
 * text at the end of the prompt, with its members in another order. The record names the model and has no secrets. Only requests with a known
 * price have a maximum length. Both are brought into one form here, in which equal requests are equal.
 */

/** Returns a request to a model in the compared form. */
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

/** True when two requests allow a reply of the same length, or one of them has no maximum length. */
export function isSameLength(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}

function formOf({ maxTokens: _maxTokens, messages, schema, ...rest }: JsonObject): JsonObject {
  const form = { ...rest, messages: withPlainTail(messages) };
  return schema === undefined ? form : { ...form, schema: unordered(schema) };
}

/** Sorts the members of a JSON object in the last line of a prompt, such as a schema in the text: their order does not count. */
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

/** A recorded call, and the form of its request that is most like another request. */
export interface Nearest {
  readonly call: RecordedCall;
  readonly form: JsonObject;
}

/** The call whose request is most like one: with the fewest characters between the beginning and the end that both have. */
export function nearestCall(calls: readonly RecordedCall[], wanted: JsonObject): Nearest | undefined {
  const text = canonicalJson(wanted);
  let best: Nearest | undefined;
  let least = Infinity;
  for (const call of calls) {
    for (const form of recordedForms(call.request)) {
      const far = distance(canonicalJson(form), text);
      if (far >= least) continue;
      least = far;
      best = { call, form };
    }
  }
  return best;
}

export function besideText({ call, form }: Nearest, asked: JsonObject, maxTokens: number | undefined): string {
  const lengths = [{ maxTokens: call.request["maxTokens"] ?? null }, { maxTokens: maxTokens ?? null }] as const;
  const found = requestDifference(form, asked) ?? requestDifference(...lengths);
  const text = found === undefined ? "" : `\n${requestDifferenceText(found, ["recorded", "asked now"])}`;
  return `The nearest was asked by ${call.act}:${text}`;
}

function distance(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return Math.max(a.length, b.length) - start - end;
}

/*
 * The properties of a recorded model, as far as its calls have them. A model's own fields and bounds are part of every request to it, so the
 * playing model must have the same.
 */

/** The model that was recorded, or the one of several that is meant. @throws UsageError `CASSETTE_MODELS` */
export function recordedModel(calls: readonly RecordedCall[], wanted: string | undefined): string {
  const models = [...new Set(calls.map((call) => call.model))];
  const [only] = models;
  if (only === undefined) return wanted ?? "cassette";
  if (wanted === undefined && models.length === 1) return only;
  if (wanted !== undefined && models.includes(wanted)) return wanted;
  throw new UsageError(
    "CASSETTE_MODELS",
    `Expected the id of one of the recorded models (${models.join(", ")}), got ${wanted ?? "none"}. Say which: cassetteModel(cassette, { id }).`,
  );
}

/** A model that cost nothing, although no list says so, had said so itself. */
export function freePrice(id: string, calls: readonly RecordedCall[]): ModelPrice | undefined {
  if (calls.length === 0 || priceOf({ id }) !== undefined) return undefined;
  return calls.every((call) => call.cost === 0) ? { input: 0, output: 0 } : undefined;
}

/** The most tokens of a reply, when it was the same for all. */
export function commonLength(calls: readonly RecordedCall[]): number | undefined {
  const [first, ...others] = new Set(calls.map((call) => call.request["maxTokens"]));
  return typeof first === "number" && others.length === 0 ? first : undefined;
}

/** The provider's own fields that all requests had. */
export function commonExtra(calls: readonly RecordedCall[]): Readonly<Record<string, Json>> | undefined {
  const [first, ...others] = calls.map((call) => Object.entries(call.request["extra"] ?? {}) as [string, Json][]);
  const texts = others.map((members) => new Set(members.map((member) => canonicalJson(member))));
  const common = (first ?? []).filter((member) => texts.every((has) => has.has(canonicalJson(member))));
  return common.length === 0 ? undefined : Object.fromEntries(common);
}
