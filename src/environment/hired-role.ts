import { contentHash, type Json, jsonRoundTrip } from "../kernel/json.ts";
import type { Role } from "../role/role.ts";
import { roleSpec } from "../role/role-spec.ts";
import type { HiredRole } from "../run/event.ts";

/** What a run records of a role when it starts. */
export function hiredRole(role: Role, name: string): HiredRole {
  const spec = roleSpec(role);
  const { card, watch, addresses, observeAll, mode } = spec;
  const reactions = spec.reactions.map((reaction) => ({ on: [...reaction.on], needs: reaction.needs, do: reaction.action.name }));
  const actions = spec.actions.map((action) => action.name);
  const traits = jsonRoundTrip({ card, watch, addresses, observeAll, mode, actions, reactions }) as unknown as HiredRole["traits"];
  const fingerprint = contentHash(traits).slice(0, 32);
  const state = spec.initialState as { readonly [key: string]: Json };
  return { name, fingerprint, traits, state, ...(role.memoryLimit === undefined ? {} : { memoryLimit: role.memoryLimit }) };
}
