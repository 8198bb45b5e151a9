import { UserRequirement } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import { livesByDefault } from "../runtime/hired-roles.ts";
import { roleSpec } from "../role/role-spec.ts";
import type { Crew } from "./crew.ts";

/** So many names are told at most. */
const SHOWN = 10;

/**
 * Warnings of causes that somebody watches and nobody of the team can cause: mostly a name that was mistyped. Empty where a role is made by
 * hand, because such a one may name any cause. A message from outside may come later, so that it is no error.
 *
 * @param said what comes from outside at the start
 */
export function unheardCauses(roles: Crew["roles"], said: readonly (Message | string)[]): readonly string[] {
  const specs = roles.map(([name, role]) => ({ name, spec: roleSpec(role) }));
  if (!specs.every(({ spec }) => livesByDefault(spec))) return [];
  const causes = new Set<string>([UserRequirement.name]);
  for (const message of said) if (typeof message !== "string") causes.add(message.causeBy);
  for (const { name, spec } of specs) {
    for (const cause of [name, spec.card.name, ...spec.actions.map((action) => action.name)]) causes.add(cause);
  }
  return specs.flatMap(({ name, spec }) =>
    spec.watch
      .filter((cause) => !causes.has(cause))
      .map((cause) => `${name} watches "${cause}", which nobody of this team can cause. They can cause: ${listed([...causes])}.`),
  );
}

function listed(names: readonly string[]): string {
  return names.length <= SHOWN ? names.join(", ") : `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more`;
}
