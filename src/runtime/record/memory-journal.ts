import { withTimeout } from "../../kernel/abort.ts";
import { type Clock, systemClock } from "../../kernel/clock.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { RunEvent } from "./event.ts";
import {
  type Claim,
  type ClaimOptions,
  COMMAND_TIMEOUT,
  type CommandOptions,
  type FormerOwner,
  type Journal,
  leftAs,
  pageOf,
  type ReleaseOptions,
  type RunInfo,
  type RunSnapshot,
  type RunsPage,
  takesEvents,
  takesRun,
  unknownRun,
} from "./journal.ts";
import { Owners } from "./owners.ts";
import { hashesIn } from "./run-files.ts";
import { TallyFold } from "./run-summary.ts";
import { Watchers } from "./watchers.ts";

/** Options of {@link memoryJournal}. */
export interface MemoryJournalOptions {
  /** Limit on runs: a new run makes it forget the oldest ended runs, never those that are under way or wait for a person. Default 1,000. */
  readonly limit?: number;
  /** The clock of the limit on commands. Default: the system's. */
  readonly clock?: Clock;
}

const memoryJournalOptions: Known<MemoryJournalOptions> = { limit: kinds.checked, clock: kinds.clock };

const DEFAULT_RUNS = 1_000;

const MAX_FORGOTTEN = 100_000;

/** Limit on the bytes of the files of all runs. */
const MOST_FILE_BYTES = 500 * 1024 * 1024;

const NO_OWNER = 0;

interface KeptRun {
  epoch: number;
  former: FormerOwner;
  readonly events: RunEvent[];
  /** Updated when a tally is read. */
  fold?: TallyFold;
  snapshot?: RunSnapshot;
  readonly files: Map<string, Uint8Array>;
}

/**
 * Makes a journal that lives as long as the process; it is the default of a team. It keeps 1,000 runs, and then forgets the oldest ones that have
 * ended: reading one throws JournalError `RUN_FORGOTTEN`.
 *
 * @throws UsageError `LIMIT_INVALID` when a limit is not a whole number of 1 or more; `OPTION_UNKNOWN`
 *
 * @example
 * import { defineAction, defineRole, memoryJournal, Team } from "troupe";
 *
 * const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
 * const journal = memoryJournal({ limit: 100 });
 * const team = new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })], journal });
 * const { runId } = await team.run("hello").result;
 * console.log((await journal.runs())[0]?.runId === runId); // true
 */
export function memoryJournal(options: MemoryJournalOptions = {}): Journal {
  checkKnownOptions("memoryJournal", options, memoryJournalOptions);
  const { limit = DEFAULT_RUNS, clock = systemClock } = options;
  if (Number.isInteger(limit) && limit >= 1) return new MemoryJournal(limit, clock);
  throw new UsageError(
    "LIMIT_INVALID",
    `Expected limit of a memory journal to be a whole number of 1 or more, got ${limit}. Leave it out for the default.`,
  );
}

/**
 * Keeps runs in memory. It owns their events, the epochs and callbacks of their owners, the watchers, and the ids of forgotten runs.
 *
 * MemoryJournal.K1 (`append`): the sequence numbers of a run are 0, 1, 2 and so on.
 * MemoryJournal.K2 (`append`): only the newest epoch of a run appends.
 * MemoryJournal.K3 (`create`): there are more runs than the limit only while none of them may be forgotten.
 * MemoryJournal.K4 (`mayForget`): a run that is under way, waits for a person, has an owner, or got a message after its end is not forgotten.
 * MemoryJournal.K5 (`#run`): a forgotten id differs from an unknown one until {@link MAX_FORGOTTEN} other runs are forgotten.
 * MemoryJournal.K7 (`#makeRoom`): the files of all runs have a bounded size. The oldest ended runs that have some are forgotten for a new one.
 * MemoryJournal.K6 (`claim`): an owner that has not released its run lives, because this journal ends with its process.
 */
