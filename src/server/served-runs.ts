import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { defined } from "../kernel/value-kind.ts";
import { ControlError, DifferenceError, JournalError, UsageError, errorRecord } from "../kernel/errors.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";
import type {
  ContinueRequest,
  ContinueTerms,
  ForgetRequest,
  ForkRequest,
  MessageRequest,
  OutsideMessage,
  ReplayReport,
  SignalRequest,
  StartRequest,
  TeamChangeTerms,
} from "../client/wire.ts";
import { abortWith, throwIfAborted } from "../kernel/abort.ts";
import { freshRunId } from "../kernel/id.ts";
import { canonicalJson, type Json } from "../kernel/json.ts";
import type { Message } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";
import { signalMessage } from "../runtime/record/signals.ts";
import type { RunSummary } from "../runtime/record/run-summary.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { MessageChange } from "../runtime/replay/fork-copy.ts";
import type { Forgotten } from "../team/forget.ts";
import type { RunReceipt } from "../team/publishing.ts";
import type { Run } from "../team/run.ts";
import type { Team } from "../team/team.ts";
import type { OnTeamChange } from "../team/crew.ts";
import type { ResumeOptions } from "../team/team-options.ts";
import { DrivenRuns } from "./driven-runs.ts";
import type { RunFeeds } from "./run-feed.ts";
import type { OpenedTeam, ServerSettings } from "./server-options.ts";
import { bounds, hashOf, markedAbout, messageOf, namingOwn, readBy, requestOf, scopeOf } from "./server-requests.ts";
import type { RunSummaries } from "./summaries.ts";
import type { TenantAccount } from "./tenants.ts";

const REST_LIMIT = 30_000;

export interface ServedRunsParts extends Pick<ServerSettings, "journal" | "open" | "onTeamChange" | "stores" | "caches"> {
  readonly feeds: RunFeeds;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly accounts: readonly TenantAccount[];
  readonly rested: (account: TenantAccount, runId: string, result: RunResult) => void;
}

export interface GivenAnswer {
  readonly question: string;
  readonly answer: Json;
}

export interface StartedRun {
  readonly summary: RunSummary;
  readonly isNew: boolean;
}

/**
 * The requests that begin and change the runs of a server. It owns their order.
 *
 * ServedRuns.V1 (`#inTurn`) requests that start, resume, answer or fork a run come one after the other. A request with the same key or id
 * begins one run, also across a restart: the id follows from the key, and the record has the hash of the request (`#once`). A pause outlives the
 * server: its close records the run as stopped by `SERVER_PAUSED`, and the end of the pause resumes it.
 */
export class ServedRuns {
  readonly #parts: ServedRunsParts;
  readonly summaries: RunSummaries;
  readonly #driven: DrivenRuns;
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #deadlines: Deadlines;

