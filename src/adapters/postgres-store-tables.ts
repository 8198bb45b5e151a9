import { hash } from "node:crypto";
import { MemoryError } from "../kernel/errors.ts";
import { SPAN } from "./message-rows.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import type { PostgresFault, PostgresPart } from "./postgres-errors.ts";

const codes: { readonly [Fault in PostgresFault]: string } = {
  unreachable: "MEMORY_UNREACHABLE",
  refused: "MEMORY_UNWRITABLE",
  full: "MEMORY_FULL",
  newer: "MEMORY_NEWER",
  foreign: "MEMORY_FOREIGN",
  closed: "MEMORY_CLOSED",
};

/** SQL of a message as the line that `decodeMessage` reads. */
export const LINE = "encode(checksum, 'hex') || ' ' || place || ' ' || encode(identity, 'hex') || ' ' || body";

/** Returns the key of a role: an index takes no long text, and a text holds no NUL. */
export function digestOfRole(roleId: string): Buffer {
  return hash("sha256", JSON.stringify(roleId), "buffer");
}

/** The places of a role in the tables. */
export interface RolePlaces {
  /** The place before its first one. */
  readonly base: number;
  readonly last: number;
}

/** Returns the places of a role; undefined when nothing of it is stored. */
export async function placesOfRole(db: PostgresDatabase, roleId: string): Promise<RolePlaces | undefined> {
  const [row] = await db.rows<{ number: number; last: number }>(`SELECT number, last FROM ${db.schema}.memory_roles WHERE key = $1`, [
    digestOfRole(roleId),
  ]);
  return row === undefined ? undefined : { base: row.number * SPAN, last: row.last };
}

/** The tables of long-term memories. A place is the role's number * 2^31 + n, so that the rows of a role follow each other. */
export const MEMORY_TABLES: PostgresPart = {
  name: "long-term memory",
  steps: [
    (s) => `
CREATE TABLE ${s}.memory_roles (
  number integer GENERATED ALWAYS AS IDENTITY (MAXVALUE 4000000) PRIMARY KEY, key bytea NOT NULL UNIQUE, role text NOT NULL,
  last integer NOT NULL DEFAULT 0, removals integer NOT NULL DEFAULT 0, last_removal uuid, last_removed integer NOT NULL DEFAULT 0
);
CREATE TABLE ${s}.memory_messages (
  place bigint PRIMARY KEY, number integer NOT NULL, batch uuid NOT NULL, identity bytea NOT NULL, checksum bytea NOT NULL,
  body text NOT NULL, UNIQUE (number, identity)
);
CREATE TABLE ${s}.memory_vectors (
  place bigint PRIMARY KEY REFERENCES ${s}.memory_messages ON DELETE CASCADE, checksum bigint NOT NULL, fingerprint text NOT NULL,
  vector bytea NOT NULL
);`,
    // The digests of messages that were removed for good.
    (s) => `CREATE TABLE ${s}.memory_removed (number integer NOT NULL, identity bytea NOT NULL, PRIMARY KEY (number, identity))`,
  ],
  error: (fault, message, o) => new MemoryError(codes[fault], message, o),
};
