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
import { AskedTogether } from "./asked-together.ts";
import { chainStart, encodeEvents } from "./event-rows.ts";
import { PostgresAppends } from "./postgres-appends.ts";
import { PostgresCommands } from "./postgres-commands.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import { keepSnapshot, newestSnapshot, rowsIn } from "./postgres-reader.ts";
import {
  allRuns,
  CREATED,
  createRuns,
  DIED,
  endEpochs,
  type EpochEnd,
  giveEpochs,
  infoOf,
  isOwnerConnected,
  keepTally,
  knownRow,
  LEFT,
  newestOf,
  type NewOwner,
  type NewRun,
  NOBODY,
  removeRun,
  rowsOf,
  type RunRow,
} from "./postgres-runs.ts";
import type { PostgresServer } from "./postgres-server.ts";
import { PostgresSession } from "./postgres-session.ts";
import { JOURNAL_TABLES, RUN_TABLES } from "./postgres-tables.ts";
import { PostgresWatch } from "./postgres-watch.ts";
import { readRun } from "./run-reader.ts";
import { withTally } from "./run-tallies.ts";
import { hasDied, identityIn, identityText, stateOfProcess } from "./process-identity.ts";

/** A run that is bound to the session of its owner. */
interface BoundRun {
  readonly runId: string;
  readonly number: number;
  readonly epoch: number;
}

interface OwnedRun extends BoundRun {
  readonly letGo: () => void;
}

const LOOK = 100;

/**
 * The journal behind {@link postgres}. The first call connects. It owns the database, the session with its lock, and the list of the runs
 * that it owns.
 *
 * PostgresJournal.J1 (`claim`) a run whose owner is connected is refused, or fenced with `take`: the former owner is notified, and its epoch
 * cannot append. PostgresJournal.J2 (`#formerOf`) a death is proven by the owner's process on this machine; an owner that is only not
 * connected gets `grace` to come back. PostgresJournal.J3 (`#bind`) after a lost connection the runs are bound to the new one, and runs that
 * others have taken are lost. PostgresJournal.J4 (`close`) runs that were not released are given back.
 */
export class PostgresJournal implements Journal {
  readonly #db: PostgresDatabase;
  readonly #grace: number;
  readonly #appends: PostgresAppends;
  readonly #owners = new Owners();
  readonly #owned = new Map<string, OwnedRun>();
  #bound: Promise<void> = Promise.resolve();
  readonly #creating = new AskedTogether<NewRun, boolean>((runs) => createRuns(this.#db, runs));
  readonly #finding = new AskedTogether<string, RunRow | undefined>((runIds) => this.#found(runIds));
  readonly #giving = new AskedTogether<NewOwner, RunRow | undefined>((owners) => giveEpochs(this.#db, owners));
  readonly #ending = new AskedTogether<EpochEnd, void>((ended) => this.#ended(ended));
  readonly #session: PostgresSession;
  readonly #commands: PostgresCommands;
  readonly #watch: PostgresWatch;
  #closing: Promise<void> | undefined;

  /** @param grace milliseconds for which a lost connection of an owner may come back before its run is taken */
  constructor(server: PostgresServer, grace: number) {
    this.#db = new PostgresDatabase(JOURNAL_TABLES, server);
    this.#grace = grace;
    this.#appends = new PostgresAppends(this.#db);
    const heard = (channel: string, payload: string): void => this.#heard(channel, payload);
    this.#session = new PostgresSession(this.#db, heard, () => this.#renewed());
    this.#commands = new PostgresCommands(this.#db, this.#session, this.#owners);
    this.#watch = new PostgresWatch(this.#db, this.#session);
  }

