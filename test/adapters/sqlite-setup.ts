import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadDriver } from "../../src/adapters/sqlite-database.ts";
import type { SqlRow, SqlValue } from "../../src/adapters/sqlite-database.ts";
import { SqliteJournal } from "../../src/adapters/sqlite-journal.ts";
import { type FileOptions, JOURNAL } from "../../src/adapters/sqlite-file.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { JournalError } from "../../src/kernel/errors.ts";
import type { Json } from "../../src/kernel/json.ts";
import { EVENT_VERSION, type RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { afterEachFile } from "../after-file.ts";

const made: string[] = [];
const open: Journal[] = [];

afterEachFile(async () => {
  for (const journal of open.splice(0)) await journal.close();
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A path in an empty folder, both gone after the tests of the file. */
export function newFile(name = "journal.db"): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "troupe-sqlite-")));
  made.push(folder);
  return join(folder, name);
}

/** A journal with what only tests may ask for; closed after the tests of the file. */
export function journalAt(file: string, options: Partial<FileOptions> = {}): Journal {
  const journal = new SqliteJournal({ kind: JOURNAL, file, clock: systemClock, patience: 10_000, ...options });
  open.push(journal);
  return journal;
}

/** A connection of another program, or of somebody with a file in the hand: the file is its main database. */
export interface Connection {
  exec(sql: string): void;
  run(sql: string, values: readonly SqlValue[]): number;
  all(sql: string, values?: readonly SqlValue[]): readonly SqlRow[];
  first(sql: string, values?: readonly SqlValue[]): SqlRow | undefined;
  transaction<T>(kind: "DEFERRED" | "IMMEDIATE", work: () => T): T;
  close(): void;
}

export async function connection(file: string): Promise<Connection> {
  const native = new (await loadDriver())(file, { timeout: 1_000 });
  const all = (sql: string, values: readonly SqlValue[] = []): SqlRow[] => native.prepare(sql).raw().all(values) as SqlRow[];
  return {
    exec: (sql) => void native.exec(sql),
    run: (sql, values) => native.prepare(sql).run(values).changes,
    all,
    first: (sql, values) => all(sql, values)[0],
    transaction: (kind, work) => native.transaction(work)[kind === "DEFERRED" ? "deferred" : "immediate"](),
    close: () => void native.close(),
  };
}

/** Does something to a file behind its journal's back. */
export async function meddle(file: string, ...statements: readonly string[]): Promise<void> {
  const db = await connection(file);
  for (const statement of statements) db.exec(statement);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/** An event of `size` letters. */
export function started(runId: string, seq: number, size = 10): RunEvent {
  return {
    v: EVENT_VERSION,
    runId,
    seq,
    time: seq,
    type: "run.started",
    team: `${seq} `.padEnd(size, "x"),
    roles: [],
    seed: "1",
    scheduler: "rounds",
  };
}

/** An event that shows a model something. */
export function asked(runId: string, seq: number, request: Json): RunEvent {
  return {
    v: EVENT_VERSION,
    runId,
    seq,
    time: seq,
    type: "step.started",
    act: "a#0~1",
    key: `k.${seq}`,
    kind: "model",
    name: "m",
    asked: seq,
    try: 1,
    hold: 0,
    request,
  };
}

/** `count` events, every third of which shows a model a conversation that goes on. */
export function lively(runId: string, count: number): RunEvent[] {
  const turns = Array.from({ length: count }, (_, place) => ({ role: "user", content: `${place}: ä ${"y".repeat(place % 40)}` }));
  return Array.from({ length: count }, (_, seq) =>
    seq % 3 === 2 ? asked(runId, seq, { model: "m", messages: turns.slice(0, (seq % 20) + 1) }) : started(runId, seq, seq % 200),
  );
}

/** Creates a run, claims it and writes it. */
export async function written(journal: Journal, runId: string, events: readonly RunEvent[]): Promise<number> {
  await journal.create(runId);
  const { epoch } = await journal.claim(runId);
  await journal.append(runId, epoch, 0, events);
  return epoch;
}

/** The same, with a row for each event. */
export async function writtenOneByOne(journal: Journal, runId: string, events: readonly RunEvent[]): Promise<void> {
  const epoch = await written(journal, runId, events.slice(0, 1));
  for (const [nth, event] of events.slice(1).entries()) await journal.append(runId, epoch, nth + 1, [event]);
}

/** The events that a reader gets, and the error that ends it, if any. */
export async function readOut(
  journal: Journal,
  runId: string,
  from = 0,
): Promise<{ readonly events: RunEvent[]; readonly error: JournalError | undefined }> {
  const events: RunEvent[] = [];
  try {
    for await (const event of journal.read(runId, from)) events.push(event);
  } catch (error) {
    if (error instanceof JournalError) return { events, error };
    throw error;
  }
  return { events, error: undefined };
}

/** The typed error some work is expected to end with, or undefined when it does not. */
export async function errorOf(work: Promise<unknown>): Promise<JournalError | undefined> {
  try {
    await work;
  } catch (error) {
    if (error instanceof JournalError) return error;
    throw error;
  }
  return undefined;
}
