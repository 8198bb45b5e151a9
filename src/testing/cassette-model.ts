import { streamOf } from "./scripted-model.ts";
import { aCassette, type Cassette, type RecordedAnswer, type RecordedCall, recordedCalls } from "./cassette.ts";
import { isList, isObject } from "../kernel/value-kind.ts";
import { takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { nextMacrotask } from "../kernel/clock.ts";
import { DifferenceError, type ErrorRecord, ModelError, stepErrorFrom, type TroupeError, UsageError } from "../kernel/errors.ts";
import { canonicalJson, contentHash, deepFreeze, type Json, type JsonObject } from "../kernel/json.ts";
import { type Mask, masked, maskSecrets } from "../kernel/mask.ts";
import type { ChatChunk, ChatModel, ChatOptions, ChatRequest, ChatResponse } from "../model/chat-model.ts";
import { type ModelPrice, priceOf } from "../model/price.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import { strictSchema } from "../model/json-schema.ts";
import { enforcedForm, inForm, wordsForm } from "../model/reply-form.ts";
import { requestDifference, requestDifferenceText } from "../runtime/replay/difference.ts";

export interface CassetteOptions {
  /** The recorded model to play. Required for a run with several. */
  readonly id?: string;
  /** The price of the recorded model, when the model itself gave one and no list does. Default: nothing, where its calls had cost nothing. */
  readonly price?: ModelPrice;
  /** The bound that the recorded model gave its replies. Default: none. */
  readonly maxOutputTokens?: number;
  /** The secrets of the team: no record has them. */
  readonly secrets?: readonly string[];
}

const cassetteOptions: Known<CassetteOptions> = {
  id: kinds.text,
  price: kinds.price,
  maxOutputTokens: kinds.count,
  secrets: kinds.secrets,
};

export interface CassetteModel extends ChatModel {
  /** Every request so far, frozen, in the order they came. */
  readonly calls: readonly ChatRequest[];
  /** Recorded, and not asked so far. */
  readonly unused: readonly RecordedCall[];
}

/**
 * A model that answers as a recorded one did: each request by its content, each recorded answer once, equal requests in their order.
 * Failures repeat without a wait, as do tries that were paid for. Answers carry their recorded usage, so they cost the same with the same
 * prices and the same `retry` of the team. To replay other steps too, see {@link cassetteJournal}; to record, {@link saveCassette}. A
 * request that the cassette lacks throws a DifferenceError `DIFFERENCE`, which shows the nearest one and ends the run.
 *
 * @throws UsageError `CASSETTE_MODELS` when `id` must be given, or names an unknown model; `CASSETTE_INVALID`
 */
export function cassetteModel(cassette: Cassette, options: CassetteOptions = {}): CassetteModel {
  checkKnownOptions("cassetteModel", options, cassetteOptions);
  takes("cassetteModel", "cassette", cassette, aCassette);
  const calls = recordedCalls(cassette.events);
  const id = recordedModel(calls, options.id);
  const own = calls.filter((call) => call.model === id);
  return new CassettePlayer(id, cassette.runId, own, options);
}

interface CassetteEntry {
  readonly call: RecordedCall;
  readonly forms: ReadonlySet<string>;
  /** Tries that have failed again. */
  tried: number;
  /** True while a try of it fails: an equal request at the same time gets another call. */
  isFailing: boolean;
  isUsed: boolean;
}

class CassettePlayer implements CassetteModel {
  readonly id: string;
  readonly price?: ModelPrice;
  readonly maxOutputTokens?: number;
  readonly takes: readonly string[];
  readonly extra?: Readonly<Record<string, Json>>;
  readonly #runId: string;
  readonly #mask: Mask;
  readonly #entries: readonly CassetteEntry[];
  readonly #calls: ChatRequest[] = [];

  constructor(id: string, runId: string, calls: readonly RecordedCall[], options: CassetteOptions) {
    const { price = freePrice(id, calls), maxOutputTokens, secrets = [] } = options;
    const extra = commonExtra(calls);
    this.id = id;
    this.takes = takenTypes(calls);
    if (price !== undefined) this.price = price;
    if (maxOutputTokens !== undefined) this.maxOutputTokens = maxOutputTokens;
    if (extra !== undefined) this.extra = extra;
    this.#runId = runId;
    this.#mask = maskSecrets(secrets);
    this.#entries = calls.map((call) => ({
      call,
      forms: new Set(recordedForms(call.request).map(contentHash)),
      tried: 0,
      isFailing: false,
      isUsed: false,
    }));
  }

  get calls(): readonly ChatRequest[] {
    return [...this.#calls];
  }

  get unused(): readonly RecordedCall[] {
    return this.#entries.filter(isLeft).map(({ call }) => call);
  }

  async chat(request: ChatRequest, { signal }: ChatOptions): Promise<ChatResponse> {
    throwIfAborted(signal);
    this.#calls.push(deepFreeze(structuredClone(request)));
    const entry = this.#take(request);
    const { answer, failed } = entry.call;
    const failure = failed[entry.tried];
    if (failure !== undefined) throw await failedAgain(entry, failure);
    entry.isUsed = true;
    if (!answer.ok) throw finalError(answer.error);
    return answer.response;
  }

  stream(request: ChatRequest, o: ChatOptions): AsyncIterable<ChatChunk> {
    return streamOf(this.chat(request, o), o.signal);
  }

  #take(request: ChatRequest): Playable {
    const asked = formOf(masked(this.#mask, JSON.parse(canonicalJson(request)) as JsonObject));
    const hash = contentHash(asked);
    const same = this.#entries.filter(({ forms, call }) => forms.has(hash) && isSameLength(call.request["maxTokens"], request.maxTokens));
    const found = same.find(isBegun) ?? same.find(isFree);
    if (found === undefined || !isPlayable(found)) throw this.#difference(asked, request.maxTokens, same);
    return found;
  }

  #difference(asked: JsonObject, maxTokens: number | undefined, same: readonly CassetteEntry[]): DifferenceError {
    const left = this.unused;
    const near = nearestCall(left.length > 0 ? left : this.#entries.map(({ call }) => call), asked);
    const beside = near === undefined ? "It has none." : besideText(near, asked, maxTokens);
    const reported = same.length > 0 ? usedUpText(same) : beside;
    const recorded = same[0]?.call ?? near?.call;
    return new DifferenceError(
      "DIFFERENCE",
      `Expected a request of ${this.id} that the cassette of run ${this.#runId} has, got one it lacks. ${reported}\nIf the change is meant, record the run again with the real model: see saveCassette.`,
      { data: { kind: "asked", act: recorded?.act ?? "", name: this.id, recorded: recorded?.request ?? null, now: asked } },
    );
  }
}

function isLeft({ call, isUsed }: CassetteEntry): boolean {
  return call.answer !== undefined && !isUsed;
}

function isFree(entry: CassetteEntry): boolean {
  return isLeft(entry) && !entry.isFailing;
}

/** One of its tries has failed, so it is tried again. */
function isBegun(entry: CassetteEntry): boolean {
  return isFree(entry) && entry.tried > 0;
}

interface Playable extends CassetteEntry {
  readonly call: RecordedCall & { readonly answer: RecordedAnswer };
}

function isPlayable(entry: CassetteEntry): entry is Playable {
  return entry.call.answer !== undefined;
}

/** Fails after all equal requests of the same turn have come, so that a later equal request is a new try. */
async function failedAgain(entry: Playable, failure: ErrorRecord): Promise<TroupeError> {
  const { answer, failed } = entry.call;
  entry.tried += 1;
  const isLast = !answer.ok && entry.tried === failed.length;
  if (isLast) entry.isUsed = true;
  entry.isFailing = true;
  await nextMacrotask();
  entry.isFailing = false;
  return isLast ? finalError(failure) : withoutWait(failure);
}

function withoutWait(record: ErrorRecord): TroupeError {
  const { data } = record;
  const given = isObject(data) ? data : {};
  return stepErrorFrom(record.retryable === true ? { ...record, data: { ...given, retryAfterMs: 0 } } : record);
}

function usedUpText(same: readonly CassetteEntry[]): string {
  const answers = same.filter(({ call }) => call.answer !== undefined).length;
  const [first] = same;
  if (answers > 0) return `The same was asked ${answers} times then, first by ${first?.call.act}, and is asked once more now.`;
  return `${first?.call.act} asked it too, but the run stopped before an answer came.`;
}

/** It had failed after all its tries, so it is not tried again. */
function finalError(record: ErrorRecord): TroupeError {
  const error = stepErrorFrom(record);
  if (!(error instanceof ModelError)) return error;
  return new ModelError(error.code, error.message, { data: error.data, retryable: false });
}

/*
 * A record has the schema, a request a reply format, or text at the end of its prompt; the record names the model and has no secrets. Both are brought
 * into one form here, in which equal requests are equal.
 */

/** A recorded request in all the forms that it can have on its way; the most likely one first. */
function recordedForms({ model: _model, schema, ...request }: JsonObject): readonly JsonObject[] {
  if (schema === undefined) return [formOf(request)];
  const messages = request["messages"] as unknown as readonly ChatMessage[];
  const output = { json: schema as JsonObject, strict: strictSchema(schema as JsonObject), wrapped: false };
  return [enforcedForm(output), wordsForm(output)].flatMap((form) => {
    const withFormat = { ...request, schema: form.format as unknown as Json };
    const withWords = { ...withFormat, messages: inForm(messages, form) as unknown as Json };
    return [formOf(withWords), formOf(withFormat)];
  });
}

function isSameLength(a: Json | undefined, b: Json | undefined): boolean {
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

/** A reply format without the orders that follow from the order of a schema's members: of names, and of rules in a description. */
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

export interface Nearest {
  readonly call: RecordedCall;
  readonly form: JsonObject;
}

/** The call whose request is most like one: with the fewest characters between the beginning and the end that both have. */
function nearestCall(calls: readonly RecordedCall[], wanted: JsonObject): Nearest | undefined {
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

function besideText({ call, form }: Nearest, asked: JsonObject, maxTokens: number | undefined): string {
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

/* The properties of a recorded model, as its calls have them. Fields and bounds of a model are part of every request to it. */

/** The model that was recorded, or the one of several that is meant. @throws UsageError `CASSETTE_MODELS` */
function recordedModel(calls: readonly RecordedCall[], wanted: string | undefined): string {
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

/** A model that cost nothing, and is in no price list, had a price of its own. */
function freePrice(id: string, calls: readonly RecordedCall[]): ModelPrice | undefined {
  if (calls.length === 0 || priceOf({ id }) !== undefined) return undefined;
  return calls.every((call) => call.cost === 0) ? { input: 0, output: 0 } : undefined;
}

/** A record has the files that the model took, and the words for all others. */
function takenTypes(calls: readonly RecordedCall[]): readonly string[] {
  const messages = calls.flatMap(({ request }) => (request["messages"] ?? []) as unknown as readonly ChatMessage[]);
  return [...new Set(messages.flatMap(({ images = [] }) => images.flatMap((part) => ("url" in part ? [] : [part.mediaType]))))];
}

function commonExtra(calls: readonly RecordedCall[]): Readonly<Record<string, Json>> | undefined {
  const [first, ...others] = calls.map((call) => Object.entries(call.request["extra"] ?? {}) as [string, Json][]);
  const texts = others.map((members) => new Set(members.map((member) => canonicalJson(member))));
  const common = (first ?? []).filter((member) => texts.every((has) => has.has(canonicalJson(member))));
  return common.length === 0 ? undefined : Object.fromEntries(common);
}
