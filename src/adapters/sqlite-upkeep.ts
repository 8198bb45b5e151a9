import { statSync } from "node:fs";
import { resolve } from "node:path";
import { systemClock } from "../kernel/clock.ts";
import { patiently, unwritable } from "./sqlite-damage.ts";
import { type Database, loadDriver } from "./sqlite-database.ts";
import { openFile } from "./sqlite-file.ts";
import { allRuns } from "./sqlite-runs.ts";
import { identify } from "./sqlite-schema.ts";

/** What a journal's file says of itself. */
export interface JournalFacts {
  /** Of what is in it. */
  readonly version: number;
  readonly runs: number;
  /** Of the file and the log beside it. */
  readonly bytes: number;
}

/** Milliseconds to wait for other processes that write the same file. */
const PATIENCE = 2_000;

/**
 * Looks at a journal's file, and makes sure that it can be written.
 *
 * @throws JournalError `JOURNAL_FOREIGN`, `JOURNAL_NEWER`, `JOURNAL_UNWRITABLE`, `JOURNAL_DAMAGED`
 */
export function journalFacts(path: string): Promise<JournalFacts> {
  return withFile(path, (db, file) => {
    db.transaction("IMMEDIATE", () => {});
    return { version: identify(db, file).version, runs: allRuns(db).length, bytes: sizeOf(file) };
  });
}

/**
 * Gives the room of removed runs back to the disk.
 *
 * @returns the bytes before and after
 * @throws JournalError `JOURNAL_UNWRITABLE` while another process uses the file, `JOURNAL_FULL`, `JOURNAL_DAMAGED`
 */
export function compactJournal(path: string): Promise<{ readonly before: number; readonly after: number }> {
  return withFile(path, (db, file) => {
    const before = sizeOf(file);
    db.compact();
    return { before, after: sizeOf(file) };
  });
}

async function withFile<T>(path: string, work: (db: Database, file: string) => T): Promise<T> {
  const file = resolve(path);
  const db = await openFile(await loadDriver(), { file, clock: systemClock, patience: PATIENCE });
  try {
    return await patiently(() => work(db, file), systemClock, PATIENCE);
  } catch (error) {
    throw unwritable(file, error);
  } finally {
    db.close();
  }
}

function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0), 0);
}
