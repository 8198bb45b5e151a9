import { ContextClosedError, PlanError } from "../../kernel/errors.ts";
import { contentHash, type Json } from "../../kernel/json.ts";
import { valueText } from "../../kernel/value-text.ts";
import { Plan } from "../../role/plan.ts";

/** The plan of one activation: a copy that nobody else sees until the activation ends. It owns that copy. */
export class PlanDraft {
  readonly #base: Plan;
  readonly #act: string;
  readonly #role: string;
  #plan: Plan | undefined;
  #isClosed = false;

  constructor(base: Plan, act: string, role: string) {
    this.#base = base;
    this.#act = act;
    this.#role = role;
  }

  get plan(): Plan {
    this.#plan ??= Plan.fromJSON(this.#base.toJSON());
    return this.#plan;
  }

  /** @throws PlanError `PLAN_INVALID` for what is no plan; ContextClosedError when the activation has ended */
  replace(plan: Plan): void {
    if (this.#isClosed) throw new ContextClosedError(this.#act, "a plan");
    if (!(plan instanceof Plan)) {
      throw new PlanError(
        "PLAN_INVALID",
        `Expected the plan of role ${this.#role} to be a Plan, got ${valueText(plan)}. Write new Plan({ goal, tasks }).`,
      );
    }
    this.#plan = plan;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** The plan as it is now, if it is another; one that a record could not give back fails the activation. @throws PlanError */
  changes(): Json | undefined {
    if (this.#plan === undefined) return undefined;
    const plan = this.#plan.toJSON() as unknown as Json;
    if (contentHash(plan) === contentHash(this.#base.toJSON())) return undefined;
    try {
      Plan.fromJSON(plan);
      return plan;
    } catch (error) {
      if (!(error instanceof PlanError)) throw error;
      throw new PlanError(error.code, `Expected the plan of role ${this.#role} to be one at its end. ${error.message}`, {
        cause: error,
        data: error.data,
      });
    }
  }
}
