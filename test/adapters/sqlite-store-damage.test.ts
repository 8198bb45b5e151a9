import { chmodSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { SqliteStore, sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { MemoryError } from "../../src/kernel/errors.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import type { Message } from "../../src/message/message.ts";
import { idsOf, say } from "../memory/storage-setup.ts";
import { expectTrue, fileWith, flipped, recoveredFrom } from "./spoiled-store.ts";
import { connection, meddle, newFile } from "./sqlite-setup.ts";

const messages = Array.from({ length: 40 }, (_, n) => say(`m${n}`, `subject ${n} of ${"many words ".repeat(8)}`));
const embedder = hashingEmbedder({ dimensions: 64 });

function storageAt(path: string, roleId = "r"): MemoryStorage {
  return new MemoryStorage({ roleId, embedder, store: sqliteStore({ path }) });
}

function filledFile(): Promise<string> {
  return fileWith(messages, storageAt);
}

function recovered(path: string): Promise<readonly Message[] | MemoryError> {
  return recoveredFrom(storageAt(path));
}

describe("a file of memories", () => {
  it("SqliteStore.S4 SqliteStore.S1 keeps a role of any name in one file, its owner's alone", async () => {
    const path = join(dirname(newFile()), "new", "folder", "memory.db");
    const names = ["../../etc/passwd", "a/b", "..", "r\u0000", "CON", "猫".repeat(200)];
    for (const name of names) await storageAt(path, name).add(say("a", `of ${name}`));
    for (const name of names) expect((await storageAt(path, name).recover()).map(({ content }) => content)).toEqual([`of ${name}`]);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  it("SqliteStore.S3 of another program, a journal, or a newer version is refused, and not a byte changes", async () => {
    const foreign = newFile();
    await meddle(foreign, "CREATE TABLE theirs (x)");
    const wide = newFile();
    await meddle(wide, "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE theirs (x)");
    const text = newFile();
    writeFileSync(text, "not a database, but long enough to look like a file of one".repeat(20));
    const journal = newFile();
    const runs = sqlite({ path: journal });
    await runs.create("a");
    await runs.close();
    await meddle(journal);
    const newer = await filledFile();
    await meddle(newer, "PRAGMA user_version = 99");
    for (const [path, code] of [
      [foreign, "MEMORY_FOREIGN"],
      [wide, "MEMORY_FOREIGN"],
      [text, "MEMORY_FOREIGN"],
      [journal, "MEMORY_FOREIGN"],
      [newer, "MEMORY_NEWER"],
    ] as const) {
      const before = readFileSync(path);
      expect(await recovered(path)).toMatchObject({ code });
      await expect(storageAt(path).add(say("a"))).rejects.toMatchObject({ code });
      expect(readFileSync(path).equals(before)).toBe(true);
    }
  });

  it("SqliteStore.S3 a message of a newer version is refused, not misread", async () => {
    const path = await filledFile();
    const db = await connection(path);
    const { messageChecksum } = await import("../../src/adapters/message-rows.ts");
    const [row, identity, body] = db.first("SELECT place, lower(hex(identity)), body FROM messages LIMIT 1") as [number, string, string];
    const next = body.replace('"v":1', '"v":2');
    expect(next).not.toBe(body);
    db.run("UPDATE messages SET body = ?, checksum = ? WHERE place = ?", [next, messageChecksum(row, identity, next), row]);
    db.close();
    expect(await recovered(path)).toMatchObject({ code: "MEMORY_NEWER" });
  });

  it.each([
    "SET body = replace(body, 'subject', 'subjekt') WHERE place % 40 = 4",
    "SET identity = x'00' WHERE place % 40 = 10",
    "SET body = replace(body, 'many', 'ma' || char(10) || 'ny') WHERE place % 40 = 20",
    "SET body = CAST(x'ff00fe0a' AS TEXT) WHERE place % 40 = 21",
    "SET checksum = x'' WHERE place % 40 = 22",
    "SET place = place + 100 WHERE place % 40 = 5",
  ])("SqliteStore.S2 refuses a change: %s", async (change) => {
    const path = await filledFile();
    await meddle(path, `UPDATE messages ${change}`);
    expect(await recovered(path)).toMatchObject({ code: "MEMORY_DAMAGED", message: expect.stringContaining("put back a copy") });
  });

  it("SqliteStore.S2 refuses a message that was moved to another role", async () => {
    const path = await filledFile();
    await storageAt(path, "other").add(say("x"));
    await meddle(path, "UPDATE messages SET number = 2, place = 2 * 2147483648 + 7 WHERE place % 40 = 6");
    expect((await recovered(path)) as readonly Message[]).toHaveLength(39);
    expect(await recoveredFrom(storageAt(path, "other"))).toMatchObject({ code: "MEMORY_DAMAGED" });
  });

  it("SqliteStore.S2 vectors with flipped bits, cut, moved or of another kind are computed again, the others are not", async () => {
    const path = await filledFile();
    await meddle(
      path,
      "UPDATE vectors SET vector = CAST(x'00000001' || substr(vector, 5) AS BLOB) WHERE place % 40 = 1",
      "UPDATE vectors SET vector = substr(vector, 1, 5) WHERE place % 40 = 2",
      "UPDATE vectors SET checksum = checksum + 1 WHERE place % 40 = 3",
      "UPDATE vectors SET fingerprint = 'other' WHERE place % 40 = 4",
      "UPDATE vectors SET place = place + 1000 WHERE place % 40 = 5",
      "DELETE FROM vectors WHERE place % 40 = 6",
    );
    const storage = storageAt(path);
    await storage.recover();
    expect(storage.pending).toBe(6);
    for (const message of messages.slice(0, 8)) {
      expect(idsOf(await storage.searchSimilar(message, { k: 1, threshold: 0.99 }))).toEqual([message.id]);
    }
    expect(storage.pending).toBe(0);
    await storage.close();
    const again = storageAt(path);
    await again.recover();
    expect(again.pending).toBe(0);
  });

  it("cut at any length gives what was put in, or a typed error", async () => {
    const whole = readFileSync(await filledFile());
    let given = 0;
    for (let n = 0; n <= 40; n++) {
      const path = newFile("memory.db");
      writeFileSync(path, whole);
      truncateSync(path, Math.floor((whole.length * n) / 40) - (n % 3));
      const came = await recovered(path);
      given += expectTrue(came, messages) > 0 ? 1 : 0;
    }
    expect(given).toBeGreaterThan(0);
  });

  it("whose log is cut at any length has a beginning of what was added", async () => {
    const path = newFile("memory.db");
    const storage = storageAt(path);
    for (const message of messages.slice(0, 12)) await storage.add(message);
    const [file, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
    await storage.close();
    const counts = new Set<number>();
    for (let n = 0; n <= 30; n++) {
      const copy = newFile("memory.db");
      writeFileSync(copy, file);
      writeFileSync(`${copy}-wal`, log.subarray(0, Math.floor((log.length * n) / 30)));
      const came = await recovered(copy);
      const held = came instanceof MemoryError ? [] : came;
      expect(held.map(({ id }) => id)).toEqual(messages.slice(0, held.length).map(({ id }) => id));
      counts.add(expectTrue(came, messages));
    }
    expect([counts.has(12), counts.size > 4]).toEqual([true, true]);
  });

  it("with flipped bytes gives what was put in, or a typed error", async () => {
    const whole = readFileSync(await filledFile());
    let given = 0;
    for (let n = 0; n < 60; n++) {
      const path = newFile("memory.db");
      writeFileSync(path, flipped(whole, n));
      given += expectTrue(await recovered(path), messages) > 0 ? 1 : 0;
    }
    expect(given).toBeGreaterThan(10);
  });

  it("on a full disk refuses what does not fit, whole, and keeps what there was", async () => {
    const path = newFile("memory.db");
    const store = new SqliteStore({ file: path, clock: systemClock, patience: 1_000, maxPages: 30 });
    const storage = new MemoryStorage({ roleId: "r", embedder, store });
    await storage.addBatch(messages.slice(0, 5));
    await expect(storage.addBatch([say("small"), say("big", "x".repeat(500_000))])).rejects.toMatchObject({ code: "MEMORY_FULL" });
    expect(await storage.add(say("after"))).toBe(true);
    await storage.close();
    const ids = ((await recovered(path)) as readonly Message[]).map(({ id }) => id);
    expect(ids).toEqual(["m0", "m1", "m2", "m3", "m4", "after"]);
  });

  it("that is a folder, or cannot be written, is reported as such", async () => {
    const folder = join(dirname(newFile()), "folder");
    mkdirSync(folder);
    expect(await recovered(folder)).toMatchObject({ name: "MemoryError" });
    expect(() => sqliteStore({ path: "" })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(() => sqliteStore({ path: "a\0b" })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    if (process.getuid?.() !== 0) {
      const path = await filledFile();
      chmodSync(path, 0o400);
      await expect(storageAt(path).add(say("late"))).rejects.toMatchObject({ code: "MEMORY_UNWRITABLE" });
    }
  });
});
