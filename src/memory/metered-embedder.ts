import { eitherSignal, withTimeout } from "../kernel/abort.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import { ControlError, ModelError } from "../kernel/errors.ts";
import { contentHash } from "../kernel/json.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import type { CallPolicy } from "../model/call.ts";
import { mayHaveRun, modelError } from "../model/failure.ts";
import { defaultRetry, retryDelay } from "../model/retry.ts";
import { costOf, type ModelPrice, priceOf } from "../model/price.ts";
import type { Embedder, EmbedOptions } from "./embedder.ts";

/** Milliseconds for one try, unless the policy says otherwise. */
const TRY_TIMEOUT = 60_000;
const BYTES = 4;

/** Options of {@link meteredEmbedder}. */
export interface MeterParts {
  readonly steps: StepPort;
  readonly policy: CallPolicy;
  /** Deadline of all attempts by the policy's clock. After it the embedder fails as if it were unreachable. Default: none. */
  readonly until?: number | undefined;
}

/**
 * Makes every batch of an embedder a recorded step: with retries, limits and the budget, and answered from the record on replay. Texts are
 * recorded by hash. A free embedder makes no step. An attempt costs the tokens that the server reports; its hold when it reports none or the
 * model may have run; otherwise nothing.
 *
 * @throws ModelError, ControlError
 */
export function meteredEmbedder(embedder: Embedder, { steps, policy, until }: MeterParts): Embedder {
  if (embedder.isFree === true) return until === undefined ? embedder : timedEmbedder(embedder, policy.clock, until);
  const { id, model = id } = embedder;
  const embed: Embedder["embed"] = async (texts, { kind = "document", signal } = {}) => {
    const request = { embedder: id, kind, texts: texts.map((text) => contentHash(text).slice(0, 32)) };
    const vectors = await steps.step({ kind: "embedding", name: model, request, metered: true }, (door) =>
      called({ embedder, model, texts, kind, policy, until, door, signal: eitherSignal(door.signal, signal ?? door.signal) }),
    );
    return vectors.map(decoded);
  };
  return { ...traitsOf(embedder), embed };
}

interface EmbedderCall {
  readonly embedder: Embedder;
  readonly model: string;
  readonly texts: readonly string[];
  readonly kind: EmbedOptions["kind"];
  readonly policy: CallPolicy;
  readonly until: number | undefined;
  readonly door: StepDoor;
  readonly signal: AbortSignal;
}

async function called(call: EmbedderCall): Promise<readonly string[]> {
  const { embedder, model, policy, signal, until = Infinity } = call;
  const price = priceOf({ id: model, ...(embedder.price === undefined ? {} : { price: embedder.price }) }, policy.prices);
  if (price === undefined && policy.requirePrice === true) throw unpriced(model);
  policy.onPrice?.(model, price);
  for (let n = 1; ; n++) {
    try {
      return await limitedTry(call, price);
    } catch (error) {
      const delay = retryDelay(error, n, { ...defaultRetry, ...policy.retry }, policy.random);
      if (delay === undefined || policy.clock.now() + delay >= until) throw error;
      policy.logger?.warn(`${model}: try ${n} of an embedding failed, next in ${delay} ms.`);
      await sleep(policy.clock, delay, signal);
    }
  }
}

/** Waits for the rate limits first and then for the budget, as chat calls do. */
async function limitedTry(call: EmbedderCall, price: ModelPrice | undefined): Promise<readonly string[]> {
  const { policy, texts, signal, door } = call;
  // No token is shorter than a byte.
  const bytes = texts.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
  const hold = price === undefined ? 0 : costOf({ inputTokens: bytes, outputTokens: 0 }, price);
  const lease = await policy.limits?.acquire({ tokens: Math.ceil(bytes / BYTES), clock: policy.clock, signal });
  try {
    await door.attempts.open(hold, { unpriced: price === undefined });
    try {
      // As for chat calls: calls that waited for the record must not start together.
      await lease?.begin?.();
    } catch (error) {
      door.attempts.settle({ cost: 0, basis: "none" });
      throw error;
    }
    return await oneTry(call, price, hold);
  } finally {
    lease?.release(undefined);
  }
}

async function oneTry(call: EmbedderCall, price: ModelPrice | undefined, hold: number): Promise<readonly string[]> {
  const { embedder, texts, kind, policy, door, signal, model, until } = call;
  let reported: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
  const onUsage = ({ inputTokens }: { readonly inputTokens: number }): void => {
    if (Number.isSafeInteger(inputTokens) && inputTokens >= 0) reported = { inputTokens, outputTokens: 0 };
  };
  try {
    const limit = timeLeft(policy.clock, until, policy.timeouts?.call ?? TRY_TIMEOUT);
    const vectors = await withTimeout(policy.clock, limit, `an embedding by ${model}`, signal, (inner) =>
      embedder.embed(texts, { signal: inner, kind, isOneTry: true, onUsage }),
    );
    const usage = reported === undefined ? {} : { usage: { ...reported } };
    if (price === undefined) door.attempts.settle({ cost: undefined, basis: "usage", ...usage });
    else if (reported === undefined) door.attempts.settle({ cost: hold, basis: "hold" });
    else door.attempts.settle({ cost: costOf(reported, price), basis: "usage", ...usage });
    return vectors.map(encoded);
  } catch (error) {
    // An attempt that is settled already stays settled: its vectors were paid and invalid.
    const ran = error instanceof ControlError || !(error instanceof ModelError) || mayHaveRun(error);
    if (!ran) door.attempts.settle({ cost: 0, basis: "none", error });
    else if (price === undefined) door.attempts.settle({ cost: undefined, basis: "usage", error });
    else door.attempts.settle({ cost: hold, basis: "hold", error });
    throw error;
  }
}

function timedEmbedder(embedder: Embedder, clock: Clock, until: number): Embedder {
  const embed: Embedder["embed"] = (texts, o = {}) => {
    const limit = timeLeft(clock, until, TRY_TIMEOUT);
    const signal = o.signal ?? new AbortController().signal;
    return withTimeout(clock, limit, `an embedding by ${embedder.id}`, signal, (inner) => embedder.embed(texts, { ...o, signal: inner }));
  };
  return { ...traitsOf(embedder), embed };
}

function traitsOf({ id, dimensions, maxBatch, maxChars, threshold }: Embedder): Omit<Embedder, "embed"> {
  return { id, ...(dimensions === undefined ? {} : { dimensions }), maxBatch, maxChars, threshold };
}

function timeLeft(clock: Clock, until: number | undefined, most: number): number {
  return until === undefined ? most : Math.max(0, Math.min(most, until - clock.now()));
}

/** Writes 32-bit numbers as base64: a third of the size of digits. */
function encoded(vector: ArrayLike<number>): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * BYTES));
  for (let n = 0; n < vector.length; n++) bytes.setFloat32(n * BYTES, vector[n] as number, true);
  return btoa(String.fromCharCode(...new Uint8Array(bytes.buffer)));
}

function decoded(text: string): Float32Array {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / BYTES }, (_, n) => view.getFloat32(n * BYTES, true));
}

function unpriced(model: string): ModelError {
  return modelError(
    "MODEL_UNPRICED",
    `Expected a price for the embedder ${model}, for a budget cannot bind one without, but none is known. Give one (\`price\` of the embedder, or \`prices\`), or say allowUnpriced.`,
  );
}
