// Those who search vectors in this process, each behind the same two doors: what it keeps, and what is nearest. Each takes vectors as one
// Float32Array, one behind the other, and gives the keys of the nearest by cosine.
import { createRequire } from "node:module";
import { join } from "node:path";

function rowsOf(all, dimensions) {
  return Array.from({ length: all.length / dimensions }, (_, n) => all.subarray(n * dimensions, (n + 1) * dimensions));
}

function bytesOf(vector) {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

async function troupe(all, { dimensions, k }) {
  const { exactIndex } = await import("../dist/src/index.js");
  const index = exactIndex();
  for (const [key, row] of rowsOf(all, dimensions).entries()) await index.add(key, row);
  return async (query) => (await index.search(query, k)).map(({ key }) => key);
}

async function libsql(all, { dimensions, k }) {
  const { default: Database } = await import("libsql");
  const db = new Database(":memory:");
  db.exec(`CREATE TABLE v (id INTEGER PRIMARY KEY, e F32_BLOB(${dimensions}))`);
  const insert = db.prepare("INSERT INTO v VALUES (?, ?)");
  db.exec("BEGIN");
  for (const [key, row] of rowsOf(all, dimensions).entries()) insert.run([key, bytesOf(row)]);
  db.exec("COMMIT");
  const search = db.prepare(`SELECT id FROM v ORDER BY vector_distance_cos(e, ?) LIMIT ${k}`);
  return (query) => search.all([bytesOf(query)]).map(({ id }) => id);
}

/** Its extension inside libsql's SQLite: better-sqlite3 would have to be compiled. */
async function sqliteVec(all, { dimensions, k }) {
  const path = createRequire(import.meta.url)("sqlite-vec").getLoadablePath();
  const { default: Database } = await import("libsql");
  const db = new Database(":memory:");
  db.loadExtension(path);
  db.exec(`CREATE VIRTUAL TABLE v USING vec0(id INTEGER PRIMARY KEY, e float[${dimensions}] distance_metric=cosine)`);
  const insert = db.prepare("INSERT INTO v VALUES (CAST(? AS INTEGER), ?)");
  db.exec("BEGIN");
  for (const [key, row] of rowsOf(all, dimensions).entries()) insert.run([key, bytesOf(row)]);
  db.exec("COMMIT");
  const search = db.prepare(`SELECT id FROM v WHERE e MATCH ? AND k = ${k} ORDER BY distance`);
  return (query) => search.all([bytesOf(query)]).map(({ id }) => id);
}

async function lancedb(all, { dimensions, k, folder }) {
  const { connect } = await import("@lancedb/lancedb");
  const db = await connect(join(folder, `lance-${process.pid}`));
  const rows = rowsOf(all, dimensions).map((row, key) => ({ key, vector: Array.from(row) }));
  const table = await db.createTable("v", rows.slice(0, 10_000));
  for (let from = 10_000; from < rows.length; from += 10_000) await table.add(rows.slice(from, from + 10_000));
  await table.optimize();
  return async (query) => {
    const found = await table.vectorSearch(Array.from(query)).distanceType("cosine").select(["key"]).limit(k).toArray();
    return found.map(({ key }) => Number(key));
  };
}

async function vectra(all, { dimensions, k, folder }) {
  const { LocalIndex } = await import("vectra");
  const index = new LocalIndex(join(folder, `vectra-${process.pid}`));
  await index.createIndex();
  await index.beginUpdate();
  for (const [key, row] of rowsOf(all, dimensions).entries()) await index.insertItem({ vector: Array.from(row), metadata: { key } });
  await index.endUpdate();
  return async (query) => (await index.queryItems(Array.from(query), "", k)).map(({ item }) => item.metadata.key);
}

/** By name: what fills it, how many vectors it is asked to hold at most, and why no more. */
export const vectorPeers = {
  troupe: { fill: troupe },
  "libsql, exact": { fill: libsql },
  "sqlite-vec, exact": { fill: sqliteVec },
  "lancedb, flat": { fill: lancedb },
  "vectra, exact": { fill: vectra, atMost: 10_000, because: "it keeps everything in one JSON text, which 100,000 would burst" },
};
