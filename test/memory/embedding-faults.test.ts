import { describe, expect, it } from "vitest";
import { AbortedError } from "../../src/kernel/errors.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import { fingerprintOf, hashingEmbedder } from "../../src/memory/embedder.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { idsOf, say, storageOver, watched } from "./storage-setup.ts";

type Vectors = ReturnType<MessageStore["readVectors"]>;

/** A store that gives its vectors in another way. */
function withVectors(store: MessageStore, change: (pages: Vectors) => Vectors): MessageStore {
  return new Proxy(store, {
    get: (inner, key: keyof MessageStore) => {
      if (key === "readVectors") return (...asked: Parameters<MessageStore["readVectors"]>) => change(inner.readVectors(...asked));
      const member = inner[key];
      return typeof member === "function" ? member.bind(inner) : member;
    },
  });
}

const ten = Array.from({ length: 10 }, (_, n) => say(`m${n}`, `letter ${String.fromCharCode(97 + n).repeat(8)}`));

describe("an embedder that fails", () => {
  it("MemoryStorage.L1 on the third of five batches: two are kept, it is told, messages are durable, the rest is made later", async () => {
    const store = inMemoryStore();
    const embedder = watched({ maxBatch: 2 });
    const storage = storageOver(store, { embedder });
    embedder.before = (n) => {
      if (n === 2) throw new Error("out of memory");
    };
    const failed = await storage.addBatch(ten).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({ name: "MemoryError", code: "EMBEDDING_FAILED", data: { pending: 6 } });
    expect(String(failed)).toContain("out of memory");
    expect(storage.pending).toBe(6);
    const other = storageOver(store, { embedder });
    expect((await other.recover()).length).toBe(10);
    expect(other.pending).toBe(6);
    embedder.before = () => {};
    await storage.persist();
    expect(storage.pending).toBe(0);
    // Two batches before, one that failed, and three for the rest: none was made twice.
    expect(embedder.batches.flat().length).toBe(4 + 2 + 6);
    expect(idsOf(await storage.searchSimilar(ten[9] ?? "", { k: 1 }))).toEqual(["m9"]);
  });

  it.each([
    ["too few vectors", (vectors: ArrayLike<number>[]) => vectors.slice(1)],
    ["too many", (vectors: ArrayLike<number>[]) => [...vectors, [1]]],
    ["text", (vectors: ArrayLike<number>[]) => vectors.map(() => ["1"] as never)],
  ])("gives %s", async (_what, change) => {
    const embedder = watched();
    embedder.change = change;
    const storage = storageOver(undefined, { embedder: { ...embedder, dimensions: undefined } });
    await expect(storage.add(say("a"))).rejects.toMatchObject({ code: "EMBEDDING_INVALID" });
  });

  it("changes its dimensions: that is reported, and rebuild() makes all vectors again", async () => {
    const store = inMemoryStore();
    const embedder = watched();
    const storage = storageOver(store, { embedder: { ...embedder, dimensions: undefined } });
    await storage.add(say("a", "one two three"));
    embedder.change = (vectors) => vectors.map((vector) => Array.from(vector).slice(0, 64));
    await expect(storage.add(say("b", "four five six"))).rejects.toMatchObject({
      code: "EMBEDDING_DIMENSION",
      data: { expected: 128, came: 64, pending: 1 },
    });
    await expect(storage.searchSimilar("one two three")).rejects.toMatchObject({ code: "EMBEDDING_DIMENSION" });
    await storage.rebuild();
    expect(storage.pending).toBe(0);
    expect(idsOf(await storage.searchSimilar("one two three", { k: 1, threshold: -1 }))).toEqual(["a"]);
  });

  it("never answers: it is given up in time, and its signal says so", async () => {
    const clock = simulatedClock();
    const embedder = watched();
    let seen: AbortSignal | undefined;
    embedder.before = (_n, { signal }) => {
      seen = signal;
      return new Promise(() => {});
    };
    const storage = storageOver(undefined, { embedder, clock, timeout: 5_000 });
    const adding = storage.add(say("a")).catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await adding).toMatchObject({ code: "EMBEDDING_FAILED" });
    expect(seen?.aborted).toBe(true);
  });

  it("MemoryStorage.L6 is slow with the query of a search: other jobs do not wait for it", async () => {
    const embedder = watched();
    const storage = storageOver(undefined, { embedder });
    await storage.add(say("a", "one two three"));
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      embedder.before = (_n, { kind }) => {
        if (kind !== "query") return undefined;
        resolve();
        return new Promise<void>((done) => (answer = done));
      };
    });
    const searching = storage.searchSimilar("one two three", { threshold: -1 });
    await asked;
    expect(await storage.add(say("b", "one two four"))).toBe(true);
    answer();
    expect(idsOf(await searching)).toEqual(["a", "b"]);
  });

  it("is stopped by the caller, and the message is kept", async () => {
    const embedder = watched();
    const stop = new AbortController();
    embedder.before = () => {
      stop.abort();
      return new Promise(() => {});
    };
    const storage = storageOver(undefined, { embedder });
    await expect(storage.add(say("a"), { signal: stop.signal })).rejects.toBeInstanceOf(AbortedError);
    expect([storage.size, storage.pending]).toEqual([1, 1]);
  });
});

