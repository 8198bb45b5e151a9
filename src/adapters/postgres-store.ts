import { hash } from "node:crypto";
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
  encodeMessage,
  identityDigest,
  messageChecksum,
  numbersOf,
  SPAN,
  vectorBytes,
  vectorChecksum,
} from "./message-rows.ts";
import { PostgresDatabase, type Rows } from "./postgres-database.ts";
import { type PostgresOptions, type PostgresServer, postgresServer } from "./postgres-server.ts";
import { MEMORY_TABLES } from "./postgres-tables.ts";

const PAGE = 256;

/**
 * Long-term memories of any number of roles in a Postgres database, over `pg`, which the first call loads. Any number of processes and
 * machines may use it at once. After `close` no connection is left, and a later call opens one again.
 *
 * There is no index of words: a memory reads all messages of its role once when it opens. Vectors are compared in the process.
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

/** The digest of a role's id: an index takes no long text, and a text holds no NUL. */
const keyOf = (id: string): Buffer => hash("sha256", JSON.stringify(id), "buffer");

interface RoleRow {
  readonly number: number;
  readonly last: number;
}

interface VectorRow {
  readonly place: string;
  readonly checksum: string;
  readonly vector: Buffer;
}

/**
 * See {@link postgresStore}. It owns the connections. PostgresStore.S1 (`add`) a resolved addition is committed as a whole; one that is repeated
 * because the answer to its commit was lost adds nothing twice. PostgresStore.S2 (`read`) every row is checked when it is read: a changed message is
 * the error `MEMORY_DAMAGED`, and a changed vector is computed again. Writers of a role come one after another, so that places appear in their order.
 */
