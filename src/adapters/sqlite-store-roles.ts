import { statSync } from "node:fs";
import { resolve } from "node:path";
import { systemClock } from "../kernel/clock.ts";
import { SPAN } from "./sqlite-block.ts";
import { patiently } from "./sqlite-damage.ts";
import { type Database, loadDriver, type Row } from "./sqlite-database.ts";
import { openStore, storeError } from "./sqlite-store-file.ts";
import { decodeMessage, MESSAGE_LINE } from "./sqlite-store-rows.ts";
import { VECTORS_OF_BLOCK } from "./sqlite-vector-blocks.ts";

/** Milliseconds to wait for other processes that write the same file. */
const PATIENCE = 2_000;

/** What a store has of one role. */
export interface StoredRole {
  readonly roleId: string;
  readonly messages: number;
  /** Characters of its messages as they are stored. */
  readonly characters: number;
  /** How many vectors there are, by what they were made with. */
  readonly vectors: readonly { readonly fingerprint: string; readonly count: number }[];
  /** Milliseconds since 1970 when its newest message was given to the store; undefined without one that can be read. */
  readonly newest: number | undefined;
}

/** What a store has. */
export interface StoredRoles {
  /** In the order in which they came. */
  readonly roles: readonly StoredRole[];
  /** Roles whose names cannot be read. */
  readonly damaged: number;
}

/**
 * Every role that a store has messages of.
 *
 * @throws MemoryError as the store itself
 */
export function storedRoles(path: string): Promise<StoredRoles> {
  return withStore(path, (db) => {
    const rows = db.all("SELECT CAST(number AS INTEGER), CAST(role AS BLOB) FROM roles ORDER BY number");
    const found = rows.map((row) => roleIn(db, row));
    const roles = found.filter((role) => role !== undefined);
    return { roles: roles.filter(({ messages }) => messages > 0), damaged: found.length - roles.length };
  });
}

/**
 * Gives the room of what was forgotten back to the disk.
 *
 * @returns the bytes before and after
 * @throws MemoryError as the store itself; `MEMORY_UNWRITABLE` while another process uses it
 */
export function compactStore(path: string): Promise<{ readonly before: number; readonly after: number }> {
  return withStore(path, (db, file) => {
    const before = sizeOf(file);
    db.compact();
    return { before, after: sizeOf(file) };
  });
}

async function withStore<T>(path: string, work: (db: Database, file: string) => T): Promise<T> {
  const file = resolve(path);
  const db = await openStore(await loadDriver(), { file, clock: systemClock, patience: PATIENCE });
  try {
    return await patiently(() => work(db, file), systemClock, PATIENCE);
  } catch (error) {
    throw storeError(file, error);
  } finally {
    db.close();
  }
}

function roleIn(db: Database, [number, name]: Row): StoredRole | undefined {
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
    // Counted by the caller.
    return undefined;
  }
}

const COUNT_MESSAGES = "SELECT count(*), CAST(sum(length(body)) AS INTEGER) FROM messages WHERE place > ? AND place < ?";
const COUNT_VECTORS = `SELECT CAST(fingerprint AS BLOB), CAST(sum(vectors) AS INTEGER) FROM (
    SELECT fingerprint, 1 AS vectors FROM vectors WHERE place > ? AND place < ?
    UNION ALL SELECT fingerprint, ${VECTORS_OF_BLOCK} FROM vector_blocks WHERE block >= ? AND block < ?
  ) GROUP BY fingerprint ORDER BY sum(vectors) DESC`;
const LAST_MESSAGE = `SELECT CAST(${MESSAGE_LINE} AS BLOB) FROM messages WHERE place > ? AND place < ? ORDER BY place DESC LIMIT 1`;

function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0), 0);
}
