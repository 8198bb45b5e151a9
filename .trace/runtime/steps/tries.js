import { StepError } from "../../kernel/errors.js";
import { maskedError } from "../record/masking.js";
// ../../work/wt/lead/src/runtime/steps/tries.ts
/**
* The tries of one step, written down as pairs of `step.started` and `step.ended`. It owns which try is open.
*
* Y1 every started try is ended, also when the step is interrupted: then at its hold, because it may have been paid.
* Y2 exactly the last `step.ended` of a step that was not interrupted is its answer; all before say `retry`. Y3 tries of one step are
* numbered on from what the record has of it. Y4 what the effect spent of the run's budget through others, such as a run that it
* started, is part of the cost of the try that ends the step. What pools above the run hold for a try is settled with it, also where
* the journal takes nothing any more.
*/
var Tries = class {
	#parts;
	#try;
	#state = { kind: "none" };
	/** What pools above the run hold for the open try. */
	#taken;
	#lent;
	constructor(parts) {globalThis.__t?.("runtime/steps/tries.js#constructor@972");
		this.#parts = parts;
		this.#try = parts.tried;
	}
	get current() {globalThis.__t?.("runtime/steps/tries.js#current get@1047");
		const { act, key } = this.#parts;
		return {
			act,
			key,
			try: this.#try
		};
	}
	async open(hold, { unpriced = false } = {}) {globalThis.__t?.("runtime/steps/tries.js#open@1152");
		if (this.#state.kind === "open") this.settle(untold(this.#state));
		if (this.#state.kind === "settled") this.#end(this.#state.outcome, {
			ok: false,
			retry: true
		});
		const start = (taken) => {globalThis.__t?.("runtime/steps/tries.js#start@1379");
			this.#start(hold, unpriced ? { unpriced: true } : {});
			this.#taken = taken;
		};
		await this.#parts.gate.enter(hold, start, this.#parts.scope);
		if (!this.#parts.log.isDurable) await this.#parts.log.durable();
	}
	/** The budget of the run, for what the effect starts. */
	get budget() {globalThis.__t?.("runtime/steps/tries.js#budget get@1683");
		return this.#lent ??= this.#parts.gate.lend(this.#parts.paid);
	}
	settle(outcome) {globalThis.__t?.("runtime/steps/tries.js#settle@1763");
		if (this.#state.kind !== "open") return;
		if (outcome.error === void 0) this.#state = {
			kind: "settled",
			outcome
		};
		else this.#end(outcome, {
			ok: false,
			retry: true,
			error: maskedError(this.#parts.mask, outcome.error)
		});
	}
	succeed(value) {globalThis.__t?.("runtime/steps/tries.js#succeed@2032");
		return this.#answer({
			ok: true,
			value,
			error: void 0,
			at: this.#parts.now()
		});
	}
	fail(error) {globalThis.__t?.("runtime/steps/tries.js#fail@2146");
		return this.#answer({
			ok: false,
			value: null,
			error,
			at: this.#parts.now()
		});
	}
	/** The answer of another run, written down as this step's own, at no cost. `within` writes down what was asked inside. */
	reuse({ outcome, seq, saved }, within) {globalThis.__t?.("runtime/steps/tries.js#reuse@2384");
		const { act, key, log } = this.#parts;
		this.#start(0, { reused: seq });
		this.#state = { kind: "none" };
		within();
		log.record({
			type: "step.ended",
			act,
			key,
			try: this.#try,
			...endOf(outcome),
			cost: 0,
			basis: "none",
			saved,
			at: outcome.at
		});
	}
	/** The step stays without an answer; what it may have cost is settled. */
	interrupt() {globalThis.__t?.("runtime/steps/tries.js#interrupt@2790");
		if (this.#state.kind === "none" || this.#isQuestion()) return;
		this.#end(this.#outcomeNow(), {
			ok: false,
			retry: true
		}, { lent: this.#closeLent() });
	}
	#isQuestion() {globalThis.__t?.("runtime/steps/tries.js#isQuestion@2973");
		return this.#parts.spec.kind === "human";
	}
	#answer(outcome) {globalThis.__t?.("runtime/steps/tries.js#answer@3033");
		if (this.#try === this.#parts.tried) this.#start(0);
		this.#end(this.#outcomeNow(), endOf(outcome), {
			at: outcome.at,
			lent: this.#closeLent()
		});
		return outcome;
	}
	/** Micro-dollars that others spent of what the step lent them. */
	#closeLent() {globalThis.__t?.("runtime/steps/tries.js#closeLent@3302");
		const spent = this.#lent?.close() ?? 0;
		this.#lent = void 0;
		return spent;
	}
	#outcomeNow() {globalThis.__t?.("runtime/steps/tries.js#outcomeNow@3403");
		if (this.#state.kind === "settled") return this.#state.outcome;
		return this.#state.kind === "open" ? untold(this.#state) : {
			cost: 0,
			basis: "none"
		};
	}
	#start(hold, more = {}) {globalThis.__t?.("runtime/steps/tries.js#start@3581");
		const { act, key, spec, asked, parent, request, log } = this.#parts;
		this.#try += 1;
		this.#state = {
			kind: "open",
			hold,
			isUnpriced: more.unpriced === true
		};
		const place = parent === void 0 ? { asked } : {
			asked,
			in: parent
		};
		log.record({
			type: "step.started",
			act,
			key,
			kind: spec.kind,
			name: spec.name,
			...place,
			try: this.#try,
			hold,
			request,
			...spec.idempotent === false ? { idempotent: false } : {},
			...more
		});
	}
	#end(outcome, end, { at = this.#parts.now(), lent = 0 } = {}) {globalThis.__t?.("runtime/steps/tries.js#end@4092");
		const { act, key, log, gate } = this.#parts;
		const taken = this.#taken;
		this.#state = { kind: "none" };
		this.#taken = void 0;
		const { cost, basis, usage } = lent === 0 ? outcome : withLent(outcome, lent);
		const told = usage === void 0 ? {} : { usage };
		try {
			log.record({
				type: "step.ended",
				act,
				key,
				try: this.#try,
				...end,
				cost: cost ?? null,
				basis,
				...told,
				at
			});
		} finally {
			if (taken !== void 0) taken.settle(outcome.cost ?? 0);
			else if (outcome.cost !== void 0 && outcome.cost > 0) gate.charge(outcome.cost);
		}
		gate.settled();
	}
};
/** What a try may have cost whose end nobody tells. */
function untold({ hold, isUnpriced }) {globalThis.__t?.("runtime/steps/tries.js#untold@4817");
	return isUnpriced ? {
		cost: void 0,
		basis: "usage"
	} : {
		cost: hold,
		basis: hold > 0 ? "hold" : "none"
	};
}
function withLent(outcome, lent) {globalThis.__t?.("runtime/steps/tries.js#withLent@4976");
	return {
		...outcome,
		cost: (outcome.cost ?? 0) + lent,
		basis: outcome.basis === "none" ? "usage" : outcome.basis
	};
}
/** An answer as its event tells it. */
function endOf({ ok, value, error }) {globalThis.__t?.("runtime/steps/tries.js#endOf@5177");
	if (ok) return {
		ok,
		value
	};
	return error === void 0 ? { ok } : {
		ok,
		error
	};
}
const UNCERTAIN = "STEP_UNCERTAIN";
/** Whether an activation failed because nobody knows whether one of its effects has happened. */
function isUncertain(error) {globalThis.__t?.("runtime/steps/tries.js#isUncertain@5444");
	return error instanceof StepError && error.code === UNCERTAIN;
}
/** The effect may have happened before a crash, and must not happen twice: somebody has to look. */
function uncertain(name) {globalThis.__t?.("runtime/steps/tries.js#uncertain@5641");
	return new StepError(UNCERTAIN, `Expected to know whether "${name}" had happened when the run stopped, but nobody does, and it must not happen twice. Look, then resume the run: it is tried again.`);
}
export { Tries, isUncertain, uncertain };
