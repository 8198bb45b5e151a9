import { JournalError, MemoryError } from "../kernel/errors.ts";
import { errorsOf, type PostgresPart } from "./postgres-server.ts";

/** Characters of an id that the index of names has: longer texts do not fit into one. */
export const INDEXED = 200;

/**
 * The tables of a journal. A run is found by the digest of its id, because an index takes no long string; its name is JSON, because a string
 * holds no NUL. A row of events has those of one append: its `seq` is that of the first. `owner` is the process of the owner, or how the last one
 * left; `session` the number of its lock; `head` the checksum of the last event. Pages of runs have room left, so that a change needs no new entry
 * in an index.
 */
export const JOURNAL_TABLES: PostgresPart = {
  name: "journal",
  version: 2,
  tables: (s) => `
CREATE SEQUENCE ${s}.epochs AS bigint;
CREATE TABLE ${s}.runs (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, events integer NOT NULL DEFAULT 0, epoch bigint NOT NULL DEFAULT 0,
  session bigint NOT NULL DEFAULT 0, takes_commands boolean NOT NULL DEFAULT false,
  key bytea NOT NULL UNIQUE, head bytea NOT NULL, owner text NOT NULL, run text COLLATE "C" NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX runs_by_name ON ${s}.runs (left(run, ${INDEXED}));
CREATE TABLE ${s}.events (
  number integer NOT NULL, seq integer NOT NULL, checksum bytea NOT NULL, body bytea NOT NULL, PRIMARY KEY (number, seq)
);
CREATE TABLE ${s}.chats (
  number integer NOT NULL, chat bytea NOT NULL, before bytea NOT NULL, message bytea NOT NULL, PRIMARY KEY (number, chat)
);
CREATE TABLE ${s}.chat_messages (number integer NOT NULL, message bytea NOT NULL, body text NOT NULL, PRIMARY KEY (number, message));
CREATE TABLE ${s}.snapshots (number integer PRIMARY KEY, seq integer NOT NULL, checksum bytea NOT NULL, state text NOT NULL);
CREATE TABLE ${s}.files (number integer NOT NULL, hash text NOT NULL, body bytea NOT NULL, PRIMARY KEY (number, hash));
CREATE TABLE ${s}.removed (number integer PRIMARY KEY);
CREATE TABLE ${s}.commands (
  id uuid PRIMARY KEY, number integer NOT NULL, sender bigint NOT NULL, expires timestamptz NOT NULL, taken_by uuid,
  command text NOT NULL, answer text
);
CREATE INDEX commands_by_run ON ${s}.commands (number);
CREATE TABLE ${s}.tallies (number integer PRIMARY KEY, checksum bytea NOT NULL, tally text NOT NULL);`,
  error: errorsOf("JOURNAL", JournalError, "UNWRITABLE"),
};

export const RUN_TABLES = ["events", "chats", "chat_messages", "snapshots", "tallies", "commands", "files"] as const;

/** The tables of long-term memories. A place is the role's number * 2^31 + n, so that the rows of a role follow each other. */
export const MEMORY_TABLES: PostgresPart = {
  name: "long-term memory",
  version: 1,
  tables: (s) => `
CREATE TABLE ${s}.memory_roles (
  number integer GENERATED ALWAYS AS IDENTITY (MAXVALUE 4000000) PRIMARY KEY, key bytea NOT NULL UNIQUE, role text NOT NULL,
  last integer NOT NULL DEFAULT 0, removals integer NOT NULL DEFAULT 0
);
CREATE TABLE ${s}.memory_messages (
  place bigint PRIMARY KEY, number integer NOT NULL, identity bytea NOT NULL, checksum bytea NOT NULL,
  body text NOT NULL, UNIQUE (number, identity)
);
CREATE TABLE ${s}.memory_vectors (
  place bigint PRIMARY KEY REFERENCES ${s}.memory_messages ON DELETE CASCADE, checksum bigint NOT NULL, fingerprint text NOT NULL,
  vector bytea NOT NULL
);
CREATE TABLE ${s}.memory_removed (number integer NOT NULL, identity bytea NOT NULL, PRIMARY KEY (number, identity));`,
  error: errorsOf("MEMORY", MemoryError, "UNWRITABLE"),
};

export function sessionChannel(schema: string, session: string): string {
  return `${schema}.s${session}`;
}
