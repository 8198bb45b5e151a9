// @module-tag fleet
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { postgresStore } from "../../src/adapters/postgres-store.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { exactIndex } from "../../src/memory/exact-index.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import type { MessageStore, VectorLookup, VectorPlace } from "../../src/memory/message-store.ts";
import type { MemoryStorageOptions } from "../../src/memory/storage-options.ts";
import { messageStoreContract } from "../../src/testing/contracts/message-store.ts";
import { afterEachFile } from "../after-file.ts";
import { idsOf, say, watched } from "../memory/storage-setup.ts";
import { errorOf } from "../workspace/scratch.ts";
import { type PgliteServer, startPglite } from "./pglite-server.ts";

/*
 * Memories in Postgres with the extension `vector`. The server is PGlite. Without the extension: `postgres-shared.test.ts`, on a real server.
 */

let server: PgliteServer;
const open: MessageStore[] = [];
let schemas = 0;

function newStore(schema = `n${(schemas += 1)}`): MessageStore {
  const store = postgresStore({ url: server.url, connections: 2, schema, patience: 20_000, timeout: 20_000 });
  open.push(store);
  return store;
}

function nearestOf(store: MessageStore): VectorLookup {
  if (store.nearest === undefined) throw new Error("Expected a store that may find vectors.");
  return store.nearest;
}

async function placesOf(store: MessageStore, roleId: string, fingerprint: string): Promise<VectorPlace[]> {
  const found: VectorPlace[] = [];
  for await (const page of nearestOf(store).places(roleId, fingerprint, 0)) found.push(...page);
  return found;
}

function memory(store: MessageStore, o: Partial<MemoryStorageOptions> = {}): MemoryStorage {
  return new MemoryStorage({ roleId: "Ada", store, embedder: hashingEmbedder({ dimensions: 64 }), threshold: -1, ...o });
}

const WITHOUT = "DROP EXTENSION IF EXISTS vector CASCADE";
const TEXTS = ["The ferry leaves at nine.", "The bridge is of stone.", " ", "A ferry of wood.", "Nine bridges.", "Stones and wood."];
const messages = TEXTS.map((content, n) => say(`m${n}`, content));

beforeAll(async () => {
  server = await startPglite();
});
beforeEach(() => server.run("CREATE EXTENSION IF NOT EXISTS vector"));
afterEachFile(async () => {
  for (const store of open.splice(0)) await store.close();
});

messageStoreContract({ describe, it, expect }, "postgresStore with pgvector", () => newStore());

