import { Database, loadDriver } from "../../src/adapters/sqlite-database.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextPage } from "../../src/adapters/sqlite-store-rows.ts";
import { storedRoles } from "../../src/adapters/sqlite-store-file.ts";
import { SqliteStore, sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { inMemoryStore, type MessageStore, type StoredMessage, type StoredVector } from "../../src/memory/message-store.ts";
import type { Message } from "../../src/message/message.ts";
import { idsOf, say, watched } from "../memory/storage-setup.ts";
import { COUNT, count, filledFile, messages, olderStore, storageAt } from "./sqlite-block-setup.ts";
import { connection, meddle, newFile } from "./sqlite-setup.ts";
import { tries } from "../long.ts";

async function all(store: MessageStore, after = 0): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for await (const page of store.read("r", after)) found.push(...page.messages);
  return found;
}

async function vectors(store: MessageStore, fingerprint: string, after = 0): Promise<StoredVector[]> {
  const found: StoredVector[] = [];
  for await (const page of store.readVectors("r", fingerprint, after)) found.push(...page);
  return found;
}

describe("a store whose messages and vectors stand in blocks", () => {
  it("SqliteStore.S5 has each whole block in a row, and rows of their own for the vectors of the last one alone", async () => {
    const path = await filledFile();
    expect(await count(path, "messages")).toBe(COUNT);
    expect(await count(path, "message_blocks")).toBe(3);
    expect(await count(path, "vector_blocks")).toBe(3);
    expect(await count(path, "vectors")).toBe(COUNT - 191);
    expect((await storedRoles(path)).roles).toMatchObject([{ messages: COUNT, vectors: [{ count: COUNT }] }]);
    const embedder = watched({ dimensions: 16 });
    const storage = storageAt(path, embedder);
    expect(await storage.recover()).toEqual(messages);
    expect([storage.pending, storage.damaged, embedder.batches.length]).toEqual([0, 0, 0]);
    await storage.close();
    const store = sqliteStore({ path });
    await store.remove(
      "r",
      Array.from({ length: 64 }, (_, n) => 64 + n),
    );
    expect([await count(path, "message_blocks"), await count(path, "vector_blocks")]).toEqual([2, 2]);
    await store.clearVectors("r");
    await store.close();
    expect([await count(path, "vector_blocks"), await count(path, "vectors")]).toEqual([0, 0]);
  });

  it("gives the same as one that keeps everything by itself, whatever is done to both", { tags: "numbers" }, async () => {
    const some = fc.array(fc.nat(330), { maxLength: 80 });
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ type: fc.constant("add" as const), many: fc.integer({ min: 1, max: 90 }) }) },
      fc.record({ type: fc.constant("again" as const), places: some }),
      fc.record({ type: fc.constant("remove" as const), places: some }),
      fc.record({ type: fc.constant("range" as const), from: fc.nat(330), many: fc.nat(150) }),
      {
        weight: 3,
        arbitrary: fc.record({ type: fc.constant("write" as const), from: fc.nat(200), many: fc.nat(200), by: fc.constantFrom("f", "g") }),
      },
      fc.record({ type: fc.constant("clear" as const) }),
      fc.record({ type: fc.constant("some" as const), places: some, by: fc.constantFrom("f", "g") }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 9 }), fc.nat(300), async (steps, after) => {
        const stores = [sqliteStore({ path: newFile("memory.db") }), inMemoryStore()] as const;
        let next = 0;
        const entry = (n: number): { runId: string; addedAt: number; message: Message } => ({
          runId: n % 5 === 0 ? "other" : "",
          addedAt: n,
          message: say(`m${n}`, `words ${n}`, n % 7 === 0 ? { instructContent: { n } } : {}),
        });
        const range = (from: number, many: number): number[] => Array.from({ length: many }, (_, n) => from + n);
        const write = (places: readonly number[], by: string): Promise<unknown> => {
          const made = places.map((place, n): StoredVector => ({
            place,
            vector: Float32Array.from({ length: place % 3 }, () => n + place),
          }));
          return Promise.all(stores.map((store) => store.writeVectors("r", by, made)));
        };
        for (const one of steps) {
          switch (one.type) {
            case "add": {
              const made = range(next, one.many).map(entry);
              next += one.many;
              const [a, b] = await Promise.all(stores.map((store) => store.add("r", made)));
              expect(a).toEqual(b);
              break;
            }
            case "again": {
              const [a, b] = await Promise.all(stores.map((store) => store.add("r", one.places.filter((n) => n < next).map(entry))));
              expect(a).toEqual(b);
              break;
            }
            case "remove":
            case "range": {
              const places = one.type === "range" ? range(one.from, one.many) : [...new Set(one.places)];
              const [a, b] = await Promise.all(stores.map((store) => store.remove("r", places)));
              expect(a).toBe(b);
              break;
            }
            case "write":
              await write(range(one.from, one.many), one.by);
              break;
            case "clear":
              await Promise.all(stores.map((store) => store.clearVectors("r")));
              break;
            case "some":
              await write([...new Set(one.places)], one.by);
          }
        }
        const [sqlite, plain] = stores;
        expect(await sqlite.state("r")).toMatchObject(await plain.state("r"));
        expect(await sqlite.places("r")).toEqual(await plain.places("r"));
        for (const from of [0, after]) {
          expect(await all(sqlite, from)).toEqual(await all(plain, from));
          for (const by of ["f", "g"]) expect(await vectors(sqlite, by, from)).toEqual(await vectors(plain, by, from));
        }
        await sqlite.close();
      }),
      { numRuns: tries(14, 160) },
    );
  });

  it("keeps what is very long in rows of its own alone, and writes nothing when it is read", async () => {
    const path = newFile("memory.db");
    const store = sqliteStore({ path });
    const isLong = (n: number): boolean => n < 127;
    const many = Array.from({ length: 195 }, (_, n) => ({
      runId: "",
      addedAt: n,
      message: say(`m${n}`, "x".repeat(isLong(n) ? 4_200 : 5)),
    }));
    await store.add("r", many);
    const long = Array.from({ length: 191 }, (_, n) => ({ place: n + 1, vector: new Float32Array(isLong(n) ? 4_200 : 5).fill(n) }));
    await store.writeVectors("r", "f", [{ place: 3, vector: new Float32Array(5) }]);
    await store.writeVectors("r", "f", long);
    const db = await connection(path);
    const version = (): unknown => db.first("PRAGMA data_version")?.[0];
    const before = version();
    const texts = (await all(store)).map(({ message }) => message.content.length);
    expect(texts).toEqual(many.map(({ message }) => message.content.length));
    const told = (some: readonly StoredVector[]): unknown => some.map(({ place, vector }) => [place, vector.length, vector.at(-1)]);
    expect(told(await vectors(store, "f"))).toEqual(told(long));
    expect(version()).toBe(before);
    db.close();
    await store.close();
    expect([await count(path, "message_blocks"), await count(path, "vector_blocks"), await count(path, "vectors")]).toEqual([1, 1, 127]);
  });

  it("MessageStore.V7 gives a reader everything once while another one fills, empties and ends blocks", async () => {
    const path = newFile("memory.db");
    const [one, two] = [sqliteStore({ path }), sqliteStore({ path })];
    const entry = (n: number): { runId: string; addedAt: number; message: Message } => ({ runId: "", addedAt: n, message: say(`m${n}`) });
    const added = (from: number, many: number): Promise<unknown> =>
      two.add(
        "r",
        Array.from({ length: many }, (_, n) => entry(from + n)),
      );
    const written = (from: number, many: number): Promise<void> =>
      two.writeVectors(
        "r",
        "f",
        Array.from({ length: many }, (_, n) => ({ place: from + n, vector: Float32Array.of(from + n) })),
      );
    await added(1, 1_300);
    for (let from = 1; from <= 1_000; from += 100) await written(from, 100);
    const places: number[] = [];
    for await (const page of one.readVectors("r", "f", 0)) {
      if (places.length === 0) {
        // What is loose now stands in a block before it is read, and what is in a block is written anew.
        await written(1_001, 300);
        await two.remove("r", [900]);
      }
      places.push(...page.map(({ place }) => place));
    }
    expect(places).toEqual(Array.from({ length: 1_300 }, (_, n) => n + 1).filter((place) => place !== 900));
    const read: string[] = [];
    for await (const page of one.read("r", 0)) {
      if (read.length === 0) await Promise.all([added(1_301, 70), two.remove("r", [1_290])]);
      read.push(...page.messages.map(({ message }) => message.id));
    }
    expect(read).toEqual(Array.from({ length: 1_370 }, (_, n) => `m${n + 1}`).filter((id) => id !== "m900" && id !== "m1290"));
    await one.close();
    await two.close();
  });
});

