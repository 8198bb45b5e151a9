import { randomUUID } from "node:crypto";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { succeeds } from "../kernel/system-error.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import {
  type Claim,
  type ClaimOptions,
  type CommandOptions,
  type FormerOwner,
  type Journal,
  leftAs,
  type ReleaseOptions,
  type RunInfo,
  type RunSnapshot,
  type RunsPage,
  takesEvents,
  takesRun,
} from "../runtime/record/journal.ts";
import { Owners } from "../runtime/record/owners.ts";
import { hashesIn } from "../runtime/record/run-files.ts";
import { Watchers } from "../runtime/record/watchers.ts";
import { encodeEvents } from "./event-rows.ts";
import { PostgresAppends } from "./postgres-appends.ts";
import { PostgresCommands } from "./postgres-commands.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import { type Presence, presenceIn } from "./postgres-persistent-connection.ts";
import * as runTable from "./postgres-runs.ts";
import type { PostgresServer } from "./postgres-server.ts";
import { JOURNAL_TABLES, RUN_TABLES, sessionChannel } from "./postgres-tables.ts";
import { hasDied, identityIn, identityText, stateOfProcess } from "./process-identity.ts";
import { readRun } from "./run-reader.ts";
import { DIED, LEFT, takenId, withTally } from "./stored-runs.ts";

interface OwnedRun {
  readonly runId: string;
  readonly number: number;
  readonly epoch: number;
  readonly letGo: () => void;
}

const LOOK = 100;

/**
 * The journal behind {@link postgres}. It owns the database, the connection with its lock, and the list of its runs. PostgresJournal.J1 (`claim`) a
 * run whose owner is connected is refused, or fenced with `take`: the former owner is notified, and its epoch cannot append. PostgresJournal.J2
 * (`#formerOf`) a death is proven by the owner's process on this machine; an owner that is only not connected gets `grace` to return.
 * PostgresJournal.J3 (`#renewed`) after a lost connection the runs that others have taken are lost.
 */
export class PostgresJournal implements Journal {
  readonly #db: PostgresDatabase;
  readonly #grace: number;
  readonly #appends: PostgresAppends;
  readonly #owners = new Owners();
  readonly #owned = new Map<string, OwnedRun>();
  readonly #presence: Presence;
  readonly #commands: PostgresCommands;
  readonly #watch: PostgresWatch;
  #closing: Promise<void> | undefined;

