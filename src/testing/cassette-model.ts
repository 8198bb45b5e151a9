import { isObject } from "../kernel/value-kind.ts";
import { takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { nextMacrotask } from "../kernel/clock.ts";
import { DifferenceError, type ErrorRecord, ModelError, stepErrorFrom, type TroupeError } from "../kernel/errors.ts";
import { contentHash, deepFreeze, type Json, type JsonObject } from "../kernel/json.ts";
import { type Mask, maskSecrets } from "../kernel/mask.ts";
import type { ChatChunk, ChatModel, ChatOptions, ChatRequest, ChatResponse } from "../model/chat-model.ts";
import type { ModelPrice } from "../model/price.ts";
import { aCassette, type Cassette } from "./cassette.ts";
import {
  type RecordedAnswer,
  type RecordedCall,
  recordedCalls,
  besideText,
  nearestCall,
  isSameLength,
  liveForm,
  recordedForms,
  commonExtra,
  commonLength,
  freePrice,
  recordedModel,
} from "./cassette-call.ts";

/** Options of {@link cassetteModel}. */
export interface CassetteOptions {
  /**
   * A request that the cassette lacks is an error. Otherwise it gets the answer of the nearest request that is left, to see how far a
   * changed prompt goes before it is recorded. Default true.
   */
  readonly strict?: boolean;
  /** The recorded model to play. Required for a run with several. */
  readonly id?: string;
  /** The price of the recorded model, when the model itself gave one and no list does. Default: nothing, where its calls had cost nothing. */
  readonly price?: ModelPrice;
  /** The bound that the recorded model gave its replies. Default: the one that all its requests have. */
  readonly maxOutputTokens?: number;
  /** The secrets of the team: no record has them, so they must not tell a request from its record. */
  readonly secrets?: readonly string[];
}

const cassetteOptions: Known<CassetteOptions> = {
  strict: kinds.boolean,
  id: kinds.text,
  price: kinds.price,
  maxOutputTokens: kinds.count,
  secrets: kinds.secrets,
};

/** A model that plays a cassette. */
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

/** A recorded call, the forms its request can come in, and how far it was played. */
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
  readonly extra?: Readonly<Record<string, Json>>;
  readonly #runId: string;
  readonly #isStrict: boolean;
  readonly #mask: Mask;
  readonly #entries: readonly CassetteEntry[];
  readonly #calls: ChatRequest[] = [];

  constructor(id: string, runId: string, calls: readonly RecordedCall[], options: CassetteOptions) {
    const { strict = true, price = freePrice(id, calls), maxOutputTokens = commonLength(calls), secrets = [] } = options;
    const extra = commonExtra(calls);
    this.id = id;
    if (price !== undefined) this.price = price;
    if (maxOutputTokens !== undefined) this.maxOutputTokens = maxOutputTokens;
    if (extra !== undefined) this.extra = extra;
    this.#runId = runId;
    this.#isStrict = strict;
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

  async *stream(request: ChatRequest, o: ChatOptions): AsyncGenerator<ChatChunk> {
    const { content, toolCalls, finishReason, usage, refusal } = await this.chat(request, o);
    if (content !== "") yield { content };
    if (refusal !== undefined) yield { refusal };
    for (const [index, { id, function: called, extra }] of toolCalls.entries()) {
      yield { toolCalls: [{ index, id, name: called.name, arguments: called.arguments, ...(extra === undefined ? {} : { extra }) }] };
    }
    yield { finishReason, ...(usage === undefined ? {} : { usage }) };
  }

  #take(request: ChatRequest): Playable {
    const asked = liveForm(request, this.#mask);
    const hash = contentHash(asked);
    const same = this.#entries.filter(({ forms, call }) => forms.has(hash) && isSameLength(call.request["maxTokens"], request.maxTokens));
    const found = same.find(isBegun) ?? same.find(isFree) ?? (this.#isStrict ? undefined : this.#nearestLeft(asked));
    if (found === undefined || !isPlayable(found)) throw this.#difference(asked, request.maxTokens, same);
    return found;
  }

  #nearestLeft(asked: JsonObject): CassetteEntry | undefined {
    const near = nearestCall(
      this.#entries.filter(isFree).map(({ call }) => call),
      asked,
    );
    return this.#entries.find((entry) => entry.call === near?.call);
  }

  #difference(asked: JsonObject, maxTokens: number | undefined, same: readonly CassetteEntry[]): DifferenceError {
    const left = this.unused;
    const near = nearestCall(left.length > 0 ? left : this.#entries.map(({ call }) => call), asked);
    const beside = near === undefined ? "It has none." : besideText(near, asked, maxTokens);
    const told = same.length > 0 ? usedUpText(same) : beside;
    const recorded = same[0]?.call ?? near?.call;
    return new DifferenceError(
      "DIFFERENCE",
      `Expected a request of ${this.id} that the cassette of run ${this.#runId} has, got one it lacks. ${told}\nIf the change is meant, record the run again with the real model: see saveCassette.`,
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

/** One of its tries has failed: it is this one that is tried again. */
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
