import { defined, isCount } from "../kernel/value-kind.ts";
import { interruptionBy } from "../kernel/abort.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { ControlError, ModelError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";
import { type Cancellation, cancellationOf } from "../kernel/cancellation.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Random } from "../kernel/random.ts";
import type { AttemptOutcome, Attempts } from "../kernel/step.ts";
import { attempt } from "./attempt.ts";
import type { ChatModel, ChatRequest, ChatResponse, Usage } from "./chat-model.ts";
import { type FilesOf, hasParts, loaded, readable } from "./file-parts.ts";
import { errorData, mayHaveRun, modelError } from "./failure.ts";
import { allLimits, type ModelLimits } from "./limits.ts";
import { costOf, DEFAULT_MAX_TOKENS, holdFor, isFree, knownPrice, type ModelPrice, type PriceTable } from "./price.ts";
import { defaultRetry, type NextTry, Retries, type RetryPolicy, retryPolicy } from "./retry.ts";
import { type TextListener, streamedText } from "./streamed-text.ts";
import { estimateTokens } from "./token-estimate.ts";
import { type CallTimeouts, checkTimeouts, timeoutsOf } from "./timeouts.ts";

/** One of the models that a call may ask, in turn. */
export interface Candidate {
  readonly model: ChatModel;
  readonly tries?: number;
  /** Codes of failures after which the next candidate is asked. */
  readonly next?: ReadonlySet<string>;
}

/** The candidates of a request, for a model that is made of others. */
export const PLAN: unique symbol = Symbol("the models that a call may ask");

export interface PlannedModel extends ChatModel {
  readonly [PLAN]?: (request: ChatRequest) => readonly Candidate[];
}

/** Retries and time limits of model calls. */
export interface CallTuning {
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** For models that have no limits of their own. Default {@link DEFAULT_TIMEOUTS}, member by member. */
  readonly timeouts?: CallTimeouts | undefined;
}

const callTuning: Known<CallTuning> = { retry: kinds.options(retryPolicy), timeouts: kinds.checked };

export const callPolicy: Known<CallPolicy> = {
  ...callTuning,
  clock: kinds.clock,
  random: kinds.function,
  limits: kinds.object,
  prices: kinds.record(kinds.price),
  requirePrice: kinds.boolean,
  logger: kinds.logger,
  onPrice: kinds.function,
  files: kinds.function,
};

export function checkTuning(calls: CallTuning | undefined): void {
  checkKnownOptions("the option calls", calls, callTuning);
  checkTimeouts(calls?.timeouts);
}

export interface CallPolicy extends CallTuning {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: ModelLimits | undefined;
  readonly prices?: PriceTable | undefined;
  /** A model without a known price is an error, because a budget needs the price. Default false. */
  readonly requirePrice?: boolean | undefined;
  readonly logger?: Logger | undefined;
  /** Called with the price of a call before the call; undefined if the price is unknown. */
  readonly onPrice?: ((model: string, price: ModelPrice | undefined) => void) | undefined;
  /** Finds the bytes of files in a request. */
  readonly files?: FilesOf | undefined;
}

/** Merges the policy of an enclosing run: its prices and limits also apply. */
export function policyWithin(above: CallPolicy | undefined, own: CallPolicy): CallPolicy {
  if (above === undefined) return own;
  return {
    ...above,
    ...own,
    prices: { ...above.prices, ...own.prices },
    limits: allLimits(own.limits, above.limits),
    requirePrice: above.requirePrice === true || own.requirePrice,
  };
}

export interface CallDeps extends CallPolicy, TextListener {
  readonly attempts: Attempts;
  readonly signal: AbortSignal | Cancellation;
  readonly takesCut?: boolean | undefined;
}

