import { hash } from "node:crypto";
import { MemoryError } from "../kernel/errors.ts";
import type { StoreState } from "../memory/message-store.ts";
import { type Database, type SqlRow, textOf } from "./sqlite-database.ts";
import type { FileFault, FileKind } from "./sqlite-errors.ts";
import { compactFile, withFile } from "./sqlite-file.ts";
import { decodeMessage, SPAN } from "./message-rows.ts";
import { MESSAGE_LINE } from "./sqlite-store-rows.ts";
import { VECTORS_OF_BLOCK } from "./sqlite-vector-blocks.ts";
import { CREATE_WORDS, renewWords } from "./sqlite-words.ts";

const faultCodes: Readonly<Record<FileFault, string>> = {
  foreign: "MEMORY_FOREIGN",
  newer: "MEMORY_NEWER",
  full: "MEMORY_FULL",
  unwritable: "MEMORY_UNWRITABLE",
  damaged: "MEMORY_DAMAGED",
};

/** The files of long-term memories; their mark is "TRPM". */
export const STORE: FileKind = {
  name: "store of memories",
  applicationId: 0x5452504d,
  steps: [
    // A role is found by the JSON text of its id, because SQLite cuts plain text at a NUL. A place is the role's number * 2^31 + n, so that
    // the rows of a role are stored together and in order.
    `CREATE TABLE file.roles (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     role TEXT NOT NULL UNIQUE,
     last INTEGER NOT NULL,
     removals INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE file.messages (
     place INTEGER PRIMARY KEY, number INTEGER NOT NULL, identity BLOB NOT NULL, body TEXT NOT NULL, checksum BLOB NOT NULL,
     UNIQUE (number, identity)
   ) STRICT;
   CREATE TABLE file.vectors (place INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;`,
    // A block is a range of places; see sqlite-store-rows.ts. Older rows stay as they are until they are read.
    `CREATE TABLE file.message_blocks (block INTEGER PRIMARY KEY, content BLOB NOT NULL, checksum BLOB NOT NULL) STRICT;
   CREATE TABLE file.vector_blocks (
     block INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, known BLOB NOT NULL, vectors BLOB NOT NULL, checksum INTEGER NOT NULL
   ) STRICT;`,
    // The words of messages; see sqlite-words.ts. Older messages are indexed when they are read.
    `CREATE TABLE file.word_blocks (block INTEGER PRIMARY KEY) STRICT; ${CREATE_WORDS}`,
    // The short form of the vectors of a block; see sqlite-vector-sketches.ts. That of older blocks is made when they are read.
    `CREATE TABLE IF NOT EXISTS file.vector_sketches (
     block INTEGER PRIMARY KEY, dimensions INTEGER NOT NULL, sketch BLOB NOT NULL, checksum INTEGER NOT NULL
   ) STRICT;`,
    // The digests of messages that were removed for good.
    `CREATE TABLE IF NOT EXISTS file.removed (number INTEGER NOT NULL, identity BLOB NOT NULL, PRIMARY KEY (number, identity)) STRICT, WITHOUT ROWID;`,
  ],
  error: (fault, message, o) => new MemoryError(faultCodes[fault], message, o),
};

/** The row of a role. */
interface RoleRow extends StoreState {
  readonly number: number;
}

/** Returns the row of a role, if there is one. */
export function roleOf(db: Database, roleId: string): RoleRow | undefined {
  const name = JSON.stringify(roleId);
  const [number, last, removals] =
    db.first("SELECT CAST(number AS INTEGER), CAST(last AS INTEGER), CAST(removals AS INTEGER) FROM roles WHERE role IN (?, ?)", [
      name,
      tracelessName(name),
    ]) ?? [];
  return number === undefined ? undefined : { number: Number(number), last: Number(last), removals: Number(removals) };
}

/** Returns the row before the first place of a role. */
export function baseOf(db: Database, roleId: string): number | undefined {
  const role = roleOf(db, roleId);
  return role === undefined ? undefined : role.number * SPAN;
}

/** The places of more roles are no safe integers. */
const MOST_ROLES = Math.floor(Number.MAX_SAFE_INTEGER / SPAN);

/** Adds a role. @throws MemoryError `MEMORY_FULL` */
export function madeRole(db: Database, roleId: string): RoleRow {
  db.run("INSERT INTO roles (role, last, removals) VALUES (?, 0, 0)", [JSON.stringify(roleId)]);
  const role = roleOf(db, roleId) as RoleRow;
  if (role.number < MOST_ROLES) return role;
  throw new MemoryError("MEMORY_FULL", `Expected at most ${MOST_ROLES} memories in one file, got one more. Use another file for it.`);
}

/** Stands in place of the name of a role without messages, which may name a person. A role is found by it too. */
function tracelessName(name: string): string {
  return `${TRACELESS}${hash("sha256", name)}`;
}

