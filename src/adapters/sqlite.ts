import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { systemClock } from "../kernel/clock.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { filePath, JOURNAL } from "./sqlite-file.ts";
import { SqliteJournal } from "./sqlite-journal.ts";

/*
 * A journal on disk for all runs of a project: one SQLite file, over `libsql`, which the first call loads. SqliteJournal.J1 (`append`) a resolved
 * change is on the disk (write-ahead log, synchronous=FULL). SqliteJournal.J2 (`Commits`) appends of one turn of the event loop share a commit; a
 * refused one does not affect the others. SqliteJournal.J3 (`RunLocks`) a run has one living owner, and a stale epoch cannot append. SqliteJournal.J4
 * (`readEvents`) every row is checked when it is read; a reader gets the intact events and then a typed error. SqliteJournal.J5 (`writeChat`) each
 * message of a conversation is stored once in a run. SqliteJournal.J6 (`openFile`) files are their owner's alone; a file of another program or
 * version is not changed. SqliteJournal.J7 (`close`) leaves a complete file without its log, unless another connection reads it, and no handle.
 *
 * A deleted `-wal` file looks like a kill before its commits. Locks over a network file system are not supported.
 */

export { flushOnSignals, type Flushable, type FlushOptions } from "./flush-on-signals.ts";
export { sqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";

/** Milliseconds to wait for other processes that write the same file. */
const PATIENCE = 10_000;

/** Options of {@link sqlite}. */
export interface SqliteOptions {
  /** The file. It and its folder are created if needed, with `-wal`, `-shm` and the folder `-locks` next to it. */
  readonly path: string;
}

const sqliteOptions: Known<SqliteOptions> = { path: kinds.text };

/**
 * A journal in a SQLite file.
 *
 * @throws UsageError `OPTION_INVALID` without a path. A file that cannot be used is reported by the first call as a JournalError:
 * `JOURNAL_FOREIGN`, `JOURNAL_NEWER`, `JOURNAL_UNWRITABLE`, `JOURNAL_FULL`, `JOURNAL_DAMAGED`.
 * @example
 * import { Team } from "troupe";
 * import { sqlite } from "troupe/sqlite";
 *
 * export const team = new Team({ name: "press", journal: sqlite({ path: ".troupe/runs.db" }) });
 */
export function sqlite(options: SqliteOptions): Journal {
  checkGivenOptions("sqlite", options, sqliteOptions);
  const file = filePath("sqlite", options.path, "Write memoryJournal() for a journal that ends with its process.");
  return new SqliteJournal({ kind: JOURNAL, file, clock: systemClock, patience: PATIENCE });
}
