import type { RoleState } from "../record/role-state.ts";
import type { ToldEnd } from "../record/told-end.ts";
import { Activation } from "./activation.ts";
import type { Definition } from "../hired-roles.ts";
import type { TurnResult, TurnTools } from "./turn-tools.ts";

/**
 * One attempt at an activation of which the record knows nothing yet. Where nothing in it waits, fails or is asked, it is over when this returns,
 * and what else an attempt has was never made: TU3.
 */
export function plainTurn(tools: TurnTools, hired: Definition, role: RoleState): TurnResult | "retry" | Promise<TurnResult | "retry"> {
  const { log } = tools;
  const activation = new Activation(tools, hired, role);
  let ended: ToldEnd | undefined;
  try {
    const living = activation.live();
    if (living !== undefined) return activation.attempt.liveOn(living);
    activation.close();
    if (!activation.isAttempted && tools.lifetimes.ended === undefined) ended = activation.ended(log.state.round);
  } catch (error) {
    return activation.attempt.failed(error);
  }
  if (ended === undefined) return activation.attempt.lived();
  const event = log.recordEnd(role, ended);
  activation.settle();
  return { kind: "ended", event };
}
