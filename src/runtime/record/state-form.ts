import { Ledger, SpendingTable } from "../../model/ledger.ts";
import { Board } from "../board/board.ts";
import { delayedOf, inOrderOfTicks } from "./delivery.ts";
import { ReadyRoles } from "./ready-roles.ts";
import { RoleState } from "./role-state.ts";
import { RunState } from "./run-state.ts";

/** The state of a run as data for `structuredClone`. Roles are named by their index. */
export type StateForm = ReturnType<typeof formOf>;

/** Returns the form of a state. Mutable parts are copied; messages, definitions and steps are shared. */
export function formOf(state: RunState) {
  const { roles, ready, justDropped, delayed: _delayed, ledger, byRole, byModel, board, ...members } = state;
  return {
    ...copied(members),
    roles: Array.from(roles.values(), (role) => role.form()),
    ready: Array.from(ready, ({ index }) => index),
    justDropped: justDropped.map((one) => ({ ...one, role: one.role.index })),
    delayed: inOrderOfTicks(state),
    ledger: ledger.toJSON(),
    byRole: byRole.entries(),
    byModel: byModel.entries(),
    board: board.form(),
  };
}

/** Returns the state of a form, which does not change with it. @throws JournalError and others for an invalid form */
export function stateFrom(form: StateForm): RunState {
  const { roles, ready, justDropped, delayed, ledger, byRole, byModel, board, ...members } = form;
  const all = roles.map((role, index) => RoleState.of(role, index));
  return Object.assign(new RunState(form.runId, form.hasHistory), copied(members), {
    roles: new Map(all.map((role) => [role.name, role])),
    ready: ReadyRoles.of(ready.map((index) => roleAt(all, index))),
    justDropped: justDropped.map((one) => ({ ...one, role: roleAt(all, one.role) })),
    delayed: delayedOf(delayed),
    ledger: Ledger.fromJSON(ledger),
    byRole: SpendingTable.of(byRole),
    byModel: SpendingTable.of(byModel),
    board: new Board(board),
  });
}

export function copyState(state: RunState): RunState {
  return stateFrom(formOf(state));
}

function roleAt(roles: readonly RoleState[], index: number): RoleState {
  const role = roles[index];
  if (role === undefined) throw new RangeError(`no role ${index} of ${roles.length}`);
  return role;
}

function copied<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, copiedMember(value)])) as T;
}

function copiedMember(value: unknown): unknown {
  if (Array.isArray(value)) return [...(value as readonly unknown[])];
  if (value instanceof Map) return new Map(value);
  return value instanceof Set ? new Set(value) : value;
}
