import { ContextClosedError, PlanError } from "../../kernel/errors.js";
import { contentHash } from "../../kernel/json.js";
import { randomStream } from "../../kernel/random.js";
import { valueText } from "../../kernel/value-text.js";
import { MemoryDraft } from "../../memory/memory-draft.js";
import { Plan } from "../../role/plan.js";
import { StateDraft } from "./state-draft.js";
// ../../work/wt/lead/src/runtime/turn/drafts.ts
/**
* The drafts of one activation: what it has changed of the role's state, plan, working memory and joins, with its counters of ids and random
* numbers.
*
* Drafts.D1 (`random`, `id`) ids and random numbers are functions of the seed, the role's name and how often it has acted. Drafts.D2 (`close`) once
* closed, a draft can be read and not written.
*/
var Drafts = class {
	state;
	plan;
	working;
	joins;
	#role;
	/** What each reaction consumed here, by the reaction's place. */
	#joined;
	#random;
	#ids = 0;
	constructor(role, act) {globalThis.__t?.("runtime/turn/drafts.js#constructor@962");
		this.#role = role;
		this.state = new StateDraft(role.custom, act);
		this.plan = new PlanDraft(role.plan, act, role.name);
		this.working = new MemoryDraft({
			base: role.workingMemory,
			by: { act }
		});
		this.joins = {
			consumed: (reaction) => (globalThis.__t?.("runtime/turn/drafts.js#consumed@1217"),(this.#joined?.[reaction] ?? role.joins[reaction])),
			consume: (reaction, inputs) => (globalThis.__t?.("runtime/turn/drafts.js#consume@1293"),(void ((this.#joined ??= {})[reaction] = inputs)))
		};
	}
	/** What the reactions of this activation consumed, if any did. */
	get joined() {globalThis.__t?.("runtime/turn/drafts.js#joined get@1450");
		return this.#joined;
	}
	random(seed) {globalThis.__t?.("runtime/turn/drafts.js#random@1488");
		this.#random ??= randomStream(seed, "role", this.#role.name, this.#role.n);
		return this.#random();
	}
	id() {globalThis.__t?.("runtime/turn/drafts.js#id@1606");
		this.#ids += 1;
		return `${this.#role.name}#${this.#role.n}:${this.#ids}`;
	}
	close() {globalThis.__t?.("runtime/turn/drafts.js#close@1698");
		this.state.close();
		this.working.close();
		this.plan.close();
	}
};
/** The plan of one activation. It owns a copy that nobody else sees until the activation ends. */
var PlanDraft = class {
	#base;
	#act;
	#role;
	#plan;
	#isClosed = false;
	constructor(base, act, role) {globalThis.__t?.("runtime/turn/drafts.js#constructor@1962");
		this.#base = base;
		this.#act = act;
		this.#role = role;
	}
	get plan() {globalThis.__t?.("runtime/turn/drafts.js#plan get@2055");
		this.#plan ??= Plan.fromJSON(this.#base.toJSON());
		return this.#plan;
	}
	/** @throws PlanError `PLAN_INVALID` for what is no plan; ContextClosedError when the activation has ended */
	replace(plan) {globalThis.__t?.("runtime/turn/drafts.js#replace@2256");
		if (this.#isClosed) throw new ContextClosedError(this.#act, "a plan");
		if (!(plan instanceof Plan)) throw new PlanError("PLAN_INVALID", `Expected the plan of role ${this.#role} to be a Plan, got ${valueText(plan)}. Write new Plan({ goal, tasks }).`);
		this.#plan = plan;
	}
	close() {globalThis.__t?.("runtime/turn/drafts.js#close@2550");
		this.#isClosed = true;
	}
	/** The plan as it is now, if it differs from the role's. @throws PlanError where a record could not give it back */
	changes() {globalThis.__t?.("runtime/turn/drafts.js#changes@2709");
		if (this.#plan === void 0) return void 0;
		const plan = this.#plan.toJSON();
		if (contentHash(plan) === contentHash(this.#base.toJSON())) return void 0;
		try {
			Plan.fromJSON(plan);
			return plan;
		} catch (error) {
			if (!(error instanceof PlanError)) throw error;
			throw new PlanError(error.code, `Expected the plan of role ${this.#role} to be one at its end. ${error.message}`, {
				cause: error,
				data: error.data
			});
		}
	}
};
export { Drafts, PlanDraft };