  constructor(server: PostgresServer, grace: number) {
    this.#db = new PostgresDatabase(JOURNAL_TABLES, server);
    this.#grace = grace;
    this.#appends = new PostgresAppends(this.#db);
    this.#presence = presenceIn(this.#db, {
      channel: (holder) => sessionChannel(server.schema, holder),
      heard: (payload) => (payload === undefined ? this.#renewed() : this.#heard(payload)),
    });
    this.#commands = new PostgresCommands(this.#db, this.#presence, this.#owners);
    this.#watch = new PostgresWatch(this.#db);
  }

  async create(runId: string): Promise<void> {
    takesRun("Journal.create", runId);
    if (await runTable.createRun(this.#db, runId, randomUUID())) return;
    throw takenId(runId);
  }

  async claim(runId: string, o: ClaimOptions = {}): Promise<Claim> {
    takesRun("Journal.claim", runId);
    if (o.ifFree === true && this.#owned.has(runId)) throw ownedBy(runId);
    const { connection, holder } = this.#presence;
    let former: FormerOwner | undefined;
    for (;;) {
      await connection.opened();
      const row = await runTable.knownRow(this.#db, runId);
      // After an earlier try whose answer was lost the run is ours.
      const isTried = row.session === holder && this.#owned.get(runId)?.epoch !== row.epoch;
      if (former === undefined || !isTried) former = await this.#formerOf(runId, row, o);
      const given = await runTable.giveEpoch(this.#db, row, {
        session: holder,
        owner: identityText(),
        takesCommands: o.command !== undefined,
      });
      if (given === undefined) continue;
      this.#appends.claimed(runId, given);
      this.#own(runId, given);
      this.#owners.began(runId, given.epoch, o);
      return { epoch: given.epoch, former };
    }
  }

  async release(runId: string, epoch: number, o: ReleaseOptions = {}): Promise<void> {
    // `close` has released every run.
    if (this.#closing !== undefined) return;
    this.#owners.ended(runId, epoch);
    this.#disown(runId, epoch);
    await this.#db.patiently((rows) => runTable.endEpochs(rows, this.#db.schema, [{ runId, epoch, how: leftAs(o) }]));
  }

  async append(runId: string, epoch: number, expectedSeq: number, events: readonly RunEvent[]): Promise<void> {
    takesEvents("Journal.append", runId, events, epoch, expectedSeq);
    try {
      await this.#appends.append(runId, epoch, expectedSeq, encodeEvents(events, runId, expectedSeq));
    } catch (error) {
      if (error instanceof JournalError && error.code === "EPOCH_STALE") this.#lose(runId, epoch);
      throw error;
    }
  }

  async rewrite(runId: string, epoch: number, events: readonly RunEvent[]): Promise<void> {
    takesEvents("Journal.rewrite", runId, events, epoch);
    await this.#appends.rewrite(runId, epoch, encodeEvents(events, runId, 0), hashesIn(events));
  }

  purge(): Promise<void> {
    return this.#db.vacuum("runs", ...RUN_TABLES);
  }

  read(runId: string, from: number): AsyncIterable<RunEvent> {
    takesRun("Journal.read", runId, from);
    return readRun(runTable.rowsIn(this.#db), runId, from);
  }

  runs(): Promise<readonly RunInfo[]> {
    return runTable.allRuns(this.#db);
  }

  async newest(page: RunsPage): Promise<readonly RunInfo[]> {
    const found = await runTable.newestOf(this.#db, page);
    return page.tallies === true ? Promise.all(found.map((info) => this.#tallied(info))) : found;
  }

  async info(runId: string): Promise<RunInfo> {
    return this.#tallied(await runTable.infoOf(this.#db, runId));
  }

  /** Notes a run that does not exist as removed: the sweep after the next removal drops the note. */
  async probe(): Promise<void> {
    await this.#db.rows(`INSERT INTO ${this.#db.schema}.removed VALUES (0) ON CONFLICT (number) DO UPDATE SET number = 0`);
  }

  watch(runId: string, { signal }: { readonly signal: AbortSignal }): AsyncIterable<void> {
    return this.#watch.watch(runId, signal);
  }

  command(runId: string, command: Json, o: CommandOptions = {}): Promise<Json> {
    return this.#commands.send(runId, command, o);
  }

  keepSnapshot(runId: string, epoch: number, snapshot: RunSnapshot): Promise<void> {
    return runTable.keepSnapshot(this.#db, runId, epoch, snapshot);
  }

  newestSnapshot(runId: string): Promise<RunSnapshot | undefined> {
    return runTable.newestSnapshot(this.#db, runId);
  }

  keepFile(runId: string, epoch: number, hash: string, bytes: Uint8Array): Promise<void> {
    return runTable.keepFile(this.#db, runId, epoch, { hash, bytes });
  }

  file(runId: string, hash: string): Promise<Uint8Array | undefined> {
    return runTable.fileOf(this.#db, runId, hash);
  }

  async remove(runId: string): Promise<void> {
    for (;;) {
      const row = (await this.#db.patiently((rows) => runTable.rowsOf(this.#db, rows, [runId]))).get(runId);
      if (row === undefined) return;
      await this.#formerOf(runId, row, {});
      if (!(await runTable.removeRun(this.#db, row))) continue;
      this.#appends.forget(runId);
      this.#lose(runId);
      return;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#owners.clear();
    await this.#appends.settled();
    const owned = [...this.#owned.values()];
    for (const run of owned) this.#disown(run.runId, run.epoch);
    // The lock ends with the connection, so a database that is away is not waited for.
    const ended = owned.map(({ runId, epoch }) => ({ runId, epoch, how: "released" as const }));
    if (ended.length > 0) await succeeds(this.#db.once((rows) => runTable.endEpochs(rows, this.#db.schema, ended)));
    this.#watch.close();
    await this.#presence.connection.close();
    await this.#db.close();
  }

  /** Returns how the owner in a row ended, and waits for one that may come back. @throws JournalError `RUN_OWNED` */
  async #formerOf(runId: string, row: runTable.RunRow, { take = false }: ClaimOptions): Promise<FormerOwner> {
    const { session, owner } = row;
    if (session === runTable.NOBODY) return LEFT.find((how) => how === owner) ?? (owner.startsWith(runTable.CREATED) ? "none" : "released");
    if (session === this.#presence.holder) return "none";
    const identity = identityIn(owner);
    if (owner === DIED || (identity !== undefined && hasDied(identity))) return "died";
    if (await runTable.isOwnerConnected(this.#db, session)) {
      if (take) return "moved";
      throw ownedBy(runId);
    }
    if (take) return identity !== undefined && stateOfProcess(identity) === "running" ? "moved" : "taken";
    return this.#afterGrace(runId, row);
  }

  async #afterGrace(runId: string, row: runTable.RunRow): Promise<FormerOwner> {
    const { clock } = this.#db.server;
    const until = clock.now() + this.#grace;
    while (clock.now() < until) {
      await this.#db.pause(Math.min(LOOK, this.#grace));
      const now = await runTable.knownRow(this.#db, runId);
      if (now.session === runTable.NOBODY) break;
      if (now.epoch !== row.epoch || (await runTable.isOwnerConnected(this.#db, now.session))) throw ownedBy(runId);
    }
    return "taken";
  }

  #tallied(info: RunInfo): Promise<RunInfo> {
    return withTally(this, info, (tally) => runTable.keepTally(this.#db, tally));
  }

  #own(runId: string, { number, epoch }: runTable.RunRow): void {
    const known = this.#owned.get(runId);
    if (known !== undefined && known.epoch > epoch) return;
    known?.letGo();
    this.#owned.set(runId, { runId, number, epoch, letGo: this.#presence.connection.keep() });
  }

  #disown(runId: string, epoch?: number): void {
    const run = this.#owned.get(runId);
    if (run === undefined || (epoch !== undefined && run.epoch !== epoch)) return;
    run.letGo();
    this.#owned.delete(runId);
  }

  #lose(runId: string, epoch?: number): void {
    this.#disown(runId, epoch);
    this.#owners.lose(runId, epoch);
  }

  #heard(payload: string): void {
    const [what, id = "", epoch = Infinity] = payload.split(" ");
    if (what === "answer") return this.#commands.heard(id);
    // The sender repeats a notification of a command that was missed because the database went away.
    if (what === "command") return this.#takeCommands();
    const run = [...this.#owned.values()].find(({ number }) => number === Number(id));
    if (run !== undefined && Number(epoch) > run.epoch) this.#lose(run.runId, run.epoch);
  }

  #takeCommands(): void {
    this.#commands.take([...this.#owned.values()]).catch(() => undefined);
  }

  async #renewed(): Promise<void> {
    const runs = [...this.#owned.values()];
    const ours = await runTable.stillOwned(this.#db, runs);
    for (const { runId, number, epoch } of runs) if (!ours.has(number)) this.#lose(runId, epoch);
    this.#takeCommands();
  }
}

function ownedBy(runId: string): JournalError {
  return new JournalError(
    "RUN_OWNED",
    `Expected run ${runId} to have no owner, but another process is connected that works on it, or this one is through another journal. Wait for it, end it, or claim the run with take.`,
    { data: { runId } },
  );
}

interface Watched {
  readonly runId: string;
  events: number;
  users: number;
  isGone: boolean;
}

/**
 * The watchers of runs in this process. PostgresWatch.V1 (`#look`) one question for all watched runs, every {@link LOOK} milliseconds, finds what was
 * added, also after the database was away. PostgresWatch.V2 (`#look`) a watcher ends when its run is removed.
 */
export class PostgresWatch {
  readonly #db: PostgresDatabase;
  readonly #watchers = new Watchers();
  readonly #watched = new Map<number, Watched>();
  #isLooking = false;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  async *watch(runId: string, signal: AbortSignal): AsyncGenerator<void, void> {
    const { number, events } = await runTable.knownRow(this.#db, runId);
    const run = this.#watched.get(number) ?? { runId, events, users: 0, isGone: false };
    run.users += 1;
    this.#watched.set(number, run);
    void this.#look();
    try {
      yield* this.#watchers.watch(runId, signal, () => !run.isGone);
    } finally {
      run.users -= 1;
      if (run.users === 0) this.#watched.delete(number);
    }
  }

  close(): void {
    for (const number of this.#watched.keys()) this.#note(number, undefined);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#watched.size > 0 && !this.#db.closing.aborted) {
      const numbers = [...this.#watched.keys()];
      const text = `SELECT number, events FROM ${this.#db.schema}.runs WHERE number = ANY ($1::integer[])`;
      const rows = await this.#db.rows<{ number: number; events: number }>(text, [numbers]).catch(() => undefined);
      const found = new Map(rows?.map(({ number, events }) => [number, events]));
      if (rows !== undefined) for (const number of numbers) this.#note(number, found.get(number));
      await this.#db.pause(LOOK);
    }
    this.#isLooking = false;
  }

  #note(number: number, events: number | undefined): void {
    const run = this.#watched.get(number);
    if (run === undefined || run.events === events) return;
    run.isGone = events === undefined;
    run.events = events ?? run.events;
    this.#watchers.grew(run.runId);
  }
}
