import { AsyncLocalStorage } from "node:async_hooks";
import type { BudgetPool } from "../kernel/budget.ts";
import type { Hand } from "../kernel/handed-out.ts";
import { textHash } from "../kernel/json.ts";
import { freshSeed } from "../kernel/random.ts";
import type { Scope } from "../kernel/scope.ts";
import type { StepDoor, StepPort, StepSpec } from "../kernel/step.ts";
import type { CallPolicy } from "./call.ts";

export interface Meter {
  /** Its promises are not handed out. */
  readonly port: StepPort;
  /** Default: that of the caller. */
  readonly policy?: CallPolicy | undefined;
  /** Pools that pay for the steps besides the budget of the run. Inner work does not charge them again. Default: none. */
  readonly pools?: readonly BudgetPool[] | undefined;
  /** The seed of the next run inside, the same each time the work happens again. Default: a fresh one. */
  readonly nextSeed?: (() => string) | undefined;
  /** Default of runs inside. */
  readonly scope?: Scope | undefined;
  /** Tracks the promises of work inside, so that one that is never awaited is no unhandled rejection. */
  hand?: Hand | undefined;
}

export function nextSeed(): string {
  return meters.getStore()?.nextSeed?.() ?? freshSeed();
}

export function handedHere<T>(what: string, work: Promise<T>): Promise<T> {
  return meters.getStore()?.hand?.(what, work) ?? work;
}

export function seedsOf(...name: readonly (string | number)[]): () => string {
  let made = 0;
  return () => textHash(JSON.stringify([...name, made++]));
}

/** Everything that starts inside `meters.run(meter, work)` finds the meter by {@link presentMeter}, also after it has waited. */
export const meters = new AsyncLocalStorage<Meter | undefined>();

/** For work whose cost its caller counts: the call of a model in its own step. */
export function unmetered<T>(work: () => T): T {
  return meters.getStore() === undefined ? work() : meters.run(undefined, work);
}

/** Undefined outside of activations and calls of tools. */
export function presentMeter(): Meter | undefined {
  return meters.getStore();
}

/**
 * A run of an agent, a flow, an environment or a team inside an activation or a call of a tool: one step around all its steps. The step has
 * no answer of its own: when it is asked for again, the run happens again, and its steps are answered from the record.
 *
 * InnerRun.I1 (`begin`) the step is asked for when the run begins, before anything is awaited, so runs at the same time have addresses that
 * do not depend on which is faster.
 * InnerRun.I2 (`end`) the step ends with the run. It has no answer when a step inside was interrupted.
 */
export class InnerRun implements StepPort {
  readonly #meter: Meter;
  readonly #spec: StepSpec;
  #nextSeed: Meter["nextSeed"];
  #begun: { readonly step: Promise<null>; readonly door: Promise<StepDoor>; readonly over: () => void } | undefined;

  constructor(meter: Meter, spec: Pick<StepSpec, "kind" | "name" | "request">) {
    this.#meter = meter;
    this.#spec = { ...spec, again: true, ordered: true };
  }

  get pools(): readonly BudgetPool[] | undefined {
    return this.#meter.pools;
  }

  begin(): this {
    if (this.#begun !== undefined) return this;
    const seed = this.#meter.nextSeed?.();
    this.#nextSeed = seed === undefined ? undefined : seedsOf(seed);
    let over = (): void => {};
    const ended = new Promise<null>((resolve) => (over = () => resolve(null)));
    let opened: (door: StepDoor) => void = () => {};
    const open = new Promise<StepDoor>((resolve) => (opened = resolve));
    const ask = async (): Promise<null> =>
      this.#meter.port.step(this.#spec, (given) => {
        opened(given);
        return ended;
      });
    const step = ask();
    const door = Promise.race([open, step.then(() => open)]);
    door.catch(() => {});
    this.#begun = { step, door, over };
    return this;
  }

  async step<T>(spec: StepSpec, effect: (door: StepDoor) => Promise<T>): Promise<T> {
    const door = await this.#begun?.door;
    return (door ?? this.#meter.port).step(spec, effect);
  }

  /** Everything that the work starts is part of the run. */
  within<T>(work: () => T): T {
    const { policy, pools, scope } = this.#meter;
    const hand: Hand = (what, given) => this.#meter.hand?.(what, given) ?? given;
    return meters.run({ port: this, policy, pools, scope, nextSeed: this.#nextSeed, hand }, work);
  }

  /** @throws ControlError when the run was interrupted; ContextClosedError when the enclosing work is over */
  async end(): Promise<void> {
    this.#begun?.over();
    await this.#begun?.step;
  }

  async interruption(): Promise<unknown> {
    return this.end().then(
      () => undefined,
      (error: unknown) => error,
    );
  }
}

/** @param meter undefined for a run that is part of nothing */
export async function runInside<T>(
  meter: Meter | undefined,
  spec: Pick<StepSpec, "kind" | "name" | "request">,
  run: () => Promise<T>,
): Promise<T> {
  if (meter === undefined) return unmetered(run);
  const inner = new InnerRun(meter, spec).begin();
  try {
    return await inner.within(run);
  } finally {
    await inner.end();
  }
}
