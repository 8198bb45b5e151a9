import type { EdgePolicy } from "./edges/edge-policy.ts";
import type { HiredRoles } from "./hired-roles.ts";
import type { RunState } from "./record/run-state.ts";
import { unknownNames } from "./unknown-names.ts";

/** What a program is told when its first run begins, each text with the role that it is about. */
export type FirstWarning = readonly [role: string | undefined, text: string];

/** Returns what is nearly always a mistake: a role that can do nothing, though it may be there to remember, and a name that no role has. */
export function firstWarnings(
  hired: Pick<HiredRoles, "idle">,
  state: RunState,
  edges: readonly EdgePolicy[] | undefined,
): readonly FirstWarning[] {
  return [
    ...hired.idle.map(({ card: { name } }): FirstWarning => [
      name,
      `${name} has no actions and no react or step of its own: it will only listen. Give it actions: [...].`,
    ]),
    ...unknownNames(state, edges).map((text): FirstWarning => [undefined, text]),
  ];
}
