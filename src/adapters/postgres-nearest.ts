import { hash } from "node:crypto";
import { MemoryError } from "../kernel/errors.ts";
import { unitVector } from "../memory/embedder.ts";
import type { NearVector, VectorLookup, VectorPlace } from "../memory/message-store.ts";
import { numbersOf, SPAN, vectorChecksum } from "./message-rows.ts";
import type { PostgresConnection, PostgresDatabase } from "./postgres-database.ts";
import { placesOfRole } from "./postgres-store-tables.ts";

/** Places of a page. */
const PAGE = 512;
/** The type `vector` has no more numbers. */
const LONGEST_VECTOR = 16_000;
/** Digits that tell any two 32-bit numbers apart. */
const DIGITS = 9;

/** Runs work in the database of a store. */
type Ask = <T>(work: (db: PostgresDatabase) => Promise<T>) => Promise<T>;

/** A row of a page: a vector that the extension has, or one that stands in the table of bytes alone. */
interface PageRow {
  readonly place: string;
  readonly dimensions: number | null;
  readonly checksum: string | null;
  readonly vector: Buffer | null;
}

/**
 * Finds vectors by the extension `vector` (pgvector), where the owner of the database has installed it. The table of bytes stays the source:
 * `memory_near` has the same vectors at length 1, as the type of the extension. Owns the place of the extension, once it is known.
 *
 * PostgresNearest.N1 (`isAvailable`) the table is made when it is first needed, by one process at a time; a database without the extension, or
 * whose user may not make the table, is left as it is. PostgresNearest.N2 (`places`) vectors that were stored without the extension are taken
 * from their bytes, if their checksums fit. PostgresNearest.N3 (`write`) vectors are written to both tables in one transaction.
 * PostgresNearest.N4 (`write`, `places`) each fingerprint has its own vectors: two embedders of one memory take none from each other.
 *
 * The comparison is exact, over all vectors of the role. An approximate index needs a fixed number of dimensions, and this table has none.
 */
export class PostgresNearest implements VectorLookup {
  readonly #ask: Ask;
  /** The quoted schema of the extension. */
  #home: string | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async isAvailable(): Promise<boolean> {
    return (await this.#found()) !== undefined;
  }

