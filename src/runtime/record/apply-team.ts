import { lose, timeOf } from "./apply-steps.ts";
import { measureMailboxes } from "./delivery.ts";
import type { HiredRole, RoleHired, RoleRetired, RoleTaken } from "./event.ts";
import type { RoleState } from "./role-state.ts";
import { addRoleState, damaged, playerOf, roleOf, type RunState } from "./run-state.ts";
import { read } from "./turn-count.ts";

/** Applies hires during the run. A retired role returns with its memory and its state. */
export function hire(state: RunState, { roles }: RoleHired): void {
  state.teamChanges += 1;
  for (const role of roles) {
    const known = state.roles.get(role.name);
    if (known?.isHired === true) throw damaged(`role ${role.name} was hired twice`);
    const hired = known ?? addRoleState(state, role.name, role);
    hired.join(state.teamChanges);
    known?.hireAgain(role);
    if (hired.isReady) state.ready.add(hired);
  }
  state.team = [...state.team, ...roles];
  measureMailboxes(state);
}

/** Retires a role. Its unread messages become dead letters; an activation under way keeps its own, and an interrupted one is discarded. */
export function retire(state: RunState, event: RoleRetired): void {
  const { role: name, keeps } = event;
  const role = roleOf(state, name);
  if (!role.isHired) throw damaged(`role ${name} was retired and did not belong to the team`);
  if (keeps > role.waiting) throw damaged(`role ${name} was retired with ${keeps} messages of ${role.waiting}`);
  state.teamChanges += 1;
  if (playerOf(state, name) !== undefined) state.players.set(name, [...(state.players.get(name) ?? []), { at: state.teamChanges }]);
  role.leave(state.teamChanges);
  state.team = state.team.filter((hired) => hired.name !== name);
  if (keeps === 0) {
    giveUp(state, role, timeOf(event));
    state.board.release(name, `${name} was retired`);
  }
  const left = role.mailbox.popAll();
  state.unread -= left.length - keeps;
  read(state, left.slice(keeps));
  role.refill(left.slice(0, keeps));
  if (keeps === 0) leaveLine(state, role);
  for (const message of left.slice(keeps)) state.dead.push({ message, reason: { kind: "retired", role: name } });
}

/** Applies that a person takes a role, or gives it back. Its activation under way learns of it as of a hire. */
export function changePlayer(state: RunState, { role, by, back }: RoleTaken): void {
  const isTaken = playerOf(state, role) !== undefined;
  if (isTaken !== (back === true) || !roleOf(state, role).isHired)
    throw damaged(`role ${role} was ${back === true ? "given back" : "taken"} and could not be`);
  state.teamChanges += 1;
  state.players.set(role, [...(state.players.get(role) ?? []), { at: state.teamChanges, by }]);
}

/** The roles of the present round are the first ones with mail. */
function leaveLine(state: RunState, role: RoleState): void {
  const { roundStart, acted, ready } = state;
  const index = roundStart === undefined ? -1 : [...ready].indexOf(role);
  if (roundStart !== undefined && index >= 0 && index < roundStart.ready - acted)
    state.roundStart = { ...roundStart, ready: roundStart.ready - 1 };
  ready.delete(role);
}

/** Adds a recorded role to the team. */
export function takeBack(state: RunState, known: RoleState, role: HiredRole): void {
  known.hireAgain(role);
  if (!known.isHired) known.join(state.teamChanges);
  if (known.isReady) state.ready.add(known);
  else state.ready.delete(known);
}

/** Steps of the activation in flight may have been paid. */
export function giveUp(state: RunState, role: RoleState, at: number): void {
  for (const { started, inFlight } of role.open?.steps.values() ?? []) if (inFlight) lose(state, started, at);
  role.abandonActivation();
  state.open.delete(role.name);
  state.suspects.delete(role.name);
}
