/** Whose call it is: an agent's session, or nobody's in particular. */
interface CallerOfTool {
  /** The session of the agent that calls; the same object for all its calls. */
  readonly session?: object;
}

/**
 * What a tool keeps between calls, one state for each session. A definition holds nothing of a run, so two agents that share one have
 * two states; callers without a session share one more.
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
