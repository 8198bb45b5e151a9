import type { z } from "zod";
import type { CustomState } from "../../role/context.ts";
import { ContextClosedError, UsageError } from "../../kernel/errors.ts";
import { canonicalJson, type Json, jsonRoundTrip } from "../../kernel/json.ts";
import type { ActEnded } from "../record/event.ts";

/**
 * The custom state of a role while an activation changes it. It owns copies of the touched keys. Only those are compared, so the cost
 * depends on the touched part of a large state.
 *
 * StateDraft.C1 (`get`) the base stays unchanged.
 * StateDraft.C2 (`changes`) names exactly the keys whose JSON differs.
 * StateDraft.C3 (`#assertOpen`) after `close` writing a key throws.
 */
export class StateDraft implements ProxyHandler<CustomState> {
  readonly #base: { readonly [key: string]: Json };
  #touched: Map<string, unknown> | undefined;
  #view: CustomState | undefined;
  readonly #act: string;
  #replaced = false;
  #closed = false;

  /** @param act the activation that writes, for the error of a late write */
  constructor(base: { readonly [key: string]: Json }, act: string) {
    this.#base = base;
    this.#act = act;
  }

  /** Ends writing: the activation is over. */
  close(): void {
    this.#closed = true;
  }

  /** The state, to be read and changed in place. */
  get view(): CustomState {
    return (this.#view ??= new Proxy<CustomState>({}, this));
  }

  /** Replaces the whole state. */
  replace(state: CustomState): void {
    this.#assertOpen();
    if (typeof state !== "object" || state === null || Array.isArray(state)) {
      throw new UsageError(
        "STATE_INVALID",
        `Expected the state of a role to be an object, got ${Array.isArray(state) ? "a list" : typeof state}.`,
      );
    }
    // The view cannot replace the state that it reads: the base alone has its untouched keys.
    if (state === this.#view) return;
    this.#replaced = true;
    const touched = new Map<string, unknown>();
    for (const key of Object.keys(state)) touched.set(key, state[key]);
    this.#touched = touched;
  }

  /** Returns the changes. */
  changes(role: string, schema: z.ZodType | undefined): ActEnded["state"] | undefined {
    if (this.#touched === undefined) return undefined;
    const set: Record<string, Json> = {};
    let isChanged = false;
    for (const [key, value] of this.#touched) {
      if (value === undefined) continue;
      const known = Object.hasOwn(this.#base, key) ? this.#base[key] : undefined;
      const now = changedTo(value, known);
      if (now === undefined) continue;
      isChanged = true;
      // "__proto__" is a key like others.
      if (key === "__proto__") Object.defineProperty(set, key, { value: now, writable: true, enumerable: true, configurable: true });
      else set[key] = now;
    }
    const unset = this.#gone();
    if (!isChanged && unset.length === 0) return undefined;
    if (schema !== undefined) this.#check(role, schema, set, unset);
    return { set, unset };
  }

  #gone(): readonly string[] {
    let gone: string[] | undefined;
    for (const key of Object.keys(this.#base)) {
      const isGone = this.#touched?.has(key) === true ? this.#touched.get(key) === undefined : this.#replaced;
      if (isGone) (gone ??= []).push(key);
    }
    return gone ?? nothing;
  }

  #check(role: string, schema: z.ZodType, set: Record<string, Json>, unset: readonly string[]): void {
    const whole: Record<string, Json> = { ...this.#base, ...set };
    for (const key of unset) delete whole[key];
    const parsed = schema.safeParse(whole);
    if (parsed.success) return;
    throw new UsageError("STATE_INVALID", `Expected the state of ${role} to fit its schema after the activation: ${parsed.error.message}`, {
      cause: parsed.error,
    });
  }

  // The traps of the view. The draft is its own handler, because functions for each activation would cost more than their calls.

  /** @internal */
  get(_target: object, key: string | symbol): unknown {
    if (typeof key !== "string") return undefined;
    const touched = this.#touched;
    if (touched?.has(key) === true) return touched.get(key);
    if (this.#replaced || !Object.hasOwn(this.#base, key)) return undefined;
    const value = this.#base[key];
    // Reading a value that cannot be changed in place does not touch its key.
    if (typeof value !== "object" || value === null) return value;
    const copy: unknown = structuredClone(value);
    this.#touch(key, copy);
    return copy;
  }

  /** @internal */
  set(_target: object, key: string | symbol, value: unknown): boolean {
    this.#assertOpen();
    if (typeof key !== "string") return false;
    this.#touch(key, value);
    return true;
  }

  /** @internal */
  defineProperty(target: object, key: string | symbol, property: PropertyDescriptor): boolean {
    return "value" in property && this.set(target, key, property.value);
  }

  /** @internal */
  deleteProperty(target: object, key: string | symbol): boolean {
    return this.set(target, key, undefined);
  }

  /** @internal */
  has(target: object, key: string | symbol): boolean {
    return this.get(target, key) !== undefined;
  }

  /** @internal */
  ownKeys(): string[] {
    const keys = new Set(this.#replaced ? [] : Object.keys(this.#base));
    for (const [key, value] of this.#touched ?? []) {
      if (value === undefined) keys.delete(key);
      else keys.add(key);
    }
    return [...keys];
  }

  /** @internal */
  getOwnPropertyDescriptor(target: object, key: string | symbol): PropertyDescriptor | undefined {
    const value = this.get(target, key);
    return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
  }

  #touch(key: string, value: unknown): void {
    (this.#touched ??= new Map<string, unknown>()).set(key, value);
  }

  #assertOpen(): void {
    if (this.#closed) throw new ContextClosedError(this.#act, "a change of state");
  }
}

const nothing: readonly string[] = Object.freeze([]);

/** Returns the JSON form of a value if it differs from the known one; else undefined. */
function changedTo(value: unknown, known: Json | undefined): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value === known ? undefined : value;
    case "number":
      // Adding 0 removes a negative zero, which JSON does not have.
      if (Number.isFinite(value)) return value === known ? undefined : value + 0;
      return jsonRoundTrip(value);
    default:
      return known !== undefined && canonicalJson(value) === canonicalJson(known) ? undefined : (jsonRoundTrip(value) as Json);
  }
}
