import type { RoleState } from "../../src/runtime/record/role-state.ts";
import type { RunState } from "../../src/runtime/record/run-state.ts";

/** A run's state as plain JSON, to be compared. */
export function projection(state: RunState): unknown {
  const { roles, ready, open, history, ledger, ...rest } = state;
  return JSON.parse(
    JSON.stringify({
      ...rest,
      ready: [...ready].map(({ name }) => name),
      open: [...open],
      history,
      ledger,
      roles: [...roles.values()].map(held),
    }),
  ) as unknown;
}

function held(role: RoleState): unknown {
  const { name, index, fingerprint, traits, n, open, retry } = role;
  const { failures, strikes, isolated, retake, carry } = retry;
  const { mailbox, memory, workingMemory, custom, plan, joins, summary } = role;
  return {
    ...{ name, index, fingerprint, traits, n, failures, strikes, isolated, retake },
    ...{ mailbox, memory, workingMemory, custom, plan, joins, summary },
    open: open === undefined ? null : { ...open, steps: [...open.steps] },
    carry: [...carry],
  };
}
