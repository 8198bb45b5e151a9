import { aFunction, fits, having, misfit, object, orNothing, type Shape, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { deepFreeze, type Json, jsonRoundTrip } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Scope } from "../kernel/scope.ts";
import { defined, isList, isText } from "../kernel/value-kind.ts";
import { checkScope } from "../memory/memory-scope.ts";
import { withData } from "../message/file.ts";
import { type Message, parseMessage } from "../message/message.ts";
import { type Mask, masked } from "../kernel/mask.ts";
import { type Journal, knownRun } from "../runtime/record/journal.ts";
import { maskedMessage } from "../runtime/record/rewritten-event.ts";

/** A run that waits for a worker. It is plain JSON, so that any engine can keep it. */
export interface RunJob {
  readonly runId: string;
  /** The name of the team. Only workers that have this team get the job. */
  readonly team: string;
  /** The idea of a run that has not begun; without it the worker resumes the run of this id. */
  readonly idea?: string | Message;
  readonly about?: Json;
  readonly scope?: Scope;
  /** Events that the run had when the job was made. The job is done once the run has come to rest after them. Default 0. */
  readonly events?: number;
  /** Deliveries so far that ended with a lasting error, such as another version of the team. Default 0. */
  readonly refusals?: number;
}

/** A job delivered to a worker. */
export interface Delivery extends RunJob {
  /** 1 for the first delivery since the job was submitted; deliveries to workers that died count too. */
  readonly attempt: number;
  /** Aborts when the job is canceled. */
  readonly signal: AbortSignal;
}

/**
 * The end of a delivery: the job is done, or it is delivered again after at least `after` milliseconds, with another content if `job` is given.
 * A delivery that `isUntried` does not count: the next one has the same `attempt`.
 */
export type Handled =
  | { readonly is: "done" }
  | { readonly is: "again"; readonly after: number; readonly job?: RunJob; readonly isUntried?: true };

export function tried(verdict: Handled & { readonly is: "again" }, attempt: number): number {
  return verdict.isUntried === true ? attempt - 1 : attempt;
}

/** Takes a delivery. When it rejects, the job is delivered again after a pause that the engine chooses. */
export type DeliveryHandler = (delivery: Delivery) => Promise<Handled>;

/** Options of {@link RunDriver.work}. */
export interface WorkOptions {
  /** Only jobs of these teams are delivered. At least one. */
  readonly teams: readonly string[];
  /** Deliveries at the same time: a whole number of 1 or more. */
  readonly concurrency: number;
}

export interface Working {
  /** Resolves after `stop`. Rejects if the engine lost this worker: its process should then end. */
  readonly ended: Promise<void>;
  /** Optional. Resolves when the engine asks this worker to release its runs and to end. */
  readonly drain?: Promise<void>;
  /** Takes no further delivery. Resolves when all handlers have ended and the engine has their outcomes. A second call returns the same promise. */
  stop(): Promise<void>;
}

/** A job in the list of an engine. */
export interface JobInfo {
  readonly runId: string;
  readonly team: string;
  readonly state: "waiting" | "delivered";
  readonly attempts: number;
  /** Milliseconds since 1970 before which it is not delivered; undefined: it may be delivered now. */
  readonly due?: number;
}

/**
 * Delivers runs to workers, each at least once. The port of every engine: a queue, a workflow server, a cluster. It redelivers the jobs
 * of a dead worker, but not a long delivery to a living one. The engine may deliver a job to two workers at the same time, because the
 * journal lets only one of them write.
 *
 * Contract: `runDriverContract` of `troupe/testing`.
 */
export interface RunDriver {
  /** Stores a job durably. It replaces a waiting job of the same run, and follows a delivered one. @throws UsageError `OPTION_INVALID` */
  submit(job: RunJob): Promise<void>;
  /** Takes deliveries until it is stopped. Resolves when the first one can come. */
  work(handler: DeliveryHandler, o: WorkOptions): Promise<Working>;
  /** Removes the job of a run, if there is one. The signal of its delivery aborts. */
  cancel(runId: string): Promise<void>;
  /** Jobs that are not done, in the order of their submission. @param limit a whole number of 1 or more @throws UsageError `OPTION_INVALID` */
  list(o: { readonly limit: number }): Promise<readonly JobInfo[]>;
  /** Stops all workers of this driver. Closing twice is no error. */
  close(): Promise<void>;
}

