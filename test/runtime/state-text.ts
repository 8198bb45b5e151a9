import { RoleState } from "../../src/runtime/record/role-state.ts";
import type { RunState } from "../../src/runtime/record/run-state.ts";

/** Everything in a state as text: its own members, and what its classes say of themselves. */
export function stateText(state: RunState): string {
  const { ready, history, byRole, byModel, ...rest } = Object.assign({}, state, { history: state.history });
  const plain = (_: string, value: unknown): unknown => {
    if (value instanceof RoleState) return Object.assign({}, value, partsOf(value));
    // Activations that run side by side end in any order.
    if (value instanceof Map) return [...(value as Map<string, unknown>)].toSorted(([one], [other]) => (one < other ? -1 : 1));
    if (value instanceof Set) return [...value];
    return value;
  };
  return JSON.stringify(
    {
      ...rest,
      ready: [...ready].map(({ name }) => name),
      history,
      byRole: Object.entries(byRole.record()).toSorted(([one], [other]) => (one < other ? -1 : 1)),
      byModel: byModel.record(),
    },
    plain,
  );
}

function partsOf(role: RoleState): object {
  const { hired, mailbox, memory, workingMemory, plan, joins, summary } = role;
  const wasHired = Array.from({ length: 8 }, (_, change) => role.wasHired(change));
  return { hired, wasHired, mailbox, memory, workingMemory, plan, joins, summary };
}
