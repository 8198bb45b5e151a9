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
  SPAN,
  vectorBytes,
  vectorChecksum,
} from "./message-rows.ts";
import { type PostgresConnection, PostgresDatabase, type Rows } from "./postgres-database.ts";
import { type PostgresOptions, type PostgresServer, postgresServer } from "./postgres-server.ts";
import { keyOf, placesOfRole, PostgresNearest, type RolePlaces, storedVector, type VectorRow } from "./postgres-nearest.ts";
import { MEMORY_TABLES } from "./postgres-tables.ts";

const PAGE = 256;

/** SQL of a message as the line that `decodeMessage` reads. */
const LINE = "encode(checksum, 'hex') || ' ' || place || ' ' || encode(identity, 'hex') || ' ' || body";

/**
 * Long-term memories of any number of roles in a Postgres database, over `pg`, which the first call loads. Any number of processes and
 * machines may use it at once. After `close` no connection is left, and a later call opens one again.
 *
 * There is no index of words: a memory reads all messages of its role once when it opens. `exactIndex` compares vectors in the process, from
 * their bytes. In a database with the extension `vector` (pgvector), which its owner installs by `CREATE EXTENSION vector`, also later, the
 * database compares them, exactly, and a memory without an index of its own reads none. The extension checks no checksums.
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

/**
 * See {@link postgresStore}. It owns the connections.
 *
 * PostgresStore.S1 (`add`) a resolved addition is committed as a whole; when the answer to a commit is lost, it is repeated and adds nothing
 * twice. PostgresStore.S2 (`read`) every row is checked when it is read: a changed message is the error `MEMORY_DAMAGED`, and a changed
 * vector is computed again. Writers of a role come one after another, so that places appear in their order.
 */
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
    return this.#ask(async ({ rows, schema }) => {
      const [state] = await rows<StoreState>(`SELECT last, removals FROM ${schema}.memory_roles WHERE key = $1`, [keyOf(roleId)]);
      return state ?? { last: 0, removals: 0 };
    });
  }

  async add(roleId: string, messages: readonly MessageToStore[]): Promise<readonly StoredAt[]> {
    const encoded = messages.map(encodeMessage);
    if (encoded.length === 0) return [];
    const batch = randomUUID();
    return this.#ask((db) =>
      db.transaction(async ({ rows }) => {
        const roles = `${db.schema}.memory_roles`;
        await rows(`INSERT INTO ${roles} (key, role) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [keyOf(roleId), JSON.stringify(roleId)]);
        const { base, last } = (await lockedPlaces(db, rows, roleId)) ?? { base: 0, last: 0 };
        const known = await this.#known(db, rows, base, encoded, batch);
        const fresh: { readonly place: number; readonly row: EncodedMessage }[] = [];
        const stored: StoredAt[] = [];
        for (const row of encoded) {
          const identity = row.identity.toString("hex");
          const held = known.get(identity);
          const place = held?.place ?? last + fresh.length + 1;
          stored.push({ place, isNew: held?.isNew ?? true });
          if (held === undefined) fresh.push({ place, row });
          // The same message a second time in this batch is not new.
          known.set(identity, { place, isNew: false });
        }
        await this.#insert(db, rows, { roleId, base, batch, fresh });
        return stored;
      }),
    );
  }

  async *read(roleId: string, after: number): AsyncGenerator<readonly StoredMessage[]> {
    const { base } = (await this.#places(roleId)) ?? nowhere;
    const pages = this.#pages<{ place: string; line: string }>(base + after, base + SPAN, ({ schema }) => ({
      name: "memory read",
      text: `SELECT place, ${LINE} AS line FROM ${schema}.memory_messages WHERE place > $1 AND place < $2 ORDER BY place LIMIT ${PAGE}`,
    }));
    for await (const page of pages) yield page.map(({ line }) => decodeMessage(line, base));
  }

  async places(roleId: string): Promise<readonly number[]> {
    const { base } = (await this.#places(roleId)) ?? nowhere;
    return this.#ask(async ({ rows, schema }) => {
      const text = `SELECT place FROM ${schema}.memory_messages WHERE place > $1 AND place < $2 ORDER BY place`;
      return (await rows<{ place: string }>(text, [base, base + SPAN])).map(({ place }) => Number(place) - base);
    });
  }

  remove(roleId: string, places: readonly number[], { mayReturn = false }: RemoveOptions = {}): Promise<number> {
    const removal = randomUUID();
    return this.#inRole(roleId, 0, async ({ rows }, { base }, { schema }) => {
      const [done] = await rows<{ removed: number }>(
        `SELECT last_removed AS removed FROM ${schema}.memory_roles WHERE number = $1 AND last_removal = $2`,
        [base / SPAN, removal],
      );
      if (done !== undefined) return done.removed;
      const wanted = places.filter((place) => Number.isInteger(place) && place > 0 && place < SPAN).map((place) => base + place);
      const gone = await rows<{ identity: Buffer }>(
        `DELETE FROM ${schema}.memory_messages WHERE place = ANY ($1::bigint[]) RETURNING identity`,
        [wanted],
      );
      const identities = gone.map(({ identity }) => identity);
      const note = `INSERT INTO ${schema}.memory_removed SELECT $1, unnest($2::bytea[]) ON CONFLICT DO NOTHING`;
      if (!mayReturn) await rows(note, [base / SPAN, identities]);
      await rows(`UPDATE ${schema}.memory_roles SET removals = removals + $2, last_removal = $3, last_removed = $2 WHERE number = $1`, [
        base / SPAN,
        gone.length,
        removal,
      ]);
      return gone.length;
    });
  }

  removed(roleId: string, identities: readonly MessageIdentity[]): Promise<readonly boolean[]> {
    return this.#ask(async ({ rows, schema }) => {
      const digests = identities.map(({ runId, id }) => identityDigest(runId, id));
      const found = await rows<{ identity: Buffer }>(
        `SELECT identity FROM ${schema}.memory_removed JOIN ${schema}.memory_roles USING (number)
         WHERE key = $1 AND identity = ANY ($2::bytea[])`,
        [keyOf(roleId), digests],
      );
      const known = new Set(found.map(({ identity }) => identity.toString("hex")));
      return digests.map((digest) => known.has(digest.toString("hex")));
    });
  }

  scopes(): Promise<readonly string[]> {
    return this.#ask(async ({ rows, schema }) => {
      const text = `SELECT role FROM ${schema}.memory_roles WHERE ${hasMessages(schema)} ORDER BY number`;
      return (await rows<{ role: string }>(text)).map(({ role }) => JSON.parse(role) as string);
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
    const { base } = (await this.#places(roleId)) ?? nowhere;
    const key = JSON.stringify(fingerprint);
    const statement = ({ schema }: PostgresDatabase): { readonly name: string; readonly text: string } => ({
      name: "memory vectors",
      text: `SELECT place, checksum, vector FROM ${schema}.memory_vectors WHERE place > $1 AND place < $2 AND fingerprint = $3 ORDER BY place LIMIT ${PAGE}`,
    });
    for await (const page of this.#pages<VectorRow>(base + after, base + SPAN, statement, key)) {
      const whole = page.flatMap((row) => storedVector(row, key) ?? []);
      if (whole.length > 0) yield whole.map(({ place, vector }) => ({ place: place - base, vector }));
    }
  }

  async writeVectors(roleId: string, fingerprint: string, vectors: readonly StoredVector[]): Promise<void> {
    const key = JSON.stringify(fingerprint);
    const last = new Map(vectors.filter(({ place }) => place > 0 && place < SPAN).map((one) => [one.place, one.vector]));
    if (last.size === 0) return;
    await this.#inRole(roleId, undefined, async (connection, { base }, db) => {
      const placed = new Map([...last].map(([place, vector]) => [base + place, vector]));
      const bytes = [...placed].map(([place, vector]) => [place, vectorBytes(vector)] as const);
      await connection.rows(
        `INSERT INTO ${db.schema}.memory_vectors
         SELECT v.place, v.checksum, $4, v.vector FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS v (place, checksum, vector)
         JOIN ${db.schema}.memory_messages USING (place)
         ON CONFLICT (place) DO UPDATE SET checksum = excluded.checksum, fingerprint = excluded.fingerprint, vector = excluded.vector`,
        [
          bytes.map(([place]) => place),
          bytes.map(([place, vector]) => vectorChecksum(place, key, vector)),
          bytes.map(([, { buffer, byteOffset, byteLength }]) => Buffer.from(buffer, byteOffset, byteLength)),
          key,
        ],
      );
      await this.nearest.write(db, connection, fingerprint, placed);
    });
  }

  clearVectors(roleId: string): Promise<void> {
    return this.#inRole(roleId, undefined, async (connection, { base }, db) => {
      await connection.rows(`DELETE FROM ${db.schema}.memory_vectors WHERE place > $1 AND place < $2`, [base, base + SPAN]);
      await this.nearest.clear(db, connection, base);
    });
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await Promise.allSettled(this.#asked);
    await opened?.close();
  }

  #places(roleId: string): Promise<RolePlaces | undefined> {
    return this.#ask((db) => placesOfRole(db, roleId));
  }

  /** Works on a role in one transaction, in which no one else writes to it. @param none the result where nothing of the role is stored */
  #inRole<T>(
    roleId: string,
    none: T,
    work: (connection: PostgresConnection, role: RolePlaces, db: PostgresDatabase) => Promise<T>,
  ): Promise<T> {
    return this.#ask((db) =>
      db.transaction(async (connection) => {
        const role = await lockedPlaces(db, connection.rows, roleId);
        return role === undefined ? none : work(connection, role, db);
      }),
    );
  }

  /** Reads rows between two places in pages, by a statement with both as its first parameters. */
  async *#pages<R extends { readonly place: string }>(
    after: number,
    end: number,
    statement: (db: PostgresDatabase) => { readonly name: string; readonly text: string },
    ...values: readonly unknown[]
  ): AsyncGenerator<readonly R[]> {
    for (let from = after; ;) {
      const page = await this.#ask((db) => db.rows<R>(statement(db), [from, end, ...values]));
      if (page.length > 0) yield page;
      if (page.length < PAGE) return;
      from = Number(page.at(-1)?.place);
    }
  }

  /** Finds the messages that are stored already. What this batch wrote in an earlier try is new. */
  async #known(
    { schema }: PostgresDatabase,
    rows: Rows,
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

  async #insert({ schema }: PostgresDatabase, rows: Rows, { roleId, base, batch, fresh }: FreshMessages): Promise<void> {
    const last = fresh.at(-1)?.place;
    if (last === undefined) return;
    if (last >= SPAN)
      throw new MemoryError(
        "MEMORY_FULL",
        `Expected fewer than ${SPAN} messages of one role, got one more. Remove the store of this role.`,
      );
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
    await rows(`UPDATE ${schema}.memory_roles SET last = $2, role = $3 WHERE number = $1`, [base / SPAN, last, JSON.stringify(roleId)]);
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

interface FreshMessages {
  readonly roleId: string;
  readonly base: number;
  readonly batch: string;
  readonly fresh: readonly { readonly place: number; readonly row: EncodedMessage }[];
}

const nowhere: RolePlaces = { base: 0, last: 0 };

function hasMessages(schema: string): string {
  return `EXISTS (SELECT FROM ${schema}.memory_messages m WHERE m.number = memory_roles.number)`;
}

/** Locks the row of a role until the end of the transaction. */
function lockedPlaces(db: PostgresDatabase, rows: Rows, roleId: string): Promise<RolePlaces | undefined> {
  return placesOfRole(db, roleId, "FOR UPDATE", rows);
}
