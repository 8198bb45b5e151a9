import { ContextClosedError, PlanError, UsageError } from "../../kernel/errors.ts";
import { contentHash, type Json, canonicalJson, jsonRoundTrip } from "../../kernel/json.ts";
import { namedStream, type Random, type RandomStream, randomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import { MemoryDraft } from "../../memory/memory-draft.ts";
import type { JoinMarks, CustomState } from "../../role/context.ts";
import { Plan } from "../../role/plan.ts";
import type { ActEnded } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import type { z } from "zod";

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

/**
 * The custom state of a role while an activation changes it. It owns a copy, in which objects are copied when they are first read. So the cost
 * depends on the touched part of a large state.
 *
 * StateDraft.C1 (`get`) the base stays unchanged.
 * StateDraft.C2 (`changes`) names exactly the keys whose JSON differs.
 * StateDraft.C3 (`#assertOpen`) after `close` writing a key throws.
 */
export class StateDraft implements ProxyHandler<CustomState> {
  readonly #base: { readonly [key: string]: Json };
  readonly #act: string;
  #copy: CustomState | undefined;
  #view: CustomState | undefined;
  #isClosed = false;

  /** @param act the activation that writes, for the error of a late write */
  constructor(base: { readonly [key: string]: Json }, act: string) {
    this.#base = base;
    this.#act = act;
  }

  close(): void {
    this.#isClosed = true;
  }

  get view(): CustomState {
    return (this.#view ??= new Proxy<CustomState>(this.#values, this));
  }

  replace(state: CustomState): void {
    this.#assertOpen();
    if (typeof state !== "object" || state === null || Array.isArray(state)) {
      const came = Array.isArray(state) ? "a list" : typeof state;
      throw new UsageError("STATE_INVALID", `Expected the state of a role to be an object, got ${came}.`);
    }
    if (state === this.#view) return;
    const members = Object.entries(state);
    const values = this.#values;
    for (const key of Object.keys(values)) delete values[key];
    for (const [key, value] of members) this.set(values, key, value);
  }

  changes(role: string, schema: z.ZodType | undefined): ActEnded["state"] | undefined {
    const copy = this.#copy;
    if (copy === undefined) return undefined;
    const set: Record<string, Json> = {};
    let isChanged = false;
    for (const key of Object.keys(copy)) {
      const known = Object.hasOwn(this.#base, key) ? this.#base[key] : undefined;
      const now = changedTo(copy[key], known);
      if (now === undefined) continue;
      isChanged = true;
      // "__proto__" is a key like others.
      if (key === "__proto__") Object.defineProperty(set, key, { value: now, writable: true, enumerable: true, configurable: true });
      else set[key] = now;
    }
    const unset = Object.keys(this.#base).filter((key) => !Object.hasOwn(copy, key));
    if (!isChanged && unset.length === 0) return undefined;
    if (schema !== undefined) this.#check(role, schema, set, unset);
    return { set, unset };
  }

  #check(role: string, schema: z.ZodType, set: Record<string, Json>, unset: readonly string[]): void {
    const whole: Record<string, Json> = { ...this.#base, ...set };
    for (const key of unset) delete whole[key];
    const parsed = schema.safeParse(whole);
    if (parsed.success) return;
    const text = `Expected the state of ${role} to fit its schema after the activation: ${parsed.error.message}`;
    throw new UsageError("STATE_INVALID", text, { cause: parsed.error });
  }

  // The traps of the view. The draft is its own handler, because functions for each activation would cost more than their calls.

  /** @internal */
  get(values: CustomState, key: string): unknown {
    const value = values[key];
    if (typeof value !== "object" || value === null || value !== this.#base[key]) return value;
    return (values[key] = structuredClone(value));
  }

  /** @internal */
  set(values: CustomState, key: string | symbol, value: unknown): boolean {
    this.#assertOpen();
    if (typeof key !== "string") return false;
    if (value === undefined) delete values[key];
    else values[key] = value;
    return true;
  }

  /** @internal */
  defineProperty(values: CustomState, key: string | symbol, property: PropertyDescriptor): boolean {
    return "value" in property && this.set(values, key, property.value);
  }

  /** @internal */
  deleteProperty(values: CustomState, key: string | symbol): boolean {
    return this.set(values, key, undefined);
  }

  get #values(): CustomState {
    // Without a prototype, so that no key has a value already.
    return (this.#copy ??= Object.assign(Object.create(null) as CustomState, this.#base));
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new ContextClosedError(this.#act, "a change of state");
  }
}

function changedTo(value: unknown, known: Json | undefined): Json | undefined {
  if (value === known) return undefined;
  if (typeof value === "string" || typeof value === "boolean") return value;
  // Adding 0 removes a negative zero, which JSON does not have.
  if (typeof value === "number" && Number.isFinite(value)) return value + 0;
  const now = jsonRoundTrip<unknown>(value) as Json;
  return known !== undefined && canonicalJson(now) === canonicalJson(known) ? undefined : now;
}
