import type { SoughtWord } from "../memory/message-store.ts";
import { termsOf } from "../memory/text-terms.ts";
import { decodeMessage, SPAN } from "./message-rows.ts";
import { type Database, textOf } from "./sqlite-database.ts";
import { CREATE_WORDS, MESSAGE_LINE, type RoleRow } from "./sqlite-store-file.ts";

/*
 * A full-text index of the words of messages, so that a search reads only the messages that are likely to match. The transaction that adds a message
 * adds its words, each with the number of its role before it. The index has no checksums: a changed bit may hide a message from a search.
 */

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
