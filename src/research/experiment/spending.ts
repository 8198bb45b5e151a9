import { type CellUse, UseSum } from "./cell-use.ts";
import type { FinishedCell } from "./sweep-folder.ts";

/** The spending of runs on models. */
export interface ModelSpending {
  /** Answers. */
  readonly calls: number;
  /** Dollars of known prices. */
  readonly usd: number;
  /** Calls whose price is not known. */
  readonly unpriced: number;
}

/** The spending of a sweep. */
export interface SweepSpending {
  /** All runs: the failed ones, and tries whose process died, too. */
  readonly spent: ModelSpending;
  /** The part that no row has: failed runs, those that were run again later, and tries whose process died. */
  readonly lost: ModelSpending;
}

/**
 * The use of models by the runs of a sweep. It owns the sums.
 *
 * SweepUse.S1 (`add`) each run, and each try whose process died, is counted once.
 */
export class SweepUse {
  readonly #all = new UseSum();
  readonly #lost = new UseSum();

  constructor(finished: readonly FinishedCell[]) {
    for (const one of finished) this.add(one);
  }

  add({ end, lost }: FinishedCell): void {
    this.#all.add(end.use);
    if (end.kind === "failed") this.#lost.add(end.use);
    if (lost === undefined) return;
    this.#all.add(lost);
    this.#lost.add(lost);
  }

  get use(): CellUse {
    return this.#all.use;
  }

  get spending(): SweepSpending {
    return { spent: spendingOf(this.#all.use), lost: spendingOf(this.#lost.use) };
  }
}

function spendingOf({ calls, microUsd, unpriced }: CellUse): ModelSpending {
  return { calls, usd: microUsd / 1_000_000, unpriced };
}
