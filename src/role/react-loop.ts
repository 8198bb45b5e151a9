import type { Message } from "../message/message.ts";
import type { RoleContext } from "./context.ts";

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

/** What the next action of an activation works on instead of the news, by that news: whoever gives an action other news means those. */
const handed = new WeakMap<readonly Message[], readonly Message[]>();

/** The next action works on this. */
export function handOn(news: readonly Message[], messages: readonly Message[]): void {
  handed.set(news, messages);
}

/** What an action works on that is given this news; undefined for the news itself. */
export function handedOn(news: readonly Message[]): readonly Message[] | undefined {
  return handed.get(news);
}