describe("a page", () => {
  it("is of one moment, whatever somebody else does between its questions", async () => {
    const path = newFile();
    const other = await connection(path);
    other.exec("PRAGMA journal_mode = WAL; CREATE TABLE blocks (block); CREATE TABLE rows (place); INSERT INTO rows VALUES (1), (2)");
    const db = new Database(await loadDriver(), path, 1_000);
    const read = (): unknown =>
      nextPage<number>(
        db,
        {
          blocks: () => {
            const blocks = db.all("SELECT block FROM blocks");
            other.exec("DELETE FROM rows; INSERT INTO blocks VALUES (0)");
            return blocks.map(([block]) => ({ block: Number(block), items: [1, 2] }));
          },
          rows: () => {
            const items = db.all("SELECT place FROM rows").map(([place]) => Number(place));
            return { items, count: items.length, upTo: 2 };
          },
          rowOf: (place) => place,
        },
        0,
        100,
      );
    expect(read()).toEqual({ items: [1, 2], count: 2, upTo: 2, isLoose: true });
    expect(read()).toEqual({ items: [1, 2], count: 2, upTo: 63, isLoose: false });
    db.close();
    other.close();
  });
});

describe("a store of version 1", () => {
  it("opens with all it has, embeds nothing, and has its blocks from then on", async () => {
    const path = await olderStore();
    for (let time = 0; time < 2; time++) {
      const embedder = watched({ dimensions: 16 });
      const storage = storageAt(path, embedder);
      expect(await storage.recover()).toEqual(messages);
      expect([storage.pending, storage.damaged, embedder.batches.length]).toEqual([0, 0, 0]);
      for (const n of [0, 62, 63, 150, 199]) {
        expect(idsOf(await storage.searchSimilar(`subject ${n}`, { k: 1, threshold: 0.99 }))).toHaveLength(1);
      }
      await storage.close();
      expect([await count(path, "message_blocks"), await count(path, "vector_blocks"), await count(path, "vectors")]).toEqual([3, 3, 9]);
    }
  });

  it("leaves what is damaged as damaged, and makes only these vectors again", async () => {
    const path = await olderStore();
    await meddle(
      path,
      "UPDATE messages SET body = replace(body, 'subject', 'subjekt') WHERE place % 2147483648 = 70",
      "UPDATE vectors SET vector = CAST(x'00000001' || substr(vector, 5) AS BLOB) WHERE place % 2147483648 = 130",
    );
    for (const pending of [1, 1]) {
      const storage = storageAt(path);
      expect(await storage.recover()).toEqual(messages.filter(({ id }) => id !== "m69"));
      expect([storage.pending, storage.damaged]).toEqual([pending, 1]);
      await storage.close();
    }
    expect(await count(path, "message_blocks")).toBe(2);
    const storage = storageAt(path);
    expect(await storage.add(messages[69] as Message)).toBe(true);
    await storage.close();
    expect(await count(path, "message_blocks")).toBe(3);
  });

  it("is read all the same where there is no room for blocks", async () => {
    const path = await olderStore();
    await storageAt(path).close();
    const db = await connection(path);
    const pages = Number(db.first("PRAGMA page_count")?.[0]);
    db.close();
    const store = new SqliteStore({ file: path, clock: systemClock, patience: 1_000, maxPages: pages + 2 });
    expect((await all(store)).map(({ message }) => message)).toEqual(messages);
    expect((await all(store)).map(({ message }) => message)).toEqual(messages);
    await store.close();
  });
});
