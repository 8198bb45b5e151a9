import { JournalError } from "../../kernel/errors.ts";
import type { RoleState } from "./role-state.ts";
import type { RunState } from "./run-state.ts";

/** What is thrown when events contradict each other. */
export function damaged(what: string, cause?: unknown): JournalError {
  return new JournalError("JOURNAL_DAMAGED", `Expected a run's own record, got one that contradicts itself: ${what}.`, { cause });
}

/** @throws JournalError `JOURNAL_DAMAGED` when the run never hired a role of that name. */
export function roleOf(state: RunState, name: string): RoleState {
  const role = state.roles.get(name);
  if (role === undefined) throw damaged(`it names role ${name}, which was never hired`);
  return role;
}
