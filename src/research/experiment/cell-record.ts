import { access, copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { sqlite } from "../../adapters/sqlite.ts";
import { sleep, systemClock } from "../../kernel/clock.ts";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import { deepFreeze } from "../../kernel/json.ts";
import { ifThere, succeeds } from "../../kernel/system-error.ts";
import { apply } from "../../runtime/record/apply.ts";
import { progressOf } from "../../runtime/stop-condition.ts";
import { fold, type RunEvent, type RunProgress, type RunState } from "../../index.ts";
import type { Journal, ModelLimits } from "../../ports.ts";
import { type CellJob, jobName } from "./cell.ts";
import { UseWatch } from "./cell-use.ts";
import { type AskHost, hostLimits } from "./sweep-host.ts";
import { type MoneyGate, RecordJournal } from "./record-journal.ts";

/** The place of a run's record, and when it is kept. Plain JSON, because it travels to the process of the run. */
export interface RecordRequest {
  readonly path: string;
  /** The id of the run in the file. */
  readonly id: string;
  /** `paid`: from the first call on that is not free. `read`: it is whole, and the run takes no step that it has not. */
  readonly keeps: "all" | "paid" | "read";
  /** True if the sweep has a budget. */
  readonly isBudgeted?: boolean;
  /** True if the sweep has limits of calls. */
  readonly isLimited?: boolean;
}

/** The file of the record of a run of a sweep, and its id there. */
export function recordOf(folder: string, name: string, job: Pick<CellJob, "cell" | "rep">): Pick<RecordRequest, "path" | "id"> {
  return { path: join(folder, "records", `${jobName(job)}.db`), id: `${name}-${jobName(job)}` };
}

/** Copies the file of a record that nobody writes. What a killed process wrote last is in the log beside it. */
export async function copyJournal(from: string, to: string): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"]) await rm(`${to}${suffix}`, { force: true });
  await ifThere(copyFile(`${from}-wal`, `${to}-wal`));
  await copyFile(from, to);
}

/** Removes the lock files of a record that is closed. */
export async function removeLocks(path: string): Promise<void> {
  await rm(`${path}-locks`, { recursive: true, force: true });
}

/** What `world` gives to an Environment or a team, so that its run is kept and continued. */
export interface RunRecord {
  readonly journal: Journal;
  readonly id: string;
  /** The limits of the whole sweep, if it has any. */
  readonly limits?: ModelLimits;
}

interface PastReader {
  event(event: RunEvent): void;
  begun(progress: RunProgress): void;
  checked(progress: RunProgress): void;
}

/** What became of the record of a run: begun, continued, or not kept although calls were paid. */
export type RecordUse = "kept" | "continued" | "left out";

const PATIENCE = 30_000;
const PAUSE = 25;

/**
 * The record of one run of a sweep. It owns the journal, and its file while the run lasts.
 *
 * CellRecord.C1 (`open`) a record without the start of a call to a model is removed, so such a run begins anew and publishes its first messages.
 * CellRecord.C2 (`freed`) a run is read when the process that was killed has left it.
 */
export class CellRecord {
  readonly #id: string;
  readonly #request: RecordRequest | undefined;
  readonly #ask: AskHost | undefined;
  readonly #found: Journal | undefined;
  readonly #journal: RecordJournal;
  #isTaken = false;

  private constructor(request: RecordRequest | undefined, found: Journal | undefined, ask: AskHost | undefined) {
    this.#ask = ask;
    this.#request = request;
    this.#found = found;
    this.#id = request?.id ?? "run";
    this.#journal = new RecordJournal(request && (() => sqlite({ path: request.path })), found, this.#gate);
  }

  static async open(request: RecordRequest | undefined, signal: AbortSignal, ask?: AskHost): Promise<CellRecord> {
    if (request === undefined) return new CellRecord(undefined, undefined, ask);
    const found = (await succeeds(access(request.path))) ? await foundIn(request, signal) : undefined;
    const record = new CellRecord(request, found, ask);
    if (request.keeps === "all") await record.#journal.move();
    return record;
  }

