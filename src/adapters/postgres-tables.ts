import { JournalError } from "../kernel/errors.ts";
import type { PostgresFault, PostgresPart } from "./postgres-errors.ts";

const faultCodes: Readonly<Record<PostgresFault, string>> = {
  unreachable: "JOURNAL_UNREACHABLE",
  refused: "JOURNAL_UNWRITABLE",
  full: "JOURNAL_FULL",
  newer: "JOURNAL_NEWER",
  foreign: "JOURNAL_FOREIGN",
  closed: "JOURNAL_CLOSED",
};

/** Characters of an id that the index of names has: longer texts do not fit into one. */
export const INDEXED = 200;

/** The tables of a journal. */
export const JOURNAL_TABLES: PostgresPart = {
  name: "journal",
  steps: [
    // A run is found by the digest of its id, because an index takes no long text; its name is the JSON text, because a text holds no NUL.
    // A row of events has those of one append: its `seq` is that of the first. `owner` is the process of the owner, or how the last one left; `session` the number of its lock. `head` is the checksum of the last
    // event. Columns of fixed length come first. Room is left in the pages of runs, so that a change needs no new entry in an index.
    (s) => `CREATE SEQUENCE ${s}.epochs AS bigint;
      CREATE SEQUENCE ${s}.sessions AS integer CYCLE;
      CREATE TABLE ${s}.runs (
        number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        events integer NOT NULL DEFAULT 0,
        epoch bigint NOT NULL DEFAULT 0,
        watched timestamptz,
        session integer NOT NULL DEFAULT 0,
        takes_commands boolean NOT NULL DEFAULT false,
        key bytea NOT NULL UNIQUE,
        head bytea NOT NULL,
        owner text NOT NULL,
        run text COLLATE "C" NOT NULL
      ) WITH (fillfactor = 60);
      CREATE INDEX runs_by_name ON ${s}.runs (left(run, ${INDEXED}));
      CREATE TABLE ${s}.events (
        number integer NOT NULL,
        seq integer NOT NULL,
        checksum bytea NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (number, seq)
      );
      CREATE TABLE ${s}.chats (
        number integer NOT NULL,
        chat bytea NOT NULL,
        before bytea NOT NULL,
        message bytea NOT NULL,
        PRIMARY KEY (number, chat)
      );
      CREATE TABLE ${s}.chat_messages (
        number integer NOT NULL,
        message bytea NOT NULL,
        body text NOT NULL,
        PRIMARY KEY (number, message)
      );
      CREATE TABLE ${s}.snapshots (number integer PRIMARY KEY, seq integer NOT NULL, checksum bytea NOT NULL, state text NOT NULL);
      CREATE TABLE ${s}.removed (number integer PRIMARY KEY);
      CREATE TABLE ${s}.commands (
        id uuid PRIMARY KEY,
        number integer NOT NULL,
        sender integer NOT NULL,
        expires timestamptz NOT NULL,
        taken_by uuid,
        command text NOT NULL,
        answer text
      );
      CREATE INDEX commands_by_run ON ${s}.commands (number);`,
    (s) => `CREATE TABLE ${s}.tallies (number integer PRIMARY KEY, checksum bytea NOT NULL, tally text NOT NULL)`,
  ],
  error: (fault, message, o) => new JournalError(faultCodes[fault], message, o),
};

/** Returns the channel on which a session is told of its runs and commands. */
export function sessionChannel(schema: string, session: number | string): string {
  return `${schema}.s${session}`;
}

/** Returns the channel on which the watchers of a run are told. */
export function runChannel(schema: string, number: number): string {
  return `${schema}.r${number}`;
}

/** SQL for the class of the locks of a schema. Sessions have a number from 1 on in it. */
export function lockClass(schema: string): string {
  return `hashtext('troupe schema ${schema}')`;
}

/** SQL that is true while the connection of a session holds its lock. */
export function isHeld(schema: string, session: string): string {
  return `EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.classid = ${lockClass(schema)}::oid AND l.objid = ${session}::oid)`;
}
