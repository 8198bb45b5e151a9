import { UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/model/ledger.ts
/** Tokens of no call. */
const NO_USAGE_SUM = Object.freeze({
	inputTokens: 0,
	outputTokens: 0,
	cachedTokens: 0,
	estimated: false
});
/**
* What was spent and what is reserved. Pure arithmetic in whole micro-dollars: it knows no clock, no budget and no journal; who may
* open a hold, and when, is decided by whoever drives it.
*
* L1 spent is the sum of settled costs and held the sum of open holds, nothing else. L2 a key has one open hold at a time; settling
* closes it, and settling what is not open is an error. L3 amounts are whole and never negative. L4 an unknown cost adds one to
* `unpriced` and nothing to `spent`, also while its hold is open; what settles at its hold has a known cost. L5 a hold fits when spent + held + hold stays within
* the budget. L6 a ledger read back from its JSON is the same ledger.
*/
var Ledger = class Ledger {
	#open = /* @__PURE__ */ new Map();
	#openUnpriced = 0;
	#spent = 0;
	#held = 0;
	#unpriced = 0;
	#usage = NO_USAGE_SUM;
	/** Reads a ledger back. @throws UsageError `LEDGER_KEY` or `LEDGER_AMOUNT` when it is not one. */
	static fromJSON(record) {globalThis.__t?.("model/ledger.js#fromJSON@1186");
		const ledger = new Ledger();
		ledger.#spent = whole(record.spent, "spent");
		ledger.#unpriced = whole(record.unpriced, "unpriced");
		ledger.#usage = { ...record.usage };
		for (const [key, hold, unpriced] of record.open) ledger.open(key, hold, unpriced !== void 0);
		return ledger;
	}
	/** Micro-dollars of everything settled. */
	get spent() {globalThis.__t?.("model/ledger.js#spent get@1543");
		return this.#spent;
	}
	/** Micro-dollars reserved by what is open. */
	get held() {globalThis.__t?.("model/ledger.js#held get@1630");
		return this.#held;
	}
	/** How many calls had no known price, those that are open included. */
	get unpriced() {globalThis.__t?.("model/ledger.js#unpriced get@1745");
		return this.#unpriced + this.#openUnpriced;
	}
	/** Tokens of everything settled. */
	get usage() {globalThis.__t?.("model/ledger.js#usage get@1847");
		return this.#usage;
	}
	/** How many holds are open. */
	get openHolds() {globalThis.__t?.("model/ledger.js#openHolds get@1924");
		return this.#open.size;
	}
	/**
	* Reserves `hold` micro-dollars under `key`.
	*
	* @param isUnpriced whether nobody knows what it costs
	* @throws UsageError `LEDGER_KEY` when the key is open already, `LEDGER_AMOUNT` for an amount that is not whole or is negative.
	*/
	open(key, hold, isUnpriced = false) {globalThis.__t?.("model/ledger.js#open@2206");
		if (this.#open.has(key)) throw new UsageError("LEDGER_KEY", `Expected a key without an open hold, but ${key} has one. Settle it first.`);
		this.#open.set(key, {
			amount: whole(hold, "a hold"),
			isUnpriced
		});
		if (isUnpriced) this.#openUnpriced += 1;
		this.#held += hold;
	}
	/**
	* Closes the hold of `key` with what it cost.
	*
	* @throws UsageError `LEDGER_KEY` when the key has no open hold, `LEDGER_AMOUNT` for a cost that is not whole, is negative, or is
	* missing although it settles at its hold.
	*/
	settle(key, settlement) {globalThis.__t?.("model/ledger.js#settle@2767");
		const open = this.#open.get(key);
		if (open === void 0) throw new UsageError("LEDGER_KEY", `Expected a key with an open hold, but ${key} has none. Open it first.`);
		const { cost, basis, usage } = settlement;
		if (cost === void 0 && basis === "hold") throw new UsageError("LEDGER_AMOUNT", `Expected a cost for ${key}, which settles at its hold of ${open.amount} micro-dollars, but it has none.`);
		const known = cost === void 0 ? void 0 : whole(cost, "a cost");
		this.#open.delete(key);
		this.#held -= open.amount;
		if (open.isUnpriced) this.#openUnpriced -= 1;
		if (known !== void 0) this.#spent += known;
		else if (basis !== "none") this.#unpriced += 1;
		if (usage !== void 0) this.#usage = addUsageTo(this.#usage, usage);
	}
	/** True when `hold` more can be reserved without spent and held passing `budget`. */
	fits(hold, budget) {globalThis.__t?.("model/ledger.js#fits@3619");
		return this.#spent + this.#held + hold <= budget;
	}
	/** What is known to be spent, and how many calls have no known price. */
	cost() {globalThis.__t?.("model/ledger.js#cost@3771");
		return {
			known: this.spent,
			unpriced: this.unpriced
		};
	}
	toJSON() {globalThis.__t?.("model/ledger.js#toJSON@3851");
		return {
			spent: this.#spent,
			unpriced: this.#unpriced,
			usage: { ...this.#usage },
			open: [...this.#open].map(openRecord)
		};
	}
};
function openRecord([key, { amount, isUnpriced }]) {globalThis.__t?.("model/ledger.js#openRecord@4001");
	return isUnpriced ? [
		key,
		amount,
		"unpriced"
	] : [key, amount];
}
/** Tokens of several calls together. */
function addUsageTo(sum, usage) {globalThis.__t?.("model/ledger.js#addUsageTo@4170");
	return {
		inputTokens: sum.inputTokens + usage.inputTokens,
		outputTokens: sum.outputTokens + usage.outputTokens,
		cachedTokens: sum.cachedTokens + (usage.cachedTokens ?? 0),
		estimated: sum.estimated || usage.estimated === true
	};
}
function whole(amount, what) {globalThis.__t?.("model/ledger.js#whole@4444");
	if (Number.isSafeInteger(amount) && amount >= 0) return amount;
	throw new UsageError("LEDGER_AMOUNT", `Expected ${what} to be a whole number of micro-dollars of 0 or more, got ${amount}.`);
}
const NOTHING = Object.freeze({
	usage: NO_USAGE_SUM,
	cost: Object.freeze({
		known: 0,
		unpriced: 0
	})
});
/** Sums of what was settled, by name. It owns the sums; each is replaced and never changed, so that whoever has one keeps it. */
var SpendingTable = class {
	#sums = /* @__PURE__ */ new Map();
	/** Adds what was settled. What cost nothing and used nothing makes no entry. */
	add(name, { cost, basis, usage }) {globalThis.__t?.("model/ledger.js#add@5060");
		const isUnpriced = cost === void 0 && basis !== "none";
		if (usage === void 0 && !isUnpriced && (cost ?? 0) === 0) return;
		const sum = this.#sums.get(name) ?? NOTHING;
		this.#sums.set(name, {
			usage: usage === void 0 ? sum.usage : addUsageTo(sum.usage, usage),
			cost: {
				known: sum.cost.known + (cost ?? 0),
				unpriced: sum.cost.unpriced + (isUnpriced ? 1 : 0)
			}
		});
	}
	/** The sums as they are now, in the order in which names first came. */
	record() {globalThis.__t?.("model/ledger.js#record@5564");
		return Object.fromEntries(this.#sums);
	}
};
export { Ledger, NO_USAGE_SUM, SpendingTable, addUsageTo };
