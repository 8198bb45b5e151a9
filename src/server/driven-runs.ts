import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { ControlError, errorRecord, UsageError } from "../kernel/errors.ts";
import { type RunEvent, EVENT_TYPES } from "../runtime/record/event.ts";
import type { Run } from "../team/run.ts";
import { StepsInFlight } from "../team/steps-in-flight.ts";
import type { ResumeOptions } from "../team/team-options.ts";
import { logEvent, logRest } from "./json-logger.ts";
import { trueWithin } from "./readiness.ts";
import type { RunFeeds } from "./run-feed.ts";
import type { OpenedTeam, TeamOpener, TeamRequest } from "./server-options.ts";
import type { TenantAccount } from "./tenants.ts";

/** The code of the error that ends a run because its server closes: it resumes at the next start, or, when it was paused, at the end of its pause. */
export const SERVER_CLOSING = "SERVER_CLOSING";
export const SERVER_PAUSED = "SERVER_PAUSED";

class DrivenRun {
  readonly run: Run;
  readonly account: TenantAccount;
  readonly opened: OpenedTeam;
  readonly #abort: AbortController;
  readonly steps = new StepsInFlight();
  #isPaused = false;

  constructor(run: Run, account: TenantAccount, opened: OpenedTeam, abort: AbortController, grew: (event: RunEvent) => void) {
    this.run = run;
    this.account = account;
    this.opened = opened;
    this.#abort = abort;
    for (const type of EVENT_TYPES) {
      run.on(type, (event) => {
        this.steps.note(event);
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

  stop(): void {
    this.run.stop("a client of the server asked for it");
  }

  close(): void {
    const [code, then] = this.#isPaused ? [SERVER_PAUSED, "its pause ends"] : [SERVER_CLOSING, "it starts again"];
    this.#abort.abort(new ControlError(code, `Stopped: the server closes. The run resumes when ${then}.`));
    this.run.proceed();
  }
}

/** Milliseconds that teams get to open and to close when the server closes, besides the grace of the steps in flight. */
const LAST_TEAMS = 5_000;

export interface DrivenRunsParts {
  readonly open: TeamOpener;
  readonly feeds: RunFeeds;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rested: (account: TenantAccount, run: Run) => Promise<void>;
}

export type CommonOptions = Pick<ResumeOptions, "signal" | "pools" | "limits">;

export type Purpose = Omit<TeamRequest, "tenant" | "pool" | "signal">;

/**
 * The runs under way in a server. It owns them and their teams. A run that the close of the server stops is recorded as such.
 *
 * DrivenRuns.R3 (`close`) afterwards no run is under way and every team is closed, those of requests that the close met included. One that
 * takes longer than the grace and 5 seconds more is logged, and not waited for.
 */
export class DrivenRuns {
  readonly #parts: DrivenRunsParts;
  readonly #driven = new Map<string, DrivenRun>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(parts: DrivenRunsParts) {
    this.#parts = parts;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  get(runId: string): DrivenRun | undefined {
    return this.#driven.get(runId);
  }

  async with<T>(account: TenantAccount, purpose: Purpose, work: (team: OpenedTeam["team"]) => Promise<T> | T): Promise<T> {
    const opened = await this.#opened(account, purpose);
    try {
      return await work(opened.team);
    } finally {
      await this.#closed(opened, purpose.runId);
    }
  }

  #opened({ name, pool }: TenantAccount, purpose: Purpose): Promise<OpenedTeam> {
    return this.#parts.open({ ...purpose, tenant: name, signal: this.signal, ...(pool === undefined ? {} : { pool }) });
  }

  async #closed({ close }: OpenedTeam, runId: string): Promise<void> {
    try {
      await close?.();
    } catch (error) {
      this.#parts.logger.error("A team was not closed in good order.", { run: runId, reason: errorRecord(error).message });
    }
  }

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
      opened = await this.#opened(account, purpose);
      if (this.signal.aborted) throw closing();
      const abort = new AbortController();
      const { pool, limits } = account;
      const shared = { ...(pool && { pools: [pool] }), ...(limits && { limits }) };
      driven = new DrivenRun(await begin(opened, { signal: abort.signal, ...shared }), account, opened, abort, (event) => {
        logEvent(this.#parts.logger, account.name, event);
        this.#parts.feeds.changed(runId);
      });
      const rest = this.#untilRest(runId, driven, leave).finally(() => this.#underWay.delete(rest));
      this.#underWay.add(rest);
      if (this.signal.aborted) driven.close();
      await driven.run.started;
    } catch (error) {
      if (driven === undefined) {
        leave();
        if (opened !== undefined) await this.#closed(opened, runId);
      }
      throw error;
    }
  }

  async rests(runId: string, ms: number): Promise<boolean> {
    const driven = this.#driven.get(runId);
    return driven === undefined || this.#within(driven.run.result, ms);
  }

  /** Steps in flight get `grace` milliseconds, so that nothing paid for is cut off. @param requests resolves when no request opens a team any more */
  async close(grace: number, requests: () => Promise<unknown>): Promise<void> {
    this.#closing.abort(new ControlError(SERVER_CLOSING, closing().message));
    const all = [...this.#driven.values()];
    for (const { run } of all) run.pause();
    await this.#within(Promise.all(all.map(({ steps }) => steps.settled())), grace);
    for (const driven of this.#driven.values()) driven.close();
    const ended = requests().then(() => Promise.all(this.#underWay));
    if (!(await this.#within(ended, grace + LAST_TEAMS))) {
      this.#parts.logger.error("The server closes, and some teams have not opened or closed in time.", { runs: this.#driven.size });
    }
    this.#parts.feeds.wakeAll();
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
    await this.#closed(driven.opened, runId);
    await rested(driven.account, driven.run);
  }

  #within(work: Promise<unknown>, ms: number): Promise<boolean> {
    return trueWithin(
      this.#parts.clock,
      ms,
      work.then(() => true),
    );
  }
}

function closing(): UsageError {
  return new UsageError(SERVER_CLOSING, "Expected a server that takes work, but this one is closing. Try again when it has started.");
}