  constructor(parts: ServedRunsParts, summaries: (driven: (runId: string) => "running" | "paused" | undefined) => RunSummaries) {
    this.#parts = parts;
    this.#deadlines = new Deadlines(parts.clock, parts.logger);
    const rested = async (account: TenantAccount, { id, result }: Run): Promise<void> => {
      const ended = await result;
      this.watchDeadlines(account, id, ended.status === "waiting" ? ended.questions : [], parts.clock.now());
      parts.rested(account, id, ended);
    };
    this.#driven = new DrivenRuns({ ...parts, rested });
    this.summaries = summaries((runId) => this.#driven.get(runId)?.status);
  }

  watchDeadlines(account: TenantAccount, runId: string, questions: readonly PendingQuestion[], after: number): void {
    this.#deadlines.watch(runId, { questions, after, resume: () => this.resume(account, runId, {}) });
  }

  get isClosing(): boolean {
    return this.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#driven.signal;
  }

  isDriven(runId: string): boolean {
    return this.#driven.get(runId) !== undefined;
  }

  /** Starts a run. @param key makes the request safe to repeat, where it names no id @throws JournalError `RUN_IDEA_DIFFERS`, and the errors of `Team.run` */
  start(account: TenantAccount, asked: StartRequest, key: string | undefined): Promise<StartedRun> {
    const { idea, files, rounds = null, budget = null, user } = asked;
    const id = this.#idFor(account, asked.id, key);
    const request = hashOf(canonicalJson({ idea, rounds, budget, ...defined({ user, files }) }));
    const said = messageOf({ content: idea, ...defined({ files }) });
    const scope = scopeOf(account, id, user);
    return this.#once(id, request, () =>
      this.#driven.drive(account, { runId: id, purpose: "start", idea }, (opened, common) =>
        opened.team.run(said, { ...common, ...bounds(asked, opened), id, about: markedAbout(opened, account, request), scope }),
      ),
    );
  }

  fork(account: TenantAccount, parent: string, { id: given, ...asked }: ForkRequest, key: string | undefined): Promise<StartedRun> {
    const { at, change, add, reuse } = asked;
    const id = this.#idFor(account, given, key);
    const request = hashOf(canonicalJson({ ...asked, parent } as unknown as Json));
    const last = at ?? Math.max(-1, ...(change ?? []).map(({ seq }) => seq));
    const past = { runId: parent, ...(last < 0 ? {} : { at: last }) };
    return this.#once(id, request, () =>
      this.#driven.drive(account, { runId: id, purpose: "fork", parent: past }, (opened, common) =>
        opened.team.fork(parent, {
          ...common,
          ...bounds(asked, opened),
          id,
          about: markedAbout(opened, account, request),
          ...(at === undefined ? {} : { at }),
          ...(change && { change: change as readonly MessageChange[] }),
          ...(add && { add }),
          ...(reuse && { reuse }),
        }),
      ),
    );
  }

  resume(account: TenantAccount, runId: string, { add = [], ...terms }: ContinueRequest): Promise<RunSummary> {
    return this.#inTurn(runId, async () => {
      await this.#assertUser(runId, add);
      const news = add.map(messageOf);
      const driven = this.#driven.get(runId);
      const isLate = driven !== undefined && (await isLeft(driven.opened.team, runId, news));
      if (isLate) await this.#driven.rests(runId, REST_LIMIT);
      if (isLate || driven === undefined) {
        await this.#continued(account, runId, terms, (team, o) => team.resume(runId, { ...o, add: isLate ? [] : news }));
      }
      return this.summaries.of(runId);
    });
  }

  async #continued(
    account: TenantAccount,
    runId: string,
    { reuse, onTeamChange = this.#parts.onTeamChange, ...asked }: ContinueTerms,
    begin: (team: Team, o: Omit<ResumeOptions, "budget"> & { readonly budget?: MicroUsd }) => Run | Promise<Run>,
  ): Promise<void> {
    await this.#driven.drive(account, { runId, purpose: "resume", onTeamChange }, ({ team, ...opened }: OpenedTeam, common) =>
      begin(team, { ...common, ...bounds(asked, opened), onTeamChange, ...(reuse && { reuse }) }),
    );
  }

  answer(account: TenantAccount, runId: string, { question, answer }: GivenAnswer, terms: ContinueTerms): Promise<RunSummary> {
    return this.#inTurn(runId, async () => {
      const { questions = [] } = await this.summaries.of(runId);
      const isOpen = questions.some(({ id }) => id.startsWith(question));
      if (isOpen && this.#driven.get(runId)?.status === "paused") throw active(runId, "it is paused. End the pause, then answer.");
      if (isOpen && !(await this.#driven.rests(runId, REST_LIMIT))) throw active(runId);
      if (!isOpen && this.isDriven(runId)) {
        const { closedQuestion } = await import("../runtime/record/questions.ts");
        throw await closedQuestion(this.#parts.journal.read(runId, 0), { runId, id: question, waiting: questions });
      }
      await this.#continued(account, runId, terms, (team, o) => team.answer(runId, question, answer, o));
      return this.summaries.of(runId);
    });
  }

  async awaken(account: TenantAccount, runId: string, name: string, { value, id, ...terms }: SignalRequest): Promise<RunSummary> {
    const message = signalMessage(name, value, { id, now: this.#parts.clock.now() });
    const { waits } = await this.change(account, runId, terms, (team, o) => team.send(runId, message, o));
    if (!waits) return this.summaries.of(runId);
    await this.#driven.rests(runId, REST_LIMIT);
    return this.resume(account, runId, terms);
  }

  async publish(account: TenantAccount, runId: string, asked: MessageRequest): Promise<RunReceipt> {
    const message = messageOf(asked);
    await this.#assertUser(runId, [asked]);
    return this.change(account, runId, asked, (team, o) => team.send(runId, message, o));
  }

  async change<T>(
    account: TenantAccount,
    runId: string,
    { onTeamChange = this.#parts.onTeamChange }: TeamChangeTerms,
    change: (team: Team, o: { readonly onTeamChange: OnTeamChange }) => Promise<T>,
  ): Promise<T> {
    const work = (team: Team): Promise<T> => change(team, { onTeamChange });
    const driven = this.#driven.get(runId);
    if (driven !== undefined) return work(driven.opened.team);
    return this.#inTurn(runId, async () => {
      const now = this.#driven.get(runId);
      if (now !== undefined) return work(now.opened.team);
      return this.#driven.with(account, { runId, purpose: "message" }, (team) =>
        work(team).finally(() => this.#parts.feeds.changed(runId)),
      );
    });
  }

  look<T>(account: TenantAccount, read: (team: Team) => T): Promise<T> {
    return this.#inTurn(`look of ${account.name}`, () => this.#driven.with(account, { runId: "", purpose: "look" }, read));
  }

  forget(account: TenantAccount, asked: ForgetRequest): Promise<Forgotten> {
    const whose = "user" in asked ? { user: asked.user } : { conversation: account.runIdOf(asked.conversation) };
    const scope = account.name === "" ? whose : { ...whose, tenant: account.name };
    const { stores, caches, accounts } = this.#parts;
    const forgotten = (team: Team): Promise<Forgotten> =>
      team.forget(scope, { stores, caches, runs: readBy(account, accounts) }).catch((error: unknown) => {
        throw namingOwn(account, error);
      });
    return this.#inTurn(`forget of ${account.name}`, () => this.#driven.with(account, { runId: "", purpose: "look" }, forgotten));
  }

  async pause(runId: string): Promise<RunSummary> {
    const driven = this.#driven.get(runId);
    const summary = await this.summaries.of(runId);
    if (driven === undefined && summary.status !== "paused") throw inactive(runId);
    driven?.pause();
    return driven === undefined ? summary : this.summaries.of(runId);
  }

  async proceed(account: TenantAccount, runId: string, terms: ContinueTerms): Promise<RunSummary> {
    const driven = this.#driven.get(runId);
    driven?.proceed();
    const summary = await this.summaries.of(runId);
    if (driven !== undefined) return summary;
    if (summary.status !== "paused") throw inactive(runId);
    return this.resume(account, runId, terms);
  }

  async stop(runId: string): Promise<RunSummary> {
    this.#driven.get(runId)?.stop();
    if (!(await this.#driven.rests(runId, REST_LIMIT))) throw active(runId);
    return this.summaries.of(runId);
  }

  /** One replay of a tenant works at a time. */
  replay(account: TenantAccount, runId: string, signal: AbortSignal): Promise<ReplayReport> {
    const either = new AbortController();
    const leaves = [signal, this.signal].map((outer) => abortWith(either, outer));
    const leave = (): void => leaves.forEach((letGo) => letGo());
    return this.#inTurn(`replay of ${account.name}`, () => this.#replayed(account, runId, either.signal)).finally(leave);
  }

  async #replayed(account: TenantAccount, runId: string, signal: AbortSignal): Promise<ReplayReport> {
    throwIfAborted(signal);
    return this.#driven.with(account, { runId, purpose: "replay" }, async (team) => {
      const { error } = await team.replay(runId, { signal }).result;
      const { events } = await this.summaries.standing(runId);
      if (error instanceof DifferenceError) return { equal: false, events, difference: error.message };
      if (error instanceof JournalError || error instanceof UsageError || error instanceof ControlError) throw error;
      return { equal: true, events };
    });
  }

  async close(grace: number): Promise<void> {
    this.#deadlines.close();
    await this.#driven.close(grace, () => Promise.allSettled(this.#turns.values()));
  }

  async #assertUser(runId: string, messages: readonly OutsideMessage[]): Promise<void> {
    const users = messages.flatMap(({ user }) => user ?? []);
    if (users.length === 0) return;
    const { scope } = await this.summaries.of(runId);
    if (users.every((user) => user === scope?.user)) return;
    const text = `Expected a message of the user that run ${runId} was begun for, got one of another. Begin a run for them.`;
    throw new UsageError("USER_DIFFERS", text);
  }

  #idFor(account: TenantAccount, id: string | undefined, key: string | undefined): string {
    if (id !== undefined) return account.runIdOf(id);
    if (key === undefined) return `${account.prefix}${freshRunId(this.#parts.clock.now())}`;
    return `${account.prefix}k-${hashOf(`${account.name}\n${key}`).slice(0, 32)}`;
  }

  /** Does the work in its turn, unless the same request did it before. @throws JournalError `RUN_EXISTS`, `RUN_IDEA_DIFFERS` */
  #once(id: string, request: string, work: () => Promise<unknown>): Promise<StartedRun> {
    return this.#inTurn(id, async () => {
      const before = await requestOf(this.#parts.journal, id);
      if (before === undefined) await work();
      else if (before === "") throw new JournalError("RUN_EXISTS", `Expected a new id, got ${id}, which a run of another origin has.`);
      else if (before !== request) {
        const text = `Expected the request that run ${id} was begun with, got another under the same id or Idempotency-Key.`;
        throw new JournalError("RUN_IDEA_DIFFERS", `${text} Give another request an id or a key of its own.`, { data: { runId: id } });
      }
      return { summary: await this.summaries.of(id), isNew: before === undefined };
    });
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(key) ?? Promise.resolve()).catch(() => undefined).then(work);
    this.#turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }
}

