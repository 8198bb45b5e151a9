import { JournalError } from "../kernel/errors.ts";
import { isCount } from "../kernel/value-kind.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import {
  type Claim,
  type FormerOwner,
  leftAs,
  type ReleaseOptions,
  type RunInfo,
  type RunSnapshot,
  type RunsPage,
  unknownBefore,
} from "../runtime/record/journal.ts";
import type { RunTally } from "../runtime/record/run-summary.ts";
import type { Chat, ChatRow } from "./event-chats.ts";
import { chained, chainStart, type EventBlock, type Position } from "./event-rows.ts";
import { hasDied, identityIn, identityText } from "./process-identity.ts";
import { readRun, type RowSource, type RunHead } from "./run-reader.ts";
import { type Database, textOf } from "./sqlite-database.ts";
import { damagedRun, unreadable } from "./sqlite-errors.ts";
import { JOURNAL, sizeOf, withFile } from "./sqlite-file.ts";
import {
  DIED,
  idOf,
  LAST_CHARACTER,
  LEFT,
  nameOf,
  snapshotAhead,
  staleEpoch,
  takenId,
  unknownRun,
  wrongSeq,
  tallyIn,
  tallyText,
} from "./stored-runs.ts";

/*
 * Changes of the tables, each as a part of a transaction. Each throws, if at all, before its first change. SqliteRuns.N1 (`createRun`) a run number
 * is never reused. SqliteRuns.N2 (`giveEpoch`) an epoch is never reused in the file, so the owner of a removed run cannot write into a later run of
 * its name. Epoch 0 has no owner. SqliteRuns.N3 (`giveEpoch`) the process of the owner is stored with the epoch, so that its death is proven.
 * SqliteRuns.N4 (`diedBefore`) a claim that adds nothing, or only a change from outside (`leftAs`), forgets no death: the next claim reports it
 * again.
 */

/** Places of a run. Its events begin at its number times this. */
export const PLACES: number = 2 ** 31;
const MAX_NUMBER = 2 ** 22 - 1;
export const NOBODY = 0;
const HEAD = "SELECT number, CAST(epoch AS INTEGER), CAST(events AS INTEGER), hex(head) FROM runs WHERE run = ?";

interface OwnedHead extends RunHead {
  readonly epoch: number;
}

export function headOf(db: Database, runId: string): OwnedHead | undefined {
  const row = db.first(HEAD, [nameOf(runId)]);
  if (row === undefined) return undefined;
  const [number, epoch, events, head] = row;
  if (isCount(number) && isCount(epoch) && isCount(events) && typeof head === "string") return { number, epoch, events, head };
  throw new JournalError(
    "JOURNAL_DAMAGED",
    `Expected to find run ${runId}, but what the journal says of it was changed since it was written.`,
    { data: { runId, intact: 0 } },
  );
}

export function knownRun(db: Database, runId: string): OwnedHead {
  const head = headOf(db, runId);
  if (head !== undefined) return head;
  throw unknownRun(runId);
}

const ROW = "SELECT number, CAST(run AS BLOB), CAST(events AS INTEGER) FROM runs";

export function allRuns(db: Database): readonly RunInfo[] {
  return db.all(`${ROW} ORDER BY number`).map(([number, run, events]) => runInfo(number, run, events));
}

const NEWEST = "WHERE number < ? ORDER BY number DESC LIMIT ?";
// The two bounds of the id use its index. The number has a plus sign, so that its own order does not.
const NEWEST_NAMED = "WHERE run >= ? AND run < ? AND +number < ? ORDER BY +number DESC LIMIT ?";
// Exactly the expression of the index.
const NEWEST_OF_TENANT = "WHERE substr(run, 1, instr(run, '.')) = ? AND number < ? ORDER BY number DESC LIMIT ?";
const TENANT = /^[^.]+\.$/;
const TALLY = "SELECT CAST(tally AS BLOB), hex(checksum) FROM tallies JOIN runs USING (number) WHERE run = ?";

export function newestOf(db: Database, { limit, before, prefix = "", tallies = false }: RunsPage): readonly RunInfo[] {
  const end = before === undefined ? MAX_NUMBER + 1 : headOf(db, before)?.number;
  if (end === undefined) throw unknownBefore(before ?? "");
  const from = nameOf(prefix).slice(0, -1);
  const [where, bounds] =
    prefix === "" ? [NEWEST, []] : TENANT.test(prefix) ? [NEWEST_OF_TENANT, [from]] : [NEWEST_NAMED, [from, `${from}${LAST_CHARACTER}`]];
  const rows = db.all(`${ROW} ${where}`, [...bounds, end, limit]);
  const infos = rows.map(([number, run, events]) => runInfo(number, run, events));
  return tallies ? infos.map((info) => withKeptTally(db, info)) : infos;
}

