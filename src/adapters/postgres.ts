import { UsageError } from "../kernel/errors.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { PostgresJournal } from "./postgres-journal.ts";
import { type PostgresOptions, postgresOptions, postgresServer } from "./postgres-server.ts";

/*
 * A journal in a Postgres database, for owners on many machines, over `pg`, which the first call loads.
 *
 * Postgres.J1 (`PostgresAppends`) a resolved append is committed, and survives a kill of the server; the appends of one turn of the event
 * loop are one statement. Postgres.J2 (`PostgresDatabase`) a database that is away for less than `patience` fails no call, and no append is
 * written twice. Postgres.J3 (`PostgresJournal`) a run has one owner, whose epoch fences all before it. Postgres.J4 (`readRun`) every row is
 * checked when it is read; a reader gets the intact events and then a typed error, never a wrong event. Postgres.J5 (`migrate`) tables of a
 * newer version, or of another program, are not touched.
 *
 * The server must keep what it has committed: `fsync = off` is not supported, nor is a pool between this and the server that shares a
 * connection between transactions, because a lock and a notification belong to a connection.
 */

export { postgresBudget, type PostgresBudget, type PostgresBudgetAmounts, type PostgresBudgetOptions } from "./postgres-budget.ts";
export { postgresLimits, type PostgresLimits, type PostgresLimitsOptions } from "./postgres-limits.ts";
export type { PostgresOptions } from "./postgres-server.ts";
export { postgresStore } from "./postgres-store.ts";

/** Options of {@link postgres}. */
export interface PostgresJournalOptions extends PostgresOptions {
  /**
   * Milliseconds for which a lost connection of an owner may come back before another claim takes its run. Not used where the death of the
   * owner's process is proven. Default 2,000.
   */
  readonly grace?: number;
}

const journalOptions: Known<PostgresJournalOptions> = { ...postgresOptions, grace: kinds.milliseconds };

const GRACE = 2_000;

/**
 * A journal in a Postgres database. Its tables are made at the first call, in a schema of their own. The connection keeps the process
 * running while the journal owns a run, or a call waits. The `pg` package is loaded at the first use; without it, that call throws UsageError
 * `PACKAGE_MISSING`.
 *
 * @throws UsageError `POSTGRES_URL_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`. Calls throw JournalError `JOURNAL_UNREACHABLE` when the
 * database does not answer for `patience` milliseconds, `JOURNAL_UNWRITABLE` when it refuses a statement, `JOURNAL_NEWER`, `JOURNAL_FOREIGN`,
 * `JOURNAL_FULL`, `JOURNAL_DAMAGED`. No error has the password of the address in it.
 * @example
 * import { Team } from "troupe";
 * import { postgres } from "troupe/postgres";
 *
 * const journal = postgres({ url: "postgres://troupe@127.0.0.1:5432/runs", schema: "press" });
 * export const team = new Team({ name: "press", journal });
 */
export function postgres(options: PostgresJournalOptions): Journal {
  const server = postgresServer("postgres", options, journalOptions);
  const { grace = GRACE } = options;
  if (!Number.isFinite(grace) || grace < 0) {
    throw new UsageError("OPTION_INVALID", `Expected grace of postgres to be milliseconds from 0 on, got ${valueText(grace)}.`);
  }
  return new PostgresJournal(server, grace);
}