  /** The part of the setting of `world`. Reading it says that the program keeps the record. */
  take(): RunRecord {
    this.#isTaken = true;
    const limits = this.#ask === undefined || this.#request?.isLimited !== true ? undefined : hostLimits(this.#ask);
    return { journal: this.#journal, id: this.#id, ...(limits && { limits }) };
  }

  get #gate(): MoneyGate | undefined {
    const ask = this.#ask;
    if (this.#request?.keeps === "read") return readGate;
    const run = this.#id;
    if (ask === undefined || this.#request?.isBudgeted !== true) return undefined;
    return {
      bounds: "paid",
      async reserve(amount, isUnpriced) {
        if (isUnpriced)
          throw new UsageError("EXPERIMENT_BUDGET", "Expected models of known prices in a sweep with a budget. Set price of the model.");
        if ((await ask({ ask: "reserve", run, amount })) === true) return;
        throw new UsageError("EXPERIMENT_BUDGET", "Expected a call that fits the budget of the sweep. Raise the budget to continue.");
      },
      settle: async (amount, cost) => void (await ask({ ask: "settle", run, amount, cost })),
    };
  }

  /** Says what the run has spent before, and refuses a program that cannot be bounded. @throws UsageError `EXPERIMENT_BUDGET` */
  async begin(spent: number, held: number): Promise<void> {
    const { isBudgeted, isLimited } = this.#request ?? {};
    if (!this.#isTaken && (isBudgeted === true || isLimited === true))
      throw new UsageError(
        "EXPERIMENT_BUDGET",
        "Expected a world that takes run in a sweep with a budget or limits, got one that does not. Write world: ({ seed, run }) => new Environment({ seed, model, ...run }).",
      );
    if (isBudgeted === true) await this.#ask?.({ ask: "begin", run: this.#id, spent, held });
  }

  /** True for a run that was cut off, or that is read again: its first messages are in its record. */
  get isContinued(): boolean {
    return this.#found !== undefined;
  }

  /** @param isPaid true if the run made calls that are not free */
  useOf(isPaid: boolean): RecordUse | undefined {
    if (this.#request === undefined) return undefined;
    if (!this.#isTaken) return isPaid ? "left out" : undefined;
    return this.isContinued ? "continued" : "kept";
  }

  /** Goes through the record as it is now. @returns true if the run checks its stop condition again when it continues, before anything happens */
  async past(see: PastReader): Promise<boolean> {
    const state = fold([]);
    if (this.#found === undefined) return false;
    let hasBegun = false;
    for await (const event of this.#found.read(this.#id, 0)) {
      const { tick, ready } = state;
      const isIdle = ready.size === 0;
      if (!hasBegun && event.type !== "run.started" && event.type !== "message" && event.type !== "role.hired") {
        hasBegun = true;
        see.begun(progressOf(state));
      }
      apply(state, deepFreeze(event));
      see.event(event);
      if (isCheck(state, event, { tick, isIdle })) see.checked(progressOf(state));
    }
    const rounds = state.clock === "rounds" ? state.round : state.busiest;
    return rounds > 0 && state.acted + state.stage + state.pending.length === 0 && state.turn !== "begins";
  }

  async close(): Promise<void> {
    await this.#journal.end();
    if (this.#request !== undefined) await removeLocks(this.#request.path);
  }
}

/** Returns the micro-dollars that a record has; 0 where there is none. */
export async function recordedCost(path: string, id: string): Promise<number> {
  if (!(await succeeds(access(path)))) return 0;
  const file = sqlite({ path });
  const use = new UseWatch();
  try {
    for await (const event of file.read(id, 0)) use.learn(event);
  } catch (error) {
    if (!(error instanceof JournalError && error.code === "RUN_UNKNOWN")) throw error;
  } finally {
    await file.close();
  }
  return use.use.microUsd + use.held;
}

const readGate: MoneyGate = {
  bounds: "all",
  reserve: async () => {
    throw new UsageError(
      "EXPERIMENT_RECORD",
      "Expected a run whose record has all of its steps, got one that takes another: the program was changed since. Undo the change, or run it into another folder.",
    );
  },
  settle: async () => undefined,
};

async function foundIn({ path, id }: RecordRequest, signal: AbortSignal): Promise<Journal | undefined> {
  const file = sqlite({ path });
  try {
    if (await freed(file, id, signal)) {
      for await (const event of file.read(id, 0)) if (event.type === "step.started" && event.kind === "model") return file;
      await file.remove(id);
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

/** Waits until no living process has a run: one whose sweep was killed ends a moment later. @returns false for an unknown run */
async function freed(file: Journal, id: string, signal: AbortSignal): Promise<boolean> {
  const until = systemClock.now() + PATIENCE;
  for (;;) {
    try {
      const { epoch, former } = await file.claim(id);
      await file.release(id, epoch, { former });
      return true;
    } catch (error) {
      const code = error instanceof JournalError ? error.code : "";
      if (code === "RUN_UNKNOWN") return false;
      if (code !== "RUN_OWNED" || systemClock.now() >= until) throw error;
    }
    await sleep(systemClock, PAUSE, signal);
  }
}

interface Before {
  readonly tick: number;
  readonly isIdle: boolean;
}

/** True where a stop condition is checked: after a round, or after an activation without rounds, and when the clock jumped over a pause. */
function isCheck({ delivery, clock, tick }: RunState, event: RunEvent, before: Before): boolean {
  const hasRounds = delivery === "round" || clock === "rounds";
  switch (event.type) {
    case "round.ended":
      return event.stage === undefined;
    case "clock.advanced":
      return event.role === undefined && tick > before.tick && before.isIdle;
    case "act.ended":
      return !hasRounds;
    case "act.failed":
      return !hasRounds && event.then === "dead";
    default:
      return false;
  }
}