export function infoOf(db: Database, runId: string): RunInfo {
  const { events } = knownRun(db, runId);
  return withKeptTally(db, { runId, events });
}

function withKeptTally(db: Database, info: RunInfo): RunInfo {
  const [text, checksum] = db.first(TALLY, [nameOf(info.runId)]) ?? [];
  const tally = tallyIn(info, textOf(text), checksum);
  return tally === undefined ? info : { ...info, tally };
}

export function keepTally(db: Database, tally: RunTally): void {
  const { text, checksum } = tallyText(tally);
  const { id, events } = tally.summary;
  db.run("INSERT OR REPLACE INTO tallies (number, tally, checksum) SELECT number, ?, unhex(?) FROM runs WHERE run = ? AND events >= ?", [
    text,
    checksum,
    nameOf(id),
    events,
  ]);
}

function runInfo(number: unknown, run: unknown, events: unknown): RunInfo {
  const runId = idOf(textOf(run));
  if (runId === undefined) throw damagedRow(number, "Expected the name of each run, but one was changed since it was written", {});
  if (isCount(events)) return { runId, events };
  throw damagedRow(number, `Expected how many events run ${runId} has, but that was changed since it was written`, { runId });
}

function damagedRow(number: unknown, found: string, data: { readonly runId?: string }): JournalError {
  return new JournalError(
    "JOURNAL_DAMAGED",
    `${found}: row ${String(number)} of the list of runs is damaged. Take the journal from a copy, or give the run its name back there.`,
    { data: { row: number, ...data } },
  );
}

export function createRun(db: Database, runId: string): void {
  if (headOf(db, runId) !== undefined) throw takenId(runId);
  const given = db.first("SELECT CAST(seq AS INTEGER) FROM sqlite_sequence WHERE name = 'runs'")?.[0];
  if (typeof given === "number" && given >= MAX_NUMBER) throw full(`more than ${MAX_NUMBER} runs`);
  db.run("INSERT INTO runs (run, epoch, events, head) VALUES (?, ?, 0, unhex(?))", [nameOf(runId), NOBODY, chainStart(runId)]);
}

export function giveEpoch(db: Database, runId: string, isOurs: boolean): Claim {
  const head = knownRun(db, runId);
  const { number, epoch, events } = head;
  const former = formerOf(head, ownerIn(db, number), isOurs);
  const next = countOf(db.first("UPDATE epochs SET last = max(last, ?) + 1 RETURNING last", [epoch])?.[0]);
  const owner = former === "died" ? `${identityText()} ${diedBefore(events)}` : identityText();
  db.run("UPDATE runs SET epoch = ?, owner = ? WHERE number = ?", [next, owner, number]);
  if (!isOurs) db.run("DELETE FROM commands WHERE number = ? AND epoch IS NOT NULL AND answer IS NULL", [number]);
  return { epoch: next, former };
}

function formerOf({ epoch, events }: OwnedHead, owner: string | undefined, isOurs: boolean): FormerOwner {
  if (owner === DIED || owner?.endsWith(diedBefore(events)) === true) return "died";
  if (epoch === NOBODY) return LEFT.find((how) => how === owner) ?? (owner === undefined && events === 0 ? "none" : "released");
  if (isOurs) return "none";
  const identity = identityIn(owner ?? "");
  return identity !== undefined && hasDied(identity) ? "died" : "taken";
}

export function endEpoch(db: Database, runId: string, epoch: number, o: ReleaseOptions): boolean {
  const head = headOf(db, runId);
  if (head === undefined || head.epoch !== epoch) return false;
  const { number, events } = head;
  const isAsItDied = ownerIn(db, number)?.endsWith(diedBefore(events)) === true;
  db.run("UPDATE runs SET epoch = ?, owner = ? WHERE number = ?", [NOBODY, isAsItDied ? DIED : leftAs(o), number]);
  return true;
}

/** Returns a note that the owner before died and left this many events: the death still counts while nothing is added to them. */
function diedBefore(events: number): string {
  return `${DIED} ${events}`;
}

function ownerIn(db: Database, number: number): string | undefined {
  return textOf(db.first("SELECT CAST(owner AS BLOB) FROM runs WHERE number = ?", [number])?.[0]);
}

