import { Database, loadDriver } from "../../src/adapters/sqlite-database.ts";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { STORE } from "../../src/adapters/sqlite-store-file.ts";
import { encodeMessage, messageChecksum, vectorBytes, vectorChecksum } from "../../src/adapters/message-rows.ts";
import { fingerprintOf } from "../../src/memory/embedder.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { say, watched, type WatchedEmbedder } from "../memory/storage-setup.ts";
import { fileWith } from "./spoiled-store.ts";
import { connection, newFile } from "./sqlite-setup.ts";

const DIMENSIONS = 16;
/** Three blocks that are whole (places 1 to 63, 64 to 127, 128 to 191), and the beginning of a fourth. */
export const COUNT = 200;
export const messages = Array.from({ length: COUNT }, (_, n) => say(`m${n}`, `subject ${n}`));

export function storageAt(path: string, embedder: WatchedEmbedder = watched({ dimensions: DIMENSIONS })): MemoryStorage {
  return new MemoryStorage({ roleId: "r", embedder, store: sqliteStore({ path }) });
}

/** A file with all messages of a role and their vectors. */
export function filledFile(): Promise<string> {
  return fileWith(messages, storageAt);
}

export async function count(path: string, what: string): Promise<number> {
  const db = await connection(path);
  const [found] = db.first(`SELECT count(*) FROM ${what}`) ?? [];
  db.close();
  return Number(found);
}

/** A file as the first version left it, made by the real first step: messages of role "r" and their vectors, each in a row of its own. */
export async function olderStore(): Promise<string> {
  const embedder = watched({ dimensions: DIMENSIONS });
  const path = newFile("older.db");
  const db = new Database(await loadDriver(), path, 1_000);
  db.exec("PRAGMA file.journal_mode = WAL");
  db.exec(STORE.steps[0] as string);
  db.exec(`PRAGMA file.application_id = ${STORE.applicationId}; PRAGMA file.user_version = 1`);
  db.run("INSERT INTO roles VALUES (1, ?, ?, 0)", ['"r"', messages.length]);
  const vectors = await embedder.embed(messages.map(({ content }) => content));
  const fingerprint = fingerprintOf(embedder);
  db.exec("BEGIN");
  for (const [n, message] of messages.entries()) {
    const row = 2 ** 31 + n + 1;
    const { identity, body } = encodeMessage({ runId: "", addedAt: 1_000 + n, message });
    db.run("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", [row, 1, identity, body, messageChecksum(row, identity.toString("hex"), body)]);
    const bytes = vectorBytes(Float32Array.from(vectors[n] ?? []));
    db.run("INSERT INTO vectors VALUES (?, ?, ?, ?)", [row, fingerprint, bytes, vectorChecksum(row, fingerprint, bytes)]);
  }
  db.exec("COMMIT");
  db.closeWhole();
  return path;
}
