import type { RunState } from "../../src/run/run-state.ts";

/** A run's state as plain JSON, all of it, to be compared. */
export function projection(state: RunState): unknown {
  const { roles, ready, open, history, ledger, ...rest } = state;
  return JSON.parse(
    JSON.stringify({
      ...rest,
      ready: Array.from(ready, ({ name }) => name),
      open: [...open],
      history,
      ledger,
      roles: [...roles.values()].map(({ open: activation, carry, ...role }) => ({
        ...role,
        open: activation === undefined ? null : { ...activation, steps: [...activation.steps] },
        carry: [...carry],
      })),
    }),
  ) as unknown;
}
