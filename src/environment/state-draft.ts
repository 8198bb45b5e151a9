import type { z } from "zod";
import type { CustomState } from "../action/context.ts";
import { UsageError } from "../kernel/errors.ts";
import { canonicalJson, type Json, jsonRoundTrip } from "../kernel/json.ts";
import type { ActEnded } from "../run/event.ts";

/**
 * The custom state of a role while an activation changes it. It owns copies of the keys that were touched; the base is never
 * changed. Only touched keys are compared, so a large state costs what is used of it.
 *
 * C1 the base stays as it was. C2 `changes` names exactly the keys whose JSON differs.
 */
export class StateDraft {
  readonly #base: { readonly [key: string]: Json };
  #touched: Map<string, unknown> | undefined;
  #view: CustomState | undefined;
  #replaced = false;

  constructor(base: { readonly [key: string]: Json }) {
    this.#base = base;
  }

  /** The state, to be read and changed in place. */
  get view(): CustomState {
    this.#view ??= this.#makeView();
    return this.#view;
  }

  /** Replaces the whole state. */
  replace(state: CustomState): void {
    this.#replaced = true;
    this.#touched = new Map(Object.entries(state));
    this.#view = undefined;
  }

  /**
   * What changed.
   *
   * @throws UsageError `STATE_INVALID` when the new state does not fit the role's schema.
   * @throws NotJsonError
   */
  changes(role: string, schema: z.ZodType | undefined): ActEnded["state"] | undefined {
    if (this.#touched === undefined) return undefined;
    const set: Record<string, Json> = {};
    for (const [key, value] of this.#touched) {
      if (value === undefined) continue;
      if (!(key in this.#base) || canonicalJson(value) !== canonicalJson(this.#base[key])) set[key] = jsonRoundTrip(value) as Json;
    }
    const unset = Object.keys(this.#base).filter((key) => this.#isGone(key));
    if (Object.keys(set).length === 0 && unset.length === 0) return undefined;
    if (schema !== undefined) this.#check(role, schema, set, unset);
    return { set, unset };
  }

  #isGone(key: string): boolean {
    const touched = this.#touched;
    if (touched === undefined) return false;
    return touched.has(key) ? touched.get(key) === undefined : this.#replaced;
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

  #makeView(): CustomState {
    const touched = (this.#touched ??= new Map<string, unknown>());
    const read = (key: string): unknown => {
      if (!touched.has(key) && !this.#replaced && Object.hasOwn(this.#base, key)) touched.set(key, structuredClone(this.#base[key]));
      return touched.get(key);
    };
    const keys = (): string[] => {
      const known = new Set(this.#replaced ? [] : Object.keys(this.#base));
      for (const [key, value] of touched) if (value === undefined) known.delete(key);
        else known.add(key);
      return [...known];
    };
    return new Proxy<CustomState>({}, {
      get: (_target, key) => (typeof key === "string" ? read(key) : undefined),
      set: (_target, key, value) => (typeof key === "string" ? (touched.set(key, value), true) : false),
      deleteProperty: (_target, key) => (typeof key === "string" ? (touched.set(key, undefined), true) : true),
      has: (_target, key) => typeof key === "string" && read(key) !== undefined,
      ownKeys: keys,
      getOwnPropertyDescriptor: (_target, key) =>
        typeof key === "string" && read(key) !== undefined ? { value: read(key), writable: true, enumerable: true, configurable: true } : undefined,
    });
  }
}
