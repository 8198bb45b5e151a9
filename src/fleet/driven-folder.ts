import type { Clock } from "../kernel/clock.ts";
import { MovedError } from "../kernel/control-errors.ts";
import type { Logger } from "../kernel/emit.ts";
import { errorRecord } from "../kernel/errors.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { Run } from "../team/run.ts";
import type { RunWorkspaces } from "./run-workspaces.ts";

/** The means by which a folder is stored. */
export interface DrivenFolderOptions {
  readonly workspaces: RunWorkspaces;
  readonly journal: Journal;
  /** Milliseconds. */
  readonly every: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The folder of a run that this worker drives. It owns when the folder is fetched and stored.
 *
 * DrivenFolder.F1 (`fetch`, `rest`) the folder is fetched and stored by the owner of the run alone, so a worker that is refused the run takes
 * nothing from its owner. One store is under way at a time, and begins when a round has ended (`#afterRound`). The next round does not wait for it, so a
 * command of that round may be at work in the folder. A run that another worker has by now stores nothing (`rest`). A
 * store that fails is told, and ends no run: the record has what the roles wrote.
 */
export class DrivenFolder {
  readonly #run: string;
  readonly #o: DrivenFolderOptions;
  #isHere = false;
  /** The reason for which the folder could not be fetched. */
  failure: unknown;
  #last: number;
  /** The last event whose effects are in the folder. */
  #seq = 0;
  #putting: Promise<void> | undefined;

  constructor(run: string, options: DrivenFolderOptions) {
    this.#run = run;
    this.#o = options;
    this.#last = options.clock.now();
  }

  /** Brings the folder here. Call it as the owner of the run. A run that is stopped meanwhile needs none. @throws errors of the workspaces */
  async fetch(signal: AbortSignal): Promise<void> {
    const { workspaces, journal } = this.#o;
    try {
      await workspaces.fetch(this.#run, journal, { signal });
      this.#isHere = true;
    } catch (error) {
      if (signal.aborted) return;
      this.failure = error;
      throw error;
    }
  }

  /** Stores the folder from now on, as the run goes on. */
  follow(run: Run): void {
    for (const type of ["run.started", "step.ended", "act.ended", "run.ended"] as const) run.on(type, ({ seq }) => (this.#seq = seq));
    run.on("round.ended", ({ seq }) => {
      this.#seq = seq;
      this.#afterRound();
    });
  }

  /** Stores the folder of a run that came to rest or was drained. */
  async rest({ error }: RunResult): Promise<void> {
    await this.#putting;
    if (!this.#isHere) return;
    if (error instanceof MovedError && !error.isDrained) return;
    await this.#put();
  }

  /** Stores the folder if its time has come. */
  #afterRound(): void {
    const { clock, every } = this.#o;
    if (this.#putting !== undefined || clock.now() - this.#last < every) return;
    this.#last = clock.now();
    this.#putting = this.#put().finally(() => (this.#putting = undefined));
  }

  async #put(): Promise<void> {
    const { workspaces, logger } = this.#o;
    const run = this.#run;
    try {
      if (!(await workspaces.put(run, this.#seq)))
        logger.warn("The folder of a run was not stored: forks are open, or another machine has fetched it.", { run });
    } catch (error) {
      const { code, message } = errorRecord(error);
      logger.warn("The folder of a run could not be stored. Its record has what the roles wrote.", { run, code, reason: message });
    }
  }
}
