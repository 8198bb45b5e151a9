import { describe, expect, it } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import type { MemoryStorageOptions } from "../../src/memory/storage-options.ts";
import type { Message } from "../../src/message/message.ts";
import { meddle, newFile } from "../adapters/sqlite-setup.ts";
import { conversation, EVIDENCE } from "./recall-conversations.ts";
import { idsOf, say } from "./storage-setup.ts";

const COUNT = 3_000;
const said = conversation(COUNT);

/** A store that counts how many messages are read from it. */
interface CountedStore extends MessageStore {
  readonly rows: { read: number };
}

function counted(inner: MessageStore): CountedStore {
  const rows = { read: 0 };
  const { lookup } = inner;
  return {
    rows,
    state: (role) => inner.state(role),
    add: (role, messages) => inner.add(role, messages),
    places: (role) => inner.places(role),
    remove: (role, places) => inner.remove(role, places),
    readVectors: (role, fingerprint, after) => inner.readVectors(role, fingerprint, after),
    writeVectors: (role, fingerprint, vectors) => inner.writeVectors(role, fingerprint, vectors),
    clearVectors: (role) => inner.clearVectors(role),
    close: () => inner.close(),
    async *read(role, after) {
      for await (const page of inner.read(role, after)) {
        rows.read += page.length;
        yield page;
      }
    },
    ...(lookup && {
      lookup: {
        likeliest: (role, words, most) => lookup.likeliest(role, words, most),
        placesOf: (role, identities) => lookup.placesOf(role, identities),
        read: async (role, places) => {
          const page = await lookup.read(role, places);
          rows.read += page.length;
          return page;
        },
      },
    }),
  };
}

async function filled(store: MessageStore, messages: readonly Message[] = said): Promise<void> {
  await store.add(
    "Ann",
    messages.map((message, n) => ({ runId: n % 3 === 2 ? "other" : "r", addedAt: 1_000 + n, message })),
  );
}

async function largeFile(): Promise<string> {
  const path = newFile("memory.db");
  const store = sqliteStore({ path });
  await filled(store);
  await store.close();
  return path;
}

function annOver(store: MessageStore, o: Partial<MemoryStorageOptions> = {}): MemoryStorage {
  return new MemoryStorage({ roleId: "Ann", runId: "r", store, ...o });
}

async function found(storage: MemoryStorage, question: string, k = 4): Promise<readonly string[]> {
  return idsOf(await storage.searchSimilar(question, { k }));
}

const RARE = EVIDENCE[7] as (typeof EVIDENCE)[number];

