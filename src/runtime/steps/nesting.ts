import { UsageError } from "../../kernel/errors.ts";

/**
 * Tells what an effect asks through the outer context from what its activation asks. It owns whether an effect is just beginning.
 *
 * N1 what an effect asks through the outer context would wait for the effect's own step, which waits for it: it is refused. N2 this is
 * seen only until the effect first waits; later nobody can tell who asks, and the activation's time limit ends it.
 */
export class Nesting {
  readonly #act: string;
  #isBeginning = false;

  constructor(act: string) {
    this.#act = act;
  }

  /** Begins an effect. */
  begin<T>(effect: () => T): T {
    const wasBeginning = this.#isBeginning;
    this.#isBeginning = true;
    try {
      return effect();
    } finally {
      this.#isBeginning = wasBeginning;
    }
  }

  /** @throws UsageError `STEP_NESTED` when it is an effect that asks. */
  assertOutside(method: "ask" | "human.ask" | "recall" | "step"): void {
    if (!this.#isBeginning) return;
    throw new UsageError(
      "STEP_NESTED",
      `Expected the effect of a step of ${this.#act} to ask through the door it is given, got ${method} of the outer context: ` +
        `it would wait for its own step for ever. ${method === "recall" ? "Recall before the step." : `Write (door) => door.${method}(...).`}`,
    );
  }
}
