import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { ControlError, errorRecord, UsageError } from "../kernel/errors.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Run } from "../team/run.ts";
import type { ResumeOptions } from "../team/team-options.ts";
import { DrivenRun, SERVER_CLOSING } from "./driven-run.ts";
import { logEvent, logRest } from "./progress-log.ts";
import type { RunFeeds } from "./run-feed.ts";
import type { OpenedTeam, TeamOpener, TeamRequest } from "./team-source.ts";
import type { TenantAccount } from "./tenants.ts";

/** Milliseconds that teams get to open and to close when the server closes, besides the grace of the steps in flight. */
const LAST_TEAMS = 5_000;

/** The parts of {@link DrivenRuns}. */
export interface DrivenRunsParts {
  readonly open: TeamOpener;
  readonly feeds: RunFeeds;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a run is at rest and its team is closed. */
  readonly rested: (account: TenantAccount, run: Run) => Promise<void>;
}

/** The options that every run of a tenant gets. */
export type CommonOptions = Pick<ResumeOptions, "signal" | "pools" | "limits">;

/** The purpose and the run that a team is opened for. */
export type Purpose = Omit<TeamRequest, "tenant" | "pool" | "signal">;

/**
 * The runs under way in a server. It owns them and their teams.
 *
 * DrivenRuns.R1 (`drive`) a tenant has no more runs under way than its bound; a place is taken before anything is awaited.
 * DrivenRuns.R2 (`close`) a run that the close of the server stops is recorded as such, and goes on at the next start unless it was paused.
 * DrivenRuns.R3 (`close`) afterwards no run is under way and every team is closed, those of requests that the close met included. One that
 * takes longer than the grace and 5 seconds more is logged, and not waited for.
 */
export class DrivenRuns {
  readonly #parts: DrivenRunsParts;
  readonly #driven = new Map<string, DrivenRun>();
  /** The runs under way, until their teams are closed. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(parts: DrivenRunsParts) {
    this.#parts = parts;
  }

  /** Aborts when the server closes. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  get(runId: string): DrivenRun | undefined {
    return this.#driven.get(runId);
  }

  /** Opens a team for a run of a tenant. */
  opened({ name, pool }: TenantAccount, purpose: Purpose): Promise<OpenedTeam> {
    return this.#parts.open({ ...purpose, tenant: name, signal: this.signal, ...(pool === undefined ? {} : { pool }) });
  }

  /** Closes a team. A failure is logged. */
  async closed({ close }: OpenedTeam, runId: string): Promise<void> {
    try {
      await close?.();
    } catch (error) {
      this.#parts.logger.error("A team was not closed in good order.", { run: runId, reason: errorRecord(error).message });
    }
  }

  /** Drives a run from now on, and resolves when it goes on. @throws UsageError `RUNS_TOO_MANY`, `SERVER_CLOSING`; the error of a run that was refused */
  async drive(
    account: TenantAccount,
    purpose: Purpose,
    begin: (opened: OpenedTeam, common: CommonOptions) => Run | Promise<Run>,
  ): Promise<void> {
    if (this.signal.aborted) throw closing();
    const leave = account.runs.take();
    const { runId } = purpose;
    let opened: OpenedTeam | undefined;
    let driven: DrivenRun | undefined;
    try {
      opened = await this.opened(account, purpose);
      if (this.signal.aborted) throw closing();
      const abort = new AbortController();
      const { pool, limits } = account;
      const common = {
        signal: abort.signal,
        ...(pool === undefined ? {} : { pools: [pool] }),
        ...(limits === undefined ? {} : { limits }),
      };
      const begun = begin(opened, common);
      const isAnswered = begun instanceof Promise;
      driven = new DrivenRun({ run: await begun, account, opened, abort, grew: (event) => this.#grew(account, event) });
      const rest = this.#untilRest(runId, driven, leave).finally(() => this.#underWay.delete(rest));
      this.#underWay.add(rest);
      if (this.signal.aborted) driven.close();
      if (!isAnswered) await driven.begun();
    } catch (error) {
      if (driven === undefined) {
        leave();
        if (opened !== undefined) await this.closed(opened, runId);
      }
      throw error;
    }
  }

  /** True once the run is at rest; false when that takes longer than so many milliseconds. */
  async rests(runId: string, ms: number): Promise<boolean> {
    const driven = this.#driven.get(runId);
    return driven === undefined || this.#within(driven.run.result, ms);
  }

  /**
   * Stops every run. No activation begins any more; steps in flight get `grace` milliseconds to end.
   *
   * @param requests resolves when no request opens a team any more
   */
  async close(grace: number, requests: () => Promise<unknown>): Promise<void> {
    this.#closing.abort(new ControlError(SERVER_CLOSING, closing().message));
    const all = [...this.#driven.values()];
    for (const driven of all) driven.hold();
    await this.#within(Promise.all(all.map((driven) => driven.settled())), grace);
    for (const driven of this.#driven.values()) driven.close();
    const ended = requests().then(() => Promise.all(this.#underWay));
    if (!(await this.#within(ended, grace + LAST_TEAMS))) {
      this.#parts.logger.error("The server closes, and some teams have not opened or closed in time.", { runs: this.#driven.size });
    }
    this.#parts.feeds.tellAll();
  }

  async #untilRest(runId: string, driven: DrivenRun, leave: () => void): Promise<void> {
    const { feeds, logger, rested } = this.#parts;
    this.#driven.set(runId, driven);
    feeds.driven(runId, driven.run);
    const result = await driven.run.result;
    if (this.#driven.get(runId) === driven) this.#driven.delete(runId);
    leave();
    feeds.ended(runId);
    logRest(logger, driven.account.name, result);
    await this.closed(driven.opened, runId);
    await rested(driven.account, driven.run);
  }

  #grew(account: TenantAccount, event: RunEvent): void {
    logEvent(this.#parts.logger, account.name, event);
    this.#parts.feeds.grew(event);
  }

  async #within(work: Promise<unknown>, ms: number): Promise<boolean> {
    let cancel = (): void => {};
    const late = new Promise<boolean>((resolve) => (cancel = this.#parts.clock.timer(ms, () => resolve(false))));
    const isDone = await Promise.race([work.then(() => true), late]);
    cancel();
    return isDone;
  }
}

function closing(): UsageError {
  return new UsageError(SERVER_CLOSING, "Expected a server that takes work, but this one is closing. Try again when it has started.");
}
