import { contentHash, deepFreeze, jsonRoundTrip } from "../kernel/json.ts";
import type { Role } from "../role/role.ts";
import { roleSpec, type RoleSpec } from "../role/role-spec.ts";
import type { HiredRole } from "./record/event.ts";
import type { HiredAs } from "./record/role-state.ts";

const known = new WeakMap<RoleSpec, HiredAs>();

/** What a run records of a role when it starts. */
export function hiredRole(role: Role, name: string): HiredRole {
  return { name, ...hiredAs(role) };
}

/** What it records whatever the role's name is: made once of each definition, and shared by all who are hired by it. */
export function hiredAs(role: Role): HiredAs {
  const spec = roleSpec(role);
  const made = known.get(spec);
  if (made !== undefined) return made;
  const hired = deepFreeze(describe(spec));
  known.set(spec, hired);
  return hired;
}

function describe(spec: RoleSpec): HiredAs {
  const { card, watch, addresses, observeAll, mode, initialState, role } = spec;
  const reactions = spec.reactions.map((reaction) => ({ on: [...reaction.on], needs: reaction.needs, do: reaction.action.name }));
  const actions = spec.actions.map((action) => action.name);
  const bound = role.mailbox === undefined ? {} : { mailbox: role.mailbox };
  const traits = jsonRoundTrip({ card, watch, addresses, observeAll, mode, actions, reactions, ...bound }) as unknown as HiredAs["traits"];
  const fingerprint = contentHash(traits).slice(0, 32);
  const state = initialState as HiredAs["state"];
  return { fingerprint, traits, state, ...(role.memoryLimit === undefined ? {} : { memoryLimit: role.memoryLimit }), ...bound };
}
