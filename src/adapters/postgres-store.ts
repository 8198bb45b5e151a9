import { randomUUID } from "node:crypto";
import { MemoryError } from "../kernel/errors.ts";
import type {
  MessageIdentity,
  MessageStore,
  MessageToStore,
  RemoveOptions,
  StoredAt,
  StoredMessage,
  StoredVector,
  StoreState,
} from "../memory/message-store.ts";
import {
  decodeMessage,
  type EncodedMessage,
  encodeMessage,
  identityDigest,
  messageChecksum,
  numbersOf,
  SPAN,
  vectorBytes,
  vectorChecksum,
} from "./message-rows.ts";
import { type PostgresConnection, PostgresDatabase } from "./postgres-database.ts";
import { type PostgresOptions, type PostgresServer, postgresServer } from "./postgres-server.ts";
import { PostgresNearest } from "./postgres-nearest.ts";
import { digestOfRole, LINE, MEMORY_TABLES, placesOfRole, type RolePlaces } from "./postgres-store-tables.ts";

/** Rows of a page: other work runs between two pages. */
const PAGE = 256;

/**
 * Long-term memories of any number of roles in a Postgres database, over `pg`, which the first call loads. Any number of processes and
 * machines may use it at once.
 *
 * PostgresStore.S1 (`add`) a resolved addition is committed, all of it or nothing; when the answer to a commit is lost, it is done again
 * and adds nothing twice. PostgresStore.S2 (`read`) every row is checked when it is read: a changed message is the error `MEMORY_DAMAGED`, a
 * changed vector is computed again. Writers of a role come one after
 * another, so that places appear in their order. Ids are data: none becomes a part of a statement.
 * After `close` no connection is left, and a later call opens one again.
 *
 * There is no index of words: a memory reads all messages of its role once when it opens. Vectors are stored as bytes, and `exactIndex` compares
 * them in the process. In a database with the extension `vector` (pgvector) they are stored as its type too: the database compares them, exactly,
 * and a memory without an index of its own reads none. The owner of the database installs it by one statement, also later:
 * `CREATE EXTENSION vector`. No approximate index is made. The extension checks no checksums: what it compares, Postgres alone guards.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `POSTGRES_URL_INVALID`. Calls throw MemoryError: `MEMORY_UNREACHABLE` when the
 * database does not answer for `patience` milliseconds, `MEMORY_UNWRITABLE` when it refuses a statement, `MEMORY_FULL`, `MEMORY_NEWER`,
 * `MEMORY_FOREIGN`
 * @example
 * import { defineRole } from "troupe";
 * import { postgresStore } from "troupe/postgres";
 *
 * const store = postgresStore({ url: "postgres://troupe@db.example/troupe" });
 * export const guide = defineRole({ name: "Guide", memory: { store } });
 */
export function postgresStore(options: PostgresOptions): MessageStore {
  return new PostgresStore(postgresServer("postgresStore", options));
}

