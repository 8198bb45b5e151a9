import { valueText } from "../kernel/value-text.ts";
import { UsageError } from "../kernel/errors.ts";

/**
 * The handling of a failed activation. `stop`: its messages stay in the mailbox and the run ends with status `failed`. `skip`: they become
 * dead letters and the run continues. `retry`: the activation runs again first.
 */
export type FailurePolicy = "stop" | "skip" | RetryActivation;

export interface RetryActivation {
  readonly retry: number;
  readonly then: "stop" | "skip";
}

/**
 * A failure policy: a failed activation runs up to `times` more times, then the run stops (`stop`, the default) or its messages go to the
 * dead letters (`skip`). If a step failed, the answers of the other steps are reused; if none did, the answers themselves were faulty and
 * all are asked for again.
 *
 * @throws UsageError `RETRY_INVALID` unless `times` is a whole number of 1 or more.
 *
 * @example
 * import { defineAction, defineRole, retry } from "troupe";
 *
 * const Fetch = defineAction({ name: "Fetch", prompt: (ctx) => ctx.text });
 * export const reader = defineRole({ name: "Rita", actions: [Fetch], onFailure: retry(2, "skip") });
 */
export function retry(times: number, then: "stop" | "skip" = "stop"): RetryActivation {
  if (!Number.isInteger(times) || times < 1) {
    throw new UsageError("RETRY_INVALID", `Expected retry(n) to get a whole number of 1 or more, got ${valueText(times)}.`);
  }
  if (then !== "stop" && then !== "skip") {
    throw new UsageError("RETRY_INVALID", `Expected what follows the attempts of retry(n) to be "stop" or "skip", got ${valueText(then)}.`);
  }
  return { retry: times, then };
}

export function isFailurePolicy(policy: unknown): policy is FailurePolicy {
  if (policy === "stop" || policy === "skip") return true;
  if (typeof policy !== "object" || policy === null) return false;
  const { retry: times, then } = policy as Partial<RetryActivation>;
  return Number.isInteger(times) && (times as number) >= 1 && (then === "stop" || then === "skip");
}

export function afterFailure(policy: FailurePolicy, attempt: number): "retry" | "dead" | "stop" {
  if (policy === "stop") return "stop";
  if (policy === "skip") return "dead";
  if (attempt <= policy.retry) return "retry";
  return policy.then === "skip" ? "dead" : "stop";
}
