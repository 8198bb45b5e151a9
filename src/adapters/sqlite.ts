import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { resolve } from "node:path";
import { systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { SqliteJournal } from "./sqlite-journal.ts";

/*
 * A journal on disk, for all runs of a project: one SQLite file, over `libsql`, which is loaded with the first question.
 *
 * SqliteJournal.J1 (`append`) a resolved append is on the disk (write-ahead log, synchronous=FULL); the owner of a run need not be, because no
 * owner outlives the machine's power. SqliteJournal.J2 (`Commits`) appends of one turn of the event loop share a commit; a refused one harms no
 * other. SqliteJournal.J3 (`RunLocks`) a run has one living owner, and a stale epoch cannot append. SqliteJournal.J4 (`readEvents`) every row is
 * checked when it is read; a reader gets the intact events and then a typed error, never a wrong event. SqliteJournal.J5 (`writeChat`) a run
 * grows with what is said in it, not with how often a model is shown it. SqliteJournal.J6 (`openFile`) files are private to their owner from
 * birth; a file of another program, or of a newer version, is not touched. SqliteJournal.J7 (`close`) afterwards the file is whole without its
 * log, unless another connection reads it at that moment, and the process has no handle of it.
 *
 * A deleted `-wal` file looks like a kill before its commits. Locks over a network file system, and disks that lie about a finished write, are
 * not supported.
 */

export { ShardedStorage, type ShardedStorageOptions } from "../memory/sharded-storage.ts";
export { flushOnSignals, type Flushable, type FlushOptions } from "./flush-on-signals.ts";
export { sqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";

/** Milliseconds to wait for other processes that write the same file. */
const PATIENCE = 10_000;

/** Where the journal is. */
export interface SqliteOptions {
  /** The file; it and its folder are made when they are not there. Beside it stand `-wal`, `-shm` and the folder `-locks`. */
  readonly path: string;
}

const sqliteOptions: Known<SqliteOptions> = { path: true };

/**
 * A journal in a SQLite file.
 *
 * @throws UsageError `OPTION_INVALID` without a path. What is wrong with the file is told by the first question, as a JournalError:
 * `JOURNAL_FOREIGN`, `JOURNAL_NEWER`, `JOURNAL_UNWRITABLE`, `JOURNAL_FULL`, `JOURNAL_DAMAGED`.
 * @example
 * import { Team } from "troupe";
 * import { sqlite } from "troupe/sqlite";
 *
 * export const team = new Team({ name: "press", journal: sqlite({ path: ".troupe/runs.db" }) });
 */
export function sqlite(options: SqliteOptions): Journal {
  checkGivenOptions("sqlite", options, sqliteOptions);
  const { path } = options;
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new UsageError(
      "OPTION_INVALID",
      `Expected the path of a journal's file, got ${JSON.stringify(path)}. Write sqlite({ path: "runs.db" }).`,
    );
  }
  return new SqliteJournal({ file: resolve(path), clock: systemClock, patience: PATIENCE });
}
