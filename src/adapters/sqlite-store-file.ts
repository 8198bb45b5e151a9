import { hash } from "node:crypto";
import { MemoryError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import type { StoreState, SoughtWord } from "../memory/message-store.ts";
import { termsOf } from "../memory/text-terms.ts";
import { changedMessage, decodeMessage, SPAN } from "./message-rows.ts";
import { type Database, type SqlRow, textOf } from "./sqlite-database.ts";
import type { FileKind } from "./sqlite-errors.ts";
import { compactFile, withFile } from "./sqlite-file.ts";

const CREATE_WORDS = `CREATE VIRTUAL TABLE file.words USING fts5(
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

/* A full-text index of words, so that a search reads only likely messages. It has no checksums: a changed bit may hide a message. */

/** Characters that are indexed of a word. */
const MAX_WORD_LENGTH = 64;
/** Limit on the messages of one word, the newest ones, and roughly the most of all words together. */
const MAX_NAMED = 50_000;
/** Limit on the words of a search, the rarest ones. */
const MAX_WORDS = 64;
/** Weight of a misspelt word, as in the ranking of candidates. */
const MISSPELT = 0.45;

export function writeWords(db: Database, number: number, row: number, content: string): void {
  const words = [...new Set(termsOf(content))].map((word) => keyOf(number, word));
  db.run("INSERT INTO words (rowid, terms) VALUES (?, ?)", [row, words.join(" ")]);
}

export function removeWords(db: Database, rows: string): void {
  db.run("DELETE FROM words WHERE rowid IN (SELECT value FROM json_each(?))", [rows]);
}

/** Makes the index of a file anew, without the words of removed messages. */
export function renewWords(db: Database): void {
  db.exec(`DROP TABLE word_list; DROP TABLE words; ${CREATE_WORDS}`);
  for (let from = 0; ;) {
    const lines = db.all(READ_LINES, [from]);
    for (const [line] of lines) {
      const { place: row, message } = decodeMessage(textOf(line) ?? "", 0);
      writeWords(db, Math.floor(row / SPAN), row, message.content);
      from = row;
    }
    if (lines.length === 0) return;
  }
}

/** Searches the rarest words first, and frequent ones only as far as needed. */
export function likeliestPlaces(
  db: Database,
  { number, base, last }: RoleRow,
  words: readonly SoughtWord[],
  most: number,
): readonly number[] {
  const counted = words.map((word) => {
    const whole = `"${keyOf(number, word.word)}"${word.isBeginning ? " *" : ""}`;
    return { word, whole, count: Number(db.first(COUNT_ROWS, [whole])?.[0]) };
  });
  const rarest = counted.sort((a, b) => Number(a.count === 0) - Number(b.count === 0) || a.count - b.count).slice(0, MAX_WORDS);
  const scores = new Map<number, number>();
  const give = (expression: string, score: number): number => {
    const places = placesWith(db, expression, base);
    for (const place of places) scores.set(place, (scores.get(place) ?? 0) + score);
    return places.length;
  };
  let named = 0;
  for (const { word, whole, count } of rarest) {
    if (named + count > MAX_NAMED && scores.size >= most) continue;
    const misspelt = misspeltWords(db, number, word, count > 0).map((other) => `"${keyOf(number, other)}"`);
    const weight = Math.log(1 + last / (1 + count));
    if (count > 0) named += give(whole, weight);
    if (misspelt.length > 0) named += give(misspelt.join(" OR "), weight * MISSPELT);
  }
  return [...scores]
    .sort(([a, one], [b, other]) => other - one || a - b)
    .slice(0, most)
    .map(([place]) => place);
}

function placesWith(db: Database, expression: string, base: number): number[] {
  const [places] = db.first(READ_PLACES, [base, expression, MAX_NAMED]) ?? [];
  return textOf(places)?.split(" ").map(Number) ?? [];
}

function misspeltWords(db: Database, number: number, { word, wrongLetters }: SoughtWord, isFound: boolean): readonly string[] {
  if (wrongLetters === 0) return [];
  const found = wordsLike(db, number, word, wrongLetters, word.slice(0, Math.floor(word.length / (wrongLetters + 1))));
  return found.length > 0 || isFound ? found : wordsLike(db, number, word, wrongLetters, word.slice(0, 1));
}

function wordsLike(db: Database, number: number, word: string, wrongLetters: number, beginning: string): string[] {
  const from = keyOf(number, beginning);
  const [list] = db.first(READ_WORDS, [from, `${from}\u{10ffff}`]) ?? [];
  const keys = textOf(list)?.split(" ") ?? [];
  return keys.map((key) => key.slice(key.indexOf(".") + 1)).filter((other) => other !== word && isAlike(word, other, wrongLetters));
}

/** True when at most `most` letters have to be added, removed or changed. Two swapped letters count as two, as they do when texts are ranked. */
function isAlike(word: string, other: string, most: number): boolean {
  if (Math.abs(word.length - other.length) > most) return false;
  let row = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (let n = 0; n < word.length; n += 1) {
    const next = [n + 1];
    for (let m = 0; m < other.length; m += 1) {
      const changed = (row[m] as number) + (word[n] === other[m] ? 0 : 1);
      next.push(Math.min(changed, (row[m + 1] as number) + 1, (next[m] as number) + 1));
    }
    if (Math.min(...next) > most) return false;
    row = next;
  }
  return (row[other.length] as number) <= most;
}

function keyOf(number: number, word: string): string {
  return `${number}.${word.length > MAX_WORD_LENGTH ? Array.from(word).slice(0, MAX_WORD_LENGTH).join("") : word}`;
}

const COUNT_ROWS = "SELECT count(*) FROM words WHERE words MATCH ?";
const READ_PLACES = `SELECT CAST(group_concat(rowid - CAST(? AS INTEGER), ' ') AS BLOB)
  FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)`;
const READ_LINES = `SELECT CAST(${MESSAGE_LINE} AS BLOB) FROM messages WHERE place > ? ORDER BY place LIMIT 500`;
const READ_WORDS = `SELECT CAST(group_concat(term, ' ') AS BLOB) FROM (SELECT term FROM word_list WHERE term >= ? AND term < ?)`;