/** A worker that is connected to an engine. */
export interface ConnectedWorker {
  readonly id: string;
  /** The address of its machine as seen by the engine; empty if unknown. */
  readonly address: string;
  /** Milliseconds since 1970 of its last connection. */
  readonly since: number;
  /** Jobs that it has. */
  readonly jobs: number;
}

/** A driver whose engine knows its workers, as `troupe ps` and `troupe drain` need it. */
export interface FleetDriver extends RunDriver {
  /** The workers that are connected now. */
  workers(): Promise<readonly ConnectedWorker[]>;
  /** Asks a connected worker, or all, to take no further delivery, to release its runs and to end. */
  drain(worker?: string): Promise<void>;
}

export const aRunDriver: Shape = having("a run driver", "submit", "work", "cancel", "list", "close");

const aName: Shape = { says: "a name", fits: (value) => isText(value) && value !== "" };

const workOptions: Known<WorkOptions> = {
  teams: {
    says: "a list of names, at least one",
    fits: (value) => isList(value) && value.length > 0 && value.every((name) => fits(name, aName)),
  },
  concurrency: kinds.size,
};

export function checkWork(handler: unknown, o: WorkOptions): void {
  takes("work", "handler", handler, aFunction);
  checkGivenOptions("work", o, workOptions);
  const missing = (["teams", "concurrency"] as const).find((name) => o[name] === undefined);
  if (missing !== undefined) throw misfit("OPTION_INVALID", "work", missing, undefined, workOptions[missing]);
}

export function checkListLimit(limit: unknown): void {
  if (!fits(limit, kinds.size)) throw misfit("OPTION_INVALID", "list", "limit", limit, kinds.size);
}

export function driverClosed(): UsageError {
  return new UsageError("DRIVER_CLOSED", "Expected an open run driver, but this one was closed. Make a new one.");
}

const aJob = object("the JSON of a job { runId, team, idea, about, scope, events, refusals }, made by team.submit", {
  runId: aName,
  team: aName,
  events: orNothing(kinds.count),
  refusals: orNothing(kinds.count),
});

/** Checks a job of unknown origin, such as a row of a database. @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID` */
export function parseRunJob(given: unknown): RunJob {
  if (!fits(given, aJob)) throw misfit("OPTION_INVALID", "a run driver", "what was submitted", given, aJob);
  const { runId, team, idea, about, scope, events, refusals } = jsonRoundTrip(withFileData(given as RunJob));
  checkScope("a job", scope);
  const said = idea === undefined || typeof idea === "string" ? idea : parseMessage(idea);
  // A driver passes the job on as JSON: the bytes of its files come with it.
  return deepFreeze(withFileData({ runId, team, ...defined({ idea: said, about, scope, events, refusals }) }));
}

function withFileData(job: RunJob): RunJob {
  const { idea } = job;
  if (typeof idea !== "object" || !isList(idea?.files)) return job;
  return { ...job, idea: { ...idea, files: withData(idea.files) } as Message };
}

/** Options of {@link Team.submit}. */
export interface SubmitOptions {
  /** Default: a new id. A run that the journal has is resumed, and its idea stays. */
  readonly id?: string;
  readonly about?: Json;
  readonly scope?: Scope;
}

export const submitOptions: Known<SubmitOptions> = { id: kinds.text, about: kinds.checked, scope: kinds.object };

export interface SubmittingTeam {
  readonly name: string;
  readonly journal: Journal;
  readonly mask: Mask;
  readonly driver: RunDriver | undefined;
}

export interface Submission {
  readonly runId: string;
  readonly idea: string | Message | undefined;
  readonly about: Json | undefined;
  readonly scope?: Scope | undefined;
}

export async function submitRun({ name, journal, mask, driver }: SubmittingTeam, { runId, idea, about, scope }: Submission): Promise<void> {
  if (driver === undefined) {
    throw new UsageError(
      "OPTION_INVALID",
      "Expected a team with a driver, got one without: no worker would take the run. Give it one: new Team({ driver }), or use run.",
    );
  }
  // The queue is a store, and stores get no secrets.
  const safe = typeof idea === "object" ? maskedMessage(mask, idea) : idea && mask(idea);
  await driver.submit({
    runId,
    team: name,
    ...defined({ idea: safe, about: about === undefined ? undefined : masked(mask, about), scope }),
    events: await eventsOf(journal, runId),
  });
}

export async function eventsOf(journal: Pick<Journal, "read" | "runs" | "info">, runId: string): Promise<number> {
  return (await knownRun(journal, runId))?.events ?? 0;
}
