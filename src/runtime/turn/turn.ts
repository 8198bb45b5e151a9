import type { RoleState } from "../record/role-state.ts";
import { Activation } from "./activation.ts";
import { Attempt } from "./attempt.ts";
import type { Definition } from "../hired-roles.ts";
import { plainTurn } from "./plain-turn.ts";
import { StepActivation } from "./step-activation.ts";
import { stepTurn } from "./step-turn.ts";
import type { TurnResult, TurnTools } from "./turn-tools.ts";

/**
 * One role's turn: an activation, and its retries as the failure policy says; a replay takes them one by one. It is over at once where
 * nothing in it waits. Throws or rejects only when the journal is broken.
 */
export function takeTurn(tools: TurnTools, hired: Definition, role: RoleState): TurnResult | Promise<TurnResult> {
  for (;;) {
    // The plain functions, of which there may be a million, take the shortest way: nothing of such a one is open.
    const only = hired.spec.mode === "step" && !tools.leavesTraces ? role.onlyNews : undefined;
    const result = only === undefined ? attempt(tools, hired, role) : stepTurn(tools, hired.spec, role, only);
    if (result !== "retry") return "kind" in result ? result : goOn(tools, hired, role, result);
    if (tools.mode === "replay") return { kind: "retried" };
  }
}

async function goOn(tools: TurnTools, hired: Definition, role: RoleState, first: Promise<TurnResult | "retry">): Promise<TurnResult> {
  let result = await first;
  while (result === "retry" && tools.mode !== "replay") result = await attempt(tools, hired, role);
  return result === "retry" ? { kind: "retried" } : result;
}

/** One attempt at an activation. */
function attempt(tools: TurnTools, hired: Definition, role: RoleState): TurnResult | "retry" | Promise<TurnResult | "retry"> {
  const isStep = hired.spec.mode === "step";
  // It needs nothing of what others have: no trace before it, and no beginning in the record.
  if (role.open === undefined && !tools.leavesTraces)
    return isStep ? stepTurn(tools, hired.spec, role, role.onlyNews) : plainTurn(tools, hired, role);
  if (!isStep) return new Activation(tools, hired, role).attempt.run();
  const act = role.open?.act ?? role.nextAct;
  const take = role.open?.take ?? Math.min(role.retake ?? role.waiting, role.waiting);
  const at = role.open?.at ?? tools.past.startOf(act) ?? tools.clock.now();
  return new Attempt(tools, hired, role, new StepActivation(tools.host, hired.spec, role, act, take, at), false).run();
}
