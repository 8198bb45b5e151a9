import { errorRecord } from "../../kernel/troupe-error.js";
import { interruptionBy } from "../../kernel/abort.js";
import { ContextClosedError, ControlError, stepErrorFrom } from "../../kernel/errors.js";
import { jsonCopy, jsonRoundTrip } from "../../kernel/json.js";
import { throwIfEnded } from "../../kernel/cancellation.js";
import { masked, maskedError } from "../record/masking.js";
import { Release } from "./release.js";
import { StepAddresses, effectId, stepId } from "../record/step-address.js";
import { StepRequests } from "./step-requests.js";
import { Tries, uncertain } from "./tries.js";
// ../../work/wt/lead/src/runtime/steps/steps.ts
/**
* The recorded door of one activation. It owns the order of asking, the order of release, and what is in flight.
*
* D1 the occurrence of an address (see {@link StepAddresses}) is counted at the call, before anything is awaited. D2 answers are released
* in the order asked, a macrotask apart, live and from the record alike; what is asked inside a step is released by that step. D3 `step.started` is durable before the effect starts. D4 control errors are
* sticky and never recorded. D5 after `close` the activation asks nothing any more; what was in flight has been awaited to its end, with
* what it asks itself. D6 what is handed out is the caller's own: nobody can change the record. D7 the answer of an effect
* is durable before it is handed out: who dies of what he does with it does not pay for it again.
*/
var ActivationSteps = class {
	#parts;
	#release;
	#inFlight = /* @__PURE__ */ new Set();
	#addresses = new StepAddresses();
	#requests;
	/** Of the activation's own steps, in the order asked. */
	#places = /* @__PURE__ */ new Map();
	#unrepeated = [];
	/** What was taken over inside a step of another run: where that one's effect happens again, it asks for it. */
	#reused = /* @__PURE__ */ new Map();
	#asked = 0;
	#phase = "open";
	#control;
	#failedStep;
	#humansAsked = 0;
	constructor(parts) {globalThis.__t?.("runtime/steps/steps.js#constructor@1968");
		this.#parts = parts;
		this.#release = new Release(parts.startedAt);
		if (parts.isOver) this.#phase = "closed";
	}
	/** Milliseconds: the time of the last released answer. */
	get now() {globalThis.__t?.("runtime/steps/steps.js#now get@2164");
		return this.#release.now;
	}
	/** The interruption that came, if one came. */
	get control() {globalThis.__t?.("runtime/steps/steps.js#control get@2261");
		return this.#control;
	}
	/** Whether a step of the activation failed, or was cut off. What fails inside a step is for that step to answer. */
	get failed() {globalThis.__t?.("runtime/steps/steps.js#failed get@2422");
		return this.#failedStep !== void 0;
	}
	/** The name of the last of those. */
	get failedStep() {globalThis.__t?.("runtime/steps/steps.js#failedStep get@2522");
		return this.#failedStep;
	}
	step(spec, effect) {globalThis.__t?.("runtime/steps/steps.js#step@2562");
		const refusal = this.#phase === "open" ? this.#interruption() : this.#late(spec);
		if (refusal !== void 0) return neverUnhandled(Promise.reject(refusal));
		const asked = this.#asked;
		this.#asked += 1;
		const answer = this.#answer(spec, effect, {
			path: "",
			parent: void 0,
			asked
		});
		return neverUnhandled(this.#track(this.#release.inOrder(answer)).then((outcome) => (globalThis.__t?.("runtime/steps/steps.js#anonymous@2951"),(this.#handOut(outcome)))));
	}
	/** Refuses new steps and waits for those in flight. */
	async close() {globalThis.__t?.("runtime/steps/steps.js#close@3062");
		this.#phase = "closing";
		while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
		this.#phase = "closed";
	}
	/** Recorded steps of the activation itself that it did not ask for. */
	get unasked() {globalThis.__t?.("runtime/steps/steps.js#unasked get@3284");
		return [...this.#parts.recorded ?? []].filter(([key, { started }]) => (globalThis.__t?.("runtime/steps/steps.js#anonymous@3337"),(started.in === void 0 && !this.#places.has(key)))).map(([, record]) => (globalThis.__t?.("runtime/steps/steps.js#anonymous@3414"),(record)));
	}
	/** What the record of its steps does not tell of this life. */
	get life() {globalThis.__t?.("runtime/steps/steps.js#life get@3516");
		return {
			...[...this.#parts.recorded ?? []].every(([key, { started }]) => (globalThis.__t?.("runtime/steps/steps.js#anonymous@3576"),(started.in !== void 0 || this.#places.get(key) === started.asked))) ? {} : { asked: [...this.#places.keys()] },
			...this.#unrepeated.length === 0 ? {} : { unrepeated: [...this.#unrepeated] }
		};
	}
	#late(spec) {globalThis.__t?.("runtime/steps/steps.js#late@3805");
		return new ContextClosedError(this.#parts.act, `step ${spec.name}`);
	}
	#interruption() {globalThis.__t?.("runtime/steps/steps.js#interruption@3902");
		const { ended } = this.#parts.scope;
		if (ended !== void 0) this.#control ??= interruptionBy(ended.reason);
		return this.#control;
	}
	#track(work) {globalThis.__t?.("runtime/steps/steps.js#track@4052");
		this.#inFlight.add(work);
		const done = () => (globalThis.__t?.("runtime/steps/steps.js#done@4104"),(void this.#inFlight.delete(work)));
		work.then(done, done);
		return work;
	}
	#handOut(outcome) {globalThis.__t?.("runtime/steps/steps.js#handOut@4196");
		if (outcome.ok) return jsonCopy(outcome.value);
		throw stepErrorFrom(outcome.error ?? errorRecord(void 0));
	}
	/** Rejects, and never throws. */
	#answer(spec, effect, at) {globalThis.__t?.("runtime/steps/steps.js#answer@4365");
		try {
			return this.#answerTo(spec, effect, at);
		} catch (error) {
			return Promise.reject(error);
		}
	}
	#answerTo(spec, effect, at) {globalThis.__t?.("runtime/steps/steps.js#answerTo@4508");
		this.#requests ??= new StepRequests(this.#parts.mask);
		const request = this.#requests.of(spec.request);
		const key = this.#addresses.keyOf(spec, request.text, at.path);
		const recorded = this.#parts.recorded?.get(key);
		if (at.parent === void 0) this.#takePlace(key, at.asked, recorded);
		const known = recorded?.outcome ?? this.#reused.get(key) ?? this.#parts.carried.get(key);
		if (known === void 0) return this.#unrecorded(spec, request.value, key, at, effect);
		return this.#given(known, spec, {
			act: this.#parts.act,
			key,
			try: recorded?.started.try ?? 1
		}, at, effect);
	}
	#takePlace(key, asked, recorded) {globalThis.__t?.("runtime/steps/steps.js#takePlace@5139");
		const nth = this.#places.size;
		this.#places.set(key, asked);
		if (recorded !== void 0) this.#asking(() => (globalThis.__t?.("runtime/steps/steps.js#anonymous@5269"),(this.#parts.past.askAgain({
			recorded: recorded.started,
			asked,
			nth
		}))));
	}
	/** What happens on the machine happens again, whoever gave the answer. */
	async #given(known, spec, by, at, effect) {globalThis.__t?.("runtime/steps/steps.js#given@5450");
		if (!known.ok) this.#fails(at, spec.name);
		else if (spec.again === true) await this.#runAgain(spec, by.key, at, effect);
		spec.onRecorded?.(by);
		return known;
	}
	#unrecorded(spec, request, key, at, effect) {globalThis.__t?.("runtime/steps/steps.js#unrecorded@5663");
		const { act, role } = this.#parts;
		const question = {
			role,
			act,
			key,
			kind: spec.kind,
			name: spec.name,
			request,
			asked: at.asked,
			in: at.parent,
			isFresh: spec.fresh === true
		};
		const past = this.#asking(() => (globalThis.__t?.("runtime/steps/steps.js#past@5936"),(this.#parts.past.answer(question))));
		if (past === void 0) return this.#live(spec, request, key, at, effect);
		this.#parts.begin();
		const tries = this.#tries(spec, request, key, at);
		tries.reuse(past, () => (globalThis.__t?.("runtime/steps/steps.js#anonymous@6148"),(this.#reuse(past.within))));
		return this.#given(past.outcome, spec, tries.current, at, effect);
	}
	/** Writes down steps of another run that were asked inside one that it answers; a fork that was stopped has some of them already. */
	#reuse(steps) {globalThis.__t?.("runtime/steps/steps.js#reuse@6395");
		for (const step of steps) {
			const { key, asked, in: parent, request, kind, name } = step.started;
			if (this.#parts.recorded?.get(key)?.outcome !== void 0) continue;
			this.#tries({
				kind,
				name,
				request
			}, request, key, {
				path: "",
				parent,
				asked
			}).reuse(step, () => (globalThis.__t?.("runtime/steps/steps.js#anonymous@6702"),(this.#reuse(step.within))));
			this.#reused.set(key, step.outcome);
		}
	}
	/** Asks the past, whose interruptions stay (D4). */
	#asking(ask) {globalThis.__t?.("runtime/steps/steps.js#asking@6844");
		try {
			return ask();
		} catch (error) {
			if (error instanceof ControlError) this.#control ??= error;
			throw error;
		}
	}
	#tries(spec, request, key, at) {globalThis.__t?.("runtime/steps/steps.js#tries@6990");
		const { act, log, gate, scope, now, mask, recorded } = this.#parts;
		const tried = {
			tried: (recorded?.get(key))?.started.try ?? 0,
			paid: this.#paid(key)
		};
		return new Tries({
			act,
			key,
			spec,
			request,
			asked: at.asked,
			parent: at.parent,
			...tried,
			log,
			gate,
			scope,
			now,
			mask
		});
	}
	/** Micro-dollars that the record tells of a step, those of failed attempts included. */
	#paid(key) {globalThis.__t?.("runtime/steps/steps.js#paid@7446");
		return (this.#parts.paid.get(key) ?? 0) + (this.#parts.recorded?.get(key)?.paid ?? 0);
	}
	/** The JSON round trip without secrets: what is recorded, and what is handed out. */
	#asRecorded(value) {globalThis.__t?.("runtime/steps/steps.js#asRecorded@7645");
		return masked(this.#parts.mask, jsonRoundTrip(value ?? null));
	}
	async #live(spec, request, key, at, effect) {globalThis.__t?.("runtime/steps/steps.js#live@7735");
		const outcome = await this.#happen(spec, request, key, at, effect);
		if (!this.#parts.log.isDurable) await this.#parts.log.durable();
		return outcome;
	}
	async #happen(spec, request, key, at, effect) {globalThis.__t?.("runtime/steps/steps.js#happen@7942");
		const { scope, begin, mask } = this.#parts;
		begin();
		const before = this.#parts.recorded?.get(key)?.started;
		const tries = this.#tries(spec, request, key, at);
		const isQuestion = spec.kind === "human";
		if (isQuestion) this.#countPersons(1);
		try {
			if (before !== void 0 && spec.idempotent === false) throw uncertain(spec.name);
			if (spec.metered !== true) await tries.open(0);
			throwIfEnded(scope);
			const { runId, act } = this.#parts;
			const name = isQuestion ? stepId(runId, act, key) : effectId(runId, act, key);
			const value = await scope.until(effect(this.#door(name, key, at, tries)));
			return tries.succeed(this.#asRecorded(value));
		} catch (error) {
			this.#fails(at, spec.name);
			const control = this.#controlIn(error);
			if (control === void 0) return tries.fail(maskedError(mask, error));
			tries.interrupt();
			throw control;
		} finally {
			if (isQuestion) this.#countPersons(-1);
		}
	}
	/** A step inside another is not asked again when that one is answered from the record, so it must not count there either. */
	#fails(at, name) {globalThis.__t?.("runtime/steps/steps.js#fails@9049");
		if (at.parent === void 0) this.#failedStep = name;
	}
	/** The interruption behind an error, if one is. Once one came, it stays (D4). */
	#controlIn(error) {globalThis.__t?.("runtime/steps/steps.js#controlIn@9212");
		this.#control ??= error instanceof ControlError ? error : this.#interruption();
		return this.#control;
	}
	#countPersons(more) {globalThis.__t?.("runtime/steps/steps.js#countPersons@9345");
		this.#humansAsked += more;
		if (this.#humansAsked === Math.max(0, more)) this.#parts.waitsForPerson(more === 1);
	}
	/** The effect of a recorded write, repeated. Its failure is a failure of this activation, not of the record. */
	async #runAgain(spec, key, at, effect) {globalThis.__t?.("runtime/steps/steps.js#runAgain@9603");
		const failedThen = this.#parts.past.unrepeated(this.#parts.act, key);
		if (failedThen !== void 0) throw this.#notAgain(spec.name, key, at, failedThen);
		const { scope, gate } = this.#parts;
		const attempts = {
			open: () => (globalThis.__t?.("runtime/steps/steps.js#open@9853"),(Promise.resolve())),
			settle: () => {globalThis.__t?.("runtime/steps/steps.js#settle@9889");},
			budget: gate.lend(this.#paid(key))
		};
		try {
			throwIfEnded(scope);
			const name = effectId(this.#parts.runId, this.#parts.act, key);
			await scope.until(effect(this.#door(name, key, at, attempts)));
		} catch (error) {
			const control = this.#controlIn(error);
			if (control === void 0) throw this.#notAgain(spec.name, key, at, maskedError(this.#parts.mask, error));
			this.#fails(at, spec.name);
			throw control;
		}
	}
	/** A replay must fail where this did, so it is told with the end of the activation. */
	#notAgain(name, key, at, error) {globalThis.__t?.("runtime/steps/steps.js#notAgain@10433");
		this.#fails(at, name);
		this.#unrepeated.push({
			key,
			error
		});
		return stepErrorFrom(error);
	}
	/** @param name the step among all runs */
	#door(name, key, at, attempts) {globalThis.__t?.("runtime/steps/steps.js#door@10616");
		let asked = 0;
		const { mode, scope: ending } = this.#parts;
		const path = at.path === "" ? key : `${at.path}/${key}`;
		const step = (inner, innerEffect) => {globalThis.__t?.("runtime/steps/steps.js#step@10782");
			const refusal = this.#phase === "closed" ? this.#late(inner) : this.#interruption();
			if (refusal !== void 0) return neverUnhandled(Promise.reject(refusal));
			const place = {
				path,
				parent: key,
				asked
			};
			asked += 1;
			return neverUnhandled(this.#track(this.#answer(inner, innerEffect, place)).then((outcome) => (globalThis.__t?.("runtime/steps/steps.js#anonymous@11131"),(this.#handOut(outcome)))));
		};
		return {
			key: name,
			mode,
			signal: ending.signal,
			ending,
			attempts,
			step
		};
	}
};
/** Whoever awaits it gets its error; when nobody does, that must not end the process. */
function neverUnhandled(work) {globalThis.__t?.("runtime/steps/steps.js#neverUnhandled@11368");
	work.catch(() => {globalThis.__t?.("runtime/steps/steps.js#anonymous@11412");});
	return work;
}
export { ActivationSteps };
