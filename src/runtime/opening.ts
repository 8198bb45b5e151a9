import { recordedScheduler, type Scheduler } from "./schedulers/scheduler.ts";
import type { HiredRole, RunResumed, RunStarted } from "./record/event.ts";
import type { RunLog } from "./record/run-log.ts";
import { hiredRole, type HiredRoles } from "./hired-roles.ts";

/**
 * Tells how a run without a journal began, and who was hired since. It owns which of its roles were told; the roles are the hired roles'.
 *
 * Opening.O1 (`tell`) the start is the first event, and is recorded once, with everybody who is hired by then. Opening.O2 (`tell`) whoever
 * is hired later is told before the next event that follows from it. Opening.O3 (`RunLog.recordKnown`) no event is made where nobody listens.
 */
export class Opening {
  readonly #log: RunLog;
  readonly #hired: HiredRoles;
  readonly #scheduler: Scheduler;
  #isTold = false;
  /** Names of those who were hired since it was told last. */
  #untold: string[] = [];

  constructor(log: RunLog, hired: HiredRoles, scheduler: Scheduler) {
    this.#log = log;
    this.#hired = hired;
    this.#scheduler = scheduler;
  }

  /** Notes that somebody was hired. The start tells all who came before it. */
  hired(name: string): void {
    if (this.#isTold) this.#untold.push(name);
  }

  /** To be called before another event is recorded. */
  tell(): void {
    if (!this.#isTold) {
      this.#isTold = true;
      this.#log.recordKnown("run.started", () => this.#start());
    } else if (this.#untold.length > 0) {
      const names = this.#untold;
      this.#untold = [];
      this.#log.recordKnown("run.resumed", (): RunResumed => ({
        type: "run.resumed",
        uncertain: [],
        roles: this.#roles(names),
        hired: true,
      }));
    }
  }

  #start(): RunStarted {
    const { seed, bounds } = this.#log.state;
    const bounded = bounds.mailbox === undefined ? {} : { bounds: { mailbox: bounds.mailbox } };
    return {
      type: "run.started",
      team: "environment",
      roles: this.#roles(this.#hired.names),
      seed,
      ...recordedScheduler(this.#scheduler),
      ...bounded,
    };
  }

  #roles(names: readonly string[]): readonly HiredRole[] {
    return names.flatMap((name) => {
      const spec = this.#hired.specOf(name);
      return spec === undefined ? [] : [hiredRole(spec.role, name)];
    });
  }
}
