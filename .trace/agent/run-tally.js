import { ControlError } from "../kernel/errors.js";
import { addUsage } from "../model/chat-model.js";
import { SpendingTable } from "../model/ledger.js";
// ../../work/wt/lead/src/agent/run-tally.ts
/** A run of an agent has reached its `tokenLimit`. Another run can go on with the work. */
var TokenLimitError = class extends ControlError {
	constructor(used, limit) {globalThis.__t?.("agent/run-tally.js#constructor@355");
		super("TOKEN_LIMIT", `Stopped: ${used} tokens are used, of at most ${limit}. Run it again to go on, or raise tokenLimit.`, { data: {
			used,
			limit
		} });
	}
};
/**
* The tokens and the cost of one run of an agent, rejected tries included. It owns the sums and the open tries.
*
* `RunTally.T1` every try counts once: settled at its cost, open at its hold or as unpriced (`cost`). `RunTally.T2` no call begins when
* the limit of tokens is reached; a call under way may pass it (`begin`).
*/
var RunTally = class {
	#tokenLimit;
	#byModel = new SpendingTable();
	#open = /* @__PURE__ */ new Map();
	#usage = {
		inputTokens: 0,
		outputTokens: 0
	};
	#known = 0;
	#unpriced = 0;
	/** @param tokenLimit of requests and replies together */
	constructor(tokenLimit = Infinity) {globalThis.__t?.("agent/run-tally.js#constructor@1127");
		this.#tokenLimit = tokenLimit;
	}
	get usage() {globalThis.__t?.("agent/run-tally.js#usage get@1199");
		return this.#usage;
	}
	get byModel() {globalThis.__t?.("agent/run-tally.js#byModel get@1241");
		return this.#byModel.record();
	}
	/** Includes what interrupted calls may have cost. */
	get cost() {globalThis.__t?.("agent/run-tally.js#cost get@1346");
		const open = [...this.#open.values()];
		return {
			known: open.reduce((sum, { cost = 0 }) => (globalThis.__t?.("agent/run-tally.js#known@1425"),(sum + cost)), this.#known),
			unpriced: this.#unpriced + open.filter(({ cost }) => (globalThis.__t?.("agent/run-tally.js#unpriced@1516"),(cost === void 0))).length
		};
	}
	/** A call begins. @throws TokenLimitError */
	begin(model) {globalThis.__t?.("agent/run-tally.js#begin@1615");
		const used = this.#usage.inputTokens + this.#usage.outputTokens;
		if (used >= this.#tokenLimit) throw new TokenLimitError(used, this.#tokenLimit);
		let isMade = false;
		const tally = {
			opened: (hold, isUnpriced) => {globalThis.__t?.("agent/run-tally.js#opened@1826");
				isMade = true;
				this.#open.set(tally, {
					cost: isUnpriced ? void 0 : hold,
					basis: "hold"
				});
			},
			settled: (outcome) => {globalThis.__t?.("agent/run-tally.js#settled@1981");
				this.#open.delete(tally);
				this.#add(model, outcome);
			},
			answered: (usage) => {globalThis.__t?.("agent/run-tally.js#answered@2076");
				if (!isMade && usage !== void 0) this.#add(model, {
					cost: 0,
					basis: "none",
					usage: { ...usage }
				});
			}
		};
		return tally;
	}
	#add(model, { cost, basis, usage: told }) {globalThis.__t?.("agent/run-tally.js#add@2246");
		const usage = told;
		this.#usage = addUsage(this.#usage, usage);
		this.#known += cost ?? 0;
		if (cost === void 0 && basis !== "none") this.#unpriced += 1;
		this.#byModel.add(model, {
			cost,
			basis,
			...usage === void 0 ? {} : { usage }
		});
	}
};
export { RunTally, TokenLimitError };
