import { afterEach, describe, expect, it } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite.ts";
import { createMessage, exactIndex, hashingEmbedder, type Message, MemoryStorage } from "../../src/index.ts";
import { minisearch } from "../../src/memory/word-index.ts";
import type { Embedder } from "../../src/memory/embedder.ts";
import type { MessageStore } from "../../src/memory/message-store.ts";
import { connection, meddle, newFile } from "./sqlite-setup.ts";

const embedder = hashingEmbedder({ dimensions: 64 });
/** More messages than a process keeps the vectors of. */
const BEFORE = 60_000;

const open: MemoryStorage[] = [];
afterEach(async () => {
  for (const storage of open.splice(0)) await storage.close();
});

type Options = Partial<ConstructorParameters<typeof MemoryStorage>[0]>;

function storageAt(path: string, options: Options = {}): MemoryStorage {
  const storage = new MemoryStorage({ roleId: "r", store: sqliteStore({ path }), embedder, ...options });
  open.push(storage);
  return storage;
}

const words = ["stone", "wood", "river", "bridge", "ferry", "tower", "market", "garden", "winter", "summer", "north", "south"];
const note = (n: number): Message =>
  createMessage(`The ${words[n % 12]} of the ${words[Math.floor(n / 12) % 12]} has number ${n}.`, { id: `m${n}` });
const notes = (count: number, from = 0): Message[] => Array.from({ length: count }, (_, n) => note(from + n));

/** A file that had so many messages that sketches of its vectors are kept, and the messages that it has now. */
async function largeFile(count: number): Promise<string> {
  const path = newFile("memory.db");
  const first = storageAt(path);
  await first.add(note(-1));
  await first.delete("m-1");
  await first.close();
  await meddle(path, `UPDATE roles SET last = ${BEFORE}, removals = ${BEFORE}`);
  await storageAt(path).addBatch(notes(count));
  return path;
}

/** A store that counts the messages that are read in order, and the vectors that are read as they are. */
function counted(path: string): { readonly store: MessageStore; readonly read: { messages: number; vectors: number } } {
  const store = sqliteStore({ path });
  const read = { messages: 0, vectors: 0 };
  const { read: messages, readVectors, sketches, lookup } = store;
  store.read = async function* (roleId, after) {
    for await (const page of messages.call(store, roleId, after)) {
      read.messages += page.messages.length;
      yield page;
    }
  };
  store.readVectors = async function* (...given) {
    for await (const page of readVectors.apply(store, given)) {
      read.vectors += page.length;
      yield page;
    }
  };
  if (sketches === undefined || lookup === undefined) throw new Error("no sketches");
  const { vectorsAt } = sketches;
  Object.assign(sketches, {
    vectorsAt: async (...given: Parameters<typeof vectorsAt>) => {
      const found = await vectorsAt(...given);
      read.vectors += found.length;
      return found;
    },
  });
  const { read: readAt } = lookup;
  Object.assign(lookup, {
    read: async (...given: Parameters<typeof readAt>) => {
      const page = await readAt(...given);
      read.messages += page.messages.length;
      return page;
    },
  });
  return { store, read };
}

async function idsOf(
  storage: MemoryStorage,
  text: string,
  o: Parameters<MemoryStorage["searchSimilar"]>[1] = {},
): Promise<readonly string[]> {
  return (await storage.searchSimilar(text, { k: 6, ...o })).map(({ message }) => message.id);
}

/** The same messages, compared exactly in memory. */
async function plain(messages: readonly Message[], options: Options = {}): Promise<MemoryStorage> {
  const storage = new MemoryStorage({ roleId: "r", embedder, index: exactIndex({ prefilterAbove: Infinity }), ...options });
  await storage.addBatch(messages);
  return storage;
}

