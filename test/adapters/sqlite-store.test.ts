import { describe, expect, it } from "vitest";
import { Database, loadDriver } from "../../src/adapters/sqlite-database.ts";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { messageStoreContract } from "../../src/testing/contracts/message-store.ts";
import { idsOf, say } from "../memory/storage-setup.ts";
import { newFile } from "./sqlite-setup.ts";

messageStoreContract({ describe, it, expect }, "sqliteStore", () => sqliteStore({ path: newFile("memory.db") }));

describe("two storages on one file", () => {
  it("write at once, hold everything once, and find what the other has added", async () => {
    const path = newFile("memory.db");
    const [one, two] = ["one", "two"].map(
      () => new MemoryStorage({ roleId: "r", embedder: hashingEmbedder({ dimensions: 32 }), store: sqliteStore({ path }) }),
    ) as [MemoryStorage, MemoryStorage];
    const ids = Array.from({ length: 30 }, (_, n) => `m${n}`);
    // Every third message is added by both.
    const added = await Promise.all([
      ...ids.filter((_, n) => n % 3 !== 1).map((id) => one.add(say(id, `subject ${id}`))),
      ...ids.filter((_, n) => n % 3 !== 2).map((id) => two.add(say(id, `subject ${id}`))),
    ]);
    expect(added.filter(Boolean).length).toBe(30);
    for (const storage of [one, two]) {
      expect((await storage.recover()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      for (const id of ["m0", "m1", "m2"]) expect(idsOf(await storage.searchSimilar(`subject ${id}`, { k: 1 }))).toEqual([id]);
    }
    await one.close();
    expect(await two.delete("m0")).toBe(true);
    await two.close();
  });
});

describe("one store of several storages", () => {
  it("is not closed by one of them under a change of another, which waits for its turn to write", async () => {
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
  it("are taken for misspelt when as many letters differ as may, of which swapped ones are two", async () => {
    const store = sqliteStore({ path: newFile("memory.db") });
    const texts = ["bridge", "bridgge", "brideg", ...Array.from({ length: 125 }, (_, n) => `note ${n}`)];
    await store.add(
      "r",
      texts.map((text, n) => ({ runId: "", addedAt: n, message: say(`m${n}`, text) })),
    );
    const likeliest = async (wrongLetters: number): Promise<readonly number[] | undefined> =>
      (await store.lookup?.likeliest("r", [{ word: "bridge", isBeginning: false, wrongLetters }], 10))
        ?.filter((place) => place < 10)
        .toSorted();
    expect(await likeliest(1)).toEqual([1, 2]);
    expect(await likeliest(2)).toEqual([1, 2, 3]);
    await store.close();
  });
});
