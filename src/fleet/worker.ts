import { type Clock, sleep } from "../kernel/clock.ts";
import { MovedError } from "../kernel/control-errors.ts";
import { errorRecord } from "../kernel/errors.ts";
import { newestRuns } from "../runtime/record/journal.ts";
import { defined } from "../kernel/value-kind.ts";
import { parseMessage } from "../message/message.ts";
import { unmetered } from "../model/meter.ts";
import type { RunResult } from "../runtime/run-result.ts";
import { type LastEvent, lastOf } from "./growth.ts";
import type { Delivery, RunJob, Handled, Working } from "../team/run-driver.ts";
import { PASSING_CODES } from "../team/passing-errors.ts";
import type { Run } from "../team/run.ts";
import { StepsInFlight } from "../team/steps-in-flight.ts";
import type { ResumeOptions } from "../team/team-options.ts";
import type { Team } from "../team/team.ts";
import { Isolation, MAX_ALONE, mayEndProcess, type Slot } from "./isolation.ts";
import { DrivenFolder } from "./driven-folder.ts";
import { type WorkerOptions, type WorkerSettings, workerSettings } from "./worker-options.ts";

/** A worker that takes runs from an engine and drives them. */
export interface Worker {
  /** Resolves when the worker has drained. Rejects when the engine has lost it: then its process should end. */
  readonly ended: Promise<void>;
  readonly runs: number;
  readonly isDraining: boolean;
  /** Takes no further run, stops its runs at the next recorded point, and gives them back. Resolves when all are given back. */
  drain(): Promise<void>;
}

/** Milliseconds until a run that could not continue is delivered again: doubled each time. */
const FIRST_PAUSE = 500;
const MAX_PAUSE = 30_000;

const WAIT_FOR_SLOT = 30_000;
const AFTER_WAIT = 5_000;
/** Limit on the remembered runs without a slot. The oldest is forgotten first. */
const MAX_REFUSED = 10_000;

/**
 * Starts a worker: it takes the runs of its teams from the driver and drives each to its end. Runs are submitted by `team.submit`, in any
 * process. A run that has come to rest is done; one that waits for an answer comes back when its deadline has passed.
 *
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`; errors of the driver; JournalError for a journal that cannot be read
 * @example
 * import { defineAction, defineRole, memoryJournal, Team } from "troupe";
 * import { startWorker } from "troupe/fleet";
 * import { memoryRunDriver } from "troupe/testing";
 *
 * const [journal, driver] = [memoryJournal(), memoryRunDriver()];
 * const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
 * const team = new Team({ name: "shouters", roles: [defineRole({ name: "Sam", actions: [Shout] })], journal, driver });
 * const worker = await startWorker({ driver, journal, teams: [team] });
 * const runId = await team.submit("hello", { id: "greeting" });
 * while ((await driver.list({ limit: 1 })).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
 * for await (const event of journal.read(runId, 0)) if (event.type === "run.ended") console.log(event.status); // finished
 * await worker.drain();
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const settings = workerSettings(options);
  const worker = new FleetWorker(settings);
  const { driver, journal, teams, concurrency } = settings;
  // A worker that cannot read the journal would fail every delivery.
  await newestRuns(journal, { limit: 1 });
  worker.began(await driver.work((delivery) => worker.handle(delivery), { teams: [...teams.keys()], concurrency }));
  return worker;
}

/**
 * The runs that a worker has. It owns the set of them.
 *
 * FleetWorker.W1 (`handle`) a run is driven once at a time in this process.
 * FleetWorker.W2 (`#drive`) a run that has come to rest since its job was made is not driven again, so a second delivery repeats nothing.
 * FleetWorker.W3 (`#verdict`) a job is done only when its run is at rest, or was given up and that was logged.
 * FleetWorker.W4 (`drain`) afterwards every run is at rest or given back.
 * FleetWorker.W5 (`#slot`) a run whose owner died and that has recorded no answer since runs alone, so that a further death counts against it
 * only. It runs beside others when it got no slot without them for `MAX_ALONE`.
 * FleetWorker.W6 (`#notNow`) a run is given up after `tries` refusals: drains, deaths and errors that pass are none.
 */
