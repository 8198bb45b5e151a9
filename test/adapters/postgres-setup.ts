import { postgres, type PostgresJournalOptions } from "../../src/adapters/postgres.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { afterEachFile } from "../after-file.ts";
import { type PostgresProcess, startPostgres } from "./postgres-process.ts";

const open: Journal[] = [];
afterEachFile(async () => {
  for (const journal of open.splice(0)) await journal.close();
});

let schemas = 0;

/** A name for a schema that no test has had. */
export function newSchema(): string {
  return `s${(schemas += 1)}`;
}

let server: Promise<PostgresProcess> | undefined;
afterEachFile(() => {
  server = undefined;
});

/** The server of a file of tests. */
export function sharedServer(): Promise<PostgresProcess> {
  server ??= startPostgres();
  return server;
}

/** A journal in a schema of the shared server; closed after the tests of the file. */
export async function journalIn(schema: string, more: Partial<PostgresJournalOptions> = {}): Promise<Journal> {
  const journal = postgres({ url: (await sharedServer()).url, schema, patience: 20_000, grace: 100, ...more });
  open.push(journal);
  return journal;
}
