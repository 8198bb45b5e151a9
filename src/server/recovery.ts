import { recordedState } from "../runtime/snapshot/snapshot.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { ControlError, errorRecord, JournalError, UsageError } from "../kernel/errors.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { pendingQuestions } from "../runtime/record/questions.ts";
import { openWaits, signalsFor } from "../runtime/record/signals.ts";
import { askedIn } from "../runtime/record/run-summary.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import type { RunResult } from "../runtime/run-result.ts";
import { isDone, spenderOf } from "../team/drive.ts";
import { Team } from "../team/team.ts";
import { PASSING_CODES } from "../team/passing-errors.ts";
import { SERVER_CLOSING } from "./driven-runs.ts";
import type { ServedRuns } from "./served-runs.ts";
import { serverMark } from "./server-requests.ts";
import type { TenantAccount } from "./tenants.ts";

/** Runs that are read, or resumed, at the same time while the server starts: a journal on another machine answers each after a round trip. */
const AT_ONCE = 16;
const FIRST_WAIT = 1_000;
const MAX_WAIT = 300_000;

type ServedRun = readonly [TenantAccount, runId: string];

export interface RecoveryParts {
  readonly journal: Journal;
  readonly accounts: readonly TenantAccount[];
  readonly runs: ServedRuns;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recovers: boolean;
  readonly uncertainAfter: number | undefined;
}

/**
 * Brings a server to where a former process was: its pools know what every run has spent, and its runs that were under way resume.
 *
 * Recovery.Y1 (`recover`) it ends when each run was tried once, or when the server closes.
 * Recovery.Y2 (`#again`) a run that finds no place resumes when one is free; after another failure it is tried again, ever more rarely. One that
 * its record or its team refuses is left to its tenant.
 * Recovery.Y3 (`#tried`) every try begins with the record, so a run that was resumed elsewhere is left alone.
 * Recovery.Y4 (`hasNothingLeft`) no event is read of a run at rest without questions, where the journal has its whole tally and no pool of this
 * process is charged.
 * Recovery.Y5 (`rested`) a run that this server drove, and that has no end in its record because another process took it or the journal was away, is
 * tried again in the same way. Recovery.Y6 (`#again`) at most one further try of a run waits.
 * Recovery.Y7 (`#orLater`) nothing is kept of a run that does not resume here.
 */
export class Recovery {
  readonly #parts: RecoveryParts;
  readonly #charged = new Set<string>();
  readonly #cutOff = new Map<string, number>();
  readonly #waiting = new Set<string>();

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  async recover(): Promise<number> {
    const { journal, accounts, runs } = this.#parts;
    const recorded = (await journal.runs()).flatMap(({ runId }): ServedRun[] => {
      const account = accounts.find((one) => one.owns(runId));
      return account === undefined ? [] : [[account, runId]];
    });
    const unfinished = await this.#those(recorded, (account, runId) => this.#counted(account, runId));
    const gone = await this.#those(unfinished, (account, runId) => this.#tried(account, runId));
    return runs.signal.aborted ? 0 : gone.length;
  }