function ownedRun(db: Database, runId: string, epoch: number): OwnedHead {
  const head = knownRun(db, runId);
  if (head.epoch === epoch && epoch !== NOBODY) return head;
  throw staleEpoch(runId, head.epoch, epoch);
}

export function appendEvents(db: Database, runId: string, epoch: number, expectedSeq: number, blocks: readonly EventBlock[]): void {
  const head = ownedRun(db, runId, epoch);
  if (head.events !== expectedSeq) throw wrongSeq(runId, head.events, expectedSeq);
  const end = blocks.reduce((sum, { events }) => sum + events, expectedSeq);
  if (end > PLACES) throw full(`more than ${PLACES} events of run ${runId}`);
  if (blocks.length === 0) return;
  let checksum = head.head;
  for (const { seq, body, chats } of blocks) {
    for (const chat of chats) writeChat(db, head.number, chat);
    checksum = chained(checksum, body);
    db.run("INSERT INTO events (place, body, checksum) VALUES (?, ?, unhex(?))", [head.number * PLACES + seq, body, checksum]);
  }
  db.run("UPDATE runs SET events = ?, head = unhex(?) WHERE number = ?", [end, checksum, head.number]);
}

/** Writes the missing turns, from the beginning: a stored turn has all turns before it. */
function writeChat(db: Database, number: number, { turns }: Chat): void {
  const has = (chat = ""): boolean => db.first("SELECT 1 FROM chats WHERE number = ? AND chat = unhex(?)", [number, chat]) !== undefined;
  let known = turns.length;
  while (known > 0 && !has(turns[known - 1]?.chat)) known -= 1;
  for (const { chat, before, message, body } of turns.slice(known)) {
    db.run("INSERT OR IGNORE INTO chat_messages (number, message, body) VALUES (?, unhex(?), ?)", [number, message, body]);
    db.run("INSERT INTO chats (number, chat, before, message) VALUES (?, unhex(?), unhex(?), unhex(?))", [number, chat, before, message]);
  }
}

function rowsBefore(db: Database, number: number, seq: number): readonly Position[] {
  const sql = "SELECT place, hex(checksum) FROM events WHERE place >= ? AND place < ? ORDER BY place DESC LIMIT 2";
  const rows = db.all(sql, [number * PLACES, number * PLACES + seq]);
  return rows.map(([place, checksum]) => ({ seq: Number(place) - number * PLACES, checksum: String(checksum) }));
}

export function removeRun(db: Database, runId: string): void {
  const head = headOf(db, runId);
  if (head === undefined) return;
  emptyRun(db, head);
  db.run("DELETE FROM files WHERE number = ?", [head.number]);
  db.run("DELETE FROM runs WHERE number = ?", [head.number]);
}

export interface Rewritten {
  readonly blocks: readonly EventBlock[];
  /** The hashes of the files that stay. */
  readonly files: ReadonlySet<string>;
}

export function rewriteRun(db: Database, runId: string, epoch: number, { blocks, files }: Rewritten): void {
  const head = ownedRun(db, runId, epoch);
  emptyRun(db, head);
  const { number } = head;
  db.run("DELETE FROM files WHERE number = ? AND hash NOT IN (SELECT value FROM json_each(?))", [number, JSON.stringify([...files])]);
  db.run("UPDATE runs SET events = 0, head = unhex(?) WHERE number = ?", [chainStart(runId), head.number]);
  appendEvents(db, runId, epoch, 0, blocks);
}

function emptyRun(db: Database, { number }: RunHead): void {
  db.run("DELETE FROM events WHERE place >= ? AND place < ?", [number * PLACES, (number + 1) * PLACES]);
  for (const table of ["chats", "chat_messages", "tallies", "snapshots", "commands"])
    db.run(`DELETE FROM ${table} WHERE number = ?`, [number]);
}

const PROBE = 16 * 1024;

/** Writes as much as an append may, and removes it. No run has the number 0. */
export function writeAndRemove(db: Database): void {
  db.run("INSERT OR REPLACE INTO snapshots VALUES (0, 0, x'', ?)", ["x".repeat(PROBE)]);
  db.run("DELETE FROM snapshots WHERE number = 0", []);
}

function countOf(value: unknown): number {
  if (isCount(value)) return value;
  throw new JournalError("JOURNAL_DAMAGED", "Expected the journal's own counts, but one of them was changed since it was written.");
}

function full(what: string): JournalError {
  return new JournalError("JOURNAL_FULL", `Expected what one journal can hold, got ${what}. Use another file for what comes next.`);
}

export type AskFile = <T>(work: (db: Database) => T) => Promise<T>;