  async count(roleId: string, fingerprint: string): Promise<number> {
    if (!(await this.isAvailable())) return 0;
    return this.#ask(async (db) => {
      const role = await placesOfRole(db, roleId);
      if (role === undefined) return 0;
      const [row] = await db.rows<{ count: number }>(
        `SELECT count(*)::integer AS count FROM ${db.schema}.memory_near WHERE place > $1 AND place < $2 AND key = $3`,
        [role.base, role.base + SPAN, digestOf(fingerprint)],
      );
      return row?.count ?? 0;
    });
  }

  async *places(roleId: string, fingerprint: string, after: number): AsyncGenerator<readonly VectorPlace[]> {
    const home = await this.#found();
    const role = await this.#ask((db) => placesOfRole(db, roleId));
    if (home === undefined || role === undefined) return;
    const { base, last } = role;
    for (let from = after; from < last; from += PAGE) {
      const page = await this.#ask(async (db) => {
        const rows = await db.rows<PageRow>(
          `SELECT place, n.dimensions, v.checksum, CASE WHEN n.place IS NULL THEN v.vector END AS vector
           FROM (SELECT place, dimensions FROM ${db.schema}.memory_near WHERE place > $1 AND place <= $2 AND key = $3) AS n
           FULL JOIN (SELECT * FROM ${db.schema}.memory_vectors WHERE place > $1 AND place <= $2 AND fingerprint = $4) AS v USING (place)
           ORDER BY place`,
          [base + from, base + from + PAGE, digestOf(fingerprint), JSON.stringify(fingerprint)],
        );
        return taken(db, { home, fingerprint, rows });
      });
      if (page.length > 0) yield page.map(({ place, dimensions }) => ({ place: place - base, dimensions }));
    }
  }

  async search(
    roleId: string,
    fingerprint: string,
    query: Float32Array,
    k: number,
    { among }: { readonly among?: ReadonlySet<number> | undefined } = {},
  ): Promise<readonly NearVector[]> {
    const unit = checkedQuery(query);
    const home = await this.#found();
    if (home === undefined) return [];
    return this.#ask(async (db) => {
      const role = await placesOfRole(db, roleId);
      if (role === undefined) return [];
      const { base } = role;
      const given = among === undefined ? [] : [[...among].map((place) => base + place)];
      const rows = await db.rows<{ place: string; distance: number }>(
        `SELECT place, vector OPERATOR(${home}.<=>) $1::${home}.vector AS distance FROM ${db.schema}.memory_near
         WHERE place > $2 AND place < $3 AND key = $4 AND dimensions = $5 ${among === undefined ? "" : "AND place = ANY ($7::bigint[])"}
         ORDER BY distance, place LIMIT $6`,
        [textOf(unit), base, base + SPAN, digestOf(fingerprint), unit.length, k, ...given],
      );
      return rows.map(({ place, distance }) => ({ place: Number(place) - base, score: Math.max(-1, Math.min(1, 1 - distance)) }));
    });
  }

  /** Writes the vectors of rows in the transaction that writes their bytes. Does nothing without the table. */
  async write(
    db: PostgresDatabase,
    connection: PostgresConnection,
    fingerprint: string,
    vectors: ReadonlyMap<number, Float32Array>,
  ): Promise<void> {
    const home = await this.#homeOf(db, connection);
    if (home === undefined) return;
    const units = new Map([...vectors].flatMap(([row, vector]) => usable(vector).map((unit) => [row, unit] as const)));
    const gone = [...vectors.keys()].filter((row) => !units.has(row));
    if (gone.length > 0) {
      await connection.rows(`DELETE FROM ${db.schema}.memory_near WHERE place = ANY ($1::bigint[]) AND key = $2`, [
        gone,
        digestOf(fingerprint),
      ]);
    }
    await insertUnits(db, connection, { home, fingerprint, units });
  }

  /** Deletes the vectors of the role with this base. */
  async clear(db: PostgresDatabase, connection: PostgresConnection, base: number): Promise<void> {
    if ((await this.#homeOf(db, connection)) === undefined) return;
    await connection.rows(`DELETE FROM ${db.schema}.memory_near WHERE place > $1 AND place < $2`, [base, base + SPAN]);
  }

  /** Overwrites the vectors of removed messages. */
  async purge(): Promise<void> {
    if ((await this.#found()) !== undefined) await this.#ask((db) => db.vacuum("memory_near"));
  }

  /** The schema of the extension, whose table is made if needed; undefined where it is not available. */
  async #found(): Promise<string | undefined> {
    if (this.#home !== undefined) return this.#home;
    return this.#ask((db) =>
      db.transaction(async (connection) => {
        const home = await this.#homeOf(db, connection);
        if (home !== undefined || (await extensionOf(db, connection))?.may_make !== true) return home;
        // Others who write messages, and others who make the table, wait; the second one finds it made.
        await connection.rows(`LOCK TABLE ${db.schema}.memory_messages IN SHARE ROW EXCLUSIVE MODE`);
        const found = await extensionOf(db, connection);
        if (found?.is_made === false) await makeTable(db, connection, found.home);
        return found?.home;
      }),
    );
  }

  /** The schema of the extension; undefined without the extension or its table. A found one is remembered. */
  async #homeOf(db: PostgresDatabase, connection: PostgresConnection): Promise<string | undefined> {
    if (this.#home !== undefined) return this.#home;
    const found = await extensionOf(db, connection);
    if (found?.is_made === true) this.#home = found.home;
    return this.#home;
  }
}

/** Returns the usable vectors of a page. Those that the extension does not have yet are given to it. */
async function taken(
  db: PostgresDatabase,
  o: { readonly home: string; readonly fingerprint: string; readonly rows: readonly PageRow[] },
): Promise<readonly VectorPlace[]> {
  const key = JSON.stringify(o.fingerprint);
  const units = new Map<number, Float32Array>();
  const found = o.rows.flatMap(({ place: text, dimensions, checksum, vector }) => {
    const place = Number(text);
    if (dimensions !== null) return { place, dimensions };
    if (vector === null || vector.length % 4 !== 0 || vectorChecksum(place, key, vector) !== Number(checksum)) return [];
    if (vector.length === 0) return { place, dimensions: 0 };
    const [unit] = usable(numbersOf(vector, 0, vector.length));
    if (unit === undefined) return [];
    units.set(place, unit);
    return { place, dimensions: unit.length };
  });
  if (units.size > 0) await db.transaction((connection) => insertUnits(db, connection, { ...o, units }));
  return found;
}

interface Extension {
  readonly home: string;
  readonly is_made: boolean;
  readonly may_make: boolean;
}

async function extensionOf({ server }: PostgresDatabase, { rows }: PostgresConnection): Promise<Extension | undefined> {
  // A look-up by name, such as to_regclass, may be answered from before the lock. An extension that was dropped took the column with it.
  const [found] = await rows<Extension>(
    `SELECT quote_ident(n.nspname) AS home, has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(s.oid, 'CREATE') AND
       (SELECT has_table_privilege(c.oid, 'REFERENCES') FROM pg_class c WHERE c.relnamespace = s.oid AND c.relname = 'memory_messages')
         AS may_make,
       EXISTS (SELECT FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relnamespace = s.oid AND c.relname = 'memory_near' AND a.attname = 'vector' AND NOT a.attisdropped) AS is_made
     FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace, pg_namespace s WHERE e.extname = 'vector' AND s.nspname = $1`,
    [server.schema],
  );
  return found;
}

async function makeTable({ schema }: PostgresDatabase, { rows }: PostgresConnection, home: string): Promise<void> {
  // `key` is the digest of the fingerprint: an index takes no long text.
  await rows(`DROP TABLE IF EXISTS ${schema}.memory_near;
    CREATE TABLE ${schema}.memory_near (
      place bigint NOT NULL REFERENCES ${schema}.memory_messages ON DELETE CASCADE, dimensions integer NOT NULL, key bytea NOT NULL,
      vector ${home}.vector NOT NULL, PRIMARY KEY (place, key)
    )`);
}

/** Writes vectors of length 1, by the places of their rows. Those of removed messages are dropped. */
async function insertUnits(
  { schema }: PostgresDatabase,
  { rows }: PostgresConnection,
  o: { readonly home: string; readonly fingerprint: string; readonly units: ReadonlyMap<number, Float32Array> },
): Promise<void> {
  if (o.units.size === 0) return;
  const given = [...o.units].sort(([a], [b]) => a - b);
  // A message that is being removed is waited for: it has no vector then.
  await rows(
    `INSERT INTO ${schema}.memory_near
     SELECT v.place, v.dimensions, $4, v.vector::${o.home}.vector
     FROM unnest($1::bigint[], $2::integer[], $3::text[]) AS v (place, dimensions, vector)
     JOIN ${schema}.memory_messages AS m USING (place) ORDER BY place FOR KEY SHARE OF m
     ON CONFLICT (place, key) DO UPDATE SET dimensions = excluded.dimensions, vector = excluded.vector`,
    [given.map(([place]) => place), given.map(([, unit]) => unit.length), given.map(([, unit]) => textOf(unit)), digestOf(o.fingerprint)],
  );
}

/** Returns the vector at length 1; nothing for one that the extension cannot compare. */
function usable(vector: Float32Array): readonly Float32Array[] {
  if (vector.length > LONGEST_VECTOR || !vector.every(Number.isFinite)) return [];
  const unit = unitVector(vector, "a stored vector");
  return unit === undefined ? [] : [unit];
}

/** @throws MemoryError `EMBEDDING_DIMENSION`, `EMBEDDING_INVALID` */
function checkedQuery(query: Float32Array): Float32Array {
  if (query.length > LONGEST_VECTOR) {
    throw new MemoryError(
      "EMBEDDING_DIMENSION",
      `Expected a vector of ${LONGEST_VECTOR} numbers at most, which the extension vector of Postgres can compare, got ${query.length}. Ask its embedder for fewer, or give the memory an index: exactIndex().`,
      { data: { expected: LONGEST_VECTOR, came: query.length } },
    );
  }
  const unit = unitVector(query, "the vector to look for");
  if (unit !== undefined) return unit;
  throw new MemoryError(
    "EMBEDDING_INVALID",
    "Expected the vector to look for to point somewhere, got nothing but zeros. Leave such texts out.",
  );
}

/** A vector as the extension reads it. */
function textOf(vector: Float32Array): string {
  return `[${Array.from(vector, (value) => value.toPrecision(DIGITS)).join()}]`;
}

function digestOf(fingerprint: string): Buffer {
  return hash("sha256", JSON.stringify(fingerprint), "buffer");
}
