import { having, type Shape } from "./argument.ts";
import { type ErrorRecord, StepError } from "./errors.ts";
import type { Json } from "./json.ts";
import type { Scope } from "./scope.ts";

/** An effect of a step that is to be done. */
export interface EffectCall {
  /**
   * The address of the step: run, attempt of the activation, step; for a call of a model also the last try that was answered. It is what
   * `ChatOptions.key` is. Another process that goes on with the run asks under the same key.
   */
  readonly key: string;
  /** The kind of the step: "model", "tool", "step" ... */
  readonly kind: string;
  readonly name: string;
  /** The request of the step as it is recorded, without secrets. That of a model has the messages of this try. */
  readonly request: Json;
  /** Whose words the request may have: those of the run that asks. */
  readonly scope?: Scope | undefined;
  /** False when an effect that may have happened must not happen again. */
  readonly idempotent: boolean;
  /** True where an earlier try of the step began: its effect may be under way, or done. */
  readonly began: boolean;
  /**
   * Aborts when nobody here waits any more. With a `MovedError` as its reason another process goes on with the run and asks again, so the effect
   * should go on. For every other reason it should be cancelled.
   */
  readonly signal: AbortSignal;
}

/** The end of an effect. */
export interface EffectEnd {
  /** The value, or the error of an effect that failed. */
  readonly answer: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: ErrorRecord };
  /** Micro-dollars that it cost elsewhere. Default: nothing. The cost of a model's answer is counted from its usage instead. */
  readonly cost?: number;
  /** What it used elsewhere. */
  readonly usage?: Json;
}

/**
 * Does the effects of steps, here or elsewhere. The process that owns the run records them in either case. Questions to persons, embeddings, and
 * writes that a resumed run repeats are always done by the owner, and no port is asked.
 *
 * Contract: `effectPortContract` of `troupe/testing`.
 */
export interface EffectPort {
  /**
   * Does an effect and returns its end.
   *
   * @param effect does it in this process
   * @throws StepError `STEP_UNCERTAIN` where it must not happen twice, and nobody knows whether it has happened; ControlError when the signal
   * aborts; errors of `effect`
   */
  run(call: EffectCall, effect: () => Promise<unknown>): Promise<EffectEnd>;
}

/** The shape of a port of effects that is given as an argument. */
export const anEffectPort: Shape = having("a port of effects", "run");

/** Does all effects in this process, which does not know those of another one. */
export const localEffects: EffectPort = {
  async run({ name, idempotent, began }, effect) {
    if (began && !idempotent) throw uncertain(name);
    return { answer: { ok: true, value: await effect() } };
  },
};

const UNCERTAIN = "STEP_UNCERTAIN";

/** True for the failure of an activation because it is unknown whether one of its effects has happened. */
export function isUncertain(error: unknown): boolean {
  return error instanceof StepError && error.code === UNCERTAIN;
}

/** The effect may have happened before it was cut off, and must not happen twice: a person has to check. */
export function uncertain(name: string, cause?: unknown): StepError {
  return new StepError(
    UNCERTAIN,
    `Expected "${name}" to have a known outcome, got none: the run stopped during it, and it must not run twice. Check whether it ran, then resume the run.`,
    cause === undefined ? {} : { cause },
  );
}