const TRACELESS = "#";

/** Returns the keys of all roles with messages. */
export function scopesIn(db: Database): readonly string[] {
  const named = db.all(`SELECT CAST(role AS BLOB) FROM roles WHERE ${HAS_MESSAGES} ORDER BY number`);
  return named.flatMap(([name]) => nameIn(name) ?? []);
}

/** Removes the names of emptied roles, and the index of words, which has those of removed messages and is made again from the others. */
export function withoutTraces(db: Database): void {
  for (const [number, name] of db.all(`SELECT CAST(number AS INTEGER), CAST(role AS BLOB) FROM roles WHERE NOT ${HAS_MESSAGES}`)) {
    const text = textOf(name) ?? "";
    if (!text.startsWith(TRACELESS)) db.run("UPDATE roles SET role = ? WHERE number = ?", [tracelessName(text), Number(number)]);
  }
  renewWords(db);
}

const HAS_MESSAGES = `EXISTS (SELECT 1 FROM messages WHERE place > roles.number * ${SPAN} AND place < (roles.number + 1) * ${SPAN})`;

/** The contents of a store for one role. */
export interface StoredRole {
  readonly roleId: string;
  readonly messages: number;
  /** Characters of its messages as they are stored. */
  readonly characters: number;
  /** The number of vectors by the fingerprint of their embedder. */
  readonly vectors: readonly { readonly fingerprint: string; readonly count: number }[];
  /** Milliseconds since 1970 when its newest message was stored; undefined if that cannot be read. */
  readonly newest: number | undefined;
}

/** The roles of a store. */
export interface StoredRoles {
  /** In the order of their first messages. */
  readonly roles: readonly StoredRole[];
  /** Roles whose names cannot be read. */
  readonly damaged: number;
}

/**
 * Returns every role that has messages in a store.
 *
 * @throws MemoryError like the store itself
 */
export function storedRoles(path: string): Promise<StoredRoles> {
  return withFile(path, STORE, (db) => {
    const rows = db.all(
      `SELECT CAST(number AS INTEGER), CAST(role AS BLOB) FROM roles WHERE role NOT LIKE '${TRACELESS}%' ORDER BY number`,
    );
    const found = rows.map((row) => roleIn(db, row));
    const roles = found.filter((role) => role !== undefined);
    return { roles: roles.filter(({ messages }) => messages > 0), damaged: found.length - roles.length };
  });
}

/**
 * Gives the space of removed messages back to the disk.
 *
 * @returns the bytes before and after
 * @throws MemoryError like the store itself; `MEMORY_UNWRITABLE` while another process uses it
 */
export function compactStore(path: string): Promise<{ readonly before: number; readonly after: number }> {
  return compactFile(path, STORE);
}

function roleIn(db: Database, [number, name]: SqlRow): StoredRole | undefined {
  const roleId = nameIn(name);
  if (roleId === undefined) return undefined;
  const range = [Number(number) * SPAN, (Number(number) + 1) * SPAN];
  const [messages, characters] = db.first(COUNT_MESSAGES, range) ?? [];
  const vectors = db.all(COUNT_VECTORS, [...range, ...range]).map(([fingerprint, count]) => ({
    fingerprint: Buffer.from(fingerprint as Uint8Array).toString(),
    count: Number(count),
  }));
  const [line] = db.first(LAST_MESSAGE, range) ?? [];
  const last = line instanceof Uint8Array ? decodeMessage(Buffer.from(line).toString(), 0) : undefined;
  return { roleId, messages: Number(messages), characters: Number(characters ?? 0), vectors, newest: last?.addedAt };
}

function nameIn(name: unknown): string | undefined {
  try {
    const roleId: unknown = JSON.parse(Buffer.from(name as Uint8Array).toString());
    return typeof roleId === "string" ? roleId : undefined;
  } catch {
    // The caller counts it as damaged.
    return undefined;
  }
}

const COUNT_MESSAGES = "SELECT count(*), CAST(sum(length(body)) AS INTEGER) FROM messages WHERE place > ? AND place < ?";
const COUNT_VECTORS = `SELECT CAST(fingerprint AS BLOB), CAST(sum(vectors) AS INTEGER) FROM (
    SELECT fingerprint, 1 AS vectors FROM vectors WHERE place > ? AND place < ?
    UNION ALL SELECT fingerprint, ${VECTORS_OF_BLOCK} FROM vector_blocks WHERE block >= ? AND block < ?
  ) GROUP BY fingerprint ORDER BY sum(vectors) DESC`;
const LAST_MESSAGE = `SELECT CAST(${MESSAGE_LINE} AS BLOB) FROM messages WHERE place > ? AND place < ? ORDER BY place DESC LIMIT 1`;
