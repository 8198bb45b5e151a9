import { describe, expect, it } from "vitest";
import { createMessage, LongTermMemory, type Message, MemoryStorage } from "../../src/index.ts";
import { ShardedStorage } from "../../src/memory/sharded-storage.ts";
import type { Embedder } from "../../src/memory/embedder.ts";
import { inMemoryStore, type MessageLookup, type MessageStore, type StoredMessage } from "../../src/memory/message-store.ts";

const note = (n: number): Message => createMessage(`note ${n} on part ${n % 13}`, { id: `m${n}` });
const notes = (count: number): Message[] => Array.from({ length: count }, (_, n) => note(n));

/** A store that counts the messages and vectors which are read from it, and the questions to its lookup. */
class CountingStore {
  readonly inner: MessageStore = inMemoryStore();
  messages = 0;
  vectors = 0;
  questions = 0;

  /** The store as another process sees it. */
  view({ lookup = false }: { readonly lookup?: boolean } = {}): MessageStore {
    const { inner } = this;
    const read: MessageStore["read"] = async function* (this: CountingStore, roleId: string, after: number) {
      for await (const page of inner.read(roleId, after)) {
        this.messages += page.length;
        yield page;
      }
    }.bind(this);
    const readVectors: MessageStore["readVectors"] = async function* (this: CountingStore, roleId: string, name: string, after: number) {
      for await (const page of inner.readVectors(roleId, name, after)) {
        this.vectors += page.length;
        yield page;
      }
    }.bind(this);
    const view: MessageStore = {
      state: (roleId) => inner.state(roleId),
      add: (roleId, messages) => inner.add(roleId, messages),
      places: (roleId) => inner.places(roleId),
      remove: (roleId, places) => inner.remove(roleId, places),
      writeVectors: (...given) => inner.writeVectors(...given),
      clearVectors: (roleId) => inner.clearVectors(roleId),
      close: () => inner.close(),
      read,
      readVectors,
    };
    return lookup ? { ...view, lookup: this.#lookup() } : view;
  }

  #lookup(): MessageLookup {
    const { inner } = this;
    const all = async (roleId: string) => {
      const found: StoredMessage[] = [];
      for await (const page of inner.read(roleId, 0)) found.push(...page);
      return found;
    };
    return {
      likeliest: async (roleId, words, most) => {
        this.questions += 1;
        const sought = words.map(({ word }) => word);
        const found = (await all(roleId)).filter(({ message }) => sought.every((word) => message.content.split(" ").includes(word)));
        return found.map(({ place }) => place).slice(0, most);
      },
      read: async (roleId, places) => {
        const wanted = new Set(places);
        return (await all(roleId)).filter(({ place }) => wanted.has(place));
      },
      placesOf: async (roleId, identities) => {
        const found = await all(roleId);
        return identities.map(({ runId, id }) => found.find((one) => one.runId === runId && one.message.id === id)?.place);
      },
    };
  }
}

const byLength: Embedder = {
  id: "by length",
  maxBatch: 100,
  maxChars: 1_000,
  threshold: -1,
  embed: async (texts) => texts.map((text) => [1, text.length]),
};

async function filled(count: number, embedder?: Embedder): Promise<CountingStore> {
  const store = new CountingStore();
  await new MemoryStorage({ roleId: "r", store: store.inner, embedder }).addBatch(notes(count));
  return store;
}

type Door = (store: MessageStore, embedder?: Embedder) => Promise<unknown>;

const doors: readonly (readonly [string, Door])[] = [
  ["add", (store, embedder) => new MemoryStorage({ roleId: "r", store, embedder }).add(note(-1))],
  ["addBatch", (store, embedder) => new MemoryStorage({ roleId: "r", store, embedder }).addBatch([note(-1), note(-2)])],
  [
    "an addition of a sharded storage",
    (store, embedder) => new ShardedStorage({ shards: [new MemoryStorage({ roleId: "r", store, embedder })] }).add(note(-1)),
  ],
  ["the time of the next message", (store, embedder) => new MemoryStorage({ roleId: "r", store, embedder }).nextTime()],
];

describe("the first addition of a process", () => {
  it.each(doors)("by %s reads no more of a large store than of a small one", async (_door, act) => {
    for (const embedder of [undefined, byLength]) {
      const reads: (readonly number[])[] = [];
      for (const count of [20, 400]) {
        const store = await filled(count, embedder);
        await act(store.view(), embedder);
        reads.push([store.messages, Math.min(store.vectors, 1)]);
      }
      expect(reads[1]).toEqual(reads[0]);
      expect(reads[0]?.[0]).toBeLessThanOrEqual(2);
    }
  });

  it("by LongTermMemory reads as little, and so does its persist", async () => {
    const store = await filled(400);
    const memory = new LongTermMemory({ storage: new MemoryStorage({ roleId: "r", store: store.view() }), limit: 10 });
    memory.add(note(-1));
    await memory.persist();
    expect(store.messages).toBeLessThanOrEqual(1);
  });

  it("gives times after those of the store, changes no stored message, and is found with the others", async () => {
    const store = await filled(30);
    const clock = { now: () => 5, timer: () => () => {} };
    const storage = new MemoryStorage({ roleId: "r", store: store.view(), clock });
    expect(await storage.addBatch([note(3), createMessage("another thing", { id: "new" })])).toBe(1);
    const times = (await storage.entries()).map(({ addedAt }) => addedAt);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(times).size).toBe(31);
    expect((await storage.searchSimilar("another thing", { k: 1 }))[0]?.message.id).toBe("new");
    expect((await storage.searchSimilar("note 29", { k: 1 }))[0]?.message.id).toBe("m29");
  });

  it("does not decide how long vectors are where the store has some", async () => {
    const store = await filled(30, byLength);
    const longer: Embedder = { ...byLength, embed: async (texts) => texts.map(() => [1, 2, 3]) };
    const storage = new MemoryStorage({ roleId: "r", store: store.view(), embedder: longer });
    await expect(storage.add(note(-1))).rejects.toMatchObject({ code: "EMBEDDING_DIMENSION" });
  });
});

describe("a search of a store with a lookup", () => {
  it("asks it whatever was done before: nothing, an addition, or a reading of everything", async () => {
    const acts: readonly ((storage: MemoryStorage) => Promise<unknown>)[] = [
      async () => {},
      (storage) => storage.add(note(-1)),
      (storage) => storage.recover(),
    ];
    for (const act of acts) {
      const store = await filled(10_001);
      const storage = new MemoryStorage({ roleId: "r", store: store.view({ lookup: true }) });
      await act(storage);
      expect((await storage.searchSimilar("note 77", { k: 1 }))[0]?.message.id).toBe("m77");
      expect(store.questions).toBe(1);
    }
  });
});