/** Limits the reply under a budget: else its cost has no bound. A free model gets no limit, because a server with a small window would refuse it. */
function boundedRequest(model: ChatModel, request: ChatRequest, { prices, requirePrice, attempts }: CallDeps): ChatRequest {
  const { budget } = attempts;
  const isBound = requirePrice === true || (budget !== undefined && budget.isBinding !== false);
  const price = knownPrice(model, prices);
  if (request.maxTokens !== undefined || !isBound || price === undefined || isFree(price)) return request;
  return { ...request, maxTokens: model.maxOutputTokens ?? Math.min(DEFAULT_MAX_TOKENS, price.maxOutput ?? DEFAULT_MAX_TOKENS) };
}

/**
 * Asks a model, with retries: each try waits for its limits, reserves its possible cost, is watched, checked and settled, and is repeated
 * after a failure that may pass. The answer always has usage, estimated from characters if the provider reports none.
 *
 * A try settles by the provider's usage; at zero when it was refused before the model ran; at its whole hold when it may have run without a
 * report: silence, a cut or reset connection, an abort, most 5xx. Without a known price the hold is 0 and the cost unknown.
 *
 * @throws ModelError see {@link ModelErrorCode}; `data.tries` is the number of tries. ControlError when the signal aborts or the budget is
 * reached.
 */
export async function callModel(model: ChatModel, given: ChatRequest, deps: CallDeps): Promise<ChatResponse> {
  const forModel = (one: ChatModel): Promise<ChatRequest> => readable(one, given, deps.files);
  const plan = (model as PlannedModel)[PLAN]?.(given);
  if (plan === undefined) {
    const request = hasParts(given) ? await forModel(model) : given;
    return askOne(model, request, deps, heldFor(model, request, deps));
  }
  const requests = hasParts(given) ? await Promise.all(plan.map((one) => forModel(one.model))) : [];
  // Reserve the hold of the most expensive model, whichever one answers.
  const hold = Math.max(...plan.map((one, nth) => heldFor(one.model, requests[nth] ?? given, deps)));
  const failed: string[] = [];
  for (const [nth, { model: candidate, tries, next }] of plan.entries()) {
    const request = requests[nth] ?? given;
    const retry = tries === undefined ? deps.retry : { ...deps.retry, tries, outage: 0 };
    try {
      return { ...(await askOne(candidate, request, { ...deps, retry }, hold, candidate.id)), model: candidate.id };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      if (next?.has(error.code) !== true) throw failed.length === 0 ? error : afterOthers(error, failed);
      failed.push(`${candidate.id} (${error.code})`);
      deps.logger?.warn(`${candidate.id} failed, and the next model is asked. ${error.message}`);
    }
  }
  throw modelError("MODEL_FAILED", `Expected ${model.id} to have a model to ask, got none.`);
}

function afterOthers(error: ModelError, failed: readonly string[]): ModelError {
  const { code, message, data, retryable } = error;
  return new ModelError(code, `${message} Before it failed: ${failed.join(", ")}.`, { data, retryable, cause: error });
}

/** @throws ModelError `MODEL_UNPRICED` */
function heldFor(model: ChatModel, request: ChatRequest, deps: CallDeps): number {
  const price = knownPrice(model, deps.prices);
  if (price === undefined && deps.requirePrice === true) throw unpriced(model.id);
  return price === undefined ? 0 : holdFor(boundedRequest(model, request, deps), price, model.maxOutputTokens);
}

