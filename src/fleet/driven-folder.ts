import type { Clock } from "../kernel/clock.ts";
import { MovedError } from "../kernel/control-errors.ts";
import type { Logger } from "../kernel/emit.ts";
import { errorRecord } from "../kernel/errors.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { Run } from "../team/run.ts";
import { eventsOf } from "../team/run-driver.ts";
import type { RunWorkspaces } from "./run-workspaces.ts";

export interface DrivenFolderOptions {
  readonly workspaces: RunWorkspaces;
  readonly journal: Journal;
  readonly every: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The folder of a run that this worker drives. It owns when the folder is fetched and stored.
 *
 * DrivenFolder.F1 (`fetch`, `rest`) only the owner of the run fetches and stores its folder: after the claim, and before the end of the run is
 * recorded and the run is released. So no other worker finds an older folder than the stored one.
 * DrivenFolder.F2 (`#afterRound`) one store is under way at a time, and begins when a round has ended. The next round does not wait for it, so
 * a command of that round may be at work in the folder.
 * DrivenFolder.F3 (`rest`) a run that another worker owns now stores nothing.
 * DrivenFolder.F4 (`#put`) a store that fails is logged, and ends no run: the record has what the roles wrote.
 */
export class DrivenFolder {
  readonly #run: string;
  readonly #o: DrivenFolderOptions;
  #isHere = false;
  #last: number;
  /** The last event whose effects are in the folder. */
  #seq = 0;
  #putting: Promise<void> | undefined;

  constructor(run: string, options: DrivenFolderOptions) {
    this.#run = run;
    this.#o = options;
    this.#last = options.clock.now();
  }

  async fetch(signal: AbortSignal): Promise<void> {
    const { workspaces, journal } = this.#o;
    try {
      // All that is recorded by now is in the folder afterwards.
      this.#seq = Math.max(0, (await eventsOf(journal, this.#run)) - 1);
      await workspaces.fetch(this.#run, journal, { signal });
      this.#isHere = true;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  follow(run: Run): void {
    for (const type of ["run.started", "step.ended", "act.ended"] as const) run.on(type, ({ seq }) => (this.#seq = seq));
    run.on("round.ended", ({ seq }) => {
      this.#seq = seq;
      this.#afterRound();
    });
  }

  async rest(error: unknown): Promise<void> {
    await this.#putting;
    if (!this.#isHere) return;
    if (error instanceof MovedError && !error.isDrained) return;
    await this.#put();
  }

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