describe("a memory of one role with many messages", () => {
  it(
    "StoredMessages.R2 reads few of them to answer its first question, to keep another one, and to forget one",
    { tags: "numbers" },
    async () => {
      const store = counted(sqliteStore({ path: await largeFile() }));
      const storage = annOver(store);
      expect((await storage.searchSimilar(RARE.answer, { k: 1 }))[0]?.message.content).toBe(RARE.answer);
      expect(store.rows.read).toBeLessThan(COUNT / 3);
      const other = annOver(store);
      store.rows.read = 0;
      const old = said[1_000] as Message;
      expect(await other.adopt([{ runId: "r", addedAt: 9_000, message: say("new", "The ferry is new.") }])).toBe(1);
      expect(await other.delete(old.id, { runId: "r" })).toBe(true);
      expect(await other.delete("never")).toBe(false);
      expect(other.has("new")).toBe(true);
      expect(store.rows.read).toBeLessThan(10);
      await storage.close();
      expect((await annOver(store).recover()).map(({ id }) => id)).toEqual(
        [...idsOf(said.map((message) => ({ message }))), "new"].filter((id) => id !== old.id),
      );
      await store.close();
    },
  );

  it(
    "finds the evidence as often as one that ranks all of them, also by what is next to a hit",
    { tags: ["numbers", "long"] },
    async () => {
      const shares = [inMemoryStore(), sqliteStore({ path: newFile("memory.db") })].map(async (store) => {
        await filled(store);
        const storage = annOver(store);
        let [hits, near] = [0, 0];
        for (const { question, answer } of EVIDENCE) {
          const best = await storage.search(question, { k: 4 });
          const around = await Promise.all(best.map(({ place }) => storage.around(place, 1)));
          if (best.some(({ message }) => message.content === answer)) hits += 1;
          if ([...best, ...around.flat()].some(({ message }) => message.content === answer)) near += 1;
        }
        await storage.close();
        return { hits, near };
      });
      const [all, some] = await Promise.all(shares);
      expect(some?.hits).toBeGreaterThanOrEqual(all?.hits ?? Infinity);
      expect(some?.near).toBeGreaterThanOrEqual(all?.near ?? Infinity);
      expect(all?.near).toBeGreaterThan(EVIDENCE.length / 2);
    },
  );

  it("has the neighbours of a hit in its own run, however far they stand", { tags: "numbers" }, async () => {
    const path = newFile("memory.db");
    const store = sqliteStore({ path });
    await filled(store);
    const apart = Array.from({ length: 41 }, (_, n) => ({
      runId: n % 20 === 0 ? "mine" : "theirs",
      addedAt: 9_000 + n,
      message: say(`apart ${n}`, n === 20 ? "The ferryman of Ven sleeps." : `Nothing ${n}.`),
    }));
    await store.add("Ann", apart);
    const storage = annOver(store);
    const [hit] = await storage.search("ferryman", { k: 1 });
    expect([hit?.message.id, hit?.place]).toEqual(["apart 20", COUNT + 21]);
    expect(idsOf(await storage.around(COUNT + 21, 1)).toSorted()).toEqual(["apart 0", "apart 40"]);
    expect(idsOf(await storage.around(COUNT + 21, 0))).toEqual([]);
    await storage.close();
  });

  it("MemoryStorage.L4 knows at once what others have added and removed", { tags: "numbers" }, async () => {
    const path = await largeFile();
    const [mine, theirs] = [annOver(sqliteStore({ path })), annOver(sqliteStore({ path }))];
    const [id] = await found(mine, RARE.answer, 1);
    await theirs.recover();
    expect(await theirs.delete(id ?? "", { runId: mine.has(id ?? "") ? "r" : "other" })).toBe(true);
    await theirs.add(say("new", "A lighthouse of vermilion."));
    expect(await found(mine, RARE.answer, 1)).not.toContain(id);
    expect([mine.has(id ?? ""), mine.has(id ?? "", { runId: "other" })]).toEqual([false, false]);
    expect(await found(mine, "vermillion lighthouses", 1)).toEqual(["new"]);
    await mine.close();
    await theirs.close();
  });

  it("asks on while a filter refuses what is likeliest", { tags: "numbers" }, async () => {
    const storage = annOver(sqliteStore({ path: await largeFile() }));
    const word = "weather";
    const all = said.filter(({ content }) => content.includes(word));
    const last = all.at(-1);
    const hits = await storage.searchSimilar(`the ${word} was fine`, { k: 1, filter: ({ id }) => id === last?.id });
    expect(idsOf(hits)).toEqual([last?.id]);
    expect(await storage.searchSimilar("zzzyzx")).toEqual([]);
    expect(await storage.searchSimilar("")).toEqual([]);
    await storage.close();
  });
});

describe("a file with an index of words", () => {
  it("SqliteStore.S2 a search in a broken index is refused, and no message is lost", { tags: "numbers" }, async () => {
    const path = await largeFile();
    await meddle(path, "UPDATE words_data SET block = x'ffffffff' || substr(block, 5) WHERE id > 10");
    const storage = annOver(sqliteStore({ path }));
    await expect(storage.searchSimilar(RARE.answer, { k: 1 })).rejects.toMatchObject({ code: "MEMORY_DAMAGED" });
    expect((await storage.recover()).length).toBe(COUNT);
    await storage.close();
  });

  it("SqliteStore.S2 has its words again after a rebuild", { tags: "numbers" }, async () => {
    const path = await largeFile();
    await meddle(path, "UPDATE words_data SET block = zeroblob(length(block)) WHERE id > 10");
    const embedder = hashingEmbedder({ dimensions: 16 });
    const rebuilt = annOver(sqliteStore({ path }), { embedder });
    await rebuilt.rebuild();
    await rebuilt.close();
    const read: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      const store = counted(sqliteStore({ path }));
      const storage = annOver(store);
      expect((await storage.searchSimilar(RARE.answer, { k: 1 }))[0]?.message.content).toBe(RARE.answer);
      read.push(store.rows.read);
      await storage.close();
    }
    expect(read.at(-1)).toBeLessThan(COUNT / 3);
  });
});
