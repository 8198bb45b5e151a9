import { fileURLToPath } from "node:url";
import { UsageError } from "../../kernel/errors.ts";
import { shownText } from "../../kernel/value-text.ts";
import { CellProcess, type CellProcessOptions, type WireRequest } from "./cell-process.ts";
import type { CellFailed } from "./cell-run.ts";
import { type CellUse, UseSum } from "./cell-use.ts";
import type { CellReply } from "./experiment.ts";

/** Processes that may die during one run. */
const DEFAULT_TRIES = 3;

/**
 * The processes of one worker, one after another. It owns the present one.
 *
 * ProcessSlot.S1 (`run`) a process that answers that it is gone is dropped, so the next try starts another one.
 * ProcessSlot.S2 (`#tries`) a cell whose processes die is tried that often. A cell that takes too long or too much memory is not tried again.
 * ProcessSlot.S3 (`run`) the use of models in processes that died is told: as `lost` of the reply, or as the use of the cell that failed.
 */
export class ProcessSlot {
  readonly #options: CellProcessOptions;
  readonly #tries: number;
  #process: CellProcess | undefined;

  constructor(options: CellProcessOptions, tries: number = DEFAULT_TRIES) {
    this.#options = options;
    this.#tries = tries;
  }

  /**
   * Runs a cell, in another process where one died.
   *
   * @throws UsageError where no process can load the module; ControlError when the signal aborts
   */
  async run(request: WireRequest): Promise<CellReply> {
    let text = "";
    const lost = new UseSum();
    for (let tried = 0; tried < this.#tries; tried += 1) {
      const process = (this.#process ??= await this.#started());
      const taken = new UseSum();
      const answer = await process.run(request, (fresh) => taken.add(fresh));
      if (answer.kind === "ended") return tried === 0 ? answer.reply : { ...answer.reply, lost: lost.use };
      this.#process = undefined;
      lost.add(taken.use);
      const { memory, timeLimit } = this.#options;
      if (answer.why === "late") return gone(late(timeLimit, lost.use));
      if (answer.why === "memory") {
        const message = `Expected the run to take at most ${memory} megabytes, but it took more. Raise memory.`;
        return gone({ kind: "failed", code: "EXPERIMENT_MEMORY", message, use: lost.use });
      }
      text = answer.text;
    }
    const message = `Expected the process of the run to live, but ${text}, in each of ${this.#tries} tries.`;
    return gone({ kind: "failed", code: "EXPERIMENT_DIED", message, use: lost.use });
  }

  async #started(): Promise<CellProcess> {
    let text = "";
    for (let tried = 0; tried < this.#tries; tried += 1) {
      await this.#options.check?.();
      const started = await CellProcess.start(this.#options);
      if (typeof started !== "string") return started;
      text = started;
    }
    throw new UsageError(
      "EXPERIMENT_UNREADABLE",
      `Expected a process to load ${shownText(fileURLToPath(this.#options.module))}, but ${text}, in each of ${this.#tries} tries.`,
    );
  }

  close(): void {
    this.#process?.close();
    this.#process = undefined;
  }
}

function gone(end: CellFailed): CellReply {
  return { end, usesConcurrency: false };
}

/** The end of a run whose time was up. */
export function late(timeLimit: number, use: CellUse): CellFailed {
  return {
    kind: "failed",
    use,
    code: "EXPERIMENT_LATE",
    message: `Expected the run to end within ${timeLimit} ms, but it did not. Raise timeLimit, or give it fewer rounds.`,
  };
}
