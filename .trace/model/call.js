import { isCount } from "../kernel/value-kind.js";
import { abortReason, interruptionBy, throwIfAborted } from "../kernel/abort.js";
import { sleep } from "../kernel/clock.js";
import { ControlError, ModelError } from "../kernel/errors.js";
import { canonicalJson } from "../kernel/json.js";
import { cancellationOf } from "../kernel/cancellation.js";
import { attempt } from "./attempt.js";
import { errorData, mayHaveRun, modelError } from "./failure.js";
import { DEFAULT_MAX_TOKENS, costOf, holdFor, knownPrice } from "./price.js";
import { ToldText } from "./told-text.js";
// ../../work/wt/lead/src/model/call.ts
/** Longest silence between two pieces of an answer, the first included, in milliseconds. */
const DEFAULT_IDLE_TIMEOUT = 6e4;
/** Longest time for a whole call, all its tries and the waits between them, in milliseconds. */
const DEFAULT_CALL_TIMEOUT = 6e5;
/** The request with a bound for its reply, where a price is known: without one its cost has no bound. */
function boundedRequest(model, request, prices) {globalThis.__t?.("model/call.js#boundedRequest@983");
	if (request.maxTokens !== void 0) return request;
	const price = knownPrice(model, prices);
	if (price === void 0) return request;
	const most = model.maxOutputTokens ?? price.maxOutput ?? 16384;
	return {
		...request,
		maxTokens: Math.min(DEFAULT_MAX_TOKENS, most)
	};
}
/**
* Asks a model and does not give up at the first trouble: each try waits for its limits, reserves what it can cost, is watched, checked
* and settled, and what may pass is tried again. The answer always carries usage; counted from characters where the provider told none.
*
* A try settles by the provider's usage; at zero when it was refused before the model ran; at its whole hold when it may have run and
* nobody told: silence, a cut or reset connection, an abort, most 5xx. Without a known price the hold is 0 and the cost unknown.
*
* @throws ModelError see {@link ModelErrorCode}; `data.tries` says how often it was tried.
* @throws ControlError when the signal aborts or the budget is reached.
*/
async function callModel(model, request, deps) {globalThis.__t?.("model/call.js#callModel@2017");
	const price = knownPrice(model, deps.prices);
	if (price === void 0 && deps.requirePrice === true) throw unpriced(model.id);
	const sent = boundedRequest(model, request, deps.prices);
	const ending = deps.limits === void 0 ? cancellationOf(deps.signal) : cancellationOf(AbortSignal.any([cancellationOf(deps.signal).signal]));
	const call = {
		model,
		request: sent,
		deps,
		ending,
		price,
		hold: price === void 0 ? 0 : holdFor(sent, price)
	};
	let timeLeft = deps.callTimeout ?? 6e5;
	for (let n = 1;; n++) {
		const tried = await (deps.limits === void 0 ? oneTry(call, n, timeLeft) : limitedTry(call, deps.limits, n, timeLeft));
		if (tried.ok) return tried.reply;
		const policy = {
			...defaultRetry,
			...deps.retry
		};
		timeLeft -= tried.took;
		const delay = retryDelay(tried.error, n, policy, deps.random);
		if (delay === void 0 || delay >= timeLeft) throw withTries(tried.error, n);
		deps.logger?.warn(`${model.id}: try ${n} of ${policy.tries} failed, next in ${delay} ms. ${tried.error.message}`);
		timeLeft -= delay;
		if (delay > 0) await pause(deps.clock, delay, AbortSignal.any([ending.signal]));
	}
}
/** The place among the limits is taken before the money: who waits for a place must not keep money from those who have one. */
async function limitedTry(call, limits, n, timeLeft) {globalThis.__t?.("model/call.js#limitedTry@3325");
	const { clock } = call.deps;
	const lease = await limits.acquire({
		tokens: tokensAtMost(call.request),
		clock,
		signal: call.ending.signal
	});
	let used = 0;
	try {
		const tried = await oneTry(call, n, timeLeft, () => {globalThis.__t?.("model/call.js#tried@3599");
			used = void 0;
		});
		const usage = tried.ok ? tried.reply.usage : usageOf(tried.error);
		if (usage !== void 0) used = usage.inputTokens + usage.outputTokens;
		else if (!tried.ok && !mayHaveRun(tried.error)) used = 0;
		return tried;
	} finally {
		lease.release(used);
	}
}
/** @param begins told when the money is reserved and the model is about to be asked */
async function oneTry(call, n, timeLeft, begins) {globalThis.__t?.("model/call.js#oneTry@3976");
	const { deps, ending, model, request } = call;
	await deps.attempts.open(call.hold, { unpriced: call.price === void 0 });
	if (ending.ended !== void 0) {
		deps.attempts.settle({
			cost: 0,
			basis: "none"
		});
		throw interruptionBy(ending.ended.reason);
	}
	begins?.();
	const started = deps.clock.now();
	const told = new ToldText(deps, deps.logger, deps.attempts.current ?? {
		act: "",
		key: "",
		try: n
	});
	let answer;
	try {
		answer = await attempt(model, request, {
			signal: ending,
			clock: deps.clock,
			idleTimeout: deps.idleTimeout ?? 6e4,
			timeLeft,
			...deps.onDelta === void 0 ? {} : { onText: (text) => (globalThis.__t?.("model/call.js#onText@4652"),(told.tell(text))) }
		});
	} catch (error) {
		const failed = error instanceof Error ? error : new Error(String(error));
		deps.attempts.settle({
			...failedSettlement(call, failed),
			error: failed
		});
		told.takeBack();
		if (failed instanceof ControlError) throw failed;
		return {
			ok: false,
			error: failed,
			took: deps.clock.now() - started
		};
	}
	const counted = soundUsage(answer.usage);
	const usage = counted ?? estimateUsage(request, answer);
	const outcome = settlement(call, counted, usage);
	deps.attempts.settle(outcome);
	if (outcome.cost !== void 0 && outcome.cost > call.hold) deps.logger?.warn(`${model.id}: a call cost ${outcome.cost} micro-dollars, more than the ${call.hold} reserved for it.`);
	return {
		ok: true,
		reply: counted === void 0 ? {
			...answer,
			usage
		} : answer
	};
}
function settlement(call, told, usage) {globalThis.__t?.("model/call.js#settlement@5485");
	if (call.price === void 0) return {
		cost: void 0,
		basis: "usage",
		usage: { ...usage }
	};
	if (told === void 0) return {
		cost: call.hold,
		basis: "hold",
		usage: { ...usage }
	};
	return {
		cost: costOf(told, call.price),
		basis: "usage",
		usage: { ...told }
	};
}
function failedSettlement(call, error) {globalThis.__t?.("model/call.js#failedSettlement@5805");
	const usage = usageOf(error);
	if (usage !== void 0) return settlement(call, usage, usage);
	if (!(error instanceof ControlError) && !mayHaveRun(error)) return {
		cost: 0,
		basis: "none"
	};
	return call.price === void 0 ? {
		cost: void 0,
		basis: "usage"
	} : {
		cost: call.hold,
		basis: "hold"
	};
}
function usageOf(error) {globalThis.__t?.("model/call.js#usageOf@6155");
	return error instanceof ModelError ? soundUsage(errorData(error).usage) : void 0;
}
/** Usage as told, unless it cannot be true: then it counts as not told. No answer comes of no tokens at all. */
function soundUsage(usage) {globalThis.__t?.("model/call.js#soundUsage@6379");
	if (usage === void 0 || usage.estimated === true) return void 0;
	const { inputTokens, outputTokens, cachedTokens } = usage;
	return isCount(inputTokens) && isCount(outputTokens) && isCount(cachedTokens ?? 0) && inputTokens + outputTokens > 0 ? usage : void 0;
}
function estimateUsage(request, reply) {globalThis.__t?.("model/call.js#estimateUsage@6672");
	const said = reply.content.length + reply.toolCalls.reduce((sum, call) => (globalThis.__t?.("model/call.js#said@6773"),(sum + call.function.name.length + call.function.arguments.length)), 0);
	return {
		inputTokens: estimateTokens(request),
		outputTokens: Math.ceil(said / 4),
		estimated: true
	};
}
function tokensAtMost(request) {globalThis.__t?.("model/call.js#tokensAtMost@6969");
	return estimateTokens(request) + (request.maxTokens ?? 16384);
}
/** About four characters make a token, and a picture of ordinary size a thousand tokens. */
function estimateTokens(request) {globalThis.__t?.("model/call.js#estimateTokens@7161");
	let pictures = 0;
	const messages = request.messages.map(({ images = [], ...text }) => {globalThis.__t?.("model/call.js#messages@7254");
		pictures += images.length;
		return text;
	});
	return Math.ceil(canonicalJson({
		...request,
		messages
	}).length / 4) + 1e3 * pictures;
}
async function pause(clock, ms, signal) {globalThis.__t?.("model/call.js#pause@7430");
	try {
		await sleep(clock, ms, signal);
	} catch {
		throw abortReason(signal);
	}
	throwIfAborted(signal);
}
function withTries(error, tries) {globalThis.__t?.("model/call.js#withTries@7583");
	if (!(error instanceof ModelError)) return error;
	const message = tries === 1 ? error.message : `${error.message} Tried ${tries} times.`;
	const data = {
		...errorData(error),
		tries
	};
	return new ModelError(error.code, message, {
		retryable: error.retryable,
		data,
		...error.cause === void 0 ? {} : { cause: error.cause }
	});
}
function unpriced(id) {globalThis.__t?.("model/call.js#unpriced@7958");
	return modelError("MODEL_UNPRICED", `Expected a price for ${id}, for a budget cannot bind a model without one, but none is known. Give one (\`price\`, \`prices\`, or --price), or say allowUnpriced.`);
}
/** Four tries, waits up to 1, 2 and 4 s but never above 20 s, and up to 60 s where the server asks for it. */
const defaultRetry = {
	tries: 4,
	baseDelay: 1e3,
	maxDelay: 2e4,
	maxRetryAfter: 6e4
};
/**
* Milliseconds to wait after the n-th failed try, or undefined when there is nothing to wait for: the error is not of the kind that
* passes, or it was the last try. A server's `retry-after` is honoured up to its limit; else the wait is random between 0 and the
* bound ("full jitter"), so that many roles which failed together do not come back together.
*/
function retryDelay(error, n, policy, random) {globalThis.__t?.("model/call.js#retryDelay@8749");
	if (!(error instanceof ModelError) || !error.retryable || n >= policy.tries) return void 0;
	const asked = errorData(error).retryAfterMs;
	if (asked !== void 0) return Math.min(Math.max(0, asked), policy.maxRetryAfter);
	return Math.round(random() * Math.min(policy.maxDelay, policy.baseDelay * 2 ** (n - 1)));
}
/**
* Milliseconds that the headers of a response ask to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. A date is
* measured against the server's own `date`, so that a wrong clock here does not matter.
*
* @param now milliseconds since 1970, for a server that tells no date of its own
*/
function retryAfterOf(headers, now) {globalThis.__t?.("model/call.js#retryAfterOf@9418");
	const ms = decimal(headers.get("retry-after-ms"));
	if (ms !== void 0) return ms;
	const text = headers.get("retry-after");
	const seconds = decimal(text);
	if (seconds !== void 0) return seconds * 1e3;
	const until = /^[A-Za-z]/.test(text ?? "") ? Date.parse(text ?? "") : NaN;
	if (Number.isNaN(until)) return void 0;
	const told = Date.parse(headers.get("date") ?? "");
	return Math.max(0, until - (Number.isNaN(told) ? now : told));
}
function decimal(text) {globalThis.__t?.("model/call.js#decimal@9896");
	return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : void 0;
}
export { DEFAULT_CALL_TIMEOUT, DEFAULT_IDLE_TIMEOUT, boundedRequest, callModel, defaultRetry, retryAfterOf, retryDelay };
