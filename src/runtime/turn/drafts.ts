import { ContextClosedError, PlanError } from "../../kernel/errors.ts";
import { contentHash, type Json } from "../../kernel/json.ts";
import { namedStream, type Random, type RandomStream, randomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import { MemoryDraft } from "../../memory/memory-draft.ts";
import type { JoinMarks } from "../../role/context.ts";
import { Plan } from "../../role/plan.ts";
import type { ActEnded } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import { StateDraft } from "./state-draft.ts";

/**
 * The drafts of one activation. It owns the changes of the role's state, plan, working memory and joins, and the counters of ids and random
 * numbers.
 *
 * Drafts.D1 (`random`, `stream`, `id`) ids and random numbers are functions of the seed, the role's name and how often it has acted.
 * Drafts.D2 (`close`) a closed draft can be read and not written.
 */
export class Drafts {
  readonly state: StateDraft;
  readonly plan: PlanDraft;
  readonly joins: JoinMarks;
  readonly #role: RoleState;
  readonly #act: string;
  #working: MemoryDraft | undefined;
  #isClosed = false;
  /** Messages that each reaction consumed here, by the reaction's place. */
  #joined: Record<string, Readonly<Record<string, string>>> | undefined;
  #random: Random | undefined;
  #streams: RandomStream | undefined;
  #ids = 0;

  constructor(role: RoleState, act: string) {
    this.#role = role;
    this.state = new StateDraft(role.custom, act);
    this.plan = new PlanDraft(role.plan, act, role.name);
    this.#act = act;
    this.joins = {
      consumed: (reaction) => this.#joined?.[reaction] ?? role.joins[reaction],
      consume: (reaction, inputs) => void ((this.#joined ??= {})[reaction] = inputs),
    };
  }

  /** Messages that the reactions of this activation consumed, if any did. */
  get joined(): ActEnded["joins"] {
    return this.#joined;
  }

  /** Made on first use: a role without a working memory gets none. */
  get working(): MemoryDraft {
    if (this.#working === undefined) {
      this.#working = new MemoryDraft({ base: this.#role.workingMemory, by: { act: this.#act } });
      if (this.#isClosed) this.#working.close();
    }
    return this.#working;
  }

  get workingOps(): MemoryDraft["ops"] {
    return this.#working === undefined ? [] : this.#working.ops;
  }

  random(seed: string): number {
    this.#random ??= randomStream(seed, "role", this.#role.name, this.#role.n);
    return this.#random();
  }

  stream(seed: string, name: string): RandomStream {
    this.#streams ??= namedStream(seed, "role", this.#role.name, this.#role.n);
    return this.#streams.split(name);
  }

  id(): string {
    this.#ids += 1;
    return `${this.#role.name}#${this.#role.n}:${this.#ids}`;
  }

  /** Shows the committed state from now on. */
  settle(): void {
    this.#working?.settle();
  }

  close(): void {
    this.#isClosed = true;
    this.state.close();
    this.#working?.close();
    this.plan.close();
  }
}

/**
 * The plan of one activation. It owns a private copy until the activation ends.
 *
 * PlanDraft.P1 (`plan`) the role's own plan is never changed.
 * PlanDraft.P2 (`replace`) a closed draft takes no plan.
 */
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

  /** @throws PlanError `PLAN_INVALID` for an invalid plan; ContextClosedError when the activation has ended */
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

  /** Returns the plan if it differs from the role's. @throws PlanError where a record could not hold it */
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
