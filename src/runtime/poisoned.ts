import { errorRecord, StepError } from "../kernel/errors.ts";
import { afterFailure, type FailurePolicy } from "../role/failure-policy.ts";
import type { HiredRoles } from "./hired-roles.ts";
import type { Announcer } from "./observers.ts";
import type { RunLog } from "./record/run-log.ts";
import type { RunFailure } from "./run-failure.ts";

interface PoisonedRun {
  readonly log: RunLog;
  readonly hired: HiredRoles;
  readonly onFailure: FailurePolicy;
  readonly announcer: Announcer;
}

/** After this many times the limit an activation counts as faulty even if others progress between two deaths. */
const PATIENCE = 3;

/** Ends the activations during which the process died `limit` times without any progress in between. */
export function failPoisoned({ log, hired, onFailure, announcer }: PoisonedRun, limit: number): RunFailure | undefined {
  const { state } = log;
  let failure: RunFailure | undefined;
  for (const role of [...state.open]) {
    const open = state.roles.get(role)?.open;
    if (open === undefined || (open.crashes < limit && open.deaths < PATIENCE * limit)) continue;
    const { act, take, deaths } = open;
    const error = poisoned(act, deaths);
    const then = take > 1 ? "isolate" : "dead";
    log.record({ type: "act.failed", act, role, round: state.round, take, error: errorRecord(error), stepFailed: true, then });
    if (then === "isolate") continue;
    announcer.gaveUp(role, error);
    if (afterFailure(hired.specOf(role)?.role.onFailure ?? onFailure, Infinity) === "stop") failure ??= { error, role };
  }
  return failure;
}

function poisoned(act: string, deaths: number): StepError {
  return new StepError(
    "POISONED",
    `Expected ${act} to end, but the process died ${deaths} times during it. Its messages become dead letters. Check how its action handles them.`,
  );
}