class MemoryJournal implements Journal {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #runs = new Map<string, KeptRun>();
  readonly #forgotten = new Set<string>();
  readonly #owners = new Owners();
  readonly #watchers = new Watchers();
  /** The last epoch of any run, so that the owner of a removed run does not own a new run of the same id. */
  #lastEpoch = NO_OWNER;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  async create(runId: string): Promise<void> {
    takesRun("Journal.create", runId);
    if (this.#runs.has(runId))
      throw new JournalError("RUN_EXISTS", `Expected a new run id, got ${runId}, which is taken. Resume it or choose another.`);
    if (this.#forgotten.has(runId)) throw forgotten(runId);
    const over = this.#runs.size + 1 - this.#limit;
    const old = over > 0 ? [...this.#runs].filter(([, run]) => mayForget(run)).slice(0, over) : [];
    for (const [oldest] of old) this.#forget(oldest);
    this.#runs.set(runId, { epoch: NO_OWNER, former: "none", events: [], files: new Map() });
  }

  async claim(runId: string, o: ClaimOptions = {}): Promise<Claim> {
    takesRun("Journal.claim", runId);
    const run = this.#run(runId);
    if (o.ifFree === true && run.epoch !== NO_OWNER) throw owned(runId);
    const { former } = run;
    this.#lastEpoch += 1;
    run.epoch = this.#lastEpoch;
    run.former = "moved";
    this.#owners.began(runId, run.epoch, o);
    return { epoch: run.epoch, former };
  }

  async release(runId: string, epoch: number, o: ReleaseOptions = {}): Promise<void> {
    const run = this.#runs.get(runId);
    if (run?.epoch !== epoch || epoch === NO_OWNER) return;
    run.epoch = NO_OWNER;
    run.former = leftAs(o);
    this.#owners.ended(runId, epoch);
  }

  async append(runId: string, epoch: number, expectedSeq: number, events: readonly RunEvent[]): Promise<void> {
    takesEvents("Journal.append", runId, events, epoch, expectedSeq);
    const run = this.#ownedRun(runId, epoch);
    if (run.events.length !== expectedSeq) {
      throw new JournalError("SEQ_MISMATCH", `Expected event ${run.events.length} of run ${runId} next, got ${expectedSeq}.`);
    }
    for (const event of events) run.events.push(event);
    this.#watchers.grew(runId);
  }

  async rewrite(runId: string, epoch: number, events: readonly RunEvent[]): Promise<void> {
    takesEvents("Journal.rewrite", runId, events, epoch);
    const run = this.#ownedRun(runId, epoch);
    run.events.length = 0;
    for (const event of events) run.events.push(event);
    delete run.fold;
    delete run.snapshot;
    const named = hashesIn(events);
    for (const hash of run.files.keys()) if (!named.has(hash)) run.files.delete(hash);
    this.#watchers.grew(runId);
  }

  async keepSnapshot(runId: string, epoch: number, { seq, state }: RunSnapshot): Promise<void> {
    this.#ownedRun(runId, epoch).snapshot = { seq, state };
  }

  async newestSnapshot(runId: string): Promise<RunSnapshot | undefined> {
    return this.#run(runId).snapshot;
  }

  async keepFile(runId: string, epoch: number, hash: string, bytes: Uint8Array): Promise<void> {
    const { files } = this.#ownedRun(runId, epoch);
    if (!files.has(hash)) this.#makeRoom(bytes.length);
    files.set(hash, bytes);
  }

  /** @throws UsageError `FILE_TOO_LARGE` when no run with files may be forgotten */
  #makeRoom(size: number): void {
    let held = [...this.#runs.values()].reduce((sum, run) => sum + fileBytes(run), size);
    for (const [runId, run] of this.#runs) {
      if (held <= MOST_FILE_BYTES) return;
      if (run.files.size === 0 || !mayForget(run)) continue;
      held -= fileBytes(run);
      this.#forget(runId);
    }
    if (held <= MOST_FILE_BYTES) return;
    const expected = `Expected files of at most ${MOST_FILE_BYTES} bytes in the runs of a memory journal, got ${held}`;
    throw new UsageError("FILE_TOO_LARGE", `${expected}. Keep the runs on disk: sqlite({ path }).`);
  }

  async file(runId: string, hash: string): Promise<Uint8Array | undefined> {
    return this.#run(runId).files.get(hash);
  }

  async *watch(runId: string, { signal }: { readonly signal: AbortSignal }): AsyncIterable<void> {
    const run = this.#run(runId);
    yield* this.#watchers.watch(runId, signal, () => this.#runs.get(runId) === run);
  }

  async command(runId: string, command: Json, o: CommandOptions = {}): Promise<Json> {
    const { signal = new AbortController().signal, timeout = COMMAND_TIMEOUT } = o;
    this.#run(runId);
    return withTimeout(this.#clock, timeout, `an answer of the owner of run ${runId}`, signal, () => this.#owners.ask(runId, command));
  }

  read(runId: string, from: number): AsyncIterable<RunEvent> {
    takesRun("Journal.read", runId, from);
    return this.#read(runId, from);
  }

  async *#read(runId: string, from: number): AsyncIterable<RunEvent> {
    const { events } = this.#run(runId);
    for (let seq = from; seq < events.length; seq += 1) yield events[seq] as RunEvent;
  }

  async runs(): Promise<readonly RunInfo[]> {
    return [...this.#runs].map(([runId, run]) => ({ runId, events: run.events.length }));
  }

  async newest(page: RunsPage): Promise<readonly RunInfo[]> {
    const found = pageOf(await this.runs(), page);
    return page.tallies === true ? Promise.all(found.map(({ runId }) => this.info(runId))) : found;
  }

  async info(runId: string): Promise<RunInfo> {
    const run = this.#run(runId);
    run.fold ??= new TallyFold(runId);
    for (const event of run.events.slice(run.fold.next)) run.fold.add(event);
    return { runId, events: run.events.length, tally: run.fold.tally };
  }

  async remove(runId: string): Promise<void> {
    this.#runs.delete(runId);
    this.#forgotten.delete(runId);
    this.#owners.lose(runId);
    this.#watchers.grew(runId);
  }

  async close(): Promise<void> {
    this.#runs.clear();
    this.#forgotten.clear();
    this.#owners.clear();
    this.#watchers.allGrew();
  }

  #run(runId: string): KeptRun {
    const run = this.#runs.get(runId);
    if (run === undefined && this.#forgotten.has(runId)) throw forgotten(runId);
    if (run === undefined) throw unknownRun(runId);
    return run;
  }

  #ownedRun(runId: string, epoch: number): KeptRun {
    const run = this.#run(runId);
    if (run.epoch === epoch && epoch !== NO_OWNER) return run;
    const owner = run.epoch === NO_OWNER ? "it has no owner now" : "another owner has claimed it";
    throw new JournalError("EPOCH_STALE", `Expected the epoch of run ${runId}'s owner, got ${epoch}: ${owner}. Claim the run first.`);
  }

  #forget(runId: string): void {
    this.#runs.delete(runId);
    this.#forgotten.add(runId);
    this.#watchers.grew(runId);
    if (this.#forgotten.size <= MAX_FORGOTTEN) return;
    const [first = runId] = this.#forgotten;
    this.#forgotten.delete(first);
  }
}

function fileBytes({ files }: KeptRun): number {
  return [...files.values()].reduce((sum, { length }) => sum + length, 0);
}

function mayForget({ epoch, events }: KeptRun): boolean {
  const last = events.at(-1);
  if (epoch !== NO_OWNER) return false;
  return (last?.type === "run.erased" && last.partly !== true) || (last?.type === "run.ended" && last.status !== "waiting");
}

function owned(runId: string): JournalError {
  const text = `Expected run ${runId} to have no owner, but a team of this process works on it. Wait for it or stop it.`;
  return new JournalError("RUN_OWNED", text, { data: { runId } });
}

function forgotten(runId: string): JournalError {
  return new JournalError(
    "RUN_FORGOTTEN",
    `Expected a run of this journal, got ${runId}, which had ended and was dropped to make room. Raise the journal's limits, or use a journal on disk. To start the run again, remove it first.`,
  );
}
