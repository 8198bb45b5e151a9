import { type Clock, sleep } from "../kernel/clock.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { Run } from "../team/run.ts";
import { StepsInFlight } from "../team/steps-in-flight.ts";

/**
 * A run that this worker drives. It owns the drain of the run.
 *
 * Driven.R1 (`drain`) a run is given back when no step of it is in flight, or when the time is up.
 */
export class Driven {
  readonly #run: Run;
  readonly #steps = new StepsInFlight();

  constructor(run: Run) {
    this.#run = run;
    for (const type of ["step.started", "step.ended", "run.ended"] as const) run.on(type, (event) => this.#steps.note(event));
  }

  get result(): Promise<RunResult> {
    return this.#run.result;
  }

  /** Gives the run back, so that another worker can go on with it. Its `result` tells when that is done. */
  async drain(clock: Clock, limit: number): Promise<void> {
    this.#run.pause();
    const late = new AbortController();
    await Promise.race([this.#steps.settled(), this.#run.result, sleep(clock, limit, late.signal).catch(() => undefined)]);
    late.abort();
    this.#run.drain();
  }
}
