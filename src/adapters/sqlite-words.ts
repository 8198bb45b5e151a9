import type { SoughtWord, StoredMessage } from "../memory/message-store.ts";
import { termsOf } from "../memory/text-terms.ts";
import type { Database } from "./sqlite-database.ts";
import { isBroken } from "./sqlite-errors.ts";
import { SPAN } from "./message-rows.ts";
import { BLOCK, blockOf } from "./sqlite-store-rows.ts";

/*
 * A full-text index of the words of messages, so that a search reads only the messages that are likely to match. The transaction that gives
 * away the last place of a block indexes its words; `word_blocks` names the indexed blocks. Messages of other blocks are candidates of every
 * search. Each word has the number of its role before it, so that the words of a role are stored together. Places are rows here.
 *
 * The index is made from the messages. An index that SQLite finds broken is dropped, and made again when the messages are read next. It has
 * no checksums: a changed bit in it may hide a message from a search until the memory is rebuilt.
 */

/** Characters that are indexed of a word. */
const LONGEST_WORD = 64;
/** Most messages without an index that a search reads besides its candidates. With more of them it is better to read all. */
const MOST_WITHOUT_WORDS = 1_000;
/** Most messages of one word, the newest ones, and roughly the most of all words together. */
const MOST_NAMED = 50_000;
/** Most words of a search, the rarest ones. */
const MOST_WORDS = 64;
/** Weight of a misspelt word, as in the ranking of candidates. */
const MISSPELT = 0.45;

export const CREATE_WORDS = `CREATE VIRTUAL TABLE file.words USING fts5(
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '.'"
  );
  CREATE VIRTUAL TABLE file.word_list USING fts5vocab(words, row);`;

/** Indexes the messages of a block. */
export function writeWords(db: Database, block: number, messages: readonly StoredMessage[]): void {
  if (db.first("SELECT 1 FROM word_blocks WHERE block = ?", [block]) !== undefined) return;
  const number = Math.floor(block / SPAN);
  changeWords(db, () => {
    for (const { place, message } of messages) {
      const words = [...new Set(termsOf(message.content))].map((word) => keyOf(number, word));
      db.run("INSERT OR REPLACE INTO words (rowid, terms) VALUES (?, ?)", [place, words.join(" ")]);
    }
    db.run("INSERT INTO word_blocks VALUES (?)", [block]);
  });
}

/** Removes the words of removed messages. */
export function removeWords(db: Database, rows: readonly number[]): void {
  changeWords(db, () => db.run("DELETE FROM words WHERE rowid IN (SELECT value FROM json_each(?))", [JSON.stringify(rows)]));
}

/** Makes blocks count as not indexed, so that their words are written again when they are read or changed next. */
export function clearWords(db: Database, first: number, end: number): void {
  db.run("DELETE FROM word_blocks WHERE block >= ? AND block < ?", [first, end]);
}

/** True when one of the complete blocks from one row to another is not indexed. */
export function lacksWords(db: Database, first: number, last: number): boolean {
  const end = blockOf(last + 1);
  const [count] = db.first("SELECT count(*) FROM word_blocks WHERE block >= ? AND block < ?", [blockOf(first), end]) ?? [];
  return Number(count) < (end - blockOf(first)) / BLOCK;
}

/**
 * Returns at most `most` rows of a role that hold the most and the rarest of some words, and all rows that are not indexed; undefined when
 * the latter are too many.
 *
 * @param last the last row that was given to a message of the role
 */
export function likeliestRows(
  db: Database,
  role: { readonly number: number; readonly base: number; readonly last: number },
  words: readonly SoughtWord[],
  most: number,
): readonly number[] | undefined {
  const without = rowsWithoutWords(db, role);
  return without === undefined ? undefined : [...withWords(db, role, words, most), ...without];
}

function rowsWithoutWords(db: Database, { base, last }: { readonly base: number; readonly last: number }): number[] | undefined {
  const blocks = new Set(
    db.all("SELECT CAST(block AS INTEGER) FROM word_blocks WHERE block >= ? AND block <= ?", [base, last]).map(([block]) => Number(block)),
  );
  const rows: number[] = [];
  for (let block = base; block <= last; block += BLOCK) {
    if (blocks.has(block)) continue;
    for (let row = block; row < block + BLOCK && row <= last; row += 1) rows.push(row);
    if (rows.length > MOST_WITHOUT_WORDS) return undefined;
  }
  return rows;
}