describe("vectors that are lost", () => {
  it("MemoryStorage.L3 are made again when the embedder is another one, and only then", async () => {
    const store = inMemoryStore();
    await storageOver(store, { embedder: watched({ id: "old" }) }).addBatch(ten);
    const same = watched({ id: "old" });
    const unchanged = storageOver(store, { embedder: same });
    await unchanged.recover();
    expect([unchanged.pending, same.batches.length]).toEqual([0, 0]);
    const next = watched({ id: "new" });
    const storage = storageOver(store, { embedder: next });
    await storage.recover();
    expect(storage.pending).toBe(10);
    expect(idsOf(await storage.searchSimilar(ten[3] ?? "", { k: 1 }))).toEqual(["m3"]);
    expect(next.batches.flat().length).toBe(11);
  });

  it.each([0, 1, 3])(
    "MemoryStorage.L3 are taken over in spite of a store that fails behind %i of them, once it is asked again",
    async (failAfter) => {
      const store = inMemoryStore();
      await storageOver(store, { embedder: watched() }).addBatch(["a", "b", "c", "d"].map((id) => say(id)));
      let isFailing = true;
      const failing = withVectors(store, async function* (pages) {
        for await (const page of pages) {
          yield isFailing ? page.slice(0, failAfter) : page;
          if (isFailing) throw new Error("cannot be read");
        }
      });
      const embedder = watched();
      const storage = storageOver(failing, { embedder });
      await expect(storage.recover()).rejects.toThrow("cannot be read");
      expect([storage.size, storage.pending]).toEqual([4, 4 - failAfter]);
      isFailing = false;
      await storage.recover();
      expect([storage.pending, embedder.batches]).toEqual([0, []]);
    },
  );

  it("MemoryStorage.L3 are taken over in any order, and what is of no use is made again", async () => {
    const store = inMemoryStore();
    await storageOver(store, { embedder: watched() }).addBatch(["a", "b", "c", "d", "e"].map((id) => say(id)));
    const shuffled = withVectors(store, async function* (pages) {
      for await (const page of pages) {
        yield page.map((one) => (one.place === 3 ? { ...one, vector: new Float32Array(one.vector.length) } : one)).toReversed();
      }
    });
    const embedder = watched();
    const storage = storageOver(shuffled, { embedder });
    await storage.recover();
    expect(storage.pending).toBe(1);
    await storage.persist();
    expect([storage.pending, embedder.batches]).toEqual([0, [["words of c"]]]);
  });

  it.each([[[NaN, 1]], [[0, 0]], [[1, 2, 3]]])("are made again when a store gives %j", async (numbers) => {
    const store = inMemoryStore();
    const embedder = hashingEmbedder({ dimensions: 16 });
    const storage = storageOver(store, { embedder });
    await storage.addBatch(ten);
    const [place = 0] = await store.places("role");
    await store.writeVectors("role", fingerprintOf(embedder), [{ place, vector: Float32Array.from(numbers) }]);
    const other = storageOver(store, { embedder });
    await other.recover();
    expect(other.pending).toBe(1);
    expect(idsOf(await other.searchSimilar(ten[0] ?? "", { k: 1 }))).toEqual(["m0"]);
  });
});
