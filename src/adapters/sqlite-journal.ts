import { hash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import {
  takesEvents,
  takesRun,
  type Claim,
  type ClaimOptions,
  type CommandOptions,
  type Journal,
  type ReleaseOptions,
  type RunInfo,
  type RunSnapshot,
  type RunsPage,
} from "../runtime/record/journal.ts";
import { Owners } from "../runtime/record/owners.ts";
import { hashesIn } from "../runtime/record/run-files.ts";
import { encodeEvents } from "./event-rows.ts";
import { SqliteCommands } from "./sqlite-commands.ts";
import type { Database } from "./sqlite-database.ts";
import { closedError, fileError, isBusy } from "./sqlite-errors.ts";
import { createPrivately, type FileOptions, JOURNAL, OpenedFile } from "./sqlite-file.ts";

import * as runTable from "./sqlite-runs.ts";
import { withTally } from "./stored-runs.ts";
import { TurnQueue } from "./turn-queue.ts";

/** The journal behind {@link sqlite}. The first call opens the file. It owns the connection, the locks of its runs, and the callbacks of their owners. */
export class SqliteJournal implements Journal {
  readonly #file: OpenedFile;
  readonly #locks: RunLocks;
  readonly #commits = new Commits((work) => this.#ask(work));
  readonly #owners = new Owners();
  readonly #commands: SqliteCommands;
  #closing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: FileOptions) {
    this.#file = new OpenedFile(options);
    this.#locks = new RunLocks(options.file);
    this.#commands = new SqliteCommands({
      clock: options.clock,
      owners: this.#owners,
      ask: (work) => this.#ask(work),
      commit: (work) => this.#commits.commit(work),
      isFree: (runId) => this.#ask((db) => this.#locks.isFree(db, runId)),
    });
  }

  create(runId: string): Promise<void> {
    takesRun("Journal.create", runId);
    return this.#commits.commit((db) => runTable.createRun(db, runId));
  }

  /** Ignores the option `take`: a run cannot be taken from a living process, because only the operating system ends its lock. */
  async claim(runId: string, o: ClaimOptions = {}): Promise<Claim> {
    takesRun("Journal.claim", runId);
    const isOurs = this.#locks.holds(runId);
    if (isOurs && o.ifFree === true) throw owned(runId);
    if (!isOurs) await this.#ask((db) => runTable.knownRun(db, runId));
    const claim = await this.#holding(runId, (open) => runTable.giveEpoch(open, runId, isOurs));
    this.#owners.began(runId, claim.epoch, o);
    if (o.command !== undefined) this.#commands.heed(runId, claim.epoch);
    return claim;
  }

  async append(runId: string, epoch: number, expectedSeq: number, events: readonly RunEvent[]): Promise<void> {
    takesEvents("Journal.append", runId, events, epoch, expectedSeq);
    const encoded = encodeEvents(events, runId, expectedSeq);
    try {
      await this.#commits.commit((db) => runTable.appendEvents(db, runId, epoch, expectedSeq, encoded));
    } catch (error) {
      if (error instanceof JournalError && error.code === "EPOCH_STALE") this.#owners.lose(runId, epoch);
      throw error;
    }
  }

  async rewrite(runId: string, epoch: number, events: readonly RunEvent[]): Promise<void> {
    const rewritten = { blocks: encodeEvents(events, runId, 0), files: hashesIn(events) };
    await this.#commits.commit((db) => runTable.rewriteRun(db, runId, epoch, rewritten));
  }

  async purge(): Promise<void> {
    await this.#commits.settled();
    await this.#ask((db) => db.purge());
  }

  async release(runId: string, epoch: number, o: ReleaseOptions = {}): Promise<void> {
    // `close` has released every run.
    if (this.#isClosed) return;
    this.#owners.ended(runId, epoch);
    this.#commands.ignore(runId, epoch);
    const wasOurs = await this.#commits.commit((db) => runTable.endEpoch(db, runId, epoch, o));
    if (wasOurs) this.#locks.drop(runId);
  }

  read(runId: string, from: number): AsyncIterable<RunEvent> {
    takesRun("Journal.read", runId, from);
    return runTable.readEvents(this.#file.options.file, async (work) => this.#opened().patiently(work), runId, from);
  }

  runs(): Promise<readonly RunInfo[]> {
    return this.#ask(runTable.allRuns);
  }

  async newest(page: RunsPage): Promise<readonly RunInfo[]> {
    const found = await this.#ask((db) => runTable.newestOf(db, page));
    return page.tallies === true ? Promise.all(found.map((info) => this.#tallied(info))) : found;
  }

  async info(runId: string): Promise<RunInfo> {
    return this.#tallied(await this.#ask((db) => runTable.infoOf(db, runId)));
  }

  /** Uses a transaction of its own, so that an append that needs less room does not fail with it. */
  async probe(): Promise<void> {
    await this.#ask((db) => db.transaction("IMMEDIATE", () => runTable.writeAndRemove(db)));
  }

  /** A command for an owner that takes none waits, because such an owner makes one change and leaves. */
  command(runId: string, command: Json, o: CommandOptions = {}): Promise<Json> {
    return this.#commands.send(runId, command, o);
  }

  async keepSnapshot(runId: string, epoch: number, snapshot: RunSnapshot): Promise<void> {
    await this.#commits.commit((db) => runTable.keepSnapshot(db, runId, epoch, snapshot));
  }

  newestSnapshot(runId: string): Promise<RunSnapshot | undefined> {
    return this.#ask((db) => runTable.newestSnapshot(db, runId));
  }

  async keepFile(runId: string, epoch: number, digest: string, bytes: Uint8Array): Promise<void> {
    await this.#commits.commit((db) => runTable.keepFile(db, runId, epoch, digest, bytes));
  }

  file(runId: string, digest: string): Promise<Uint8Array | undefined> {
    return this.#ask((db) => runTable.fileOf(db, runId, digest));
  }

  async remove(runId: string): Promise<void> {
    if (!this.#locks.holds(runId) && (await this.#ask((db) => runTable.headOf(db, runId))) === undefined) return;
    await this.#holding(runId, (open) => runTable.removeRun(open, runId));
    this.#locks.dropForGood(runId);
    this.#owners.lose(runId);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Changes a run that this journal holds or takes, again after the change: another owner in this process may have released it meanwhile. */
  async #holding<T>(runId: string, change: JournalChange<T>): Promise<T> {
    const db = await this.#ask((opened) => opened);
    let isNew = this.#locks.take(db, runId);
    try {
      const result = await this.#commits.commit((open) => {
        isNew = this.#locks.take(db, runId) || isNew;
        return change(open);
      });
      this.#locks.take(db, runId);
      return result;
    } catch (error) {
      if (isNew) this.#locks.drop(runId);
      throw error;
    }
  }

  async #close(): Promise<void> {
    await this.#commits.settled();
    this.#isClosed = true;
    this.#owners.clear();
    this.#commands.close();
    this.#locks.close();
    await this.#file.close();
  }

  #tallied(info: RunInfo): Promise<RunInfo> {
    return withTally(this, info, (tally) => this.#commits.commit((db) => runTable.keepTally(db, tally)));
  }

  async #ask<T>(question: (db: Database) => T): Promise<T> {
    return this.#opened().ask(question);
  }

  #opened(): OpenedFile {
    if (this.#isClosed) throw closedError();
    return this.#file;
  }
}