/** Searches the rarest words first, and frequent ones only as far as needed. */
function withWords(
  db: Database,
  { number, base, last }: { readonly number: number; readonly base: number; readonly last: number },
  words: readonly SoughtWord[],
  most: number,
): readonly number[] {
  const counted = words.map((word) => {
    const whole = `"${keyOf(number, word.word)}"${word.isBeginning ? " *" : ""}`;
    return { word, whole, count: Number(db.first(COUNT_ROWS, [whole])?.[0]) };
  });
  const rarest = counted.sort((a, b) => Number(a.count === 0) - Number(b.count === 0) || a.count - b.count).slice(0, MOST_WORDS);
  const scores = new Map<number, number>();
  const give = (expression: string, score: number): number => {
    const rows = rowsOf(db, expression, base);
    for (const row of rows) scores.set(row, (scores.get(row) ?? 0) + score);
    return rows.length;
  };
  let named = 0;
  for (const { word, whole, count } of rarest) {
    if (named + count > MOST_NAMED && scores.size >= most) continue;
    const misspelt = misspeltWords(db, number, word, count > 0).map((other) => `"${keyOf(number, other)}"`);
    const weight = Math.log(1 + (last - base) / (1 + count));
    if (count > 0) named += give(whole, weight);
    if (misspelt.length > 0) named += give(misspelt.join(" OR "), weight * MISSPELT);
  }
  return [...scores]
    .sort(([a, one], [b, other]) => other - one || a - b)
    .slice(0, most)
    .map(([row]) => row);
}

function rowsOf(db: Database, expression: string, base: number): number[] {
  const [rows] = db.first(READ_ROWS, [base, expression, MOST_NAMED]) ?? [];
  return rows instanceof Uint8Array
    ? Buffer.from(rows)
        .toString()
        .split(" ")
        .map((row) => base + Number(row))
    : [];
}

/** Finds misspelt forms of a word. They share its beginning, or only its first letter if nothing else is found. */
function misspeltWords(db: Database, number: number, { word, wrongLetters }: SoughtWord, isFound: boolean): readonly string[] {
  if (wrongLetters === 0) return [];
  const found = wordsLike(db, number, word, wrongLetters, word.slice(0, Math.floor(word.length / (wrongLetters + 1))));
  return found.length > 0 || isFound ? found : wordsLike(db, number, word, wrongLetters, word.slice(0, 1));
}

function wordsLike(db: Database, number: number, word: string, wrongLetters: number, beginning: string): string[] {
  const from = keyOf(number, beginning);
  const [list] = db.first(READ_WORDS, [from, `${from}\u{10ffff}`]) ?? [];
  if (!(list instanceof Uint8Array)) return [];
  return Buffer.from(list)
    .toString()
    .split(" ")
    .map((key) => key.slice(key.indexOf(".") + 1))
    .filter((other) => other !== word && isAlike(word, other, wrongLetters));
}

/** True when so many letters at most are to add, remove or change. Two swapped letters count as two, as they do when texts are ranked. */
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

/** Replaces a broken index by an empty one: the messages have all its contents. An index that cannot be dropped is no longer used. */
export function renewWords(db: Database): void {
  db.run("DELETE FROM word_blocks", []);
  try {
    db.exec(`DROP TABLE word_list; DROP TABLE words; ${CREATE_WORDS}`);
  } catch (error) {
    if (!isBroken(error)) throw error;
  }
}

/** Changes the index as a part of a transaction. A broken index shows here and does not make the commit fail. */
function changeWords(db: Database, change: () => void): void {
  db.exec("SAVEPOINT words");
  try {
    change();
    db.run("INSERT INTO words (words) VALUES ('flush')", []);
  } catch (error) {
    if (!isBroken(error)) throw error;
    db.exec("ROLLBACK TO words");
    renewWords(db);
  }
  db.exec("RELEASE words");
}

function keyOf(number: number, word: string): string {
  return `${number}.${word.length > LONGEST_WORD ? Array.from(word).slice(0, LONGEST_WORD).join("") : word}`;
}

const COUNT_ROWS = "SELECT count(*) FROM words WHERE words MATCH ?";
const READ_ROWS = `SELECT CAST(group_concat(rowid - CAST(? AS INTEGER), ' ') AS BLOB)
  FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)`;
const READ_WORDS = `SELECT CAST(group_concat(term, ' ') AS BLOB) FROM (SELECT term FROM word_list WHERE term >= ? AND term < ?)`;
