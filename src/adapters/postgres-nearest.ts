import { hash } from "node:crypto";
import { MemoryError } from "../kernel/errors.ts";
import { unitVector } from "../memory/embedder.ts";
import type { NearVector, StoredVector, VectorLookup, VectorPlace } from "../memory/message-store.ts";
import { numbersOf, SPAN, vectorChecksum } from "./message-rows.ts";
import type { PostgresConnection, PostgresDatabase, Rows } from "./postgres-database.ts";

const PAGE = 512;
/** The type `vector` has no more numbers. */
const LONGEST_VECTOR = 16_000;
/** Digits that distinguish any two 32-bit numbers. */
const DIGITS = 9;

/** The digest of a role's id or a fingerprint: an index takes no long text, and a text holds no NUL. */
export const keyOf = (id: string): Buffer => hash("sha256", JSON.stringify(id), "buffer");

/** The places of a role in the tables: the one before its first, and its last. */
export interface RolePlaces {
  readonly base: number;
  readonly last: number;
}

export function placesOfRole(
  { rows, schema }: PostgresDatabase,
  roleId: string,
  how = "",
  within: Rows = rows,
): Promise<RolePlaces | undefined> {
  const text = `SELECT number, last FROM ${schema}.memory_roles WHERE key = $1 ${how}`;
  const found = within<{ number: number; last: number }>(text, [keyOf(roleId)]);
  return found.then(([row]) => row && { base: row.number * SPAN, last: row.last });
}

export interface VectorRow {
  readonly place: string;
  readonly checksum: string | null;
  readonly vector: Buffer | null;
}

/** Returns the vector of a row, with its place in the table; undefined where its bytes do not fit its checksum. @param key of its embedder */
export function storedVector({ place, checksum, vector }: VectorRow, key: string): StoredVector | undefined {
  const isWhole = vector !== null && vector.length % 4 === 0 && vectorChecksum(Number(place), key, vector) === Number(checksum);
  return isWhole ? { place: Number(place), vector: numbersOf(vector, 0, vector.length) } : undefined;
}

/** A row of a page: a vector that the extension has, or one that is in the table of bytes alone. */
interface PageRow extends VectorRow {
  readonly dimensions: number | null;
}

/**
 * Finds vectors by the extension `vector` (pgvector), where the owner of the database has installed it. The table of bytes stays the source:
 * `memory_near` has the same vectors at length 1, as the type of the extension, with the digest of their fingerprint, because an index takes
 * no long text. Owns the schema of the extension, once it is known.
 *
 * PostgresNearest.N1 (`#found`) one process makes the table when it is first needed; a database without the extension, or whose user may not
 * make the table, is left as it is. PostgresNearest.N2 (`places`) vectors that were stored without the extension are taken from their bytes, if
 * their checksums fit. PostgresNearest.N3 (`write`) vectors are written to both tables in one transaction. PostgresNearest.N4 each fingerprint
 * has its own vectors: two embedders of one memory take none from each other.
 *
 * The comparison is exact: an approximate index needs a fixed number of dimensions.
 */
export class PostgresNearest implements VectorLookup {
  readonly #ask: <T>(work: (db: PostgresDatabase) => Promise<T>) => Promise<T>;
  #home: string | undefined;

  constructor(ask: <T>(work: (db: PostgresDatabase) => Promise<T>) => Promise<T>) {
    this.#ask = ask;
  }

  async isAvailable(): Promise<boolean> {
    return (await this.#found()) !== undefined;
  }

  async count(roleId: string, fingerprint: string): Promise<number> {
    if (!(await this.isAvailable())) return 0;
    return this.#ask(async (db) => {
      const { base } = (await placesOfRole(db, roleId)) ?? { base: 0 };
      const [row] = await db.rows<{ count: number }>(
        `SELECT count(*)::integer AS count FROM ${db.schema}.memory_near WHERE place > $1 AND place < $2 AND key = $3`,
        [base, base + SPAN, keyOf(fingerprint)],
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
          [base + from, base + from + PAGE, keyOf(fingerprint), JSON.stringify(fingerprint)],
        );
        return taken(db, home, fingerprint, rows);
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
      const { base } = (await placesOfRole(db, roleId)) ?? { base: 0 };
      const rows = await db.rows<{ place: string; distance: number }>(
        `SELECT place, vector OPERATOR(${home}.<=>) $1::${home}.vector AS distance FROM ${db.schema}.memory_near
         WHERE place > $2 AND place < $3 AND key = $4 AND dimensions = $5 AND ($7::bigint[] IS NULL OR place = ANY ($7))
         ORDER BY distance, place LIMIT $6`,
        [textOf(unit), base, base + SPAN, keyOf(fingerprint), unit.length, k, among && [...among].map((place) => base + place)],
      );
      return rows.map(({ place, distance }) => ({ place: Number(place) - base, score: Math.max(-1, Math.min(1, 1 - distance)) }));
    });
  }

  /** Writes the vectors of rows in the transaction that writes their bytes. Does nothing without the table. */
  async write(
    { server, schema }: PostgresDatabase,
    { rows }: PostgresConnection,
    fingerprint: string,
    vectors: ReadonlyMap<number, Float32Array>,
  ): Promise<void> {
    const home = await this.#homeIn(server.schema, rows);
    if (home === undefined) return;
    const units = new Map([...vectors].flatMap(([row, vector]) => usable(vector).map((unit) => [row, unit] as const)));
    const gone = [...vectors.keys()].filter((row) => !units.has(row));
    const values = [gone, keyOf(fingerprint)];
    if (gone.length > 0) await rows(`DELETE FROM ${schema}.memory_near WHERE place = ANY ($1::bigint[]) AND key = $2`, values);
    await insertUnits(schema, rows, { home, fingerprint, units });
  }

  async clear({ server, schema }: PostgresDatabase, { rows }: PostgresConnection, base: number): Promise<void> {
    if ((await this.#homeIn(server.schema, rows)) === undefined) return;
    await rows(`DELETE FROM ${schema}.memory_near WHERE place > $1 AND place < $2`, [base, base + SPAN]);
  }

  async purge(): Promise<void> {
    if (await this.isAvailable()) await this.#ask((db) => db.vacuum("memory_near"));
  }

  async #found(): Promise<string | undefined> {
    if (this.#home !== undefined) return this.#home;
    return this.#ask(({ transaction, server, schema }) =>
      transaction(async ({ rows }) => {
        const home = await this.#homeIn(server.schema, rows);
        if (home !== undefined || (await extensionIn(server.schema, rows))?.may_make !== true) return home;
        // Writers of messages, and others who make the table, wait; the second one finds it made.
        await rows(`LOCK TABLE ${schema}.memory_messages IN SHARE ROW EXCLUSIVE MODE`);
        const found = await extensionIn(server.schema, rows);
        if (found?.is_made === false) await makeTable(schema, rows, found.home);
        return found?.home;
      }),
    );
  }

  /** The schema of the extension; undefined without the extension or its table. A found one is remembered. */
  async #homeIn(schema: string, rows: Rows): Promise<string | undefined> {
    if (this.#home !== undefined) return this.#home;
    const found = await extensionIn(schema, rows);
    if (found?.is_made === true) this.#home = found.home;
    return this.#home;
  }
}