/** A change in a transaction that it shares with others. It must throw a JournalError, if at all, before it changes anything. */
export type JournalChange<T> = (db: Database) => T;

interface AskedChange {
  readonly change: JournalChange<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: the changes of one turn of the event loop are one transaction, in their order. Commits.C1 (`commit`) a change resolves when it and
 * all earlier ones are on the disk. Commits.C2 (`answered`) a refused change does not affect others. Commits.C3 (`#together`) when a commit fails,
 * every change in it is rejected and none is kept.
 */
class Commits {
  readonly #ask: runTable.AskFile;
  readonly #asked = new TurnQueue<AskedChange>((batch) => this.#together(batch));

  constructor(ask: runTable.AskFile) {
    this.#ask = ask;
  }

  commit<T>(change: JournalChange<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#asked.add({ change, resolve, reject });
    });
  }

  settled(): Promise<void> {
    return this.#asked.settled();
  }

  async #together(batch: readonly AskedChange[]): Promise<void> {
    try {
      const answers = await this.#ask((db) => db.transaction("IMMEDIATE", () => batch.map((asked) => answered(db, asked))));
      for (const answer of answers) answer();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

function answered(db: Database, { change, resolve, reject }: AskedChange): () => void {
  try {
    const value = change(db);
    return () => resolve(value as never);
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    return () => reject(error);
  }
}

/** Milliseconds to wait for a lock, so that one of two callers at the same instant gets it. */
const LOCK_TIMEOUT = 50;

/**
 * The runs that this journal owns: an exclusive transaction on a small file for each, which other processes see. The operating system ends it with
 * the process; a stopped process keeps it. RunLocks.O1 (`take`) at most one journal of one living process holds a run. RunLocks.O2
 * (`createPrivately`) only SQLite opens an existing lock file: closing it in the process that holds the lock would release the lock. RunLocks.O3
 * (`appendEvents`) the epoch stops an owner whose lock file was deleted.
 */
class RunLocks {
  readonly #folder: string;
  readonly #held = new Map<string, Database>();
  #isClosed = false;

  constructor(file: string) {
    this.#folder = `${file}-locks`;
  }

  holds(runId: string): boolean {
    return this.#held.has(runId);
  }

  take(db: Database, runId: string, timeout: number = LOCK_TIMEOUT): boolean {
    if (this.#isClosed) throw closedError();
    if (this.#held.has(runId)) return false;
    const file = this.#fileOf(runId);
    let lock: Database | undefined;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      createPrivately(file);
      lock = db.beside(file, timeout);
      lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    } catch (error) {
      lock?.close();
      throw isBusy(error) ? owned(runId, error) : fileError(JOURNAL, file, error);
    }
    this.#held.set(runId, lock);
    return true;
  }

  /** True if nobody holds the lock. Tries to take it: the operating system releases the lock of a dead process. */
  isFree(db: Database, runId: string): boolean {
    try {
      if (!this.take(db, runId, 0)) return false;
    } catch (error) {
      if (error instanceof JournalError && error.code === "RUN_OWNED") return false;
      throw error;
    }
    this.drop(runId);
    return true;
  }

  drop(runId: string): void {
    this.#held.get(runId)?.close();
    this.#held.delete(runId);
  }

  /** Releases a removed run. A process that takes the file between the two steps finds no run, or its epoch is refused. */
  dropForGood(runId: string): void {
    this.drop(runId);
    const file = this.#fileOf(runId);
    try {
      rmSync(file, { force: true });
    } catch (error) {
      throw fileError(JOURNAL, file, error);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const lock of this.#held.values()) lock.close();
    this.#held.clear();
  }

  #fileOf(runId: string): string {
    return join(this.#folder, `${hash("sha256", JSON.stringify(runId))}.lock`);
  }
}

function owned(runId: string, cause?: unknown): JournalError {
  return new JournalError(
    "RUN_OWNED",
    `Expected run ${runId} to have no owner, but a living process works on it, or this one does through another journal. Wait for it or end it.`,
    { cause, data: { runId } },
  );
}
