import { ControlError } from "../kernel/errors.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import type { RoleState } from "../run/role-state.ts";
import { failedTurn } from "./failed-turn.ts";
import { StepActivation } from "./step-activation.ts";
import type { TurnResult, TurnTools } from "./turn-tools.ts";

/** One attempt at an activation of a step function, over when it returns: TU3. Throws only when the journal is broken. */
export function stepTurn(tools: TurnTools, spec: RoleSpec, role: RoleState): TurnResult | "retry" {
  const act = role.nextAct;
  const take = role.retake ?? role.waiting;
  const at = tools.past.startOf(act) ?? tools.clock.now();
  const activation = new StepActivation(tools.host, spec, role, act, take, at);
  const thrown = lived(activation);
  const ended = tools.lifetimes.ended;
  const error = ended === undefined ? thrown?.error : ended.reason;
  if (error instanceof ControlError) return { kind: "suspended", control: error };
  if (thrown !== undefined) return failedTurn(tools, spec, role, { act, take, at, life: nothingToTell, stepFailed: false }, error);
  tools.log.state.acting = role;
  return { kind: "ended", event: tools.log.record(activation.ended(tools.log.state.round)) };
}

function lived(activation: StepActivation): { readonly error: unknown } | undefined {
  try {
    activation.live();
    return undefined;
  } catch (error) {
    return { error };
  } finally {
    activation.close();
  }
}

const nothingToTell = {};
