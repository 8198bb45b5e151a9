import { type Clock, sleep } from "../kernel/clock.ts";
import { ControlError } from "../kernel/errors.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { Run } from "../team/run.ts";
import { StepsInFlight } from "../team/steps-in-flight.ts";

/** The code of the error that stops a run because its worker drains: another worker goes on with it. */
export const WORKER_DRAINING = "WORKER_DRAINING";

/**
 * A run that this worker drives. It owns the stop of the run.
 *
 * Driven.R1 (`drain`) a run is stopped when no step of it is in flight, or when the time is up.
 */
export class Driven {
  readonly #run: Run;
  readonly #abort: AbortController;
  readonly #steps = new StepsInFlight();

  /** @param abort its signal stops the run */
  constructor(run: Run, abort: AbortController) {
    this.#run = run;
    this.#abort = abort;
    for (const type of ["step.started", "step.ended", "run.ended"] as const) run.on(type, (event) => this.#steps.note(event));
  }

  get result(): Promise<RunResult> {
    return this.#run.result;
  }

  /** Stops the run, so that another worker can go on with it. */
  async drain(clock: Clock, limit: number): Promise<void> {
    this.#run.pause();
    const late = new AbortController();
    await Promise.race([this.#steps.settled(), this.#run.result, sleep(clock, limit, late.signal).catch(() => undefined)]);
    late.abort();
    const text = "Stopped: its worker drains. Another worker goes on with the run.";
    this.#abort.abort(new ControlError(WORKER_DRAINING, text));
  }
}
