import { fileURLToPath } from "node:url";
import { UsageError } from "../../kernel/errors.ts";
import { shownText } from "../../kernel/value-text.ts";
import { CellProcess, type CellProcessOptions } from "./cell-process.ts";
import type { CellEnd } from "./cell-run.ts";
import type { CellReply, CellRequest } from "./experiment.ts";

/** Processes that may die during one run. */
const DEFAULT_TRIES = 3;

/** The processes of one worker, one after another. It owns the present one. */
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
  async run(request: Omit<CellRequest, "signal">): Promise<CellReply> {
    let text = "";
    for (let tried = 0; tried < this.#tries; tried += 1) {
      const process = (this.#process ??= await this.#started());
      const answer = await process.run(request);
      if (answer.kind === "ended") return answer.reply;
      this.#process = undefined;
      const { memory, timeLimit } = this.#options;
      if (answer.why === "late") return { end: late(timeLimit), usesConcurrency: false };
      if (answer.why === "memory")
        return {
          usesConcurrency: false,
          end: {
            kind: "failed",
            code: "EXPERIMENT_MEMORY",
            message: `Expected the run to take at most ${memory} megabytes, but it took more. Raise memory.`,
          },
        };
      text = answer.text;
    }
    const message = `Expected the process of the run to live, but ${text}, in each of ${this.#tries} tries.`;
    return { end: { kind: "failed", code: "EXPERIMENT_DIED", message }, usesConcurrency: false };
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

/** The end of a run whose time was up. */
export function late(timeLimit: number): CellEnd {
  return {
    kind: "failed",
    code: "EXPERIMENT_LATE",
    message: `Expected the run to end within ${timeLimit} ms, but it did not. Raise timeLimit, or give it fewer rounds.`,
  };
}
