import { hash } from "node:crypto";
import { MemoryError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import type { StoreState } from "../memory/message-store.ts";
import { changedMessage, decodeMessage, SPAN } from "./message-rows.ts";
import { type Database, type SqlRow, textOf } from "./sqlite-database.ts";
import type { FileKind } from "./sqlite-errors.ts";
import { compactFile, withFile } from "./sqlite-file.ts";

export const CREATE_WORDS = `CREATE VIRTUAL TABLE file.words USING fts5(
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '.'"
  );
  CREATE VIRTUAL TABLE file.word_list USING fts5vocab(words, row);`;

/** The files of long-term memories; their mark is "TRPM". */
export const STORE: FileKind = {
  name: "store of memories",
  applicationId: 0x5452504d,
  version: 1,
  // A role is found by the JSON text of its id, because SQLite cuts plain text at a NUL. A row of a role is its number * 2^31 + the place, so
  // that the rows of a role are stored together and in order. `removed` has the messages that were removed for good.
  schema: `CREATE TABLE file.roles (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     role TEXT NOT NULL UNIQUE,
     last INTEGER NOT NULL,
     removals INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE file.messages (
     place INTEGER PRIMARY KEY, number INTEGER NOT NULL, identity BLOB NOT NULL, body TEXT NOT NULL, checksum BLOB NOT NULL,
     UNIQUE (number, identity)
   ) STRICT;
   CREATE TABLE file.vectors (place INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
   CREATE TABLE file.removed (number INTEGER NOT NULL, identity BLOB NOT NULL, PRIMARY KEY (number, identity)) STRICT, WITHOUT ROWID;
   ${CREATE_WORDS}`,
  error: (fault, message, o) => new MemoryError(`MEMORY_${fault.toUpperCase()}`, message, o),
};

/** SQL of a message's row as one line. A body is JSON without line breaks. */
export const MESSAGE_LINE = "lower(hex(checksum)) || ' ' || place || ' ' || lower(hex(identity)) || ' ' || body";

export interface RoleRow extends StoreState {
  readonly number: number;
  readonly base: number;
}

export function roleOf(db: Database, roleId: string): RoleRow | undefined {
  const name = JSON.stringify(roleId);
  const [number, last, removals] =
    db.first("SELECT CAST(number AS INTEGER), CAST(last AS INTEGER), CAST(removals AS INTEGER) FROM roles WHERE role IN (?, ?)", [
      name,
      tracelessName(name),
    ]) ?? [];
  if (number === undefined) return undefined;
  return { number: Number(number), base: Number(number) * SPAN, last: Number(last), removals: Number(removals) };
}

export function baseOf(db: Database, roleId: string): number | undefined {
  return roleOf(db, roleId)?.base;
}

/** The places of more roles are no safe integers. */
const MAX_ROLES = Math.floor(Number.MAX_SAFE_INTEGER / SPAN);

export function madeRole(db: Database, roleId: string): RoleRow {
  db.run("INSERT INTO roles (role, last, removals) VALUES (?, 0, 0)", [JSON.stringify(roleId)]);
  const role = roleOf(db, roleId) as RoleRow;
  if (role.number < MAX_ROLES) return role;
  throw new MemoryError("MEMORY_FULL", `Expected at most ${MAX_ROLES} memories in one file, got one more. Use another file for it.`);
}

/** Stands in place of the name of a role without messages, which may name a person. A role is found by it too. */
function tracelessName(name: string): string {
  return `${TRACELESS}${hash("sha256", name)}`;
}

const TRACELESS = "#";

export function scopesIn(db: Database): readonly string[] {
  return db.all(`SELECT CAST(role AS BLOB) FROM roles WHERE ${HAS_MESSAGES} ORDER BY number`).map(([name]) => nameIn(name));
}

export function withoutNames(db: Database): void {
  for (const [number, name] of db.all(`SELECT CAST(number AS INTEGER), CAST(role AS BLOB) FROM roles WHERE NOT ${HAS_MESSAGES}`)) {
    const text = textOf(name) ?? "";
    if (!text.startsWith(TRACELESS)) db.run("UPDATE roles SET role = ? WHERE number = ?", [tracelessName(text), Number(number)]);
  }
}

const HAS_MESSAGES = `EXISTS (SELECT 1 FROM messages WHERE place > roles.number * ${SPAN} AND place < (roles.number + 1) * ${SPAN})`;

export interface StoredRole {
  readonly roleId: string;
  readonly messages: number;
  readonly characters: number;
  readonly vectors: readonly { readonly fingerprint: string; readonly count: number }[];
  readonly newest: number;
}

export function storedRoles(path: string): Promise<readonly StoredRole[]> {
  return withFile(path, STORE, (db) =>
    db
      .all(`SELECT CAST(number AS INTEGER), CAST(role AS BLOB) FROM roles WHERE ${HAS_MESSAGES} ORDER BY number`)
      .map((row) => roleIn(db, row)),
  );
}

/** Gives the space of removed messages back to the disk. Returns the bytes before and after. */
export const compactStore = (path: string): ReturnType<typeof compactFile> => compactFile(path, STORE);

function roleIn(db: Database, [number, name]: SqlRow): StoredRole {
  const range = [Number(number) * SPAN, (Number(number) + 1) * SPAN];
  const [messages, characters] = db.first(COUNT_MESSAGES, range) ?? [];
  const vectors = db
    .all(COUNT_VECTORS, range)
    .map(([fingerprint, count]) => ({ fingerprint: textOf(fingerprint) ?? "", count: Number(count) }));
  const [line] = db.first(LAST_MESSAGE, range) ?? [];
  const { addedAt } = decodeMessage(textOf(line) ?? "", 0);
  return { roleId: nameIn(name), messages: Number(messages), characters: Number(characters), vectors, newest: addedAt };
}

function nameIn(name: unknown): string {
  const roleId = parsedJson(textOf(name) ?? "");
  if (typeof roleId === "string") return roleId;
  throw changedMessage();
}

const COUNT_MESSAGES = "SELECT count(*), CAST(sum(length(body)) AS INTEGER) FROM messages WHERE place > ? AND place < ?";
const COUNT_VECTORS =
  "SELECT CAST(fingerprint AS BLOB), count(*) FROM vectors WHERE place > ? AND place < ? GROUP BY fingerprint ORDER BY count(*) DESC";
const LAST_MESSAGE = `SELECT CAST(${MESSAGE_LINE} AS BLOB) FROM messages WHERE place > ? AND place < ? ORDER BY place DESC LIMIT 1`;