  async create(runId: string): Promise<void> {
    takesRun("Journal.create", runId);
    if (await this.#creating.ask({ runId, start: chainStart(runId), maker: randomUUID() })) return;
    throw new JournalError("RUN_EXISTS", `Expected a new run id, got ${runId}, which is taken. Resume it or choose another.`);
  }

  async claim(runId: string, o: ClaimOptions = {}): Promise<Claim> {
    takesRun("Journal.claim", runId);
    if (o.ifFree === true && this.#owned.has(runId)) throw ownedBy(runId);
    let tried: { readonly session: number; readonly former: FormerOwner } | undefined;
    for (;;) {
      const session = await this.#session.opened();
      const row = (await this.#finding.ask(runId)) ?? (await knownRow(this.#db, runId));
      // The answer to an earlier try was lost.
      const isTried = tried !== undefined && row.session === tried.session && this.#owned.get(runId)?.epoch !== row.epoch;
      const former: FormerOwner = isTried && tried !== undefined ? tried.former : await this.#formerOf(runId, row, o);
      tried = { session, former };
      const given = await this.#giving.ask({ row, session, process: identityText(), takesCommands: o.command !== undefined });
      if (given === undefined) continue;
      this.#appends.claimed(runId, given);
      this.#own(runId, given);
      this.#owners.began(runId, given.epoch, o);
      if (this.#session.number !== session) await this.#bind(() => [{ runId, number: given.number, epoch: given.epoch }]);
      return { epoch: given.epoch, former };
    }
  }

  async release(runId: string, epoch: number, o: ReleaseOptions = {}): Promise<void> {
    // `close` has released every run.
    if (this.#closing !== undefined) return;
    this.#owners.ended(runId, epoch);
    const number = this.#disown(runId, epoch) ?? (await this.#finding.ask(runId))?.number;
    if (number !== undefined) await this.#ending.ask({ number, epoch, how: leftAs(o) });
  }

  async append(runId: string, epoch: number, expectedSeq: number, events: readonly RunEvent[]): Promise<void> {
    takesEvents("Journal.append", runId, events, epoch, expectedSeq);
    const encoded = encodeEvents(events, runId, expectedSeq);
    try {
      await this.#appends.append(runId, epoch, expectedSeq, encoded);
    } catch (error) {
      if (error instanceof JournalError && error.code === "EPOCH_STALE") this.#lose(runId, epoch);
      throw error;
    }
  }

  async rewrite(runId: string, epoch: number, events: readonly RunEvent[]): Promise<void> {
    takesEvents("Journal.rewrite", runId, events, epoch);
    await this.#appends.rewrite(runId, epoch, encodeEvents(events, runId, 0));
  }

  purge(): Promise<void> {
    return this.#db.vacuum("runs", ...RUN_TABLES);
  }

  read(runId: string, from: number): AsyncIterable<RunEvent> {
    takesRun("Journal.read", runId, from);
    return readRun(rowsIn(this.#db), runId, from);
  }

  runs(): Promise<readonly RunInfo[]> {
    return allRuns(this.#db);
  }

  async newest(page: RunsPage): Promise<readonly RunInfo[]> {
    const found = await newestOf(this.#db, page);
    return page.tallies === true ? Promise.all(found.map((info) => this.#tallied(info))) : found;
  }

  async info(runId: string): Promise<RunInfo> {
    return this.#tallied(await infoOf(this.#db, runId));
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
    return keepSnapshot(this.#db, runId, epoch, snapshot);
  }

  newestSnapshot(runId: string): Promise<RunSnapshot | undefined> {
    return newestSnapshot(this.#db, runId);
  }

  async remove(runId: string): Promise<void> {
    for (;;) {
      const row = await this.#finding.ask(runId);
      if (row === undefined) return;
      await this.#formerOf(runId, row, {});
      if (!(await removeRun(this.#db, row))) continue;
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
    const ended = owned.map(({ number, epoch }) => ({ number, epoch, how: "released" as const }));
    if (ended.length > 0) await succeeds(this.#db.once(({ rows }) => endEpochs(rows, this.#db.schema, ended)));
    this.#watch.close();
    await this.#session.close();
    await this.#db.close();
  }

  /** Returns how the owner in a row ended, and waits for one that may come back. @throws JournalError `RUN_OWNED` */
  async #formerOf(runId: string, row: RunRow, { take = false }: ClaimOptions): Promise<FormerOwner> {
    const { session, owner } = row;
    if (session === NOBODY) return LEFT.find((how) => how === owner) ?? (owner.startsWith(CREATED) ? "none" : "released");
    if (session === this.#session.number) return "none";
    const identity = identityIn(owner);
    if (owner === DIED || (identity !== undefined && hasDied(identity))) return "died";
    if (await isOwnerConnected(this.#db, session)) {
      if (take) return "moved";
      throw ownedBy(runId);
    }
    if (take) return identity !== undefined && stateOfProcess(identity) === "running" ? "moved" : "taken";
    return this.#afterGrace(runId, row);
  }

  async #afterGrace(runId: string, row: RunRow): Promise<FormerOwner> {
    const { clock } = this.#db.server;
    const until = clock.now() + this.#grace;
    while (clock.now() < until) {
      await this.#db.pause(Math.min(LOOK, this.#grace));
      const now = await knownRow(this.#db, runId);
      if (now.epoch === row.epoch && now.session === row.session) continue;
      // An owner that has connected again has another session; another claim has another epoch.
      if (now.epoch === row.epoch || now.session !== NOBODY) throw ownedBy(runId);
      break;
    }
    return "taken";
  }

  #tallied(info: RunInfo): Promise<RunInfo> {
    return withTally(this, info, (tally) => keepTally(this.#db, tally));
  }

  #own(runId: string, { number, epoch }: RunRow): void {
    const known = this.#owned.get(runId);
    if (known !== undefined && known.epoch > epoch) return;
    known?.letGo();
    this.#owned.set(runId, { runId, number, epoch, letGo: this.#session.keep() });
  }

  /** Forgets a run. @returns its number if this journal had it in that epoch; without an epoch, in any */
  #disown(runId: string, epoch?: number): number | undefined {
    const run = this.#owned.get(runId);
    if (run === undefined || (epoch !== undefined && run.epoch !== epoch)) return undefined;
    run.letGo();
    this.#owned.delete(runId);
    return run.number;
  }

  #lose(runId: string, epoch?: number): void {
    this.#disown(runId, epoch);
    this.#owners.lose(runId, epoch);
  }

  async #found(runIds: readonly string[]): Promise<readonly (RunRow | undefined)[]> {
    const found = await this.#db.patiently(({ rows }) => rowsOf(this.#db, rows, runIds));
    return runIds.map((runId) => found.get(runId));
  }

  async #ended(ended: readonly EpochEnd[]): Promise<readonly void[]> {
    await this.#db.patiently(({ rows }) => endEpochs(rows, this.#db.schema, ended));
    return [];
  }

  #heard(channel: string, payload: string): void {
    const [what, id = "", epoch = Infinity] = payload.split(" ");
    if (what === "lost") this.#lostNumber(Number(id), Number(epoch));
    else if (what === "answer") this.#commands.heard(id);
    // Its sender repeats a notification of a command that was missed because the database went away.
    else if (what === "command") this.#takeCommands();
    else this.#watch.heard(channel, what === "removed");
  }

  #lostNumber(number: number, epoch: number): void {
    const run = [...this.#owned.values()].find((each) => each.number === number);
    if (run !== undefined && epoch > run.epoch) this.#lose(run.runId, run.epoch);
  }

  #takeCommands(): void {
    this.#commands.take([...this.#owned.values()]).catch(() => undefined);
  }

  async #renewed(): Promise<void> {
    await this.#bind(() => [...this.#owned.values()]);
    this.#watch.renewed();
    this.#takeCommands();
  }

  /** Binds runs to the present session, and loses those that another owner has. One binding at a time, so the last one has the newest session. */
  #bind(chosen: () => readonly BoundRun[]): Promise<void> {
    this.#bound = this.#bound.catch(() => undefined).then(() => this.#bindNow(chosen()));
    return this.#bound;
  }

  async #bindNow(runs: readonly BoundRun[]): Promise<void> {
    const { number: session } = this.#session;
    // Without a connection there is nothing to bind to: the next one binds every run.
    if (runs.length === 0 || session === NOBODY) return;
    const bound = await this.#db.rows<{ readonly number: number }>(
      `UPDATE ${this.#db.schema}.runs r SET session = $2 FROM json_to_recordset($1) AS a(number integer, epoch bigint)
       WHERE r.number = a.number AND r.epoch = a.epoch RETURNING r.number`,
      [JSON.stringify(runs.map(({ number, epoch }) => ({ number, epoch }))), session],
    );
    const ours = new Set(bound.map(({ number }) => number));
    for (const { runId, number, epoch } of runs) if (!ours.has(number)) this.#lose(runId, epoch);
  }
}

function ownedBy(runId: string): JournalError {
  return new JournalError(
    "RUN_OWNED",
    `Expected run ${runId} to have no owner, but another process is connected that works on it, or this one is through another journal. Wait for it, end it, or claim the run with take.`,
    { data: { runId } },
  );
}
