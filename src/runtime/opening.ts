import { recordedScheduler, schedulerOf } from "./schedulers/scheduler.ts";
import type { HiredRole, RoleHired, RunStarted } from "./record/event.ts";
import type { EnvironmentOptions } from "./environment-options.ts";
import type { RunLog } from "./record/run-log.ts";
import { hiredRole, type HiredRoles } from "./hired-roles.ts";

/**
 * Records the start of a run without a journal, and the roles hired since. It owns the names that are not recorded yet; the roles belong to
 * the hired roles.
 *
 * Opening.O1 (`record`) the start is the first event, and is recorded once, with all roles hired by then.
 * Opening.O2 (`record`) a role hired later is recorded before the next event that follows from it.
 * Opening.O3 (`RunLog.recordKnown`) without an observer, no event is created.
 */
export class Opening {
  readonly #log: RunLog;
  readonly #hired: HiredRoles;
  readonly #scheduler: EnvironmentOptions["scheduler"];
  #isRecorded: boolean;
  #unrecorded: string[] = [];

  constructor(log: RunLog, hired: HiredRoles, scheduler: EnvironmentOptions["scheduler"]) {
    this.#log = log;
    this.#isRecorded = log.state.seq > 0;
    this.#hired = hired;
    this.#scheduler = scheduler;
  }

  hired(name: string): void {
    if (this.#isRecorded) this.#unrecorded.push(name);
  }

  record(): void {
    if (!this.#isRecorded) {
      this.#isRecorded = true;
      this.#log.recordKnown("run.started", () => this.#start());
    } else if (this.#unrecorded.length > 0) {
      const names = this.#unrecorded;
      this.#unrecorded = [];
      this.#log.recordKnown("role.hired", (): RoleHired => ({ type: "role.hired", roles: this.#roles(names) }));
    }
  }

  #start(): RunStarted {
    const { seed, bounds, edges, arrival, scope } = this.#log.state;
    const bounded = bounds.mailbox === undefined ? {} : { bounds: { mailbox: bounds.mailbox } };
    return {
      type: "run.started",
      team: "environment",
      roles: this.#roles(this.#hired.names),
      seed,
      ...recordedScheduler(schedulerOf(this.#scheduler ?? "rounds")),
      ...(arrival === "hire" ? {} : { arrival }),
      ...bounded,
      ...(edges.length === 0 ? {} : { edges }),
      ...(scope === undefined ? {} : { scope }),
    };
  }

  #roles(names: readonly string[]): readonly HiredRole[] {
    return names.flatMap((name) => {
      const spec = this.#hired.specOf(name);
      return spec === undefined ? [] : [hiredRole(spec.role, name)];
    });
  }
}