describe("a large store with an embedder", () => {
  it("is opened and searched without its messages and vectors, and finds the same", async () => {
    const path = await largeFile(1_000);
    const exact = await plain(notes(1_000));
    const { store, read } = counted(path);
    const storage = storageAt(path, { store });
    await storage.persist();
    expect(read).toEqual({ messages: 0, vectors: 0 });
    for (const text of ["stone bridge 77", "winter market", "north tower 500"])
      expect(await idsOf(storage, text)).toEqual(await idsOf(exact, text));
    expect(read.messages).toBeLessThanOrEqual(18);
    expect(read.vectors).toBeLessThanOrEqual(3 * 48);
  });

  it("finds the same by a condition, however few it accepts, and with the words", async () => {
    const path = await largeFile(500);
    const filters = [(message: Message) => Number(message.id.slice(1)) % 2 === 0, (message: Message) => message.id === "m333", () => false];
    const exact = await plain(notes(500));
    for (const filter of filters)
      expect(await idsOf(storageAt(path), "stone river", { filter })).toEqual(await idsOf(exact, "stone river", { filter }));
    const worded = await plain(notes(500), { lexical: minisearch() });
    const both = await idsOf(storageAt(path, { lexical: minisearch() }), note(123).content, { hybrid: true });
    expect(both[0]).toBe("m123");
    expect((await idsOf(worded, note(123).content, { hybrid: true }))[0]).toBe("m123");
  });

  it("follows what is added, deleted and embedded elsewhere, and adds beside it", async () => {
    const path = await largeFile(200);
    const [one, other] = [storageAt(path), storageAt(path)];
    expect((await idsOf(one, note(10).content))[0]).toBe("m10");
    await other.addBatch(notes(100, 200));
    expect((await idsOf(one, note(250).content))[0]).toBe("m250");
    await other.delete("m250");
    await other.delete("m10");
    expect(await idsOf(one, note(250).content)).not.toContain("m250");
    expect(await idsOf(one, note(10).content)).not.toContain("m10");
    await one.add(note(900));
    expect((await idsOf(other, note(900).content))[0]).toBe("m900");
    await one.delete("m900");
    expect(await idsOf(one, note(900).content)).not.toContain("m900");
    expect((await one.recover()).length).toBe(298);
    const left = notes(300).filter(({ id }) => id !== "m250" && id !== "m10");
    expect(await idsOf(one, "summer ferry")).toEqual(await idsOf(await plain(left), "summer ferry"));
  });

  it("embeds what has no vector, and no more: after a failure, after a loss, and of another embedder", async () => {
    const path = await largeFile(300);
    let asked: string[] = [];
    let fails = true;
    const noting: Embedder = {
      ...embedder,
      embed: async (texts, o) => {
        if (o?.kind !== "query") asked.push(...texts);
        if (fails && o?.kind !== "query") throw new Error("away");
        return embedder.embed(texts, o);
      },
    };
    const failed = storageAt(path, { embedder: noting });
    await expect(failed.add(note(700))).rejects.toMatchObject({ code: "EMBEDDING_FAILED" });
    fails = false;
    asked = [];
    const later = storageAt(path, { embedder: noting });
    expect((await idsOf(later, note(700).content))[0]).toBe("m700");
    expect(asked).toEqual([note(700).content]);
    const db = await connection(path);
    const [block] = db.first("SELECT block FROM vector_blocks ORDER BY block LIMIT 1 OFFSET 1") ?? [];
    db.close();
    await meddle(
      path,
      `DELETE FROM vector_blocks WHERE block = ${String(block)}`,
      `DELETE FROM vector_sketches WHERE block = ${String(block)}`,
    );
    asked = [];
    const mended = storageAt(path, { embedder: noting });
    await mended.persist();
    expect(asked.length).toBe(64);
    asked = [];
    await storageAt(path, { embedder: noting }).persist();
    expect(asked).toEqual([]);
    const renamed = storageAt(path, { embedder: { ...noting, id: "another" } });
    expect((await idsOf(renamed, note(5).content))[0]).toBe("m5");
    expect(asked.length).toBe(301);
  });

  it.each([
    "DELETE FROM vector_sketches",
    "UPDATE vector_sketches SET sketch = zeroblob(length(sketch))",
    "UPDATE vector_sketches SET dimensions = 3",
  ])("makes sketches that are missing or damaged again, once: %s", async (damage) => {
    const path = await largeFile(300);
    await meddle(path, damage);
    const exact = await plain(notes(300));
    const storage = storageAt(path);
    expect(await idsOf(storage, "stone bridge 77")).toEqual(await idsOf(exact, "stone bridge 77"));
    const { store, read } = counted(path);
    await storageAt(path, { store }).persist();
    expect(read).toEqual({ messages: 0, vectors: 0 });
    const db = await connection(path);
    expect(db.first("SELECT count(*) FROM vector_sketches WHERE dimensions = 64")).toEqual(db.first("SELECT count(*) FROM vector_blocks"));
    db.close();
  });

  it("leaves no sketch of a removed message, nor of cleared vectors", async () => {
    const path = await largeFile(200);
    const storage = storageAt(path);
    await storage.clear();
    const left = async (): Promise<unknown> => {
      const db = await connection(path);
      const count = db.first("SELECT count(*) FROM vector_sketches")?.[0];
      db.close();
      return count;
    };
    expect(await left()).toBe(0);
    await storage.addBatch(notes(200));
    expect(await left()).toBeGreaterThan(0);
    await sqliteStore({ path }).clearVectors("r");
    expect(await left()).toBe(0);
    await storage.rebuild();
    expect((await idsOf(storage, note(7).content))[0]).toBe("m7");
  });
});
