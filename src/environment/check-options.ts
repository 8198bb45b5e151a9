import { UsageError } from "../kernel/errors.ts";
import { isFailurePolicy } from "../role/failure-policy.ts";
import type { EnvironmentOptions } from "./environment.ts";

/**
 * Refuses options that can never work, before anything is begun.
 *
 * @throws UsageError `OPTION_INVALID`, `SCHEDULER_UNKNOWN`
 */
export function checkOptions(options: EnvironmentOptions): void {
  const { scheduler, concurrency, messageLimit, onFailure, seed } = options;
  if (scheduler !== undefined && scheduler !== "rounds" && scheduler !== "eager") {
    throw new UsageError("SCHEDULER_UNKNOWN", `Expected a scheduler "rounds" or "eager", got ${JSON.stringify(scheduler)}.`);
  }
  if (concurrency !== undefined) checkWhole(concurrency, "concurrency", 1);
  if (messageLimit !== undefined) checkWhole(messageLimit, "messageLimit", 1);
  if (onFailure !== undefined && !isFailurePolicy(onFailure)) {
    throw new UsageError("OPTION_INVALID", `Expected onFailure to be "stop", "skip" or retry(n), got ${JSON.stringify(onFailure)}.`);
  }
  if (typeof seed === "number" && Number.isNaN(seed))
    throw new UsageError("OPTION_INVALID", "Expected seed to be a string or a number, got NaN.");
}

/** @throws UsageError `OPTION_INVALID` unless the value is a whole number that is large enough. */
export function checkWhole(value: number, name: string, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new UsageError("OPTION_INVALID", `Expected ${name} to be a whole number of ${least} or more, got ${String(value)}.`);
}
