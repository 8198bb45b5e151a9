import { ControlError } from "../../kernel/errors.ts";
import type { Message } from "../../message/message.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import { noPast } from "../steps/past.ts";
import type { RoleState } from "../record/role-state.ts";
import type { ToldEnd } from "../record/told-end.ts";
import { failedTurn } from "./failed-turn.ts";
import { StepActivation } from "./step-activation.ts";
import type { TurnResult, TurnTools } from "./turn-tools.ts";

/**
 * One attempt at an activation of a step function, over when it returns: TU3. Throws only when the journal is broken.
 *
 * @param onlyNews the role's, as it was just asked for
 */
export function stepTurn(tools: TurnTools, spec: RoleSpec, role: RoleState, onlyNews: Message | undefined): TurnResult | "retry" {
  const { log, past, clock, host, lifetimes } = tools;
  const { round } = log.state;
  const at = (past === noPast ? undefined : past.startOf(role.nextAct)) ?? clock.now();
  const activation =
    onlyNews === undefined
      ? // A fork may have dropped some of what failed before.
        new StepActivation(
          host,
          spec,
          role,
          role.isPlain ? undefined : role.nextAct,
          Math.min(role.retake ?? role.waiting, role.waiting),
          at,
        )
      : new StepActivation(host, spec, role, undefined, 1, at);
  let end: ToldEnd | undefined;
  let thrown: unknown;
  try {
    end = onlyNews === undefined ? activation.hearAll(round) : activation.hearOnly(onlyNews, round);
  } catch (error) {
    activation.close();
    thrown = error;
  }
  const { ended } = lifetimes;
  const error = ended === undefined ? thrown : ended.reason;
  if (error instanceof ControlError) return { kind: "suspended", control: error };
  if (end === undefined) {
    const { act, take } = activation;
    return failedTurn(tools, spec, role, { act, take, at, life: nothingToTell, stepFailed: false }, error);
  }
  const event = log.recordEnd(role, end);
  return event.said.length === 0 ? saidNothing : { kind: "ended", event };
}

const saidNothing: TurnResult = Object.freeze({ kind: "ended", event: Object.freeze({ said: Object.freeze([]) }) });
const nothingToTell = {};