describe("a memory in Postgres with pgvector", () => {
  it("StoreIndex.I3 VectorSearch.P1 finds what an exact index finds, and reads no vectors into the process", async () => {
    const store = newStore();
    await memory(store, { embedder: watched({ dimensions: 64 }) }).addBatch(messages);
    const read = vi.spyOn(store, "readVectors");
    const embedder = watched({ dimensions: 64 });
    const near = memory(store, { embedder });
    for (const o of [{}, { k: 2 }, { threshold: 0.1 }, { filter: ({ content }: { content: string }) => content.includes("o") }]) {
      const found = await near.searchSimilar("stone bridge", o);
      expect([read.mock.calls.length, near.pending]).toEqual([0, 0]);
      const exact = await memory(store, { embedder: watched({ dimensions: 64 }), index: exactIndex() }).searchSimilar("stone bridge", o);
      expect(idsOf(found)).toEqual(idsOf(exact));
      found.forEach(({ score }, n) => expect(score).toBeCloseTo(exact[n]?.score ?? 9, 5));
      read.mockClear();
    }
    // Only the questions were embedded: all vectors were there, and the blank text needs none.
    expect(embedder.batches).toEqual(Array.from({ length: 4 }, () => ["stone bridge"]));
  });

  it("VectorSearch.P1 an index of the user wins", async () => {
    const store = newStore();
    const asked = vi.spyOn(nearestOf(store), "isAvailable");
    const index = exactIndex();
    const storage = memory(store, { index });
    await storage.addBatch(messages);
    expect(idsOf(await storage.searchSimilar("ferry", { k: 1 }))).toEqual(["m3"]);
    expect([index.size, asked.mock.calls.length]).toEqual([5, 0]);
  });

  it("PostgresNearest.N1 PostgresNearest.N2 takes the vectors from before the extension, which may come later and be anywhere", async () => {
    const schema = `n${(schemas += 1)}`;
    const before = newStore(schema);
    await server.run(WITHOUT);
    const exact = memory(before, { embedder: watched({ dimensions: 64 }) });
    await exact.addBatch(messages);
    expect(await nearestOf(before).isAvailable()).toBe(false);
    const wanted = await exact.searchSimilar("wood", { k: 9 });
    await server.run('CREATE SCHEMA IF NOT EXISTS "other ""home"; CREATE EXTENSION vector SCHEMA "other ""home"');
    // One vector is damaged, and is computed again.
    await server.run(`UPDATE ${schema}.memory_vectors SET vector = set_byte(vector, 0, 1) WHERE place % 8 = 2`);
    const after = newStore(schema);
    const embedder = watched({ dimensions: 64 });
    const near = memory(after, { embedder });
    const found = await near.searchSimilar("wood", { k: 9 });
    expect(idsOf(found)).toEqual(idsOf(wanted));
    expect(embedder.batches).toEqual([["wood"], [TEXTS[1]]]);
    // The memory that began without the extension goes on, and finds what is added in either way.
    await exact.add(say("late", "Late wood."));
    await near.add(say("later", "Later wood."));
    for (const storage of [exact, near])
      expect(idsOf(await storage.searchSimilar("wood", { k: 9 }))).toEqual(expect.arrayContaining(["late", "later"]));
    await server.run(WITHOUT);
  });

  it("PostgresNearest.N1 PostgresNearest.N2 the table is made again when the extension was away, and its vectors come back", async () => {
    const schema = `n${(schemas += 1)}`;
    await memory(newStore(schema)).addBatch(messages);
    await server.run(WITHOUT);
    const between = newStore(schema);
    expect(idsOf(await memory(between).searchSimilar("ferry", { k: 2 }))).toEqual(["m3", "m0"]);
    await memory(between).add(say("between", "A ferry between."));
    await server.run("CREATE EXTENSION vector");
    const stores = [newStore(schema), newStore(schema)];
    expect(await Promise.all(stores.map((store) => nearestOf(store).isAvailable()))).toEqual([true, true]);
    for (const store of stores) expect(idsOf(await memory(store).searchSimilar("ferry", { k: 3 }))).toEqual(["between", "m3", "m0"]);
  });

  it("PostgresNearest.N1 is searched exactly where its user may not make the table", async () => {
    const schema = `n${(schemas += 1)}`;
    await server.run(WITHOUT);
    await newStore(schema).state("Ada");
    await server.run(`CREATE EXTENSION vector; CREATE ROLE poor; GRANT USAGE ON SCHEMA ${schema} TO poor;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO poor; SET ROLE poor`);
    try {
      const store = newStore(schema);
      const storage = memory(store);
      await storage.addBatch(messages);
      expect(await nearestOf(store).isAvailable()).toBe(false);
      expect(idsOf(await storage.searchSimilar("ferry", { k: 1 }))).toEqual(["m3"]);
    } finally {
      await server.run("RESET ROLE");
    }
  });

  it("PostgresNearest.N3 PostgresNearest.N4 two embedders of other dimensions share a memory, and neither embeds twice", async () => {
    const store = newStore();
    const made = [32, 48].map((dimensions) => {
      const embedder = watched({ dimensions });
      return { embedder, storage: memory(store, { embedder }) };
    });
    await made[0]?.storage.addBatch(messages);
    for (let round = 0; round < 3; round += 1) {
      for (const { storage } of made) expect(idsOf(await storage.searchSimilar("ferry", { k: 2 })).toSorted()).toEqual(["m0", "m3"]);
    }
    expect(made.map(({ embedder }) => embedder.batches.flat().filter((text) => text !== "ferry").length)).toEqual([5, 5]);
  });

  it("StoreIndex.I3 vectors that another process has cleared, or computed again, are there for the next search", async () => {
    const schema = `n${(schemas += 1)}`;
    const [store, other] = [newStore(schema), newStore(schema)];
    const storage = memory(store);
    await storage.addBatch(messages);
    await other.clearVectors("Ada");
    expect(idsOf(await storage.searchSimilar("ferry", { k: 2 }))).toEqual(["m3", "m0"]);
    await memory(other).rebuild();
    expect(idsOf(await storage.searchSimilar("ferry", { k: 2 }))).toEqual(["m3", "m0"]);
  });

  it("a vector that the extension cannot compare is refused with a way out", async () => {
    const store = newStore();
    const nearest = nearestOf(store);
    expect(await nearest.isAvailable()).toBe(true);
    expect((await errorOf(() => nearest.search("Ada", "f", new Float32Array(16_001).fill(1), 1))).code).toBe("EMBEDDING_DIMENSION");
    expect((await errorOf(() => nearest.search("Ada", "f", new Float32Array(2), 1))).code).toBe("EMBEDDING_INVALID");
    const [one, two, three] = await store.add(
      "Ada",
      [1, 2, 3].map((n) => ({ runId: "", addedAt: n, message: say(`${n}`) })),
    );
    await store.writeVectors("Ada", "f", [
      { place: one?.place ?? 0, vector: new Float32Array(16_001).fill(1) },
      { place: two?.place ?? 0, vector: Float32Array.of(NaN, 1) },
      { place: three?.place ?? 0, vector: Float32Array.of(1, 1e-45) },
    ]);
    expect(await placesOf(store, "Ada", "f")).toEqual([{ place: three?.place, dimensions: 2 }]);
    const index = memory(store, { embedder: wide(16_001), index: exactIndex() });
    await index.add(say("wide"));
    expect(idsOf(await index.searchSimilar("words of wide", { k: 1 }))).toEqual(["wide"]);
  });
});

