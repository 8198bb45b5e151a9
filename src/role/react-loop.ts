import type { Message } from "../message/message.ts";
import type { RoleContext } from "./context.ts";

/**
 * Where one activation stands in its loop of thinking and acting. It is never recorded: an activation that runs again begins at the start and gets its
 * recorded answers.
 */
export interface ReactLoop {
  /** Actions run so far. */
  turn: number;
  /** Place of the last action in the role's list; -1 before the first. */
  index: number;
  /** What the next action works on instead of these news. An action that is given other news works on those. */
  handed: { readonly news: readonly Message[]; readonly messages: readonly Message[] } | undefined;
}

/** The loop of an activation, made on first use. */
export function reactLoop<S>(rc: RoleContext<S>): ReactLoop {
  return (rc.loop ??= { turn: 0, index: -1, handed: undefined });
}
