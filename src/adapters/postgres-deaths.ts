import { PostgresDatabase } from "./postgres-database.ts";
import { DIED } from "./postgres-runs.ts";
import { type PostgresOptions, postgresServer } from "./postgres-server.ts";
import { JOURNAL_TABLES } from "./postgres-tables.ts";

/**
 * Records that a process has ended, for whoever saw it end. Runs that it owned are found with the former owner `died` then, also by machines
 * that cannot see the process.
 *
 * @param process the identity of the process: `identityText()` of its own
 * @throws UsageError `POSTGRES_URL_INVALID`, `OPTION_INVALID`, `PACKAGE_MISSING`; JournalError `JOURNAL_UNREACHABLE`, `JOURNAL_UNWRITABLE`
 */
export async function reportDeath(options: PostgresOptions, process: string): Promise<void> {
  const db = new PostgresDatabase(JOURNAL_TABLES, postgresServer("reportDeath", options));
  try {
    await db.rows(`UPDATE ${db.schema}.runs SET owner = $2 WHERE owner = $1`, [process, DIED]);
  } finally {
    await db.close();
  }
}
