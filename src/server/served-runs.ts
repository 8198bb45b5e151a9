import type { ContinueRequest, ForkRequest, OutsideMessage, StartRequest } from "../client/wire.ts";
import { eitherSignal, throwIfAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { ControlError, DifferenceError, errorRecord, JournalError, UsageError } from "../kernel/errors.ts";
import { freshRunId } from "../kernel/id.ts";
import { canonicalJson, type Json } from "../kernel/json.ts";
import { createMessage, type Message } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { RunSummary } from "../runtime/record/run-summary.ts";
import type { MessageChange } from "../runtime/replay/fork-copy.ts";
import type { RunReceipt } from "../team/publishing.ts";
import type { Run } from "../team/run.ts";
import type { Team } from "../team/team.ts";
import type { ResumeOptions } from "../team/team-options.ts";
import { Deadlines } from "./deadlines.ts";
import { DrivenRun, SERVER_CLOSING } from "./driven-run.ts";
import { logEvent, logRest } from "./progress-log.ts";
import type { RunFeeds } from "./run-feed.ts";
import { hashOf, markedAbout, requestOf } from "./server-mark.ts";
import type { RunSummaries } from "./summaries.ts";
import type { OpenedTeam, TeamOpener, TeamRequest } from "./team-source.ts";
import type { TenantAccount } from "./tenants.ts";

/** Milliseconds that a request waits for a run to come to rest. */
const REST_LIMIT = 30_000;

/** The parts of {@link ServedRuns}. */
export interface ServedRunsParts {
  readonly journal: Journal;
  readonly open: TeamOpener;
  readonly feeds: RunFeeds;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A run that a request began, or had begun before. */
export interface StartedRun {
  readonly summary: RunSummary;
  /** False when the same request had begun it before. */
  readonly isNew: boolean;
}

/** The options that every run of a tenant gets. */
type Common = Pick<ResumeOptions, "signal" | "pools" | "limits">;

/**
 * The runs that a server drives. It owns them, their teams, and the order of the requests that change one run.
 *
 * ServedRuns.V1 (`#inTurn`) requests that start, resume, answer or fork a run come one after the other.
 * ServedRuns.V2 (`start`) a request with the same key or id begins one run, also across a restart: the id follows from the key, and the record has
 * the hash of the request.
 * ServedRuns.V3 (`#drive`) a tenant has no more runs under way than its bound; a place is taken before anything is awaited.
 * ServedRuns.V4 (`close`) a run that the close of the server stops is recorded as such, and goes on at the next start.
 * ServedRuns.V5 (`close`) afterwards no run is under way and every team is closed, those of requests that the close met included.
 */
export class ServedRuns {
  readonly #parts: ServedRunsParts;
  readonly #summaries: RunSummaries;
  readonly #driven = new Map<string, DrivenRun>();
  /** The places of runs by tenant, those that are starting included. */
  readonly #places = new Map<TenantAccount, number>();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #deadlines: Deadlines;
  /** The runs under way, until their teams are closed. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(parts: ServedRunsParts, summaries: (driven: (runId: string) => "running" | "paused" | undefined) => RunSummaries) {
    this.#parts = parts;
    this.#deadlines = new Deadlines(parts.clock, parts.logger);
    this.#summaries = summaries((runId) => this.#driven.get(runId)?.status);
  }

  /** Goes on with a run at rest when a deadline of its questions after this time has passed. */
  watchDeadlines(account: TenantAccount, runId: string, questions: readonly PendingQuestion[], after: number): void {
    this.#deadlines.watch(runId, { questions, after, resume: () => this.resume(account, runId, {}) });
  }

  get summaries(): RunSummaries {
    return this.#summaries;
  }

  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** The number of runs under way. */
  get count(): number {
    return this.#driven.size;
  }

  /** Starts a run. @param key makes the request safe to repeat @throws JournalError `RUN_IDEA_DIFFERS`, and the errors of `Team.run` */
  start(account: TenantAccount, asked: StartRequest, key: string | undefined): Promise<StartedRun> {
    const { idea, rounds, budget } = asked;
    const id = this.#idFor(account, asked.id, key);
    const request = hashOf(canonicalJson({ idea, rounds: rounds ?? null, budget: budget ?? null }));
    return this.#inTurn(id, () =>
      this.#once(id, request, () =>
        this.#drive(account, { runId: id, purpose: "start", idea }, (opened, common) =>
          opened.team.run(idea, { ...common, ...bounds(asked, opened), id, about: markedAbout(opened, account, request) }),
        ),
      ),
    );
  }

  /** Forks a run. @throws the errors of `Team.fork` */
  fork(account: TenantAccount, parent: string, asked: ForkRequest, key: string | undefined): Promise<StartedRun> {
    const { at, change, add, reuse } = asked;
    const id = this.#idFor(account, asked.id, key);
    const { id: _id, ...content } = asked;
    const request = hashOf(canonicalJson({ ...content, parent } as unknown as Json));
    const last = at ?? Math.max(-1, ...(change ?? []).map(({ seq }) => seq));
    const past = { runId: parent, ...(last < 0 ? {} : { at: last }) };
    return this.#inTurn(id, () =>
      this.#once(id, request, () =>
        this.#drive(account, { runId: id, purpose: "fork", parent: past }, (opened, common) =>
          opened.team.fork(parent, {
            ...common,
            ...bounds(asked, opened),
            id,
            about: markedAbout(opened, account, request),
            ...(at === undefined ? {} : { at }),
            ...(change === undefined ? {} : { change: change as readonly MessageChange[] }),
            ...(add === undefined ? {} : { add }),
            ...(reuse === undefined ? {} : { reuse }),
          }),
        ),
      ),
    );
  }

  /** Goes on with a run. One that is under way stays as it is. */
  resume(account: TenantAccount, runId: string, asked: ContinueRequest): Promise<RunSummary> {
    return this.#inTurn(runId, async () => {
      if (!this.#driven.has(runId)) {
        await this.#drive(account, { runId, purpose: "resume" }, ({ team, ...opened }, common) =>
          team.resume(runId, { ...common, ...bounds(asked, opened), ...continuation(asked) }),
        );
      }
      return this.#summaries.of(runId);
    });
  }

  /**
   * Answers a question of a run. Where other roles still work it waits until the run is at rest.
   *
   * @throws JournalError `QUESTION_UNKNOWN`, `QUESTION_ANSWERED`, `QUESTION_GIVEN_UP`; UsageError `RUN_ACTIVE`
   */
  answer(account: TenantAccount, runId: string, question: string, answer: Json): Promise<RunSummary> {
    return this.#inTurn(runId, async () => {
      const { questions = [] } = await this.#summaries.of(runId);
      const isOpen = questions.some(({ id }) => id.startsWith(question));
      if (isOpen && this.#driven.get(runId)?.status === "paused") throw active(runId, "it is paused. End the pause, then answer.");
      if (isOpen && !(await this.#rests(runId))) throw active(runId);
      if (!isOpen && this.#driven.has(runId)) throw await this.#notWaiting(runId, question, questions);
      await this.#drive(account, { runId, purpose: "resume" }, ({ team, ...opened }, common) =>
        team.answer(runId, question, answer as string, { ...common, ...bounds({}, opened) }),
      );
      return this.#summaries.of(runId);
    });
  }

  /** Publishes a message into a run, wherever it stands. */
  publish(account: TenantAccount, runId: string, asked: OutsideMessage): Promise<RunReceipt> {
    const message = messageOf(asked);
    return this.change(account, runId, (team) => team.send(runId, message));
  }

  /** Makes a change from outside in a run, wherever it stands: by the team that drives it, or by one that is opened for it. */
  async change<T>(account: TenantAccount, runId: string, work: (team: Team) => Promise<T>): Promise<T> {
    const driven = this.#driven.get(runId);
    if (driven !== undefined) return work(driven.opened.team);
    return this.#inTurn(runId, async () => {
      const now = this.#driven.get(runId);
      if (now !== undefined) return work(now.opened.team);
      const opened = await this.#opened(account, { runId, purpose: "message" });
      try {
        return await work(opened.team);
      } finally {
        await this.#closed(opened, runId);
      }
    });
  }

  /** Pauses a run, or ends its pause. @throws UsageError `RUN_INACTIVE` */
  async pause(runId: string, isPaused: boolean): Promise<RunSummary> {
    const driven = this.#driven.get(runId);
    if (driven === undefined) {
      throw new UsageError("RUN_INACTIVE", `Expected a run that this server drives, but ${runId} is at rest. Go on with it by resume.`);
    }
    if (isPaused) driven.pause();
    else driven.proceed();
    return this.#summaries.of(runId);
  }

  /** Stops a run, and resolves when it is at rest. One that is at rest stays as it is. @throws UsageError `RUN_ACTIVE` */
  async stop(runId: string): Promise<RunSummary> {
    this.#driven.get(runId)?.stop();
    if (!(await this.#rests(runId))) throw active(runId);
    return this.#summaries.of(runId);
  }

  /** Replays a run from its record. One replay of a tenant at a time. */
  replay(account: TenantAccount, runId: string, signal: AbortSignal): Promise<{ equal: boolean; events: number; difference?: string }> {
    return this.#inTurn(`replay of ${account.name}`, async () => {
      const ends = eitherSignal(signal, this.#closing.signal);
      throwIfAborted(ends);
      const opened = await this.#opened(account, { runId, purpose: "replay" });
      try {
        const run = opened.team.replay(runId, { signal: ends });
        const { error } = await run.result;
        const { events } = await this.#summaries.standing(runId);
        if (error instanceof DifferenceError) return { equal: false, events, difference: error.message };
        if (error instanceof JournalError || error instanceof UsageError || error instanceof ControlError) throw error;
        return { equal: true, events };
      } finally {
        await this.#closed(opened, runId);
      }
    });
  }

  /**
   * Stops every run so that it goes on at the next start. No activation begins any more; steps in flight get `grace` milliseconds to end.
   */
  async close(grace: number): Promise<void> {
    this.#closing.abort(new ControlError(SERVER_CLOSING, closing().message));
    this.#deadlines.close();
    const { clock, feeds } = this.#parts;
    const all = [...this.#driven.values()];
    for (const driven of all) driven.pause();
    await this.#within(Promise.all(all.map((driven) => driven.settled())), grace, clock);
    const left = [...this.#driven.values()];
    for (const driven of left) driven.close();
    await Promise.all(left.map(({ run }) => run.result));
    // A request that was opening a team when the close began ends by itself, and so does the run that it began.
    await Promise.allSettled(this.#turns.values());
    await Promise.all(this.#underWay);
    feeds.tellAll();
  }

  #idFor(account: TenantAccount, id: string | undefined, key: string | undefined): string {
    if (id !== undefined) return `${account.prefix}${id}`;
    if (key === undefined) return `${account.prefix}${freshRunId(this.#parts.clock.now())}`;
    return `${account.prefix}k-${hashOf(`${account.name}\n${key}`).slice(0, 32)}`;
  }

  /** Does the work unless the same request did it before. @throws JournalError `RUN_EXISTS`, `RUN_IDEA_DIFFERS` */
  async #once(id: string, request: string, work: () => Promise<unknown>): Promise<StartedRun> {
    const before = await requestOf(this.#parts.journal, id);
    if (before === undefined) await work();
    else if (before === "") throw new JournalError("RUN_EXISTS", `Expected a new id, got ${id}, which a run of another origin has.`);
    else if (before !== request) {
      const text = `Expected the request that run ${id} was begun with, got another under the same id or Idempotency-Key.`;
      throw new JournalError("RUN_IDEA_DIFFERS", `${text} Give another request an id or a key of its own.`, { data: { runId: id } });
    }
    return { summary: await this.#summaries.of(id), isNew: before === undefined };
  }

  async #opened(account: TenantAccount, request: Omit<TeamRequest, "tenant" | "pool">): Promise<OpenedTeam> {
    return this.#parts.open({ ...request, tenant: account.name, ...(account.pool === undefined ? {} : { pool: account.pool }) });
  }

  async #closed({ close }: OpenedTeam, runId: string): Promise<void> {
    try {
      await close?.();
    } catch (error) {
      this.#parts.logger.error("A team was not closed in good order.", { run: runId, reason: errorRecord(error).message });
    }
  }

  /** Drives a run from now on, and resolves when it goes on. @throws UsageError `RUNS_TOO_MANY`, `SERVER_CLOSING`; the error of a run that was refused */
  async #drive(
    account: TenantAccount,
    request: Omit<TeamRequest, "tenant" | "pool">,
    begin: (opened: OpenedTeam, common: Common) => Run | Promise<Run>,
  ): Promise<void> {
    const leave = this.#takePlace(account);
    const { runId } = request;
    let opened: OpenedTeam | undefined;
    let driven: DrivenRun | undefined;
    try {
      opened = await this.#opened(account, request);
      if (this.isClosing) throw closing();
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
      if (this.isClosing) driven.close();
      if (!isAnswered) await driven.begun();
    } catch (error) {
      if (driven === undefined) {
        leave();
        if (opened !== undefined) await this.#closed(opened, runId);
      }
      throw error;
    }
  }

  async #untilRest(runId: string, driven: DrivenRun, leave: () => void): Promise<void> {
    const { feeds, logger } = this.#parts;
    this.#driven.set(runId, driven);
    feeds.driven(runId, driven.run);
    const result = await driven.run.result;
    if (this.#driven.get(runId) === driven) this.#driven.delete(runId);
    leave();
    feeds.ended(runId);
    logRest(logger, driven.account.name, result);
    await this.#closed(driven.opened, runId);
    this.watchDeadlines(driven.account, runId, result.questions, this.#parts.clock.now());
  }

  #takePlace(account: TenantAccount): () => void {
    if (this.isClosing) throw closing();
    const taken = this.#places.get(account) ?? 0;
    if (taken >= account.mostRuns) {
      const text = `Expected at most ${account.mostRuns} runs under way, got one more. Wait until one is at rest.`;
      throw new UsageError("RUNS_TOO_MANY", text, { data: { limit: account.mostRuns } });
    }
    this.#places.set(account, taken + 1);
    return () => this.#places.set(account, (this.#places.get(account) ?? 1) - 1);
  }

  #grew(account: TenantAccount, event: RunEvent): void {
    logEvent(this.#parts.logger, account.name, event);
    this.#parts.feeds.grew(event);
  }

  /** True once the run is at rest; false when that takes too long. */
  async #rests(runId: string): Promise<boolean> {
    const driven = this.#driven.get(runId);
    return driven === undefined || this.#within(driven.run.result, REST_LIMIT, this.#parts.clock);
  }

  async #within(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
    let cancel = (): void => {};
    const late = new Promise<boolean>((resolve) => (cancel = clock.timer(ms, () => resolve(false))));
    const isDone = await Promise.race([work.then(() => true), late]);
    cancel();
    return isDone;
  }

  async #notWaiting(runId: string, id: string, waiting: NonNullable<RunSummary["questions"]>): Promise<JournalError> {
    const { closedQuestion } = await import("../runtime/record/questions.ts");
    return closedQuestion(this.#parts.journal.read(runId, 0), { runId, id, waiting });
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(key);
    const turn = (before ?? Promise.resolve()).catch(() => undefined).then(work);
    this.#turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }
}

