import { Ledger } from "../../model/ledger.ts";
import { delayedOf, inOrderOfTicks } from "./delayed.ts";
import type { Held } from "./run-state.ts";
import { roleOf, RunState } from "./run-state.ts";

/**
 * Returns a run of the same state that changes apart from the given one. What never changes is shared: messages, plans, definitions. The
 * inspector keeps copies of a fold, so that an earlier state is found without folding the whole run again.
 */
export function copyState(state: RunState): RunState {
  const copy = new RunState(state.runId, state.hasHistory);
  const roles = new Map([...state.roles].map(([name, role]) => [name, role.copy()]));
  const moved = <T extends Pick<Held, "role">>(one: T): T => ({ ...one, role: roleOf(copy, one.role.name) });
  Object.assign(copy, state, { roles });
  return Object.assign(copy, {
    ready: new Set(Array.from(state.ready, ({ name }) => roleOf(copy, name))),
    open: new Set(state.open),
    deliveries: [...state.deliveries],
    pending: [...state.pending],
    delayed: delayedOf(inOrderOfTicks(state)),
    held: state.held.map(moved),
    blocked: new Map(state.blocked),
    justDropped: state.justDropped.map(moved),
    outputs: [...state.outputs],
    dead: [...state.dead],
    ledger: Ledger.fromJSON(state.ledger.toJSON()),
    byRole: state.byRole.copy(),
    byModel: state.byModel.copy(),
    suspects: new Set(state.suspects),
    allowedTools: new Set(state.allowedTools),
    told: new Map(state.told),
    failures: new Map(state.failures),
    actsInTurn: new Map(state.actsInTurn),
    unheard: new Set(state.unheard),
  });
}