class PostgresStore implements MessageStore {
  readonly #server: PostgresServer;
  /** The calls under way: storages share a store, and a close by one waits for the calls of the others. */
  readonly #asked = new Set<Promise<unknown>>();
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
    const create = (schema: string): string => `INSERT INTO ${schema}.memory_roles (key, role) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
    await this.#ask(({ rows, schema }) => rows(create(schema), [keyOf(roleId), JSON.stringify(roleId)]));
    /** The rows of an earlier try whose answer was lost. */
    const ours = new Set<string>();
    return this.#inRole(roleId, [], async (rows, { number, last }, schema) => {
      const found = await rows<{ place: string; identity: Buffer }>(
        `SELECT place, identity FROM ${schema}.memory_messages WHERE number = $1 AND identity = ANY ($2::bytea[])`,
        [number, encoded.map(({ identity }) => identity)],
      );
      const known = new Map(found.map(({ place, identity }) => [identity.toString("hex"), Number(place) - number * SPAN]));
      const again = new Set(ours);
      const fresh: { readonly row: number; readonly identity: Buffer; readonly body: string }[] = [];
      const stored = encoded.map(({ identity, body }): StoredAt => {
        const key = identity.toString("hex");
        const held = known.get(key);
        if (held !== undefined) return { place: held, isNew: again.delete(key) };
        const place = last + fresh.length + 1;
        known.set(key, place);
        ours.add(key);
        fresh.push({ row: number * SPAN + place, identity, body });
        return { place, isNew: true };
      });
      if (last + fresh.length >= SPAN) throw full();
      await rows(
        `INSERT INTO ${schema}.memory_messages
         SELECT m.place, $4::integer, m.identity, m.checksum, m.body
         FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $5::text[]) AS m (place, identity, checksum, body)`,
        [
          fresh.map(({ row }) => row),
          fresh.map(({ identity }) => identity),
          fresh.map(({ row, identity, body }) => messageChecksum(row, identity.toString("hex"), body)),
          number,
          fresh.map(({ body }) => body),
        ],
      );
      const values = [number, last + fresh.length, JSON.stringify(roleId)];
      await rows(`UPDATE ${schema}.memory_roles SET last = $2, role = $3 WHERE number = $1`, values);
      return stored;
    });
  }

  async *read(roleId: string, after: number): AsyncGenerator<readonly StoredMessage[]> {
    const columns = "place, encode(checksum, 'hex') || ' ' || place || ' ' || encode(identity, 'hex') || ' ' || body AS line";
    for await (const { base, page } of this.#pages<{ place: string; line: string }>(roleId, after, columns, "memory_messages")) {
      yield page.map(({ line }) => decodeMessage(line, base));
    }
  }

  places(roleId: string): Promise<readonly number[]> {
    return this.#ask(async ({ rows, schema }) => {
      const text = `SELECT place % ${SPAN} AS place FROM ${schema}.memory_messages JOIN ${schema}.memory_roles USING (number)
        WHERE key = $1 ORDER BY place`;
      return (await rows<{ place: string }>(text, [keyOf(roleId)])).map(({ place }) => Number(place));
    });
  }

  remove(roleId: string, places: readonly number[], { mayReturn = false }: RemoveOptions = {}): Promise<number> {
    let removed = 0;
    return this.#inRole(roleId, 0, async (rows, { number }, schema) => {
      const wanted = places.filter((place) => Number.isInteger(place) && place > 0 && place < SPAN).map((place) => number * SPAN + place);
      const gone = await rows<{ identity: Buffer }>(
        `DELETE FROM ${schema}.memory_messages WHERE place = ANY ($1::bigint[]) RETURNING identity`,
        [wanted],
      );
      const note = `INSERT INTO ${schema}.memory_removed SELECT $1, unnest($2::bytea[]) ON CONFLICT DO NOTHING`;
      if (!mayReturn) await rows(note, [number, gone.map(({ identity }) => identity)]);
      await rows(`UPDATE ${schema}.memory_roles SET removals = removals + $2 WHERE number = $1`, [number, gone.length]);
      // A try after one whose answer was lost finds nothing.
      removed = Math.max(removed, gone.length);
      return removed;
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
    });
  }

  async *readVectors(roleId: string, fingerprint: string, after: number): AsyncGenerator<readonly StoredVector[]> {
    const key = JSON.stringify(fingerprint);
    const table = "memory_vectors WHERE fingerprint = $4";
    for await (const { base, page } of this.#pages<VectorRow>(roleId, after, "place, checksum, vector", table, key)) {
      const whole = page.filter(({ place, checksum, vector }) => vectorChecksum(Number(place), key, vector) === Number(checksum));
      if (whole.length === 0) continue;
      yield whole.map(({ place, vector }) => ({ place: Number(place) - base, vector: numbersOf(vector) }));
    }
  }

  async writeVectors(roleId: string, fingerprint: string, vectors: readonly StoredVector[]): Promise<void> {
    const key = JSON.stringify(fingerprint);
    const last = new Map(vectors.map(({ place, vector }) => [place, vectorBytes(vector)]));
    await this.#inRole(roleId, undefined, async (rows, { number }, schema) => {
      const bytes = [...last].map(([place, vector]) => [number * SPAN + place, vector] as const);
      await rows(
        `INSERT INTO ${schema}.memory_vectors
         SELECT v.place, v.checksum, $4, v.vector FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS v (place, checksum, vector)
         JOIN ${schema}.memory_messages AS m ON m.place = v.place AND m.number = $5
         ON CONFLICT (place) DO UPDATE SET checksum = excluded.checksum, fingerprint = excluded.fingerprint, vector = excluded.vector`,
        [
          bytes.map(([row]) => row),
          bytes.map(([row, vector]) => vectorChecksum(row, key, vector)),
          bytes.map(([, { buffer, byteOffset, byteLength }]) => Buffer.from(buffer, byteOffset, byteLength)),
          key,
          number,
        ],
      );
    });
  }

  clearVectors(roleId: string): Promise<void> {
    return this.#inRole(roleId, undefined, async (rows, { number }, schema) => {
      await rows(`DELETE FROM ${schema}.memory_vectors WHERE place > $1 AND place < $2`, [number * SPAN, (number + 1) * SPAN]);
    });
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await Promise.allSettled(this.#asked);
    await opened?.close();
  }

  /** Works on a role in one transaction, in which no one else writes to it. @param none the result where nothing of the role is stored */
  #inRole<T>(roleId: string, none: T, work: (rows: Rows, role: RoleRow, schema: string) => Promise<T>): Promise<T> {
    return this.#ask(({ transaction, schema }) =>
      transaction(async (rows) => {
        const [role] = await rows<RoleRow>(`SELECT number, last FROM ${schema}.memory_roles WHERE key = $1 FOR UPDATE`, [keyOf(roleId)]);
        return role === undefined ? none : work(rows, role, schema);
      }),
    );
  }

  /** Reads the rows of a role after a place in pages. @param table with a condition on the values from $4 on */
  async *#pages<R extends { readonly place: string }>(
    roleId: string,
    after: number,
    columns: string,
    table: string,
    ...values: readonly unknown[]
  ): AsyncGenerator<{ readonly base: number; readonly page: readonly R[] }> {
    const [role] = await this.#ask(({ rows, schema }) =>
      rows<RoleRow>(`SELECT number, last FROM ${schema}.memory_roles WHERE key = $1`, [keyOf(roleId)]),
    );
    if (role === undefined) return;
    const base = role.number * SPAN;
    const range = `${table.includes(" WHERE ") ? "AND" : "WHERE"} place > $1 AND place < $2 ORDER BY place LIMIT $3`;
    for (let from = base + after; ;) {
      const start = from;
      const page = await this.#ask(({ rows, schema }) =>
        rows<R>(`SELECT ${columns} FROM ${schema}.${table} ${range}`, [start, base + SPAN, PAGE, ...values]),
      );
      if (page.length > 0) yield { base, page };
      if (page.length < PAGE) return;
      from = Number(page.at(-1)?.place);
    }
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

function hasMessages(schema: string): string {
  return `EXISTS (SELECT FROM ${schema}.memory_messages m WHERE m.number = memory_roles.number)`;
}

function full(): MemoryError {
  return new MemoryError("MEMORY_FULL", `Expected fewer than ${SPAN} messages of one role, got one more. Remove the store of this role.`);
}
