import { createClient } from "redis";
import { describe, expect, it } from "vitest";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { redisCache } from "../../src/adapters/redis.ts";
import type { CacheEntry } from "../../src/memory/cache.ts";
import { memoryCache } from "../../src/memory/memory-cache.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { hasRedis, type RedisProcess, startRedis } from "./redis-process.ts";

const OPERATIONS = 10_000;
const WORKERS = 16;
const KEYS_PER_WORKER = 12;
const TTL = 600_000;

/** What happens to the server, and after how many operations. */
type Fault = readonly [number, (server: RedisProcess) => Promise<unknown>];

const FAULTS: readonly Fault[] = [
  [1000, (server) => server.kill()],
  [2500, (server) => server.restart()],
  [4000, async (server) => server.pause()],
  [5500, async (server) => server.resume()],
  [7000, (server) => configure(server, "1mb")],
  [8500, (server) => configure(server, "0")],
];

/** `0` is no limit; a server holds more than a megabyte before it holds anything. */
async function configure({ url }: RedisProcess, maxmemory: string): Promise<void> {
  const client = await createClient({ url }).connect();
  await client.configSet({ maxmemory, "maxmemory-policy": "noeviction" });
  client.destroy();
}

describe.runIf(hasRedis)("a server that is killed, paused and filled under load", () => {
  it(`fails none of ${OPERATIONS} operations, loses none, and has everything in the end`, { timeout: 120_000 }, async () => {
    const server = await startRedis();
    const cache = redisCache({ url: server.url, fallback: fileCache({ dir: scratchFolder() }), timeout: 300 });
    const expected = new Map<string, string | undefined>();
    const wrong: string[] = [];
    let faults: Promise<unknown> = Promise.resolve();
    const states = new Set<string>();
    let done = 0;

    async function one(worker: number, n: number): Promise<void> {
      const key = `load:${worker}:${(n * 7) % KEYS_PER_WORKER}`;
      const kind = n % 10;
      if (kind < 5) {
        await cache.set(key, `value ${n} of ${worker} ${"x".repeat(200)}`, TTL);
        expected.set(key, `value ${n} of ${worker} ${"x".repeat(200)}`);
      } else if (kind === 9) {
        await cache.delete(key);
        expected.set(key, undefined);
      } else if (!isEqual(await cache.get(key), expected.get(key))) wrong.push(`${key} at ${n}`);
    }

    async function work(worker: number): Promise<void> {
      for (let n = 0; done < OPERATIONS; n++) {
        const fault = FAULTS.find(([at]) => at === done);
        done++;
        if (fault !== undefined) faults = faults.then(() => fault[1](server));
        await one(worker, n).catch((error: unknown) => wrong.push(String(error)));
        const { remote, lastError } = cache.health;
        states.add(`${remote} ${lastError?.code ?? "well"}`);
      }
    }

    await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
    await faults;
    expect([done >= OPERATIONS, wrong]).toEqual([true, []]);
    expect([...states]).toEqual(expect.arrayContaining(["up well", "down CACHE_UNREACHABLE", "up CACHE_REFUSED"]));

    while (cache.health.behind > 0) await cache.get("anything: each question may find the server back");
    await cache.close();
    const shared = redisCache({ url: server.url, fallback: memoryCache(), timeout: 5000 });
    const lost: string[] = [];
    for (const [key, value] of expected) if (!isEqual(await shared.get(key), value)) lost.push(key);
    await shared.close();
    expect(expected.size).toBe(WORKERS * KEYS_PER_WORKER);
    expect(lost).toEqual([]);
  });
});

function isEqual(entry: CacheEntry, value: string | undefined): boolean {
  return value === undefined ? entry.kind === "miss" : entry.kind === "hit" && entry.value === value;
}
