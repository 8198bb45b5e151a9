/** What a person is asked. */
export interface HumanQuestion {
  /** Stable across resume; an answer given later names it. */
  readonly id: string;
  readonly text: string;
  /** Who asks. */
  readonly role: string;
}

/** How a person is reached. In a run without one, a question suspends the run with status `waiting`. */
export type HumanPort = (question: HumanQuestion, o: { readonly signal: AbortSignal }) => string | Promise<string>;