/** See {@link postgresStore}. It owns the connections. */
class PostgresStore implements MessageStore {
  readonly #server: PostgresServer;
  /** The calls under way: storages share a store, and a close by one waits for the calls of the others. */
  readonly #asked = new Set<Promise<unknown>>();
  readonly nearest: PostgresNearest = new PostgresNearest((work) => this.#ask(work));
  #opened: PostgresDatabase | undefined;

  constructor(server: PostgresServer) {
    this.#server = server;
  }

  state(roleId: string): Promise<StoreState> {
    return this.#ask(async (db) => {
      const [state] = await db.rows<StoreState>(`SELECT last, removals FROM ${db.schema}.memory_roles WHERE key = $1`, [
        digestOfRole(roleId),
      ]);
      return state ?? { last: 0, removals: 0 };
    });
  }

  async add(roleId: string, messages: readonly MessageToStore[]): Promise<readonly StoredAt[]> {
    const rows = messages.map(encodeMessage);
    if (rows.length === 0) return [];
    const batch = randomUUID();
    return this.#ask((db) =>
      db.transaction(async (connection) => {
        const { base, last } = await this.#role(db, connection, roleId, true);
        const known = await this.#known(db, connection, base, rows, batch);
        const fresh: { readonly place: number; readonly row: EncodedMessage }[] = [];
        const stored: StoredAt[] = [];
        for (const row of rows) {
          const identity = row.identity.toString("hex");
          const held = known.get(identity);
          const place = held?.place ?? last + fresh.length + 1;
          stored.push({ place, isNew: held?.isNew ?? true });
          if (held === undefined) fresh.push({ place, row });
          // The same message a second time in this batch is not new.
          known.set(identity, { place, isNew: false });
        }
        await insertMessages(db, connection, { roleId, base, batch, fresh });
        return stored;
      }),
    );
  }

  async *read(roleId: string, after: number): AsyncGenerator<readonly StoredMessage[]> {
    const role = await this.#ask((db) => placesOfRole(db, roleId));
    if (role === undefined) return;
    const { base } = role;
    for (let from = base + after; ;) {
      const lines = await this.#ask((db) =>
        db.rows<{ place: string; line: string }>(
          {
            name: "memory read",
            text: `SELECT place, ${LINE} AS line FROM ${db.schema}.memory_messages WHERE place > $1 AND place < $2 ORDER BY place LIMIT ${PAGE}`,
          },
          [from, base + SPAN],
        ),
      );
      if (lines.length > 0) yield lines.map(({ line }) => decodeMessage(line, base));
      if (lines.length < PAGE) return;
      from = Number(lines.at(-1)?.place);
    }
  }

  places(roleId: string): Promise<readonly number[]> {
    return this.#ask(async (db) => {
      const role = await placesOfRole(db, roleId);
      if (role === undefined) return [];
      const { base } = role;
      const rows = await db.rows<{ place: string }>(
        `SELECT place FROM ${db.schema}.memory_messages WHERE place > $1 AND place < $2 ORDER BY place`,
        [base, base + SPAN],
      );
      return rows.map(({ place }) => Number(place) - base);
    });
  }

  remove(roleId: string, places: readonly number[], { mayReturn = false }: RemoveOptions = {}): Promise<number> {
    const removal = randomUUID();
    return this.#ask((db) =>
      db.transaction(async (connection) => {
        const { base } = await this.#role(db, connection, roleId, false);
        if (base === 0) return 0;
        const [done] = await connection.rows<{ removed: number }>(
          `SELECT last_removed AS removed FROM ${db.schema}.memory_roles WHERE key = $1 AND last_removal = $2`,
          [digestOfRole(roleId), removal],
        );
        if (done !== undefined) return done.removed;
        const wanted = places.filter((place) => Number.isInteger(place) && place > 0 && place < SPAN).map((place) => base + place);
        const gone = await connection.rows<{ identity: Buffer }>(
          `DELETE FROM ${db.schema}.memory_messages WHERE place = ANY ($1::bigint[]) RETURNING identity`,
          [wanted],
        );
        if (!mayReturn) {
          await connection.rows(`INSERT INTO ${db.schema}.memory_removed SELECT $1, unnest($2::bytea[]) ON CONFLICT DO NOTHING`, [
            base / SPAN,
            gone.map(({ identity }) => identity),
          ]);
        }
        await connection.rows(
          `UPDATE ${db.schema}.memory_roles SET removals = removals + $2, last_removal = $3, last_removed = $2 WHERE key = $1`,
          [digestOfRole(roleId), gone.length, removal],
        );
        return gone.length;
      }),
    );
  }

  removed(roleId: string, identities: readonly MessageIdentity[]): Promise<readonly boolean[]> {
    return this.#ask(async (db) => {
      const digests = identities.map(({ runId, id }) => identityDigest(runId, id));
      const found = await db.rows<{ identity: Buffer }>(
        `SELECT identity FROM ${db.schema}.memory_removed JOIN ${db.schema}.memory_roles USING (number)
         WHERE key = $1 AND identity = ANY ($2::bytea[])`,
        [digestOfRole(roleId), digests],
      );
      const known = new Set(found.map(({ identity }) => identity.toString("hex")));
      return digests.map((digest) => known.has(digest.toString("hex")));
    });
  }

  scopes(): Promise<readonly string[]> {
    return this.#ask(async (db) => {
      const rows = await db.rows<{ role: string }>(
        `SELECT role FROM ${db.schema}.memory_roles WHERE ${hasMessages(db.schema)} ORDER BY number`,
      );
      return rows.map(({ role }) => JSON.parse(role) as string);
    });
  }

  purge(): Promise<void> {
    return this.#ask(async (db) => {
      // A role is found by the digest of its name, which may name a person.
      await db.rows(`UPDATE ${db.schema}.memory_roles SET role = '""' WHERE NOT ${hasMessages(db.schema)}`);
      await db.vacuum("memory_roles", "memory_messages", "memory_vectors");
      await this.nearest.purge();
    });
  }

  async *readVectors(roleId: string, fingerprint: string, after: number): AsyncGenerator<readonly StoredVector[]> {
    const role = await this.#ask((db) => placesOfRole(db, roleId));
    if (role === undefined) return;
    const { base } = role;
    const key = JSON.stringify(fingerprint);
    for (let from = base + after; ;) {
      const rows = await this.#ask((db) =>
        db.rows<{ place: string; checksum: string; vector: Buffer }>(
          {
            name: "memory vectors",
            text: `SELECT place, checksum, vector FROM ${db.schema}.memory_vectors WHERE place > $1 AND place < $2 AND fingerprint = $3 ORDER BY place LIMIT ${PAGE}`,
          },
          [from, base + SPAN, key],
        ),
      );
      const whole = rows.filter(({ place, checksum, vector }) => {
        return vector.length % 4 === 0 && vectorChecksum(Number(place), key, vector) === Number(checksum);
      });
      if (whole.length > 0)
        yield whole.map(({ place, vector }) => ({ place: Number(place) - base, vector: numbersOf(vector, 0, vector.length) }));
      if (rows.length < PAGE) return;
      from = Number(rows.at(-1)?.place);
    }
  }

  writeVectors(roleId: string, fingerprint: string, vectors: readonly StoredVector[]): Promise<void> {
    const key = JSON.stringify(fingerprint);
    const last = new Map(vectors.filter(({ place }) => place > 0 && place < SPAN).map((one) => [one.place, one.vector]));
    return this.#ask((db) =>
      db.transaction(async (connection) => {
        const { base } = await this.#role(db, connection, roleId, false);
        if (base === 0 || last.size === 0) return;
        const places = [...last.keys()].map((place) => base + place);
        const bytes = [...last.values()].map(vectorBytes);
        await connection.rows(
          `INSERT INTO ${db.schema}.memory_vectors
           SELECT v.place, v.checksum, $4, v.vector FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS v (place, checksum, vector)
           JOIN ${db.schema}.memory_messages USING (place)
           ON CONFLICT (place) DO UPDATE SET checksum = excluded.checksum, fingerprint = excluded.fingerprint, vector = excluded.vector`,
          [
            places,
            bytes.map((vector, n) => vectorChecksum(places[n] ?? 0, key, vector)),
            bytes.map((vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)),
            key,
          ],
        );
        await this.nearest.write(db, connection, fingerprint, new Map([...last].map(([place, vector]) => [base + place, vector])));
      }),
    );
  }

  clearVectors(roleId: string): Promise<void> {
    return this.#ask((db) =>
      db.transaction(async (connection) => {
        const { base } = await this.#role(db, connection, roleId, false);
        if (base === 0) return;
        await connection.rows(`DELETE FROM ${db.schema}.memory_vectors WHERE place > $1 AND place < $2`, [base, base + SPAN]);
        await this.nearest.clear(db, connection, base);
      }),
    );
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await Promise.allSettled(this.#asked);
    await opened?.close();
  }

  /** Locks the row of a role until the end of the transaction. @returns a base of 0 where there is none and none is made */
  async #role({ schema }: PostgresDatabase, { rows }: PostgresConnection, roleId: string, isMade: boolean): Promise<RolePlaces> {
    const key = digestOfRole(roleId);
    if (isMade) {
      await rows(`INSERT INTO ${schema}.memory_roles (key, role) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [key, JSON.stringify(roleId)]);
    }
    const [row] = await rows<{ number: number; last: number }>(
      `SELECT number, last FROM ${schema}.memory_roles WHERE key = $1 FOR UPDATE`,
      [key],
    );
    return { base: (row?.number ?? 0) * SPAN, last: row?.last ?? 0 };
  }

  /** Finds the messages that are stored already. What this batch wrote in an earlier try is new. */
  async #known(
    { schema }: PostgresDatabase,
    { rows }: PostgresConnection,
    base: number,
    given: readonly EncodedMessage[],
    batch: string,
  ): Promise<Map<string, StoredAt>> {
    const found = await rows<{ place: string; identity: string; is_mine: boolean }>(
      `SELECT place, encode(identity, 'hex') AS identity, batch = $3 AS is_mine FROM ${schema}.memory_messages
       WHERE number = $1 AND identity = ANY ($2::bytea[])`,
      [base / SPAN, given.map(({ identity }) => identity), batch],
    );
    const known = new Map<string, StoredAt>();
    for (const { place, identity, is_mine: isNew } of found) known.set(identity, { place: Number(place) - base, isNew });
    return known;
  }

  #ask<T>(work: (db: PostgresDatabase) => Promise<T>): Promise<T> {
    this.#opened ??= new PostgresDatabase(MEMORY_TABLES, this.#server);
    const answer = work(this.#opened);
    this.#asked.add(answer);
    const done = (): void => void this.#asked.delete(answer);
    answer.then(done, done);
    return answer;
  }
}

/** SQL that is true for a role with messages. */
function hasMessages(schema: string): string {
  return `EXISTS (SELECT FROM ${schema}.memory_messages m WHERE m.number = memory_roles.number)`;
}

async function insertMessages(
  { schema }: PostgresDatabase,
  { rows }: PostgresConnection,
  o: {
    readonly roleId: string;
    readonly base: number;
    readonly batch: string;
    readonly fresh: readonly { readonly place: number; readonly row: EncodedMessage }[];
  },
): Promise<void> {
  const { base, batch, fresh } = o;
  const last = fresh.at(-1)?.place;
  if (last === undefined) return;
  if (last >= SPAN)
    throw new MemoryError("MEMORY_FULL", `Expected fewer than ${SPAN} messages of one role, got one more. Remove the store of this role.`);
  await rows(
    `INSERT INTO ${schema}.memory_messages
     SELECT m.place, $4::integer, $5::uuid, m.identity, m.checksum, m.body
     FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $6::text[]) AS m (place, identity, checksum, body)`,
    [
      fresh.map(({ place }) => base + place),
      fresh.map(({ row }) => row.identity),
      fresh.map(({ place, row }) => messageChecksum(base + place, row.identity.toString("hex"), row.body)),
      base / SPAN,
      batch,
      fresh.map(({ row }) => row.body),
    ],
  );
  await rows(`UPDATE ${schema}.memory_roles SET last = $2, role = $3 WHERE number = $1`, [base / SPAN, last, JSON.stringify(o.roleId)]);
}
