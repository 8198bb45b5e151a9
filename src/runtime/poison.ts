import { errorRecord, StepError } from "../kernel/errors.ts";
import { afterFailure, type FailurePolicy } from "../role/failure-policy.ts";
import type { RunLog } from "./record/run-log.ts";
import type { RunFailure } from "./run-failure.ts";

/** So many times the limit, an activation is at fault although others get on between two deaths: it may just be slow, but not that often. */
const PATIENCE = 3;

/** How poison is dealt with. */
export interface PoisonRules {
  /** Deaths under one activation. */
  readonly limit: number;
  readonly policyOf: (role: string) => FailurePolicy;
  /** Told of a role whose message became a dead letter. */
  readonly gaveUp: (role: string, error: StepError) => void;
}

/**
 * Ends the activations during which the process died `limit` times without anything moving in between. Where one had several messages, they are
 * tried one by one from then on; a single one becomes a dead letter.
 *
 * @returns the failure of a role whose policy does not go on without its message
 */
export function failPoisoned(log: RunLog, { limit, policyOf, gaveUp }: PoisonRules): RunFailure | undefined {
  const { state } = log;
  let failure: RunFailure | undefined;
  for (const role of [...state.open]) {
    const open = state.roles.get(role)?.open;
    if (open === undefined || (open.crashes < limit && open.deaths < PATIENCE * limit)) continue;
    const { act, take } = open;
    const error = poisoned(act, open.deaths);
    const then = take > 1 ? "isolate" : "dead";
    log.record({ type: "act.failed", act, role, round: state.round, take, error: errorRecord(error), stepFailed: true, then });
    if (then === "dead") gaveUp(role, error);
    if (then === "dead" && afterFailure(policyOf(role), Infinity) === "stop") failure ??= { error, role };
  }
  return failure;
}

function poisoned(act: string, deaths: number): StepError {
  return new StepError(
    "POISONED",
    `Expected ${act} to live to its end, but the process died ${deaths} times while it was under way. What it was about goes to the dead letters; look at what its action does with that.`,
  );
}