function bounds(
  { rounds, budget }: { readonly rounds?: number | undefined; readonly budget?: number | undefined },
  opened: Pick<OpenedTeam, "rounds">,
): Pick<ResumeOptions, "rounds"> & { readonly budget?: MicroUsd } {
  const most = rounds ?? opened.rounds;
  return { ...(most === undefined ? {} : { rounds: most }), ...(budget === undefined ? {} : { budget: budget as MicroUsd }) };
}

function messageOf({ content, id, sendTo, causeBy }: OutsideMessage): Message | string {
  const fields = {
    ...(id === undefined ? {} : { id }),
    ...(sendTo === undefined ? {} : { sendTo }),
    ...(causeBy === undefined ? {} : { causeBy }),
  };
  return Object.keys(fields).length === 0 ? content : createMessage(content, fields);
}

function continuation({ reuse, onTeamChange }: ContinueRequest): Pick<ResumeOptions, "reuse" | "onTeamChange"> {
  return { ...(reuse === undefined ? {} : { reuse }), ...(onTeamChange === undefined ? {} : { onTeamChange }) };
}

function active(runId: string, why: string = "its roles still work. Try again when it waits."): UsageError {
  return new UsageError("RUN_ACTIVE", `Expected run ${runId} to come to rest, but ${why}`);
}

function closing(): UsageError {
  return new UsageError(SERVER_CLOSING, "Expected a server that takes work, but this one is closing. Try again when it has started.");
}
