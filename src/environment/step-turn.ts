import { ControlError } from "../kernel/errors.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import { noPast } from "../run/past.ts";
import type { RoleState } from "../run/role-state.ts";
import { failedTurn } from "./failed-turn.ts";
import { StepActivation } from "./step-activation.ts";
import type { TurnResult, TurnTools } from "./turn-tools.ts";

/** One attempt at an activation of a step function, over when it returns: TU3. Throws only when the journal is broken. */
export function stepTurn(tools: TurnTools, spec: RoleSpec, role: RoleState): TurnResult | "retry" {
  const { log, past, clock, host, lifetimes } = tools;
  const { isPlain } = role;
  const act = isPlain ? undefined : role.nextAct;
  const take = isPlain ? role.waiting : (role.retake ?? role.waiting);
  const at = (past === noPast ? undefined : past.startOf(role.nextAct)) ?? clock.now();
  const activation = new StepActivation(host, spec, role, act, take, at);
  let thrown: { readonly error: unknown } | undefined;
  try {
    activation.live();
  } catch (error) {
    thrown = { error };
  }
  activation.close();
  const { ended } = lifetimes;
  const error = ended === undefined ? thrown?.error : ended.reason;
  if (error instanceof ControlError) return { kind: "suspended", control: error };
  if (thrown !== undefined)
    return failedTurn(tools, spec, role, { act: activation.act, take, at, life: nothingToTell, stepFailed: false }, error);
  return { kind: "ended", event: log.recordEnd(role, activation.ended(log.state.round)) };
}

const nothingToTell = {};
