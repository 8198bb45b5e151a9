import type { RoleContext } from "../action/context.ts";

/**
 * Where one activation stands in its loop of thinking and acting. It is local to the activation and never durable:
 * an activation that runs again begins at the start and gets its recorded answers.
 */
export interface ReactLoop {
  /** Actions run so far. */
  turn: number;
  /** Place of the last action in the role's list; -1 before the first. */
  index: number;
}

/** The loop of an activation, made on first use. */
export function reactLoop<S>(rc: RoleContext<S>): ReactLoop {
  return (rc.loop ??= { turn: 0, index: -1 });
}