async function askOne(model: ChatModel, request: ChatRequest, deps: CallDeps, hold: number, planned?: string): Promise<ChatResponse> {
  const price = knownPrice(model, deps.prices);
  deps.onPrice?.(model.id, price);
  const bounded = boundedRequest(model, request, deps);
  const sent = hasParts(bounded) ? await loaded(bounded, deps.files) : bounded;
  // A role may make many calls at once, and Node warns of more than ten listeners on one signal.
  const ending =
    deps.limits === undefined ? cancellationOf(deps.signal) : cancellationOf(AbortSignal.any([cancellationOf(deps.signal).signal]));
  const call: Call = { model, request: sent, deps, ending, price, hold, planned };
  const policy = { ...defaultRetry, ...deps.retry };
  const retries = new Retries(policy, deps.random, answered.has(model));
  let timeLeft = timeoutsOf(model.timeouts, deps.timeouts).call;
  for (let n = 1; ; n++) {
    const tried = await (deps.limits === undefined ? oneTry(call, n, timeLeft) : limitedTry(call, deps.limits, n, timeLeft));
    if (tried.ok) {
      answered.add(model);
      return tried.reply;
    }
    timeLeft -= tried.took;
    const next = retries.after(tried.error, tried.took, call.hold);
    if (next === undefined || next.delay >= timeLeft) throw withTries(tried.error, n);
    reportRetry(call, tried.error, n, next);
    const { delay } = next;
    timeLeft -= delay;
    if (delay > 0) await sleep(deps.clock, delay, AbortSignal.any([ending.signal]));
  }
}

const answered = new WeakSet<ChatModel>();

/** Reports the first failure of an outage as an error, for the person who waits, and the others as warnings. */
function reportRetry({ model, deps }: Call, { message }: Error, n: number, { delay, outage, isFirst = false }: NextTry): void {
  if (outage === undefined) return deps.logger?.warn(`${model.id}: try ${n} failed, next in ${delay} ms. ${message}`);
  const text = `${model.id} is away and is asked again for ${seconds(outage)}, next in ${seconds(delay)}. ${message}`;
  if (isFirst) deps.logger?.error(text);
  else deps.logger?.warn(text);
}

function seconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1_000))} s`;
}

interface Call {
  readonly model: ChatModel;
  readonly request: ChatRequest;
  readonly deps: CallDeps;
  readonly ending: Cancellation;
  readonly price: ModelPrice | undefined;
  readonly hold: number;
  /** Its id, where it is one of several that may answer. */
  readonly planned: string | undefined;
}

type Tried = { readonly ok: true; readonly reply: ChatResponse } | { readonly ok: false; readonly error: Error; readonly took: number };

/** A call acquires its limits before money, so that a waiting call withholds none. Then it waits for time only. */
async function limitedTry(call: Call, limits: ModelLimits, n: number, timeLeft: number): Promise<Tried> {
  const { clock } = call.deps;
  const lease = await limits.acquire({ tokens: tokensAtMost(call.request), clock, signal: call.ending.signal });
  let used: number | undefined = 0;
  try {
    const tried = await oneTry(call, n, timeLeft, async () => {
      // Calls that waited for the money or the record must not start together.
      await lease.begin?.();
      used = undefined;
    });
    const usage = tried.ok ? tried.reply.usage : usageOf(tried.error);
    if (usage !== undefined) used = usage.inputTokens + usage.outputTokens;
    else if (!tried.ok && !mayHaveRun(tried.error)) used = 0;
    return tried;
  } finally {
    lease.release(used);
  }
}

/** @param begins called when the money is reserved, before the model is asked */
async function oneTry(call: Call, n: number, timeLeft: number, begins?: () => Promise<void>): Promise<Tried> {
  const { deps, ending, model, request } = call;
  await deps.attempts.open(call.hold, {
    unpriced: call.price === undefined,
    dropsRepeats: model.dropsRepeats === true,
    ...defined({ model: call.planned }),
  });
  try {
    if (ending.ended !== undefined) throw interruptionBy(ending.ended.reason);
    await begins?.();
  } catch (error) {
    deps.attempts.settle({ cost: 0, basis: "none" });
    throw error;
  }
  const started = deps.clock.now();
  const streamed = deps.onDelta && streamedText(deps, deps.logger, deps.attempts.current ?? { act: "", key: "", try: n });
  let answer: ChatResponse;
  try {
    answer = await attempt(model, request, {
      signal: ending,
      clock: deps.clock,
      timeouts: timeoutsOf(model.timeouts, deps.timeouts),
      timeLeft,
      takesCut: deps.takesCut,
      attempts: deps.attempts,
      ...(streamed === undefined ? {} : { onText: (text) => streamed.send(text) }),
    });
    if (streamed?.isSent() === false && answer.content !== "") streamed.send(answer.content);
  } catch (error) {
    const failed = error instanceof Error ? error : new Error(String(error));
    deps.attempts.settle({ ...failedSettlement(call, failed), error: failed });
    streamed?.takeBack();
    if (failed instanceof ControlError) throw failed;
    return { ok: false, error: failed, took: deps.clock.now() - started };
  }
  const counted = soundUsage(answer.usage);
  const usage = counted ?? estimateUsage(request, answer);
  const outcome = settlement(call, counted, usage);
  deps.attempts.settle(outcome);
  if (outcome.cost !== undefined && outcome.cost > call.hold) {
    deps.logger?.warn(`${model.id}: a call cost ${outcome.cost} micro-dollars, more than the ${call.hold} reserved for it.`);
  }
  return { ok: true, reply: counted === undefined ? { ...answer, usage } : answer };
}

function settlement(call: Call, reported: Usage | undefined, usage: Usage): AttemptOutcome {
  if (call.price === undefined) return { cost: undefined, basis: "usage", usage: { ...usage } };
  if (reported === undefined) return { cost: call.hold, basis: "hold", usage: { ...usage } };
  return { cost: costOf(reported, call.price), basis: "usage", usage: { ...reported } };
}

function failedSettlement(call: Call, error: Error): AttemptOutcome {
  const usage = usageOf(error);
  if (usage !== undefined) return settlement(call, usage, usage);
  if (!(error instanceof ControlError) && !mayHaveRun(error)) return { cost: 0, basis: "none" };
  return call.price === undefined ? { cost: undefined, basis: "usage" } : { cost: call.hold, basis: "hold" };
}

function usageOf(error: Error): Usage | undefined {
  return error instanceof ModelError ? soundUsage(errorData(error).usage) : undefined;
}

/** Undefined if the usage is implausible: every answer uses some tokens. */
function soundUsage(usage: Usage | undefined): Usage | undefined {
  if (usage === undefined || usage.estimated === true) return undefined;
  const { inputTokens, outputTokens, cachedTokens } = usage;
  const areCounts = isCount(inputTokens) && isCount(outputTokens) && isCount(cachedTokens ?? 0);
  return areCounts && inputTokens + outputTokens > 0 ? usage : undefined;
}

function estimateUsage(request: ChatRequest, reply: ChatResponse): Usage {
  const calls = reply.toolCalls.map((call) => call.function.name + call.function.arguments);
  const outputTokens = estimateTokens([reply.content, reply.reasoning?.text ?? "", ...calls].join(""));
  return { inputTokens: requestTokens(request), outputTokens, estimated: true };
}

function tokensAtMost(request: ChatRequest): number {
  return requestTokens(request) + (request.maxTokens ?? DEFAULT_MAX_TOKENS);
}

/** A picture of ordinary size takes a thousand tokens. */
function requestTokens(request: ChatRequest): number {
  let pictures = 0;
  const messages = request.messages.map(({ images = [], ...text }) => {
    pictures += images.length;
    return text;
  });
  return estimateTokens(canonicalJson({ ...request, messages })) + 1_000 * pictures;
}

function withTries(error: Error, tries: number): Error {
  if (!(error instanceof ModelError)) return error;
  const message = tries === 1 ? error.message : `${error.message} Tried ${tries} times.`;
  const data = { ...errorData(error), tries };
  return new ModelError(error.code, message, {
    retryable: error.retryable,
    data,
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  });
}

function unpriced(id: string): ModelError {
  return modelError(
    "MODEL_UNPRICED",
    `Expected a price for ${id}, because a budget needs one, but none is known. Set \`price\`, \`prices\` or --price, or pass allowUnpriced.`,
  );
}
