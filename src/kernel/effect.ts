import { having, type Shape } from "./argument.ts";
import { type ErrorRecord, StepError } from "./errors.ts";
import type { Json } from "./json.ts";
import type { Scope } from "./scope.ts";

/** An effect of a step that is to be done. */
export interface EffectCall {
  /** The address of the step, and for a call of a model of the last try that was answered (`ChatOptions.key`): the same in every process. */
  readonly key: string;
  /** "model", "tool", "step" ... */
  readonly kind: string;
  readonly name: string;
  /** The recorded request of the step, without secrets. That of a model has the messages of this try. */
  readonly request: Json;
  readonly scope?: Scope | undefined;
  /** False when an effect that may have happened must not happen again. */
  readonly idempotent: boolean;
  /** True where an earlier try began: its effect may be under way, or done. */
  readonly began: boolean;
  /** Aborts when no one here waits any more. With a `MovedError` another process asks again, so the effect should continue; else cancel it. */
  readonly signal: AbortSignal;
}

/** The end of an effect. */
export interface EffectEnd {
  readonly answer: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: ErrorRecord };
  /** Micro-dollars that it cost elsewhere. Default: nothing. A model's answer is priced by its usage instead. */
  readonly cost?: number;
  readonly usage?: Json;
}

/**
 * Does the effects of steps, here or elsewhere. The owner of the run records them in either case. Questions to persons, embeddings, and
 * writes that a resumed run repeats are always done by the owner.
 *
 * Contract: `effectPortContract` of `troupe/testing`.
 */
export interface EffectPort {
  /**
   * @param effect does it in this process
   * @throws StepError `STEP_UNCERTAIN` where it must not happen twice and may have happened; ControlError when the signal aborts
   */
  run(call: EffectCall, effect: () => Promise<unknown>): Promise<EffectEnd>;
}

export const anEffectPort: Shape = having("a port of effects", "run");

export const localEffects: EffectPort = {
  async run({ name, idempotent, began }, effect) {
    if (began && !idempotent) throw uncertain(name);
    return { answer: { ok: true, value: await effect() } };
  },
};

const UNCERTAIN = "STEP_UNCERTAIN";

export function isUncertain(error: unknown): error is StepError {
  return error instanceof StepError && error.code === UNCERTAIN;
}

export function uncertain(name: string, cause?: unknown): StepError {
  return new StepError(
    UNCERTAIN,
    `Expected "${name}" to have a known outcome, got none: the run stopped during it, and it must not run twice. Check whether it ran, then resume the run.`,
    { cause },
  );
}