  async #those(
    all: readonly ServedRun[],
    work: (account: TenantAccount, runId: string) => Promise<boolean>,
  ): Promise<readonly ServedRun[]> {
    const isOne = new Set<ServedRun>();
    const left = all[Symbol.iterator]();
    const some = async (): Promise<void> => {
      for (const run of left) {
        if (this.#parts.runs.signal.aborted) return;
        if ((await this.#orLater(...run, () => work(...run))) === true) isOne.add(run);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, some));
    return all.filter((run) => isOne.has(run));
  }

  rested(account: TenantAccount, runId: string, { error }: RunResult): void {
    const { logger, recovers } = this.#parts;
    const { code, message: reason } = error === undefined ? noError : errorRecord(error);
    if (!recovers || !PASSING_CODES.has(code)) return void this.#cutOff.delete(runId);
    const times = this.#cutOff.get(runId) ?? 0;
    this.#cutOff.set(runId, times + 1);
    const entry = { run: runId, tenant: account.name, code, reason };
    logger.warn("A run was cut off. It is tried again, unless its record has an end.", entry);
    void this.#again(account, runId, times);
  }

  /** Counts the money of a run. @returns true for a run that is to resume */
  async #counted(account: TenantAccount, runId: string): Promise<boolean> {
    const { journal, recovers, runs, uncertainAfter } = this.#parts;
    if (!isCharged(account) && uncertainAfter === undefined && (await hasNothingLeft(journal, runId))) return false;
    const state = await this.#settled(account, await stateOf(journal, runId));
    if (!this.#charged.has(runId)) await charge(account, state);
    this.#charged.add(runId);
    const waits = recovers && isServed(state) && state.phase.phase === "ended" && state.phase.status === "waiting";
    // A process may have died between a signal and the resume.
    const isSignalled = waits && openWaits(state).some((wait) => signalsFor(state.signals, wait).length > 0);
    if (isSignalled || (recovers && isUnfinished(state))) return true;
    this.#charged.delete(runId);
    if (waits) runs.watchDeadlines(account, runId, pendingQuestions(state), -Infinity);
    return false;
  }

  async #settled({ pool }: TenantAccount, state: RunState): Promise<RunState> {
    const { journal, clock, uncertainAfter: olderThan } = this.#parts;
    if (olderThan === undefined || state.phase.phase === "running" || isUnfinished(state)) return state;
    if (!state.lost.some(({ at }) => at <= clock.now() - olderThan)) return state;
    await new Team({ journal, clock, ...(pool === undefined ? {} : { budget: pool }) }).settle(state.runId, { olderThan });
    return stateOf(journal, state.runId);
  }

  async #tried(account: TenantAccount, runId: string): Promise<boolean> {
    const { runs } = this.#parts;
    if (runs.isDriven(runId) || !(await this.#counted(account, runId))) return false;
    await runs.resume(account, runId, {});
    this.#charged.delete(runId);
    return true;
  }

  async #orLater(account: TenantAccount, runId: string, work: () => Promise<boolean>, tries: number = 0): Promise<boolean | undefined> {
    const { logger, runs } = this.#parts;
    try {
      const isResumed = await work();
      if (!isResumed) this.#cutOff.delete(runId);
      return isResumed;
    } catch (error) {
      if (runs.signal.aborted) return undefined;
      const { code, message: reason } = errorRecord(error);
      const isLater = code === "RUNS_TOO_MANY" || !isFinal(error, code);
      const entry = { run: runId, tenant: account.name, code, reason };
      logger.warn(isLater ? "A run does not resume yet." : "A run does not resume.", entry);
      if (isLater) void this.#again(account, runId, code === "RUNS_TOO_MANY" ? "a place" : tries);
      else this.#cutOff.delete(runId);
      return undefined;
    }
  }

  async #again(account: TenantAccount, runId: string, wait: "a place" | number): Promise<void> {
    const { clock, runs } = this.#parts;
    if (this.#waiting.has(runId)) return;
    this.#waiting.add(runId);
    if (wait === "a place") await account.runs.free(runs.signal);
    else await sleep(clock, Math.min(FIRST_WAIT * 2 ** wait, MAX_WAIT), runs.signal).catch(() => undefined);
    this.#waiting.delete(runId);
    if (runs.signal.aborted) return;
    await this.#orLater(account, runId, () => this.#tried(account, runId), wait === "a place" ? 0 : wait + 1);
    // A run that did not resume took no place.
    account.runs.passOn();
  }
}

const noError = { code: "", message: "" } as const;

const FINAL: ReadonlySet<string> = new Set(["JOURNAL_DAMAGED", "EVENT_NEWER", "RUN_UNKNOWN", "RUN_FORGOTTEN"]);

function isFinal(error: unknown, code: string): boolean {
  if (error instanceof JournalError) return FINAL.has(code);
  return (error instanceof UsageError || error instanceof ControlError) && !PASSING_CODES.has(code);
}

async function stateOf(journal: Journal, runId: string): Promise<RunState> {
  return (await recordedState(journal, runId, (from) => journal.read(runId, from))).state;
}

function isCharged({ pool }: TenantAccount): boolean {
  for (let level = pool; level !== undefined; level = level.parent) if (level.isDurable !== true) return true;
  return false;
}

async function hasNothingLeft(journal: Journal, runId: string): Promise<boolean> {
  const { events, tally } = (await journal.info?.(runId)) ?? {};
  if (tally === undefined || events !== tally.summary.events || askedIn(tally).length > 0) return false;
  const { status, error } = tally.summary;
  return status !== "open" && status !== "empty" && error?.code !== SERVER_CLOSING;
}

async function charge({ pool }: TenantAccount, state: RunState): Promise<void> {
  const { runId, done } = state;
  for (let level = pool; level !== undefined; level = level.parent) {
    // Another process may have the account of the run open.
    if (level.isDurable === true) continue;
    const spender = spenderOf(state);
    // A run that went on after its end has an account for each of the two parts.
    if (done !== undefined && done.spent > 0) await (await level.open(runId, { spent: done.spent })).close(true);
    const lost = spender.lost?.map(([, amount]) => amount) ?? [];
    if (spender.spent > 0 || lost.length > 0) {
      const account = await level.open(spender.name, { spent: spender.spent, lost });
      await account.close(isDone(state));
    }
  }
}

function isServed({ seq, about }: Pick<RunState, "seq" | "about">): boolean {
  return seq > 0 && serverMark(about).tenant !== undefined;
}

function isUnfinished({ seq, about, phase }: RunState): boolean {
  if (!isServed({ seq, about })) return false;
  return phase.phase === "running" || (phase.status === "stopped" && phase.error?.code === SERVER_CLOSING);
}