/** Sends messages into a run under way. @returns true where it had ended before one of them came */
async function isLeft(team: Team, runId: string, news: readonly (Message | string)[]): Promise<boolean> {
  let waits = false;
  for (const message of news) waits = (await team.send(runId, message)).waits || waits;
  return waits;
}

function active(runId: string, why: string = "its roles still work. Try again when it waits."): UsageError {
  return new UsageError("RUN_ACTIVE", `Expected run ${runId} to come to rest, but ${why}`);
}

function inactive(runId: string): UsageError {
  return new UsageError("RUN_INACTIVE", `Expected a run that this server drives, but ${runId} is at rest. Resume it.`);
}

/** Milliseconds until a run that found no place tries again. */
const NEXT_TRY = 60_000;

interface Watch {
  readonly questions: readonly PendingQuestion[];
  /** Milliseconds since 1970: deadlines up to here count no more, because the run was resumed after them. */
  readonly after: number;
  readonly resume: () => Promise<unknown>;
}

/**
 * Resumes runs when the deadline of a question passes, so that its default is taken. It owns one timer for each, set again after a restart.
 *
 * Deadlines.D1 (`watch`) a run resumes once the earliest of its deadlines with a default has passed. Deadlines.D2 (`close`) afterwards no run resumes and no timer is set.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #timers = new Map<string, () => void>();
  #isClosed = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  watch(runId: string, { questions, after, resume }: Watch): void {
    this.#timers.get(runId)?.();
    this.#timers.delete(runId);
    const due = questions.flatMap(({ deadline, default: byDefault }) =>
      deadline === undefined || byDefault === undefined ? [] : [deadline],
    );
    const open = due.filter((deadline) => deadline > after);
    if (open.length > 0) this.#wait(runId, Math.max(0, Math.min(...open) - this.#clock.now()), resume);
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #wait(runId: string, ms: number, resume: Watch["resume"]): void {
    if (this.#isClosed) return;
    const cancel = this.#clock.timer(ms, () => {
      this.#timers.delete(runId);
      resume().catch((error: unknown) => {
        const { code, message } = errorRecord(error);
        this.#logger.warn("A run does not resume after the deadline of a question.", { run: runId, code, reason: message });
        if (code === "RUNS_TOO_MANY" && !this.#timers.has(runId)) this.#wait(runId, NEXT_TRY, resume);
      });
    });
    this.#timers.set(runId, cancel);
  }
}
