import { isObject } from "../kernel/value-kind.js";
import { takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { throwIfAborted } from "../kernel/abort.js";
import { nextMacrotask } from "../kernel/clock.js";
import { DifferenceError, ModelError, stepErrorFrom } from "../kernel/errors.js";
import { contentHash, deepFreeze } from "../kernel/json.js";
import { maskSecrets } from "../kernel/mask.js";
import { aCassette } from "./cassette.js";
import { besideText, commonExtra, commonLength, freePrice, isSameLength, liveForm, nearestCall, recordedCalls, recordedForms, recordedModel } from "./cassette-call.js";
// ../../work/wt/lead/src/testing/cassette-model.ts
const cassetteOptions = {
	strict: true,
	id: true,
	price: true,
	maxOutputTokens: true,
	secrets: true
};
/**
* A model that answers as a recorded one did: each request by its content, each recorded answer once, equal requests in the order they
* were recorded. What had failed fails again, without a wait: calls, and tries on the way to an answer that were paid for. Answers and
* failures carry the usage that was recorded, so they cost what they had cost, by the same prices and the same `retry` of the team; only
* calls that were cut off by the end of a process are not paid again. Other steps happen as ever; to play them too, replay the run: see
* {@link cassetteJournal}. For how to record see {@link saveCassette}.
*
* A request that the cassette lacks throws a DifferenceError `DIFFERENCE`, which shows the nearest one beside it and ends the run.
*
* @throws UsageError `CASSETTE_MODELS` when `id` must be given, or names none that was recorded; `CASSETTE_INVALID`
*/
function cassetteModel(cassette, options = {}) {globalThis.__t?.("testing/cassette-model.js#cassetteModel@1704");
	checkKnownOptions("cassetteModel", options, cassetteOptions);
	takes("cassetteModel", "cassette", cassette, aCassette);
	const calls = recordedCalls(cassette.events);
	const id = recordedModel(calls, options.id);
	const own = calls.filter((call) => (globalThis.__t?.("testing/cassette-model.js#own@1993"),(call.model === id)));
	return new CassettePlayer(id, cassette.runId, own, options);
}
var CassettePlayer = class {
	id;
	price;
	maxOutputTokens;
	extra;
	#runId;
	#isStrict;
	#mask;
	#entries;
	#calls = [];
	constructor(id, runId, calls, options) {globalThis.__t?.("testing/cassette-model.js#constructor@2221");
		const { strict = true, price = freePrice(id, calls), maxOutputTokens = commonLength(calls), secrets = [] } = options;
		const extra = commonExtra(calls);
		this.id = id;
		if (price !== void 0) this.price = price;
		if (maxOutputTokens !== void 0) this.maxOutputTokens = maxOutputTokens;
		if (extra !== void 0) this.extra = extra;
		this.#runId = runId;
		this.#isStrict = strict;
		this.#mask = maskSecrets(secrets);
		this.#entries = calls.map((call) => ((globalThis.__t?.("testing/cassette-model.js#anonymous@2700"),({
			call,
			forms: new Set(recordedForms(call.request).map(contentHash)),
			tried: 0,
			isFailing: false,
			isUsed: false
		}))));
	}
	get calls() {globalThis.__t?.("testing/cassette-model.js#calls get@2858");
		return [...this.#calls];
	}
	get unused() {globalThis.__t?.("testing/cassette-model.js#unused get@2904");
		return this.#entries.filter(isLeft).map(({ call }) => (globalThis.__t?.("testing/cassette-model.js#anonymous@2951"),(call)));
	}
	async chat(request, { signal }) {globalThis.__t?.("testing/cassette-model.js#chat@2986");
		throwIfAborted(signal);
		this.#calls.push(deepFreeze(structuredClone(request)));
		const entry = this.#take(request);
		const { answer, failed } = entry.call;
		const failure = failed[entry.tried];
		if (failure !== void 0) throw await failedAgain(entry, failure);
		entry.isUsed = true;
		if (!answer.ok) throw finalError(answer.error);
		return answer.response;
	}
	async *stream(request, o) {globalThis.__t?.("testing/cassette-model.js#stream@3394");
		const { content, toolCalls, finishReason, usage, refusal } = await this.chat(request, o);
		if (content !== "") yield { content };
		if (refusal !== void 0) yield { refusal };
		for (const [index, { id, function: called, extra }] of toolCalls.entries()) yield { toolCalls: [{
			index,
			id,
			name: called.name,
			arguments: called.arguments,
			...extra === void 0 ? {} : { extra }
		}] };
		yield {
			finishReason,
			...usage === void 0 ? {} : { usage }
		};
	}
	#take(request) {globalThis.__t?.("testing/cassette-model.js#take@3887");
		const asked = liveForm(request, this.#mask);
		const hash = contentHash(asked);
		const same = this.#entries.filter(({ forms, call }) => (globalThis.__t?.("testing/cassette-model.js#same@4017"),(forms.has(hash) && isSameLength(call.request["maxTokens"], request.maxTokens))));
		const found = same.find(isBegun) ?? same.find(isFree) ?? (this.#isStrict ? void 0 : this.#nearestLeft(asked));
		if (found === void 0 || !isPlayable(found)) throw this.#difference(asked, request.maxTokens, same);
		return found;
	}
	#nearestLeft(asked) {globalThis.__t?.("testing/cassette-model.js#nearestLeft@4365");
		const near = nearestCall(this.#entries.filter(isFree).map(({ call }) => (globalThis.__t?.("testing/cassette-model.js#near@4435"),(call))), asked);
		return this.#entries.find((entry) => (globalThis.__t?.("testing/cassette-model.js#anonymous@4492"),(entry.call === near?.call)));
	}
	#difference(asked, maxTokens, same) {globalThis.__t?.("testing/cassette-model.js#difference@4546");
		const left = this.unused;
		const near = nearestCall(left.length > 0 ? left : this.#entries.map(({ call }) => (globalThis.__t?.("testing/cassette-model.js#near@4671"),(call))), asked);
		const beside = near === void 0 ? "It has none." : besideText(near, asked, maxTokens);
		const told = same.length > 0 ? usedUpText(same) : beside;
		const recorded = same[0]?.call ?? near?.call;
		return new DifferenceError("DIFFERENCE", `Expected a request of ${this.id} that the cassette of run ${this.#runId} has, got one it lacks. ${told}\nIf the change is meant, record the run again with the real model: see saveCassette.`, { data: {
			kind: "asked",
			act: recorded?.act ?? "",
			name: this.id,
			recorded: recorded?.request ?? null,
			now: asked
		} });
	}
};
function isLeft({ call, isUsed }) {globalThis.__t?.("testing/cassette-model.js#isLeft@5274");
	return call.answer !== void 0 && !isUsed;
}
function isFree(entry) {globalThis.__t?.("testing/cassette-model.js#isFree@5355");
	return isLeft(entry) && !entry.isFailing;
}
/** One of its tries has failed: it is this one that is tried again. */
function isBegun(entry) {globalThis.__t?.("testing/cassette-model.js#isBegun@5497");
	return isFree(entry) && entry.tried > 0;
}
function isPlayable(entry) {globalThis.__t?.("testing/cassette-model.js#isPlayable@5567");
	return entry.call.answer !== void 0;
}
/** Who asked the same in one breath has asked when it fails, so that whoever asks after that tries again. */
async function failedAgain(entry, failure) {globalThis.__t?.("testing/cassette-model.js#failedAgain@5746");
	const { answer, failed } = entry.call;
	entry.tried += 1;
	const isLast = !answer.ok && entry.tried === failed.length;
	if (isLast) entry.isUsed = true;
	entry.isFailing = true;
	await nextMacrotask();
	entry.isFailing = false;
	return isLast ? finalError(failure) : withoutWait(failure);
}
function withoutWait(record) {globalThis.__t?.("testing/cassette-model.js#withoutWait@6083");
	const { data } = record;
	const given = isObject(data) ? data : {};
	return stepErrorFrom(record.retryable === true ? {
		...record,
		data: {
			...given,
			retryAfterMs: 0
		}
	} : record);
}
function usedUpText(same) {globalThis.__t?.("testing/cassette-model.js#usedUpText@6310");
	const answers = same.filter(({ call }) => (globalThis.__t?.("testing/cassette-model.js#answers@6367"),(call.answer !== void 0))).length;
	const [first] = same;
	if (answers > 0) return `The same was asked ${answers} times then, first by ${first?.call.act}, and is asked once more now.`;
	return `${first?.call.act} asked it too, but the run stopped before an answer came.`;
}
/** It had failed after all its tries, so it is not tried again. */
function finalError(record) {globalThis.__t?.("testing/cassette-model.js#finalError@6720");
	const error = stepErrorFrom(record);
	if (!(error instanceof ModelError)) return error;
	return new ModelError(error.code, error.message, {
		data: error.data,
		retryable: false
	});
}
export { cassetteModel };