/** Reads a run. @throws JournalError of `readRun`, `JOURNAL_UNREADABLE`, after everything intact before it */
export async function* readEvents(file: string, ask: AskFile, runId: string, from: number): AsyncGenerator<RunEvent, void> {
  let intact = 0;
  try {
    for await (const event of readRun(rowsIn(file, ask), runId, from)) {
      intact = event.seq + 1;
      yield event;
    }
  } catch (error) {
    throw unreadable(file, runId, intact, error);
  }
}

function rowsIn(file: string, ask: AskFile): RowSource {
  return {
    pageRows: 8,
    head: (runId) => ask((db) => knownRun(db, runId)),
    rowsBefore: (number, seq) => ask((db) => rowsBefore(db, number, seq)),
    blocks: (number, from, end, limit) =>
      ask((db) => {
        const sql = "SELECT place, CAST(body AS BLOB), hex(checksum) FROM events WHERE place >= ? AND place < ? ORDER BY place LIMIT ?";
        const rows = db.all(sql, [number * PLACES + from, number * PLACES + end, limit]);
        return rows.map(([place, body, checksum]) => ({ seq: Number(place) - number * PLACES, body, checksum }));
      }),
    turns: (number, chats, known) => ask((db) => turnsOf(db, number, chats, known)),
    damaged: (runId, intact, why) => damagedRun(file, runId, intact, why),
  };
}

function turnsOf(db: Database, number: number, chats: readonly string[], known: readonly string[]): ReadonlyMap<string, ChatRow> {
  const turns = new Map<string, ChatRow>();
  const ends = new Set(["", ...known]);
  for (let chat of chats) {
    while (!ends.has(chat) && !turns.has(chat)) {
      const [before, message, body] = db.first(TURN, [number, chat]) ?? [];
      turns.set(chat, { before, message, body: textOf(body) });
      chat = typeof before === "string" ? before : "";
    }
  }
  return turns;
}

const TURN = `SELECT hex(before), hex(message), CAST(body AS BLOB) FROM chats LEFT JOIN chat_messages USING (number, message)
  WHERE number = ? AND chat = unhex(?)`;

export function keepSnapshot(db: Database, runId: string, epoch: number, { seq, state }: RunSnapshot): void {
  const run = ownedRun(db, runId, epoch);
  const head = checksumBefore(db, runId, run, seq);
  if (head === undefined) throw snapshotAhead(runId, run.events, seq);
  const values = [run.number, seq, head, state];
  db.run("INSERT OR REPLACE INTO snapshots (number, seq, head, body) VALUES (?, ?, unhex(?), ?)", values);
}

/** Returns the snapshot of a run, if any is of its past. SqliteSnapshots.P1 a snapshot has the checksum of the event before it. */
export function newestSnapshot(db: Database, runId: string): RunSnapshot | undefined {
  const run = knownRun(db, runId);
  const [seq, head, bytes] =
    db.first("SELECT CAST(seq AS INTEGER), hex(head), CAST(body AS BLOB) FROM snapshots WHERE number = ?", [run.number]) ?? [];
  const state = textOf(bytes);
  if (typeof seq !== "number" || state === undefined || head !== checksumBefore(db, runId, run, seq)) return undefined;
  return { seq, state };
}

export function keepFile(db: Database, runId: string, epoch: number, hash: string, bytes: Uint8Array): void {
  db.run("INSERT OR IGNORE INTO files (number, hash, body) VALUES (?, ?, ?)", [ownedRun(db, runId, epoch).number, hash, bytes]);
}

export function fileOf(db: Database, runId: string, hash: string): Uint8Array | undefined {
  const [body] = db.first("SELECT CAST(body AS BLOB) FROM files WHERE number = ? AND hash = ?", [knownRun(db, runId).number, hash]) ?? [];
  return body instanceof ArrayBuffer ? new Uint8Array(body) : body instanceof Uint8Array ? body : undefined;
}

function checksumBefore(db: Database, runId: string, { number, events }: OwnedHead, seq: number): string | undefined {
  if (seq === 0) return chainStart(runId);
  return seq > events ? undefined : rowsBefore(db, number, seq)[0]?.checksum;
}

export interface JournalFacts {
  readonly version: number;
  readonly runs: number;
  readonly bytes: number;
}

/** Reads facts about a journal's file and checks that it can be written. */
export function journalFacts(path: string): Promise<JournalFacts> {
  return withFile(path, JOURNAL, (db, file) => {
    db.transaction("IMMEDIATE", () => {});
    return { version: JOURNAL.version, runs: allRuns(db).length, bytes: sizeOf(file) };
  });
}