class FleetWorker implements Worker {
  readonly ended: Promise<void>;
  readonly #settings: WorkerSettings;
  readonly #inHand = new Map<string, Promise<unknown>>();
  readonly #driven = new Set<Driven>();
  /** The times at which runs first got no slot without others, in milliseconds since 1970. */
  readonly #refused = new Map<string, number>();
  readonly #isolation: Isolation;
  #end: (failure?: unknown) => void = () => undefined;
  #working: Working | undefined;
  #draining: Promise<void> | undefined;
  #failure: unknown;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.#isolation = new Isolation(settings.clock);
    this.ended = new Promise((resolve, reject) => {
      this.#end = (failure) => (failure === undefined ? resolve() : reject(failure as Error));
    });
    this.ended.catch(() => undefined);
  }

  get runs(): number {
    return this.#inHand.size;
  }

  get isDraining(): boolean {
    return this.#draining !== undefined;
  }

  began(working: Working): void {
    this.#working = working;
    working.ended.catch((error: unknown) => this.#finish(error).catch(() => undefined));
    // `ended` has the failure.
    working.drain?.then(() => this.drain()).catch(() => undefined);
  }

  drain(): Promise<void> {
    return this.#finish(undefined);
  }

  async handle(delivery: Delivery): Promise<Handled> {
    const { runId } = delivery;
    for (let before = this.#inHand.get(runId); before !== undefined; before = this.#inHand.get(runId)) await before.catch(() => undefined);
    const work = this.#drive(delivery);
    this.#inHand.set(runId, work);
    try {
      return await work;
    } finally {
      this.#inHand.delete(runId);
    }
  }

  #finish(failure: unknown): Promise<void> {
    this.#failure ??= failure;
    this.#draining ??= this.#drain().then(
      () => this.#end(this.#failure),
      (error: unknown) => {
        this.#end(this.#failure ?? error);
        throw error;
      },
    );
    return this.#draining;
  }

  async #drain(): Promise<void> {
    const { logger, clock, grace } = this.#settings;
    logger.info("The worker drains.", { runs: this.runs });
    this.#isolation.close();
    const stopped = this.#working?.stop();
    await Promise.all([...this.#driven].map((driven) => driven.drain(clock, grace)));
    await stopped;
    logger.info("The worker has drained.");
  }

  async #drive(delivery: Delivery): Promise<Handled> {
    const { teams } = this.#settings;
    const { runId } = delivery;
    const team = teams.get(delivery.team);
    if (this.isDraining || team === undefined) return { is: "again", after: 0, isUntried: true };
    const before = await lastOf(this.#settings.journal, runId);
    if (isAtRest(before) && before.events > (delivery.events ?? 0)) return { is: "done" };
    const slot = await this.#slot(delivery, before);
    if (slot === undefined) return { is: "again", after: this.isDraining ? 0 : AFTER_WAIT, isUntried: true };
    try {
      return await this.#driveAt(slot, delivery, team, before);
    } finally {
      slot.leave();
    }
  }

  async #slot({ runId, signal }: Delivery, before: LastEvent): Promise<Slot | undefined> {
    const { journal, logger, clock } = this.#settings;
    const isAlone = before.events > 0 && !isAtRest(before) && (await mayEndProcess(journal, runId, before.events));
    const slot = await this.#isolation.enter({ isAlone, limit: WAIT_FOR_SLOT, signal });
    if (!isAlone || this.isDraining) return slot;
    // Those at work may never leave, or may wait for this one.
    const since = this.#refused.get(runId) ?? clock.now();
    const isShared = slot === undefined && clock.now() - since > MAX_ALONE;
    const shared = isShared ? await this.#isolation.enter({ isAlone: false, limit: WAIT_FOR_SLOT, signal }) : undefined;
    this.#refused.delete(runId);
    if (slot === undefined && shared === undefined) this.#refused.set(runId, since);
    if (this.#refused.size > MAX_REFUSED) this.#refused.delete(this.#refused.keys().next().value ?? "");
    const busy = "must run alone, and this worker is busy. It is delivered again later.";
    const beside = shared === undefined ? busy : "runs beside others, because it found no worker without them.";
    logger.warn(`A run whose owner died ${slot === undefined ? beside : "runs alone."}`, { run: runId });
    return slot ?? shared;
  }

  async #driveAt(slot: Slot, delivery: Delivery, team: Team, before: LastEvent): Promise<Handled> {
    const { logger, clock } = this.#settings;
    const { runId, attempt } = delivery;
    const began = clock.now();
    logger.info("A run begins.", { run: runId, team: team.name, attempt, events: before.events });
    let result: RunResult;
    try {
      result = await this.#result(slot, delivery, team, before.events);
    } catch (error) {
      // The team refuses the job: it has no roles, for example.
      return this.#notNow(delivery, error);
    }
    const ms = clock.now() - began;
    logger.info("A run ends.", { run: runId, team: team.name, status: result.status, ms, code: result.error?.code });
    return this.#verdict(delivery, result, before.events);
  }

  async #result(slot: Slot, delivery: Delivery, team: Team, events: number): Promise<RunResult> {
    const { onTeamChange, workspaces, workspaceEvery: every, journal, clock, logger } = this.#settings;
    const { runId, idea, about, scope } = delivery;
    const folder = workspaces && new DrivenFolder(runId, { workspaces, journal, every, clock, logger });
    const o = { signal: delivery.signal, onTeamChange, onOwned: "refuse", ...(folder && hooksOf(folder)) } as const;
    const isNew = events === 0 && idea !== undefined;
    // The files of a job have their data.
    const said = typeof idea === "object" && idea.files !== undefined ? parseMessage(idea) : (idea ?? "");
    const begin = (): Run => (isNew ? team.run(said, { ...o, id: runId, ...defined({ about, scope }) }) : team.resume(runId, o));
    // A driver of this process may deliver the run while an activation of another run submits it.
    const run = unmetered(begin);
    for (const type of ["step.ended", "act.ended"] as const) run.on(type, () => slot.share());
    const driven = new Driven(run);
    folder?.follow(run);
    this.#driven.add(driven);
    try {
      return await run.result;
    } finally {
      this.#driven.delete(driven);
    }
  }

  async #verdict(delivery: Delivery, result: RunResult, before: number): Promise<Handled> {
    const { error } = result;
    if (error === undefined) return { is: "done" };
    const now = await lastOf(this.#settings.journal, delivery.runId);
    if (error instanceof MovedError && error.isDrained) {
      const { runId, team, events = 0 } = delivery;
      return { is: "again", after: 0, isUntried: true, ...(now.events > 0 && { job: { runId, team, events } }) };
    }
    if (isAtRest(now) && now.events > before) return this.#deadline(delivery, result, now.events);
    return this.#notNow(delivery, error);
  }

  #notNow(delivery: Delivery, error: unknown): Handled {
    const { logger, tries } = this.#settings;
    const { runId, team, attempt, refusals: before = 0 } = delivery;
    const { code, message: reason } = errorRecord(error);
    const details = { run: runId, team, code, reason };
    const isPassing = PASSING_CODES.has(code) || code === "ABORTED";
    const refusals = isPassing ? before : before + 1;
    if (!isPassing && refusals >= tries) {
      logger.error("A run is given up: it cannot continue here. Submit it again when that is repaired.", details);
      return { is: "done" };
    }
    const after = Math.min(FIRST_PAUSE * 2 ** Math.min(attempt - 1, 10), MAX_PAUSE);
    const { attempt: _attempt, signal: _signal, ...job } = delivery;
    logger.warn("A run cannot continue now, and is delivered again.", { ...details, after });
    return { is: "again", after, ...(isPassing ? {} : { job: { ...job, refusals } }) };
  }

  /** A run that waits for a person continues when a deadline has passed. */
  #deadline({ runId, team }: RunJob, { status, questions }: RunResult, events: number): Handled {
    const deadlines = questions.flatMap((question) => (question.default === undefined ? [] : (question.deadline ?? [])));
    if (status !== "waiting" || deadlines.length === 0) return { is: "done" };
    const after = Math.max(0, Math.min(...deadlines) - this.#settings.clock.now());
    return { is: "again", after, job: { runId, team, events } };
  }
}

/**
 * A run that this worker drives. It owns the drain of the run.
 *
 * Driven.R1 (`drain`) a run is given back when no step of it is in flight, or when the time is up.
 */
class Driven {
  readonly #run: Run;
  readonly #steps = new StepsInFlight();

  constructor(run: Run) {
    this.#run = run;
    for (const type of ["step.started", "step.ended", "run.ended"] as const) run.on(type, (event) => this.#steps.note(event));
  }

  async drain(clock: Clock, limit: number): Promise<void> {
    this.#run.pause();
    const late = new AbortController();
    await Promise.race([this.#steps.settled(), this.#run.result, sleep(clock, limit, late.signal).catch(() => undefined)]);
    late.abort();
    this.#run.drain();
  }
}

function hooksOf(folder: DrivenFolder): Required<Pick<ResumeOptions, "prepare" | "conclude">> {
  return { prepare: ({ signal }) => folder.fetch(signal), conclude: ({ error }) => folder.rest(error) };
}

function isAtRest({ last }: LastEvent): boolean {
  // An erased run had come to rest.
  return last?.type === "run.ended" || last?.type === "run.erased";
}
