import type { RoleState } from "../record/role-state.ts";

/** The roles that may act now. Its list is made when a scheduler reads it. */
export interface Ready {
  readonly count: number;
  readonly roles?: readonly RoleState[];
  list(): readonly RoleState[];
  at(index: number): RoleState | undefined;
}

export function readyAmong(roles: readonly RoleState[]): Ready {
  return { count: roles.length, list: () => roles, at: (index) => roles[index] };
}

export const none: readonly never[] = Object.freeze([]);
export const nobody: Ready = readyAmong(none);

export function inHireOrder(roles: RoleState[]): RoleState[] {
  if (roles.every((role, index) => index === 0 || role.index > (roles[index - 1] as RoleState).index)) return roles;
  const { length } = roles;
  const keys = new Float64Array(length);
  for (let index = 0; index < length; index += 1) keys[index] = (roles[index] as RoleState).index * length + index;
  keys.sort();
  const ordered: RoleState[] = [];
  for (const key of keys) ordered.push(roles[key % length] as RoleState);
  return ordered;
}
