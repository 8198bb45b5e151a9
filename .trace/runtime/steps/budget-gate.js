import { interruptionBy } from "../../kernel/abort.js";
import { BudgetError, UsageError } from "../../kernel/errors.js";
// ../../work/wt/lead/src/runtime/steps/budget-gate.ts
/**
* Lets a try start only when its hold fits into what is left of the run's budget and of every pool above it. It owns the line of those
* that wait, and what is lent to steps; spend and open holds of the run are the ledger's.
*
* B1 spent + held never exceeds the budget: a hold is recorded, or counted as coming or lent, in the same turn in which it was found to fit.
* B2 a try that does not fit waits while another is open. B3 only when none is open and none fits, or a pool above has refused one, is the
* budget reached; from then on nothing that may cost is let in, for the run is about to end and would pay for a call that it cuts off. What is
* open is waited for first. B4 what a step lends counts until the step's end tells its cost, in the same turn. The line is bounded by the
* calls that roles can have in flight.
*/
var BudgetGate = class {
	#state;
	#funds;
	#line = [];
	/** Fits here, and waits for the pools above. */
	#coming = 0;
	#lentSpent = 0;
	#lentHeld = 0;
	/** What the first that found it reached was told, and what all later ones are told: they might have fitted. */
	#reached;
	constructor(state, funds) {globalThis.__t?.("runtime/steps/budget-gate.js#constructor@1300");
		this.#state = state;
		this.#funds = funds;
	}
	/**
	* Calls `start`, which records the hold, as soon as it fits.
	*
	* @throws BudgetError
	*/
	enter(hold, start, scope) {globalThis.__t?.("runtime/steps/budget-gate.js#enter@1469");
		if (scope.ended !== void 0) return Promise.reject(scope.ended.reason);
		if (this.#line.length === 0 && this.#fits(hold)) return this.#begin(hold, start, scope);
		const place = new Promise((resolve, reject) => {globalThis.__t?.("runtime/steps/budget-gate.js#place@1684");
			const enter = () => {globalThis.__t?.("runtime/steps/budget-gate.js#enter@1724");
				try {
					this.#begin(hold, start, scope).then(resolve, reject);
				} catch (error) {
					reject(error);
				}
			};
			this.#wait({
				hold,
				ending: scope,
				enter,
				reject
			});
		});
		return scope.until(place);
	}
	/** To be called when a hold was settled: lets in, in their order, those who fit now. */
	settled() {globalThis.__t?.("runtime/steps/budget-gate.js#settled@2066");
		const waiting = this.#line;
		this.#line = [];
		for (const waiter of waiting) {
			if (waiter.ending.ended !== void 0) continue;
			if (waiter.refused === void 0 && this.#fits(waiter.hold)) waiter.enter();
			else if (waiter.isLent === true && !this.#mayFit(waiter.hold)) waiter.reject(this.#reached ?? this.#refusal(waiter.hold));
			else this.#line.push(waiter);
		}
		if (this.#line.length === 0 || this.#isOpen) return;
		const refused = this.#line;
		const reached = this.#reached;
		this.#line = [];
		for (const waiter of refused) {
			const refusal = waiter.refused ?? reached ?? this.#refusal(waiter.hold);
			this.#reached ??= refusal;
			waiter.reject(refusal);
		}
	}
	/** The budget of the run, for what the effect of a step starts. @param paid micro-dollars that earlier tries of the step are recorded with */
	lend(paid) {globalThis.__t?.("runtime/steps/budget-gate.js#lend@2903");
		return new LentBudget(this, paid);
	}
	get id() {globalThis.__t?.("runtime/steps/budget-gate.js#id get@2959");
		return `run ${this.#state.runId}`;
	}
	get rank() {globalThis.__t?.("runtime/steps/budget-gate.js#rank get@3013");
		return this.#funds?.rank ?? 0;
	}
	get isBinding() {globalThis.__t?.("runtime/steps/budget-gate.js#isBinding get@3068");
		return this.#state.budget !== void 0 || this.#funds?.isBinding === true;
	}
	get accounts() {globalThis.__t?.("runtime/steps/budget-gate.js#accounts get@3164");
		return this.#funds?.accounts;
	}
	/** Takes an amount for somebody to whom the budget is lent. @throws BudgetError, ControlError */
	take(amount, ending) {globalThis.__t?.("runtime/steps/budget-gate.js#take@3308");
		if (ending.ended !== void 0) return Promise.reject(interruptionBy(ending.ended.reason));
		return new Promise((resolve, reject) => {globalThis.__t?.("runtime/steps/budget-gate.js#anonymous@3439");
			const letGo = ending.onEnd((reason) => (globalThis.__t?.("runtime/steps/budget-gate.js#letGo@3492"),(reject(interruptionBy(reason)))));
			const over = (then) => {globalThis.__t?.("runtime/steps/budget-gate.js#over@3553");
				letGo();
				then();
			};
			const enter = () => {globalThis.__t?.("runtime/steps/budget-gate.js#enter@3613");
				this.#lentHeld += amount;
				over(resolve);
			};
			this.#wait({
				hold: amount,
				ending,
				enter,
				reject: (error) => (globalThis.__t?.("runtime/steps/budget-gate.js#reject@3745"),(over(() => (globalThis.__t?.("runtime/steps/budget-gate.js#anonymous@3761"),(reject(error)))))),
				isLent: true
			});
		});
	}
	/** Changes what is lent by so much. */
	lent(change) {globalThis.__t?.("runtime/steps/budget-gate.js#lent@3862");
		this.#lentSpent += change.spent;
		this.#lentHeld += change.held;
	}
	/** Counts what was spent elsewhere for the run. */
	charge(amount) {globalThis.__t?.("runtime/steps/budget-gate.js#charge@4004");
		this.#funds?.charge(amount);
	}
	#wait(waiter) {globalThis.__t?.("runtime/steps/budget-gate.js#wait@4055");
		this.#line.push(waiter);
		this.settled();
	}
	#begin(hold, start, scope) {globalThis.__t?.("runtime/steps/budget-gate.js#begin@4121");
		if (this.#funds !== void 0 && hold > 0) return this.#takeAbove(this.#funds, hold, start, scope);
		start(void 0);
		return Promise.resolve();
	}
	async #takeAbove(funds, hold, start, scope) {globalThis.__t?.("runtime/steps/budget-gate.js#takeAbove@4308");
		this.#coming += hold;
		const answer = await funds.reserve(hold, scope).catch((error) => (globalThis.__t?.("runtime/steps/budget-gate.js#answer@4418"),(error)));
		this.#coming -= hold;
		if (!("settle" in answer)) return this.#refusedAbove(hold, answer, scope);
		const refusal = scope.ended?.reason ?? this.#reached;
		if (refusal === void 0) return startWith(answer, start);
		answer.settle(0);
		return this.#refusedAbove(hold, refusal, scope);
	}
	async #refusedAbove(hold, error, scope) {globalThis.__t?.("runtime/steps/budget-gate.js#refusedAbove@4747");
		if (!(error instanceof BudgetError)) {
			this.settled();
			throw error;
		}
		this.#reached ??= error;
		await scope.until(new Promise((_resolve, reject) => {globalThis.__t?.("runtime/steps/budget-gate.js#anonymous@4909");
			this.#wait({
				hold,
				ending: scope,
				enter: () => {globalThis.__t?.("runtime/steps/budget-gate.js#enter@4989");},
				reject,
				refused: error
			});
		}));
	}
	/** Whether something is open that may make room, or, once the budget is reached, that is to end before the run does. */
	get #isOpen() {globalThis.__t?.("runtime/steps/budget-gate.js#isOpen get@5181");
		return this.#state.ledger.held + this.#lentHeld > 0 || this.#reached === void 0 && this.#coming > 0;
	}
	get #spent() {globalThis.__t?.("runtime/steps/budget-gate.js#spent get@5303");
		return this.#state.ledger.spent + this.#lentSpent;
	}
	#fits(hold) {globalThis.__t?.("runtime/steps/budget-gate.js#fits@5370");
		if (hold > 0 && this.#reached !== void 0) return false;
		const { budget, ledger } = this.#state;
		return budget === void 0 || ledger.fits(hold + this.#coming + this.#lentSpent + this.#lentHeld, budget);
	}
	/** Whether it could fit if what is open cost nothing. */
	#mayFit(hold) {globalThis.__t?.("runtime/steps/budget-gate.js#mayFit@5656");
		return this.#reached === void 0 && this.#spent + hold <= (this.#state.budget ?? Infinity);
	}
	#refusal(needed) {globalThis.__t?.("runtime/steps/budget-gate.js#refusal@5770");
		const budget = this.#state.budget ?? 0;
		return new BudgetError({
			needed,
			left: budget - this.#spent,
			budget
		});
	}
};
/** A try that cannot be recorded costs nothing. */
function startWith(taken, start) {globalThis.__t?.("runtime/steps/budget-gate.js#startWith@5966");
	try {
		start(taken);
	} catch (error) {
		taken.settle(0);
		throw error;
	}
}
/**
* The budget of a run as the effect of one step has it, for a run or an agent that it starts. It owns what was spent of it and is held since
* the step began; the step's own cost tells both when it ends (`close`).
*
* LentBudget.L1 what is spent here is part of the cost of the step, once: what a spender had spent before counts only as far as earlier
* tries of the step do not tell it (`open`). LentBudget.L2 after `close` nothing is taken, and what is settled late changes nothing.
*/
var LentBudget = class {
	id;
	rank;
	isBinding;
	accounts;
	#lender;
	#known = /* @__PURE__ */ new Map();
	/** Recorded with the step, and not yet found in the record of a spender. */
	#paid;
	#spent = 0;
	#held = 0;
	#isClosed = false;
	constructor(lender, paid) {globalThis.__t?.("runtime/steps/budget-gate.js#constructor@6824");
		this.id = lender.id;
		this.rank = lender.rank;
		this.isBinding = lender.isBinding;
		this.accounts = lender.accounts;
		this.#lender = lender;
		this.#paid = paid;
	}
	open(account, { spent }) {globalThis.__t?.("runtime/steps/budget-gate.js#open@7017");
		const news = Math.max(0, spent - (this.#known.get(account) ?? 0));
		this.#known.set(account, Math.max(spent, this.#known.get(account) ?? 0));
		const paid = Math.min(this.#paid, news);
		this.#paid -= paid;
		if (news > paid && !this.#isClosed) {
			this.#change(news - paid, 0);
			this.#lender.charge(news - paid);
		}
		return Promise.resolve(this.#account(account));
	}
	/** Ends it. @returns micro-dollars that were spent, with those that may have been */
	close() {globalThis.__t?.("runtime/steps/budget-gate.js#close@7510");
		const all = this.#spent + this.#held;
		this.#isClosed = true;
		this.#lender.lent({
			spent: -this.#spent,
			held: -this.#held
		});
		return all;
	}
	#account(name) {globalThis.__t?.("runtime/steps/budget-gate.js#account@7679");
		const open = /* @__PURE__ */ new Map();
		return {
			reserve: async (amount, ending) => {globalThis.__t?.("runtime/steps/budget-gate.js#reserve@7753");
				if (this.#isClosed) throw over(this.id);
				await this.#lender.take(amount, ending);
				if (this.#isClosed) {
					this.#change(0, -amount);
					throw over(this.id);
				}
				this.#held += amount;
				const hold = { settle: (cost) => {globalThis.__t?.("runtime/steps/budget-gate.js#settle@8013");
					if (!open.delete(hold) || this.#isClosed) return;
					this.#known.set(name, (this.#known.get(name) ?? 0) + cost);
					this.#change(cost, -amount);
				} };
				open.set(hold, amount);
				return hold;
			},
			charge: (amount) => (globalThis.__t?.("runtime/steps/budget-gate.js#charge@8250"),(this.#isClosed || this.#change(amount, 0))),
			close: () => {globalThis.__t?.("runtime/steps/budget-gate.js#close@8315");
				for (const [hold, amount] of open) hold.settle(amount);
			}
		};
	}
	#change(spent, held) {globalThis.__t?.("runtime/steps/budget-gate.js#change@8404");
		if (!this.#isClosed) this.#spent += spent;
		if (!this.#isClosed) this.#held += held;
		this.#lender.lent({
			spent,
			held
		});
		this.#lender.settled();
	}
};
function over(run) {globalThis.__t?.("runtime/steps/budget-gate.js#over@8586");
	return new UsageError("STEP_OVER", `Expected the budget of a step to be used while its effect runs, but the step of ${run} is over. Await what the effect starts before it returns.`);
}
export { BudgetGate, LentBudget };
