import { readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { RemoteCache } from "../../src/adapters/remote-cache.ts";
import { silentLogger as logger } from "../../src/kernel/emit.ts";
import type { Cache, CacheEntry } from "../../src/memory/cache.ts";
import { forgetInCache, scopedCacheKey } from "../../src/memory/forget.ts";
import { memoryCache, simulatedClock } from "../../src/testing/index.ts";
import { fakeRemote } from "../adapters/fake-remote.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";
import { brainWith, said, talk } from "./brain-setup.ts";

const SCOPE = { role: "Guide", user: "ann" };
const KEY = scopedCacheKey(SCOPE);
const DAMAGED: CacheEntry = { kind: "damaged", reason: "bits" };

/** A cache with a way to cut its entry. */
interface Cuttable {
  readonly cache: Cache;
  cut(): Promise<void> | void;
}

/** The one file of a cache. */
function fileIn(dir: string): string {
  return join(dir, "entries", readdirSync(join(dir, "entries"))[0] ?? "");
}

function files(): Cuttable {
  const dir = scratchFolder();
  return { cache: fileCache({ dir }), cut: () => truncateSync(fileIn(dir), 264) };
}

function text(): Cuttable {
  const cache = memoryCache();
  return { cache, cut: () => cache.set(KEY, '{"v": 1, "history": [{"content": "wo', 1_000) };
}

function withoutReplace(): Cuttable {
  const { cache, cut } = files();
  const { replace: _replace, ...rest } = { ...cache, get: (key: string) => cache.get(key), set: cache.set.bind(cache) };
  return { cache: { ...rest, delete: (key) => cache.delete(key), close: () => cache.close() }, cut };
}

function onServer(): Cuttable {
  const clock = simulatedClock();
  const [remote, local] = [fakeRemote(clock), memoryCache({ clock })];
  const cut = async (): Promise<void> => {
    const held = remote.texts.get(KEY);
    const short = held?.text.slice(0, 150) ?? "";
    if (held !== undefined) held.text = short;
    await local.set(KEY, short, 1_000_000);
  };
  return { cache: new RemoteCache({ remote, local, clock, logger }), cut };
}

function telling(): Cuttable {
  const inner = memoryCache();
  let isCut = false;
  const replace: Cache["replace"] = async (key, value, { ttl }) => {
    if (isCut) return DAMAGED;
    await inner.set(key, value, ttl);
    return undefined;
  };
  const cache: Cache = {
    get: async (key) => (isCut ? DAMAGED : inner.get(key)),
    set: (key, value, ttl) => inner.set(key, value, ttl),
    replace,
    delete: (key) => inner.delete(key),
    close: () => inner.close(),
  };
  return {
    cache,
    cut: () => {
      isCut = true;
    },
  };
}

describe("an entry that was cut", () => {
  it.each(Object.entries({ text, files, withoutReplace, onServer, telling }))(
    "BrainEntry.P2 [it was written over, unread] stays as it is, loaded or not, in: %s",
    async (_name, made) => {
      const { cache, cut } = made();
      const { brain: before } = brainWith(undefined, { cache, key: SCOPE });
      talk(before, 1, 4);
      await before.save();
      await cut();
      const stored = await cache.get(KEY);
      for (const isLoaded of [true, false]) {
        const { brain } = brainWith(undefined, { cache, key: SCOPE });
        if (isLoaded) expect(await brain.load()).toMatchObject({ kind: "damaged" });
        talk(brain, 1, 10);
        for (const work of [() => brain.save(), () => brain.compress()]) {
          expect(await errorOf(work)).toMatchObject({ code: "MEMORY_CONFLICT", message: expect.stringContaining("cannot be read") });
        }
        expect([await cache.get(KEY), brain.isDirty, brain.history.length]).toEqual([stored, true, 10]);
      }
    },
  );

  it.each([
    ["is removed from the cache", (cache: Cache) => cache.delete(KEY)],
    ["is forgotten by its memory", (cache: Cache) => brainWith(undefined, { cache, key: SCOPE }).brain.forget()],
    ["is forgotten by its scope", async (cache: Cache) => expect(await forgetInCache(cache, { user: "ann" }, 5)).toBe(1)],
  ])("gives way, with all its words, when it %s", async (_how, remove) => {
    const dir = scratchFolder();
    const cache = fileCache({ dir });
    const { brain } = brainWith(undefined, { cache, key: SCOPE });
    talk(brain, 1, 4);
    await brain.save();
    truncateSync(fileIn(dir), 464);
    await remove(cache);
    expect(readdirSync(join(dir, "entries")).filter((file) => readFileSync(join(dir, "entries", file), "utf8").includes("word"))).toEqual(
      [],
    );
    brain.addTalk(said(5));
    expect(await brain.save()).toBe(true);
  });
});