/** An embedder of long vectors. */
function wide(dimensions: number): NonNullable<MemoryStorageOptions["embedder"]> {
  return {
    ...hashingEmbedder(),
    id: "wide",
    dimensions,
    embed: async (texts) => texts.map((text) => new Float32Array(dimensions).fill(0).fill(1, 0, text.length)),
  };
}

describe("vectors in Postgres with pgvector", () => {
  const ROLES = ["a", "b"];
  const FINGERPRINTS = ["one", "two"];
  const number = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }));
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ role: fc.nat(1), kind: fc.nat(1), at: fc.nat(9), vector: fc.tuple(number, number, number) }) },
    { weight: 1, arbitrary: fc.record({ role: fc.nat(1), remove: fc.nat(9) }) },
  );
  const query = fc.record({ role: fc.nat(1), kind: fc.nat(1), vector: fc.tuple(number, number, number), k: fc.nat(12), odd: fc.boolean() });

  it("MessageStore.V10 are those that an exact index finds, after any writes, replacements and removals", async () => {
    const store = newStore();
    const nearest = nearestOf(store);
    await nearest.isAvailable();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.array(query, { minLength: 1, maxLength: 4 }), async (steps, queries) => {
        const run = (runs += 1);
        const roles = ROLES.map((role) => `${role} ${run}`);
        for (const role of roles)
          await store.add(
            role,
            Array.from({ length: 10 }, (_, n) => ({ runId: "", addedAt: n, message: say(`${n}`) })),
          );
        const model = new Map<string, Map<number, Float32Array>>();
        const gone = new Set<string>();
        const held = (role: number, kind: number): Map<number, Float32Array> => {
          const key = `${role} ${kind}`;
          if (!model.has(key)) model.set(key, new Map());
          return model.get(key) as Map<number, Float32Array>;
        };
        for (const one of steps) {
          const role = roles[one.role] as string;
          if ("remove" in one) {
            await store.remove(role, [one.remove + 1]);
            gone.add(`${one.role} ${one.remove + 1}`);
            for (const kind of FINGERPRINTS.keys()) held(one.role, kind).delete(one.remove + 1);
            continue;
          }
          const vector = Float32Array.from(one.vector);
          await store.writeVectors(role, FINGERPRINTS[one.kind] as string, [{ place: one.at + 1, vector }]);
          if (gone.has(`${one.role} ${one.at + 1}`)) continue;
          if (vector.some((value) => value !== 0)) held(one.role, one.kind).set(one.at + 1, vector);
          else held(one.role, one.kind).delete(one.at + 1);
        }
        for (const { role, kind, vector, k, odd } of queries) {
          const asked = Float32Array.from(vector);
          if (asked.every((value) => value === 0)) continue;
          const vectors = held(role, kind);
          const index = exactIndex();
          for (const [place, each] of vectors) await index.add(place, each);
          const among = odd ? new Set([1, 3, 5, 7, 9]) : undefined;
          const all = new Map((await index.search(asked, 99, { among })).map(({ key, score }) => [key, score]));
          const wanted = (await index.search(asked, k, { among })).map(({ score }) => score);
          const found = await nearest.search(roles[role] as string, FINGERPRINTS[kind] as string, asked, k, { among });
          expect(await nearest.count(roles[role] as string, FINGERPRINTS[kind] as string)).toBe(vectors.size);
          // The sums of both differ in their last digits, which may turn around what is nearly equal.
          expect(found.length).toBe(wanted.length);
          for (const [n, { place, score }] of found.entries()) {
            expect(Math.abs(score - (wanted[n] as number))).toBeLessThan(1e-5);
            expect(Math.abs(score - (all.get(place) ?? 9))).toBeLessThan(1e-5);
          }
          expect(found).toEqual(found.toSorted((a, b) => b.score - a.score || a.place - b.place));
        }
      }),
      { numRuns: 100 },
    );
  });
});
