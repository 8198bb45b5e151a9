import { isThenable } from "../../kernel/value-kind.ts";
import type { Definition } from "../hired-roles.ts";
import type { RoleState } from "../record/role-state.ts";
import { isSuspicious } from "../record/run-state.ts";
import { type Begun, recordBegin, type TurnResult, type TurnTools } from "./commit.ts";
import { RoleTurn } from "./role-turn.ts";
import { stepTurn } from "./step-turn.ts";

/**
 * Runs one turn of a role: it observes, thinks, acts, and its changes take effect by one event. A failed attempt is tried again according
 * to the failure policy; a replay takes the attempts one by one. The turn ends without waiting where nothing in it waits.
 *
 * @throws the error that broke the journal
 */
export function takeTurn(tools: TurnTools, definition: Definition, role: RoleState): TurnResult | Promise<TurnResult> {
  for (;;) {
    const result = attempt(tools, definition, role);
    if (isThenable(result)) return result.then((end) => (end === "retry" ? again(tools, definition, role) : end));
    if (result !== "retry") return result;
    if (tools.mode === "replay") return { kind: "retried" };
  }
}

function again(tools: TurnTools, definition: Definition, role: RoleState): TurnResult | Promise<TurnResult> {
  return tools.mode === "replay" ? { kind: "retried" } : takeTurn(tools, definition, role);
}

function attempt(tools: TurnTools, definition: Definition, role: RoleState): TurnResult | "retry" | Promise<TurnResult | "retry"> {
  if (!tools.leavesTraces && !isSuspicious(tools.log.state)) return body(tools, definition, role);
  return leaveTrace(tools, role).then(() => body(tools, definition, role));
}

function body(tools: TurnTools, definition: Definition, role: RoleState): TurnResult | "retry" | Promise<TurnResult | "retry"> {
  const begun = begin(tools, role);
  if (definition.spec.mode === "step") return stepTurn(tools, definition.spec, role, begun);
  return new RoleTurn(tools, definition, role, begun).run();
}

function begin({ clock, past }: TurnTools, role: RoleState): Begun {
  const { open } = role;
  const now = clock.now();
  if (open !== undefined) return { act: open.act, take: open.take, at: open.at, beganAt: now };
  const act = role.nextAct;
  return { act, take: Math.min(role.retry.retake ?? role.waiting, role.waiting), at: past?.startOf(act) ?? now, beganAt: now };
}

/** Records the beginning durably, so that the record shows the activation if the process dies of it. */
async function leaveTrace(tools: TurnTools, role: RoleState): Promise<void> {
  const { log } = tools;
  if (role.open === undefined) recordBegin(tools, role, begin(tools, role));
  else log.record({ type: "act.resumed", act: role.open.act });
  await log.durable();
}
