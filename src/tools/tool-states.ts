/** The caller of a tool. */
interface CallerOfTool {
  /** The session of the agent; the same object for all its calls. */
  readonly session?: object;
}

/**
 * The state of a tool between calls, one for each session: two agents that share a tool have two states. Callers without a session share
 * one.
 */
export class ToolStates<S> {
  readonly #make: () => S;
  readonly #states = new WeakMap<object, S>();

  constructor(make: () => S) {
    this.#make = make;
  }

  of({ session = this }: CallerOfTool): S {
    const known = this.#states.get(session);
    if (known !== undefined) return known;
    const made = this.#make();
    this.#states.set(session, made);
    return made;
  }
}
