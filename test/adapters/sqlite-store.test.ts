import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Database, loadDriver } from "../../src/adapters/sqlite-database.ts";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { inMemoryStore, type MessageStore, type StoredMessage, type StoredVector } from "../../src/memory/message-store.ts";
import type { Message } from "../../src/message/message.ts";
import { messageStoreContract } from "../../src/testing/contracts/message-store.ts";
import { say } from "../memory/storage-setup.ts";
import { tries } from "../long.ts";
import { newFile } from "./sqlite-setup.ts";

messageStoreContract({ describe, it, expect }, "sqliteStore", () => sqliteStore({ path: newFile("memory.db") }));

async function all(store: MessageStore, after = 0): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for await (const page of store.read("r", after)) found.push(...page);
  return found;
}

async function vectors(store: MessageStore, fingerprint: string, after = 0): Promise<StoredVector[]> {
  const found: StoredVector[] = [];
  for await (const page of store.readVectors("r", fingerprint, after)) found.push(...page);
  return found;
}

describe("a store in a file", () => {
  it("gives the same as one that keeps everything by itself, whatever is done to both", async () => {
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
      { numRuns: tries(10, 160) },
    );
  });

  it("MessageStore.V7 gives a reader everything once while another one writes", async () => {
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
        await written(1_001, 300);
        await two.remove("r", [900]);
      }
      places.push(...page.map(({ place }) => place));
    }
    expect(places).toEqual(Array.from({ length: 1_300 }, (_, n) => n + 1).filter((place) => place !== 900));
    const read: string[] = [];
    for await (const page of one.read("r", 0)) {
      if (read.length === 0) await Promise.all([added(1_301, 70), two.remove("r", [1_290])]);
      read.push(...page.map(({ message }) => message.id));
    }
    expect(read).toEqual(Array.from({ length: 1_370 }, (_, n) => `m${n + 1}`).filter((id) => id !== "m900" && id !== "m1290"));
    await one.close();
    await two.close();
  });
});

describe("one store of several storages", () => {
  it("OpenedFile.F1 is not closed by one of them under a change of another, which waits for its turn to write", async () => {
    const path = newFile("memory.db");
    const store = sqliteStore({ path });
    const [one, two] = ["one", "two"].map((roleId) => new MemoryStorage({ roleId, store })) as [MemoryStorage, MemoryStorage];
    await one.add(say("m0"));
    await two.add(say("m0"));
    const other = new Database(await loadDriver(), path, 0);
    other.exec("BEGIN IMMEDIATE");
    const added = two.add(say("m1"));
    for (let n = 0; n < 10; n++) await nextMacrotask();
    const closed = one.close();
    for (let n = 0; n < 10; n++) await nextMacrotask();
    other.exec("COMMIT");
    other.close();
    expect(await added).toBe(true);
    await closed;
    expect((await two.recover()).map(({ id }) => id)).toEqual(["m0", "m1"]);
    await two.close();
  });
});

describe("the words of a store", () => {
  it("match misspelt ones with at most the given number of wrong letters; swapped letters count as two", async () => {
    const store = sqliteStore({ path: newFile("memory.db") });
    const texts = ["bridge", "bridgge", "brideg", "note"];
    await store.add(
      "r",
      texts.map((text, n) => ({ runId: "", addedAt: n, message: say(`m${n}`, text) })),
    );
    const likeliest = async (wrongLetters: number): Promise<readonly number[] | undefined> =>
      (await store.lookup?.likeliest("r", [{ word: "bridge", isBeginning: false, wrongLetters }], 10))?.toSorted();
    expect(await likeliest(1)).toEqual([1, 2]);
    expect(await likeliest(2)).toEqual([1, 2, 3]);
    await store.close();
  });
});
