import { JournalError } from "../../kernel/errors.ts";
import { roleNameIn } from "./names.ts";
import type { OpenActivation, RoleState } from "./role-state.ts";
import type { RunState } from "./run-state.ts";

/** The error for events that contradict each other. */
export function damaged(what: string, cause?: unknown): JournalError {
  return new JournalError("JOURNAL_DAMAGED", `Expected a run's own record, got one that contradicts itself: ${what}.`, { cause });
}

/** @throws JournalError `JOURNAL_DAMAGED` when the run never hired a role of that name. */
export function roleOf(state: RunState, name: string): RoleState {
  const role = state.roles.get(name);
  if (role === undefined) throw damaged(`it names role ${name}, which was never hired`);
  return role;
}

/** @throws JournalError `JOURNAL_DAMAGED` when no activation of that name is open. */
export function openNamed(state: RunState, activation: string): OpenActivation {
  const { open } = roleOf(state, roleNameIn(activation));
  if (open?.act !== activation) throw damaged(`it names activation ${activation}, which is not open`);
  return open;
}
