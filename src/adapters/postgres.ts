import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { PostgresJournal } from "./postgres-journal.ts";
import { type PostgresOptions, postgresOptions, postgresServer } from "./postgres-server.ts";

export { postgresBudget, type PostgresBudget, type PostgresBudgetAmounts, type PostgresBudgetOptions } from "./postgres-budget.ts";
export { postgresLimits, type PostgresLimits, type PostgresLimitsOptions } from "./postgres-limits.ts";
export type { PostgresOptions } from "./postgres-server.ts";
export { postgresStore } from "./postgres-store.ts";

/*
 * Postgres.J1 (`PostgresAppends`) a resolved append is committed, and survives a kill of the server. Postgres.J2 (`PostgresDatabase`) a database
 * that is away for less than `patience` fails no call, and no append is written twice. Postgres.J4 (`readRun`) every row is checked when it
 * is read: a reader gets the intact events and then a typed error. Postgres.J5 (`PostgresDatabase`) tables of another version are not touched.
 */

/** Options of {@link postgres}. */
export interface PostgresJournalOptions extends PostgresOptions {
  /** Milliseconds in which a lost connection of an owner may come back before another claim takes its run, unless its death is proven. Default 2,000. */
  readonly grace?: number;
}

const journalOptions: Known<PostgresJournalOptions> = { ...postgresOptions, grace: kinds.milliseconds };

/**
 * A journal in a Postgres database, for owners on many machines. The first call loads the package `pg` and makes the tables, in a schema of
 * their own. The connection keeps the process running while the journal owns a run, or a call waits. The server must keep what it has
 * committed (`fsync = on`), and no pooler may share a connection between transactions: a lock and a notification belong to a connection.
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
  return new PostgresJournal(server, options.grace ?? 2_000);
}
