import type { z } from "zod";
import type { CustomState } from "../action/context.ts";
import { ContextClosedError, UsageError } from "../kernel/errors.ts";
import { canonicalJson, type Json, jsonRoundTrip } from "../kernel/json.ts";
import type { ActEnded } from "../run/event.ts";

/**
 * The custom state of a role while an activation changes it. It owns copies of the keys that were touched; the base is never
 * changed. Only touched keys are compared, so a large state costs what is used of it.
 *
 * C1 the base stays as it was. C2 `changes` names exactly the keys whose JSON differs. C3 after `close` writing a key throws.
 */
export class StateDraft {
  readonly #base: { readonly [key: string]: Json };
  #touched: Map<string, unknown> | undefined;
  #view: CustomState | undefined;
  readonly #act: string;
  #replaced = false;
  #closed = false;

  /** @param act the activation that writes, for the error a late write gets */
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
    this.#view ??= this.#makeView();
    return this.#view;
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
    this.#replaced = true;
    this.#touched = new Map(Object.entries(state));
  }

  /**
   * What changed.
   *
   * @throws UsageError `STATE_INVALID` when the new state does not fit the role's schema.
   * @throws NotJsonError
   */
  changes(role: string, schema: z.ZodType | undefined): ActEnded["state"] | undefined {
    if (this.#touched === undefined) return undefined;
    const changed: [string, Json][] = [];
    for (const [key, value] of this.#touched) {
      if (value === undefined) continue;
      if (!Object.hasOwn(this.#base, key) || canonicalJson(value) !== canonicalJson(this.#base[key]))
        changed.push([key, jsonRoundTrip(value) as Json]);
    }
    // Not by assignment: "__proto__" is a key like others.
    const set = Object.fromEntries(changed);
    const unset = Object.keys(this.#base).filter((key) => this.#isGone(key));
    if (changed.length === 0 && unset.length === 0) return undefined;
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

  #write(key: string | symbol, value: unknown): boolean {
    this.#assertOpen();
    if (typeof key !== "string") return false;
    (this.#touched ??= new Map<string, unknown>()).set(key, value);
    return true;
  }

  #assertOpen(): void {
    if (this.#closed) throw new ContextClosedError(this.#act, "a change of state");
  }

  #read(key: string | symbol): unknown {
    if (typeof key !== "string") return undefined;
    const touched = (this.#touched ??= new Map<string, unknown>());
    if (!touched.has(key) && !this.#replaced && Object.hasOwn(this.#base, key)) touched.set(key, structuredClone(this.#base[key]));
    return touched.get(key);
  }

  #keys(): string[] {
    const keys = new Set(this.#replaced ? [] : Object.keys(this.#base));
    for (const [key, value] of this.#touched ?? []) {
      if (value === undefined) keys.delete(key);
      else keys.add(key);
    }
    return [...keys];
  }

  #makeView(): CustomState {
    const has = (key: string | symbol): boolean => this.#read(key) !== undefined;
    return new Proxy<CustomState>(
      {},
      {
        get: (_target, key) => this.#read(key),
        set: (_target, key, value) => this.#write(key, value),
        defineProperty: (_target, key, property) => "value" in property && this.#write(key, property.value),
        deleteProperty: (_target, key) => this.#write(key, undefined),
        has: (_target, key) => has(key),
        ownKeys: () => this.#keys(),
        getOwnPropertyDescriptor: (_target, key) =>
          has(key) ? { value: this.#read(key), writable: true, enumerable: true, configurable: true } : undefined,
      },
    );
  }
}
