import { afterFailure } from "../../role/failure-policy.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { LastLife } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import { isUncertain } from "../steps/uncertain-step.ts";
import { type FailedPlace, failureRecord } from "../run-failure.ts";
import type { TurnResult, TurnTools } from "./turn-tools.ts";

/** An activation that failed, as its event tells it. */
export interface FailedAct {
  readonly act: string;
  readonly take: number;
  /** When it began, unless that stands in the record already. */
  readonly at?: number;
  readonly life: LastLife;
  readonly stepFailed: boolean;
}

/** Records that an activation failed, and says what the policy makes of that. */
export function failedTurn(
  tools: TurnTools,
  spec: RoleSpec,
  role: RoleState,
  failed: FailedAct,
  error: unknown,
  place: FailedPlace = {},
): TurnResult | "retry" {
  const { log, mask, onFailure } = tools;
  const { act, take, at, life, stepFailed } = failed;
  const policy = afterFailure(spec.role.onFailure ?? onFailure, role.strikes + 1);
  const next = policy === "dead" && take > 1 ? "isolate" : policy;
  // Before it is tried again somebody has to look, and resume the run.
  const then = next !== "dead" && isUncertain(error) ? "stop" : next;
  log.record({
    type: "act.failed",
    act,
    role: role.name,
    round: log.state.round,
    take,
    ...(at === undefined ? {} : { at }),
    ...life,
    error: failureRecord(error, mask),
    stepFailed,
    then,
  });
  if (then === "retry" || then === "isolate") return "retry";
  return { kind: then === "dead" ? "skipped" : "stopped", error, ...place };
}
