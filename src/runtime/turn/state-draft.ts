import type { z } from "zod";
import type { CustomState } from "../../role/context.ts";
import { ContextClosedError, UsageError } from "../../kernel/errors.ts";
import { canonicalJson, type Json, jsonRoundTrip } from "../../kernel/json.ts";
import type { ActEnded } from "../record/event.ts";

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
