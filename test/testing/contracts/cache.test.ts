import { describe, expect, it } from "vitest";
import { fileCache } from "../../../src/adapters/file-cache.ts";
import type { Cache } from "../../../src/memory/cache.ts";
import { RemoteCache } from "../../../src/adapters/remote-cache.ts";
import { silentLogger as logger } from "../../../src/kernel/emit.ts";
import { memoryCache } from "../../../src/testing/memory-cache.ts";
import { cacheContract } from "../../../src/testing/index.ts";
import type { MakeCache } from "../../../src/testing/contracts/cache.ts";
import { fakeRemote } from "../../adapters/fake-remote.ts";
import { broken } from "./broken.ts";
import { scratchFolder } from "../../workspace/scratch.ts";

const kit = { describe, it, expect };

cacheContract(kit, "memoryCache", (clock) => memoryCache({ clock }));
cacheContract(kit, "fileCache", (clock) => fileCache({ dir: scratchFolder(), clock }));
cacheContract(
  kit,
  "a cache on a server",
  (clock) => new RemoteCache({ remote: fakeRemote(clock), local: memoryCache({ clock }), clock, logger }),
);
// One whose server is away cannot answer "miss" for what it never had: see remote-cache.test.ts.
cacheContract(kit, "a cache on a server that takes no writes", (clock) => {
  const remote = fakeRemote(clock);
  remote.state = "full";
  return new RemoteCache({ remote, local: fileCache({ dir: scratchFolder(), clock }), clock, logger });
});

describe("cacheContract", () => {
  function spoiled(change: (cache: Cache) => Partial<Cache>): MakeCache {
    return (clock) => {
      const cache = memoryCache({ clock });
      const whole: Cache = {
        get: (key) => cache.get(key),
        set: (key, value, ttl) => cache.set(key, value, ttl),
        delete: (key) => cache.delete(key),
        close: () => cache.close(),
      };
      return { ...whole, ...change(cache) };
    };
  }

  it.each([
    ["Cache.C1 that forgets nothing", spoiled((cache) => ({ set: (key, value) => cache.set(key, value, 1e9) }))],
    ["Cache.C1 that deletes nothing", spoiled(() => ({ delete: async () => undefined }))],
    ["Cache.C3 that folds case", spoiled((cache) => ({ set: (key, value, ttl) => cache.set(key.toLowerCase(), value, ttl) }))],
    [
      "Cache.C6 that compares nothing",
      spoiled((cache) => ({
        replace: async (key, value, { ttl }) => {
          await cache.set(key, value, ttl);
          return undefined;
        },
      })),
    ],
    ["Cache.C5 that never closes", spoiled(() => ({ close: async () => undefined }))],
  ])("finds a cache wanting: %s", async (title, make) => {
    expect(await broken((checks) => cacheContract(checks, "it", make))).toContain(title.slice(0, title.indexOf(" ")));
  });
});
