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
 * Drafts.D1 (`random`, `stream`, `id`) ids and random numbers are functions of the seed, the role's name and its activation count.
 * Drafts.D2 (`close`) a closed draft is read-only. The role's own plan is never changed.
 */
export class Drafts {
  readonly state: StateDraft;
  readonly joins: JoinMarks;
  readonly #role: RoleState;
  readonly #act: string;
  #working: MemoryDraft | undefined;
  #plan: Plan | undefined;
  #isClosed = false;
  /** Messages that each reaction consumed here, by the reaction's index. */
  #joined: Record<string, Readonly<Record<string, string>>> | undefined;
  #random: Random | undefined;
  #streams: RandomStream | undefined;
  #ids = 0;

  constructor(role: RoleState, act: string) {
    this.#role = role;
    this.#act = act;
    this.state = new StateDraft(role.custom, act);
    this.joins = {
      consumed: (reaction) => this.#joined?.[reaction] ?? role.joins[reaction],
      consume: (reaction, inputs) => void ((this.#joined ??= {})[reaction] = inputs),
    };
  }

  get joined(): ActEnded["joins"] {
    return this.#joined;
  }

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

  get plan(): Plan {
    return (this.#plan ??= Plan.fromJSON(this.#role.plan.toJSON()));
  }

  /** @throws PlanError `PLAN_INVALID` for an invalid plan; ContextClosedError when the activation has ended */
  set plan(plan: Plan) {
    if (this.#isClosed) throw new ContextClosedError(this.#act, "a plan");
    if (!(plan instanceof Plan)) {
      const text = `Expected the plan of role ${this.#role.name} to be a Plan, got ${valueText(plan)}. Write new Plan({ goal, tasks }).`;
      throw new PlanError("PLAN_INVALID", text);
    }
    this.#plan = plan;
  }

  /** The plan if it differs from the role's. @throws PlanError if a record could not hold it */
  get changedPlan(): Json | undefined {
    if (this.#plan === undefined) return undefined;
    const plan = this.#plan.toJSON() as unknown as Json;
    if (contentHash(plan) === contentHash(this.#role.plan.toJSON())) return undefined;
    try {
      Plan.fromJSON(plan);
      return plan;
    } catch (error) {
      if (!(error instanceof PlanError)) throw error;
      const text = `Expected the plan of role ${this.#role.name} to be valid at the end of the activation. ${error.message}`;
      throw new PlanError(error.code, text, { cause: error, data: error.data });
    }
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

  /** After the commit: reads now come from the committed state. */
  settle(): void {
    this.#working?.settle();
  }

  close(): void {
    this.#isClosed = true;
    this.state.close();
    this.#working?.close();
  }
}