/** Returns the usable vectors of a page. Those that the extension does not have yet are given to it. */
async function taken(db: PostgresDatabase, home: string, fingerprint: string, rows: readonly PageRow[]): Promise<readonly VectorPlace[]> {
  const units = new Map<number, Float32Array>();
  const found = rows.flatMap((row) => {
    const place = Number(row.place);
    if (row.dimensions !== null) return { place, dimensions: row.dimensions };
    const { vector } = storedVector(row, JSON.stringify(fingerprint)) ?? {};
    if (vector === undefined) return [];
    if (vector.length === 0) return { place, dimensions: 0 };
    const [unit] = usable(vector);
    if (unit === undefined) return [];
    units.set(place, unit);
    return { place, dimensions: unit.length };
  });
  if (units.size > 0) await db.transaction((connection) => insertUnits(db.schema, connection.rows, { home, fingerprint, units }));
  return found;
}

interface Extension {
  readonly home: string;
  readonly is_made: boolean;
  readonly may_make: boolean;
}

async function extensionIn(schema: string, rows: Rows): Promise<Extension | undefined> {
  // A look-up by name, such as to_regclass, may be answered from before the lock. An extension that was dropped took the column with it.
  const [found] = await rows<Extension>(
    `SELECT quote_ident(n.nspname) AS home, has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(s.oid, 'CREATE') AND
       (SELECT has_table_privilege(c.oid, 'REFERENCES') FROM pg_class c WHERE c.relnamespace = s.oid AND c.relname = 'memory_messages')
         AS may_make,
       EXISTS (SELECT FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relnamespace = s.oid AND c.relname = 'memory_near' AND a.attname = 'vector' AND NOT a.attisdropped) AS is_made
     FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace, pg_namespace s WHERE e.extname = 'vector' AND s.nspname = $1`,
    [schema],
  );
  return found;
}

async function makeTable(schema: string, rows: Rows, home: string): Promise<void> {
  await rows(`DROP TABLE IF EXISTS ${schema}.memory_near;
    CREATE TABLE ${schema}.memory_near (
      place bigint NOT NULL REFERENCES ${schema}.memory_messages ON DELETE CASCADE, dimensions integer NOT NULL, key bytea NOT NULL,
      vector ${home}.vector NOT NULL, PRIMARY KEY (place, key)
    )`);
}

/** Writes vectors of length 1, by the places of their rows. Those of removed messages are dropped. */
async function insertUnits(
  schema: string,
  rows: Rows,
  { home, fingerprint, units }: { readonly home: string; readonly fingerprint: string; readonly units: ReadonlyMap<number, Float32Array> },
): Promise<void> {
  if (units.size === 0) return;
  const sorted = [...units].sort(([a], [b]) => a - b);
  // A message that is being removed is waited for: it has no vector then.
  await rows(
    `INSERT INTO ${schema}.memory_near
     SELECT v.place, v.dimensions, $4, v.vector::${home}.vector
     FROM unnest($1::bigint[], $2::integer[], $3::text[]) AS v (place, dimensions, vector)
     JOIN ${schema}.memory_messages AS m USING (place) ORDER BY place FOR KEY SHARE OF m
     ON CONFLICT (place, key) DO UPDATE SET dimensions = excluded.dimensions, vector = excluded.vector`,
    [sorted.map(([place]) => place), sorted.map(([, unit]) => unit.length), sorted.map(([, unit]) => textOf(unit)), keyOf(fingerprint)],
  );
}

/** Returns the vector at length 1; nothing for one that the extension cannot compare. */
function usable(vector: Float32Array): readonly Float32Array[] {
  if (vector.length > LONGEST_VECTOR || !vector.every(Number.isFinite)) return [];
  const unit = unitVector(vector, "a stored vector");
  return unit === undefined ? [] : [unit];
}

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
  const text = "Expected the vector to look for to point somewhere, got nothing but zeros. Leave such texts out.";
  throw new MemoryError("EMBEDDING_INVALID", text);
}

function textOf(vector: Float32Array): string {
  return `[${Array.from(vector, (value) => value.toPrecision(DIGITS)).join()}]`;
}
