import { JournalError } from "../kernel/errors.ts";
import type { Database } from "./sqlite-database.ts";

/** Tells this program's files from those of others: "TRPE". */
export const APPLICATION_ID = 0x54525045;

/** Step `n` leads from version `n` to `n + 1`; a new file takes them all. Steps that were published never change. */
export const SCHEMA_STEPS: readonly string[] = [
  // A run is known by the JSON text of its id, for SQLite cuts plain text at a NUL. `head` is the checksum of its last event.
  // The place of an event is its run's number * 2^31 + its seq, so that events of a run lie together and in order.
  // `chat` is the end of the conversation that a model was shown: `chats` says which message stands there and what came before.
  `CREATE TABLE file.epochs (last INTEGER NOT NULL) STRICT;
   INSERT INTO epochs VALUES (0);
   CREATE TABLE file.runs (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     run TEXT NOT NULL UNIQUE,
     epoch INTEGER NOT NULL,
     events INTEGER NOT NULL,
     head BLOB NOT NULL
   ) STRICT;
   CREATE TABLE file.events (place INTEGER PRIMARY KEY, body TEXT NOT NULL, checksum BLOB NOT NULL, chat BLOB) STRICT;
   CREATE TABLE file.chats (
     number INTEGER NOT NULL, chat BLOB NOT NULL, before BLOB NOT NULL, message BLOB NOT NULL, PRIMARY KEY (number, chat)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE file.chat_messages (number INTEGER NOT NULL, message BLOB NOT NULL, body TEXT NOT NULL, UNIQUE (number, message)) STRICT;`,
  // The tables are the same. From here on an event may stand as a short list, which no program of version 1 can read.
  "",
];

/**
 * Whether a file is a journal or has nothing in it yet.
 *
 * @throws JournalError `JOURNAL_FOREIGN` for another program's, `JOURNAL_NEWER` for one of a newer version of this program
 */
export function identify(db: Database, file: string, steps: readonly string[] = SCHEMA_STEPS): { readonly version: number } {
  const application = whole(db, "PRAGMA file.application_id");
  const version = whole(db, "PRAGMA file.user_version");
  if (application === APPLICATION_ID) {
    if (version <= steps.length) return { version };
    throw new JournalError(
      "JOURNAL_NEWER",
      `Expected a journal of version ${steps.length} at most, got ${version} in ${file}. Update this program to use it; nothing was changed.`,
      { data: { file, version } },
    );
  }
  if (application === 0 && version === 0 && whole(db, "SELECT count(*) FROM file.sqlite_master") === 0) return { version };
  throw new JournalError(
    "JOURNAL_FOREIGN",
    `Expected a journal or no file at ${file}, got the database of another program. Choose another path; nothing was changed.`,
    { data: { file } },
  );
}

/** Brings a file to the newest version, in one transaction. What it holds stays. @throws as {@link identify} */
export function prepareSchema(db: Database, file: string, steps: readonly string[] = SCHEMA_STEPS): void {
  if (identify(db, file, steps).version === steps.length) return;
  db.transaction("IMMEDIATE", () => {
    // Another process may have done it meanwhile.
    const { version } = identify(db, file, steps);
    for (const step of steps.slice(version)) db.exec(step);
    db.exec(`PRAGMA file.application_id = ${APPLICATION_ID}; PRAGMA file.user_version = ${steps.length}`);
  });
}

function whole(db: Database, sql: string): number {
  return Number(db.first(sql)?.[0]);
}
