import { isObject } from "../kernel/value-kind.js";
import { BudgetError, UsageError } from "../kernel/errors.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { interruptionBy } from "../kernel/abort.js";
import { valueText } from "../kernel/value-text.js";
// ../../work/wt/lead/src/model/budget-pool.ts
const poolOptions = {
	parent: true,
	name: true
};
/**
* A budget that runs, teams and agents of this process share: give the same pool to each as `budget`.
*
* @param amount micro-dollars: see `usd`
* @throws UsageError `OPTION_INVALID` for an amount that is no whole number of 0 or more, or a parent that is no pool
* @example
* import { Team, usd } from "troupe";
* import { budgetPool } from "troupe/limits";
*
* const account = budgetPool(usd(5), { name: "account" });
* export const one = new Team({ name: "one", budget: account });
* export const other = new Team({ name: "other", budget: budgetPool(usd(2), { parent: account }) });
* console.log(account.amount, account.spent); // 5000000 0
*/
function budgetPool(amount, options = {}) {globalThis.__t?.("model/budget-pool.js#budgetPool@1035");
	checkKnownOptions("budgetPool", options, poolOptions);
	return new LocalPool(amount, options);
}
/** Whether a budget is a pool and not an amount. */
function isBudgetPool(budget) {globalThis.__t?.("model/budget-pool.js#isBudgetPool@1230");
	return isObject(budget) && "open" in budget && typeof budget.open === "function";
}
/**
* Refuses what is no budget.
*
* @throws UsageError with that code, unless the value is an amount of micro-dollars, a pool of them, or left out
*/
function checkBudget(budget, code) {globalThis.__t?.("model/budget-pool.js#checkBudget@1498");
	if (budget === void 0 || isBudgetPool(budget) || Number.isSafeInteger(budget) && Number(budget) >= 0) return;
	const todo = typeof budget === "number" && budget > 0 ? `For $${budget} write usd(${budget}).` : "Write usd(3), or leave it out for no bound.";
	throw new UsageError(code, `Expected budget to be a whole number of micro-dollars or a pool of them, got ${valueText(budget)}. ${todo}`);
}
let made = 0;
/**
* A pool that is kept in memory. It owns its amount, what was spent of it, what is held, and the line of those that wait.
*
* LocalPool.P1 spent + held never passes the amount by a reservation: a hold is taken in the turn in which it was found to fit (`#take`).
* LocalPool.P2 one that does not fit waits while all of it would fit if the open holds cost nothing, and is refused otherwise (`#admit`): so
* nobody waits where nothing is open. LocalPool.P3 held is the sum of open holds, of which every one is settled once or closed with its
* account. LocalPool.P4 an account is charged up to what its record tells, never twice (`open`). Who is done is forgotten, so that the
* pool holds no more accounts than there are spenders that may come back. The line is bounded by the calls that spenders have in flight.
*/
var LocalPool = class {
	id;
	parent;
	rank;
	#name;
	/** Micro-dollars spent by account. */
	#spentBy = /* @__PURE__ */ new Map();
	#amount;
	#spent = 0;
	#held = 0;
	#line = [];
	constructor(amount, options) {globalThis.__t?.("model/budget-pool.js#constructor@2956");
		const { parent, name = "shared budget" } = options;
		this.#amount = wholeAmount(amount);
		if (parent !== void 0 && !isBudgetPool(parent)) throw noPool(parent);
		made += 1;
		this.id = `local ${String(made).padStart(12, "0")}`;
		this.parent = parent;
		this.rank = parent === void 0 ? 0 : parent.rank + 1;
		this.#name = name;
	}
	get amount() {globalThis.__t?.("model/budget-pool.js#amount get@3322");
		return this.#amount;
	}
	get spent() {globalThis.__t?.("model/budget-pool.js#spent get@3363");
		return this.#spent;
	}
	get held() {globalThis.__t?.("model/budget-pool.js#held get@3402");
		return this.#held;
	}
	invest(amount) {globalThis.__t?.("model/budget-pool.js#invest@3438");
		this.#amount = wholeAmount(amount);
		this.#admit();
	}
	open(account, { spent }) {globalThis.__t?.("model/budget-pool.js#open@3512");
		const known = this.#spentBy.get(account) ?? 0;
		if (spent > known) this.add(account, spent - known);
		return Promise.resolve(new LocalAccount(this, account));
	}
	/** Counts what an account spent. */
	add(account, cost) {globalThis.__t?.("model/budget-pool.js#add@3743");
		this.#spent += cost;
		this.#spentBy.set(account, (this.#spentBy.get(account) ?? 0) + cost);
		this.#admit();
	}
	forget(account) {globalThis.__t?.("model/budget-pool.js#forget@3883");
		this.#spentBy.delete(account);
	}
	reserve(account, amount, ending) {globalThis.__t?.("model/budget-pool.js#reserve@3939");
		if (ending.ended !== void 0) return Promise.reject(interruptionBy(ending.ended.reason));
		if (this.#line.length === 0 && this.#fits(amount)) return Promise.resolve(this.#take(account, amount));
		return new Promise((resolve, reject) => {globalThis.__t?.("model/budget-pool.js#anonymous@4185");
			const letGo = ending.onEnd((reason) => {globalThis.__t?.("model/budget-pool.js#letGo@4238");
				this.#line = this.#line.filter((other) => (globalThis.__t?.("model/budget-pool.js#anonymous@4287"),(other !== waiter)));
				reject(interruptionBy(reason));
			});
			const waiter = {
				account,
				amount,
				ending,
				resolve: (hold) => {globalThis.__t?.("model/budget-pool.js#resolve@4430");
					letGo();
					resolve(hold);
				},
				reject: (error) => {globalThis.__t?.("model/budget-pool.js#reject@4495");
					letGo();
					reject(error);
				}
			};
			this.#line.push(waiter);
			this.#admit();
		});
	}
	settle(account, hold, cost) {globalThis.__t?.("model/budget-pool.js#settle@4616");
		this.#held -= hold;
		this.add(account, cost);
	}
	#fits(amount) {globalThis.__t?.("model/budget-pool.js#fits@4698");
		return this.#spent + this.#held + amount <= this.#amount;
	}
	#take(account, amount) {globalThis.__t?.("model/budget-pool.js#take@4778");
		this.#held += amount;
		return account.hold(amount);
	}
	/** Lets in, in their order, those who fit now, and refuses those who never will. */
	#admit() {globalThis.__t?.("model/budget-pool.js#admit@4949");
		if (this.#line.length === 0) return;
		const waiting = this.#line;
		this.#line = [];
		for (const waiter of waiting) {
			const { account, amount, ending } = waiter;
			if (ending.ended !== void 0) waiter.reject(interruptionBy(ending.ended.reason));
			else if (this.#fits(amount)) waiter.resolve(this.#take(account, amount));
			else if (this.#spent + amount > this.#amount) waiter.reject(this.#refusal(amount));
			else this.#line.push(waiter);
		}
	}
	#refusal(needed) {globalThis.__t?.("model/budget-pool.js#refusal@5420");
		return new BudgetError({
			needed,
			left: Math.max(0, this.#amount - this.#spent),
			budget: this.#amount,
			of: this.#name
		});
	}
};
/** One spender's account with a pool of this process. It owns which of its holds are open. */
var LocalAccount = class {
	#pool;
	#name;
	#open = /* @__PURE__ */ new Map();
	constructor(pool, name) {globalThis.__t?.("model/budget-pool.js#constructor@5760");
		this.#pool = pool;
		this.#name = name;
	}
	reserve(amount, ending) {globalThis.__t?.("model/budget-pool.js#reserve@5828");
		return this.#pool.reserve(this, amount, ending);
	}
	charge(amount) {globalThis.__t?.("model/budget-pool.js#charge@5908");
		this.#pool.add(this.#name, amount);
	}
	close(isDone) {globalThis.__t?.("model/budget-pool.js#close@5966");
		for (const [hold, amount] of this.#open) hold.settle(amount);
		if (isDone) this.#pool.forget(this.#name);
	}
	/** A hold that the pool has taken. */
	hold(amount) {globalThis.__t?.("model/budget-pool.js#hold@6134");
		const hold = { settle: (cost) => {globalThis.__t?.("model/budget-pool.js#settle@6170");
			if (this.#open.delete(hold)) this.#pool.settle(this.#name, amount, cost);
		} };
		this.#open.set(hold, amount);
		return hold;
	}
};
function wholeAmount(amount) {globalThis.__t?.("model/budget-pool.js#wholeAmount@6319");
	if (Number.isSafeInteger(amount) && amount >= 0) return amount;
	throw new UsageError("OPTION_INVALID", `Expected the amount of a budget pool to be a whole number of micro-dollars of 0 or more, got ${valueText(amount)}. Write budgetPool(usd(5)).`);
}
function noPool(parent) {globalThis.__t?.("model/budget-pool.js#noPool@6602");
	return new UsageError("OPTION_INVALID", `Expected the parent of a budget pool to be a pool, got ${valueText(parent)}. Make it by budgetPool(usd(5)).`);
}
/**
* The accounts of one spender with all pools that bind it, those above each pool included. It owns the accounts that it opened.
*
* Funds.F1 a hold is taken from every pool, or from none (`reserve`). Funds.F2 pools are asked in one order that all spenders share
* (`inOrder`), so that no two wait for each other. Funds.F3 a pool that is reached in two ways is asked once (`open`).
*/
var Funds = class Funds {
	accounts;
	#opened;
	constructor(accounts, opened) {globalThis.__t?.("model/budget-pool.js#constructor@7230");
		this.accounts = accounts;
		this.#opened = opened;
	}
	/** Undefined where no pool binds. */
	static async open(pools, { name, spent }) {globalThis.__t?.("model/budget-pool.js#open@7364");
		const all = /* @__PURE__ */ new Map();
		for (const pool of pools) for (let level = pool; level !== void 0; level = level.parent) {
			if (!all.has(level)) all.set(level, void 0);
			for (const open of level.accounts ?? []) all.set(open.pool, open.account);
		}
		if (all.size === 0) return void 0;
		const accounts = [];
		const opened = [];
		for (const [pool, known] of [...all].toSorted(([a], [b]) => (globalThis.__t?.("model/budget-pool.js#anonymous@7784"),(inOrder(a, b))))) {
			const account = known ?? await pool.open(name, { spent });
			if (known === void 0) opened.push(account);
			accounts.push({
				pool,
				account
			});
		}
		return new Funds(accounts, opened);
	}
	/** Whether any pool bounds what is spent. */
	get isBinding() {globalThis.__t?.("model/budget-pool.js#isBinding get@8079");
		return this.accounts.some(({ pool }) => (globalThis.__t?.("model/budget-pool.js#anonymous@8112"),(pool.isBinding !== false)));
	}
	/** One more than the rank of every pool. */
	get rank() {globalThis.__t?.("model/budget-pool.js#rank get@8211");
		return 1 + Math.max(...this.accounts.map(({ pool }) => (globalThis.__t?.("model/budget-pool.js#anonymous@8259"),(pool.rank))));
	}
	/**
	* Takes an amount from all pools, and waits while open holds could make room in them.
	*
	* @throws BudgetError, ControlError: see {@link BudgetAccount.reserve}; nothing is taken then
	*/
	async reserve(amount, ending) {globalThis.__t?.("model/budget-pool.js#reserve@8497");
		const taken = [];
		const settle = (cost) => {globalThis.__t?.("model/budget-pool.js#settle@8553");
			for (const hold of taken) hold.settle(cost);
		};
		try {
			for (const { account } of this.accounts) taken.push(await account.reserve(amount, ending));
		} catch (error) {
			settle(0);
			throw error;
		}
		return { settle };
	}
	/** Counts what was spent elsewhere. */
	charge(amount) {globalThis.__t?.("model/budget-pool.js#charge@8847");
		for (const { account } of this.accounts) account.charge(amount);
	}
	/** Closes what it opened. @param isDone the spender never comes back */
	close(isDone) {globalThis.__t?.("model/budget-pool.js#close@9008");
		for (const account of this.#opened) account.close(isDone);
	}
};
function inOrder(a, b) {globalThis.__t?.("model/budget-pool.js#inOrder@9086");
	if (a.rank !== b.rank) return b.rank - a.rank;
	return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
/**
* Somebody who spends from a pool and keeps no record, such as a run of an agent alone. It owns its accounts, which are opened with the
* first call.
*/
var PoolSpender = class {
	#pool;
	#name;
	#funds;
	/** @param name that nobody else has, for what it spends is never charged again */
	constructor(pool, name) {globalThis.__t?.("model/budget-pool.js#constructor@9513");
		this.#pool = pool;
		this.#name = name;
	}
	/** The tries of one step. */
	attempts(ending) {globalThis.__t?.("model/budget-pool.js#attempts@9613");
		return new PoolAttempts(() => (globalThis.__t?.("model/budget-pool.js#anonymous@9650"),(this.#funds ??= Funds.open([this.#pool], {
			name: this.#name,
			spent: 0
		}))), this.#pool, ending);
	}
	/** Counts what is still open at its full amount. */
	close() {globalThis.__t?.("model/budget-pool.js#close@9822");
		this.#funds?.then((funds) => (globalThis.__t?.("model/budget-pool.js#anonymous@9847"),(funds?.close(true))), () => {globalThis.__t?.("model/budget-pool.js#anonymous@9878");});
	}
};
/** The tries of one step, of which each is held in the pool before it and settled after. It owns the hold that is open. */
var PoolAttempts = class {
	budget;
	#open;
	#ending;
	#funds;
	#hold;
	constructor(open, budget, ending) {globalThis.__t?.("model/budget-pool.js#constructor@10102");
		this.#open = open;
		this.budget = budget;
		this.#ending = ending;
	}
	async open(hold) {globalThis.__t?.("model/budget-pool.js#open@10211");
		this.#funds = await this.#open();
		if (hold > 0) this.#hold = await this.#funds?.reserve(hold, this.#ending);
	}
	settle({ cost = 0 }) {globalThis.__t?.("model/budget-pool.js#settle@10343");
		if (this.#hold !== void 0) this.#hold.settle(cost);
		else if (cost > 0) this.#funds?.charge(cost);
		this.#hold = void 0;
	}
};
export { Funds, PoolSpender, budgetPool, checkBudget, isBudgetPool };
