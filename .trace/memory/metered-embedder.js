import { withTimeout } from "../kernel/abort.js";
import { sleep } from "../kernel/clock.js";
import { ControlError, ModelError } from "../kernel/errors.js";
import { contentHash } from "../kernel/json.js";
import { defaultRetry, retryDelay } from "../model/call.js";
import { mayHaveRun, modelError } from "../model/failure.js";
import { costOf, priceOf } from "../model/price.js";
// ../../work/wt/lead/src/memory/metered-embedder.ts
/** Milliseconds for one try, unless the policy says otherwise. */
const TRY_TIMEOUT = 6e4;
const BYTES = 4;
/**
* An embedder behind the door that every side effect passes: each batch is one step, bound by the budget, made with retries and limits,
* recorded, and answered from the record afterwards. Texts are recorded by their hash, for they stand in the run already. One that is
* free makes no step; it stays as it is, but for its time.
*
* A try settles by the tokens that the server told; at its hold where it told none, or where the model may have run; else at zero.
*
* @throws ModelError, ControlError
*/
function meteredEmbedder(embedder, { steps, policy, until }) {globalThis.__t?.("memory/metered-embedder.js#meteredEmbedder@1051");
	if (embedder.isFree === true) return until === void 0 ? embedder : timedEmbedder(embedder, policy.clock, until);
	const { id, model = id } = embedder;
	const embed = async (texts, { kind = "document", signal } = {}) => {globalThis.__t?.("memory/metered-embedder.js#embed@1281");
		const request = {
			embedder: id,
			kind,
			texts: texts.map((text) => (globalThis.__t?.("memory/metered-embedder.js#texts@1402"),(contentHash(text).slice(0, 32))))
		};
		return (await steps.step({
			kind: "embedding",
			name: model,
			request,
			metered: true
		}, (door) => (globalThis.__t?.("memory/metered-embedder.js#anonymous@1550"),(called({
			embedder,
			model,
			texts,
			kind,
			policy,
			until,
			door,
			signal: both(door.signal, signal)
		}))))).map(decoded);
	};
	return {
		...traitsOf(embedder),
		embed
	};
}
async function called(call) {globalThis.__t?.("memory/metered-embedder.js#called@1752");
	const { embedder, model, policy, signal, until = Infinity } = call;
	const price = priceOf({
		id: model,
		...embedder.price === void 0 ? {} : { price: embedder.price }
	}, policy.prices);
	if (price === void 0 && policy.requirePrice === true) throw unpriced(model);
	for (let n = 1;; n++) try {
		return await limitedTry(call, price);
	} catch (error) {
		const delay = retryDelay(error, n, {
			...defaultRetry,
			...policy.retry
		}, policy.random);
		if (delay === void 0 || policy.clock.now() + delay >= until) throw error;
		policy.logger?.warn(`${model}: try ${n} of an embedding failed, next in ${delay} ms.`);
		await sleep(policy.clock, delay, signal);
	}
}
/** As with chats, the place among the limits is taken before the money. */
async function limitedTry(call, price) {globalThis.__t?.("memory/metered-embedder.js#limitedTry@2529");
	const { policy, texts, signal, door } = call;
	const bytes = texts.reduce((sum, text) => (globalThis.__t?.("memory/metered-embedder.js#bytes@2645"),(sum + new TextEncoder().encode(text).length)), 0);
	const hold = price === void 0 ? 0 : costOf({
		inputTokens: bytes,
		outputTokens: 0
	}, price);
	const lease = await policy.limits?.acquire({
		tokens: Math.ceil(bytes / BYTES),
		clock: policy.clock,
		signal
	});
	try {
		await door.attempts.open(hold, { unpriced: price === void 0 });
		return await oneTry(call, price, hold);
	} finally {
		lease?.release(void 0);
	}
}
async function oneTry(call, price, hold) {globalThis.__t?.("memory/metered-embedder.js#oneTry@3085");
	const { embedder, texts, kind, policy, door, signal, model, until } = call;
	let told;
	const onUsage = ({ inputTokens }) => {globalThis.__t?.("memory/metered-embedder.js#onUsage@3233");
		if (Number.isSafeInteger(inputTokens) && inputTokens >= 0) told = {
			inputTokens,
			outputTokens: 0
		};
	};
	try {
		const limit = timeLeft(policy.clock, until, policy.idleTimeout ?? TRY_TIMEOUT);
		const vectors = await withTimeout(policy.clock, limit, `an embedding by ${model}`, signal, (inner) => (globalThis.__t?.("memory/metered-embedder.js#vectors@3552"),(embedder.embed(texts, {
			signal: inner,
			kind,
			isOneTry: true,
			onUsage
		}))));
		const usage = told === void 0 ? {} : { usage: { ...told } };
		if (price === void 0) door.attempts.settle({
			cost: void 0,
			basis: "usage",
			...usage
		});
		else if (told === void 0) door.attempts.settle({
			cost: hold,
			basis: "hold"
		});
		else door.attempts.settle({
			cost: costOf(told, price),
			basis: "usage",
			...usage
		});
		return vectors.map(encoded);
	} catch (error) {
		if (!(error instanceof ControlError || !(error instanceof ModelError) || mayHaveRun(error))) door.attempts.settle({
			cost: 0,
			basis: "none",
			error
		});
		else if (price === void 0) door.attempts.settle({
			cost: void 0,
			basis: "usage",
			error
		});
		else door.attempts.settle({
			cost: hold,
			basis: "hold",
			error
		});
		throw error;
	}
}
/** One that makes no step has no tries of its own either: its time is all there is to bound. */
function timedEmbedder(embedder, clock, until) {globalThis.__t?.("memory/metered-embedder.js#timedEmbedder@4512");
	const embed = (texts, o = {}) => {globalThis.__t?.("memory/metered-embedder.js#embed@4576");
		const limit = timeLeft(clock, until, TRY_TIMEOUT);
		const signal = o.signal ?? new AbortController().signal;
		return withTimeout(clock, limit, `an embedding by ${embedder.id}`, signal, (inner) => (globalThis.__t?.("memory/metered-embedder.js#anonymous@4786"),(embedder.embed(texts, {
			...o,
			signal: inner
		}))));
	};
	return {
		...traitsOf(embedder),
		embed
	};
}
function traitsOf({ id, dimensions, maxBatch, maxChars, threshold }) {globalThis.__t?.("memory/metered-embedder.js#traitsOf@4907");
	return {
		id,
		...dimensions === void 0 ? {} : { dimensions },
		maxBatch,
		maxChars,
		threshold
	};
}
function timeLeft(clock, until, most) {globalThis.__t?.("memory/metered-embedder.js#timeLeft@5086");
	return until === void 0 ? most : Math.max(0, Math.min(most, until - clock.now()));
}
/** 32-bit numbers as base64: a third of what their digits would take. */
function encoded(vector) {globalThis.__t?.("memory/metered-embedder.js#encoded@5286");
	const bytes = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(vector.length * BYTES));
	for (let n = 0; n < vector.length; n++) bytes.setFloat32(n * BYTES, vector[n], true);
	return btoa(String.fromCharCode(...new Uint8Array(bytes.buffer)));
}
function decoded(text) {globalThis.__t?.("memory/metered-embedder.js#decoded@5571");
	const bytes = Uint8Array.from(atob(text), (character) => (globalThis.__t?.("memory/metered-embedder.js#bytes@5639"),(character.charCodeAt(0))));
	const view = new DataView(bytes.buffer);
	return Float32Array.from({ length: bytes.length / BYTES }, (_, n) => (globalThis.__t?.("memory/metered-embedder.js#anonymous@5782"),(view.getFloat32(n * BYTES, true))));
}
function both(door, own) {globalThis.__t?.("memory/metered-embedder.js#both@5829");
	return own === void 0 || own === door ? door : AbortSignal.any([door, own]);
}
function unpriced(model) {globalThis.__t?.("memory/metered-embedder.js#unpriced@5936");
	return modelError("MODEL_UNPRICED", `Expected a price for the embedder ${model}, for a budget cannot bind one without, but none is known. Give one (\`price\` of the embedder, or \`prices\`), or say allowUnpriced.`);
}
export { meteredEmbedder };
