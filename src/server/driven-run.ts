import { ControlError } from "../kernel/errors.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { EVENT_TYPES } from "../runtime/record/event-type.ts";
import type { Run } from "../team/run.ts";
import { StepsInFlight } from "../team/steps-in-flight.ts";
import type { OpenedTeam } from "./team-source.ts";
import type { TenantAccount } from "./tenants.ts";

/** The code of the error that ends a run because its server closes: such a run goes on at the next start. */
export const SERVER_CLOSING = "SERVER_CLOSING";

/** The code of the error that ends a paused run because its server closes: such a run stays at rest until its pause ends. */
export const SERVER_PAUSED = "SERVER_PAUSED";

/** The parts of a driven run. */
export interface DrivenRunParts {
  readonly run: Run;
  readonly account: TenantAccount;
  readonly opened: OpenedTeam;
  /** Stops the run. */
  readonly abort: AbortController;
  /** Called with every durable event. */
  readonly grew: (event: RunEvent) => void;
}

/**
 * A run that this server drives. It owns its pause and its stop.
 *
 * DrivenRun.D1 (`settled`) after a pause it resolves when no step is in flight: a stop then cuts off nothing that is paid for.
 */
export class DrivenRun {
  readonly run: Run;
  readonly account: TenantAccount;
  readonly opened: OpenedTeam;
  readonly #abort: AbortController;
  readonly #steps = new StepsInFlight();
  #isPaused = false;
  #begin: (() => void) | undefined;
  readonly #begun: Promise<void>;

  constructor({ run, account, opened, abort, grew }: DrivenRunParts) {
    this.run = run;
    this.account = account;
    this.opened = opened;
    this.#abort = abort;
    this.#begun = new Promise((resolve) => (this.#begin = resolve));
    for (const type of EVENT_TYPES) {
      run.on(type, (event) => {
        this.#note(event);
        grew(event);
      });
    }
  }

  get status(): "running" | "paused" {
    return this.#isPaused ? "paused" : "running";
  }

  pause(): void {
    this.#isPaused = true;
    this.run.pause();
  }

  proceed(): void {
    this.#isPaused = false;
    this.run.proceed();
  }

  /** Stops the run because a client asks: it stays stopped until it is resumed. */
  stop(): void {
    this.run.stop("a client of the server asked for it");
  }

  /** Lets no further activation begin until the run is closed. This is no pause of a client. */
  hold(): void {
    this.run.pause();
  }

  /** Stops the run because the server closes: it goes on at the next start, or when its pause ends. */
  close(): void {
    const [code, then] = this.#isPaused ? [SERVER_PAUSED, "its pause ends"] : [SERVER_CLOSING, "it starts again"];
    this.#abort.abort(new ControlError(code, `Stopped: the server closes. The run goes on when ${then}.`));
    this.run.proceed();
  }

  /** Resolves when the run goes on: its first event is durable, or it is at rest already. @throws the error of a run that was refused */
  async begun(): Promise<void> {
    const early = await Promise.race([this.#begun, this.run.result]);
    if (early?.error !== undefined) throw early.error;
  }

  /** Resolves when no step is in flight. */
  settled(): Promise<void> {
    return this.#steps.settled();
  }

  #note(event: RunEvent): void {
    this.#begin?.();
    this.#steps.note(event);
  }
}
