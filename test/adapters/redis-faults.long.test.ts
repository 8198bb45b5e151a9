// @module-tag fleet
import { createClient } from "redis";
import { describe, expect, it } from "vitest";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { CacheError, redisCache } from "../../src/adapters/redis.ts";
import type { CacheEntry } from "../../src/memory/cache.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { hasRedis, type RedisProcess, startRedis } from "./redis-process.ts";

const OPERATIONS = 10_000;
const WORKERS = 16;
const KEYS_PER_WORKER = 12;
const TTL = 600_000;

/** The faults of the server. The load continues meanwhile. */
const PHASES: readonly ((server: RedisProcess) => Promise<unknown> | void)[] = [
  () => {},
  (server) => server.kill(),
  (server) => server.restart(),
  (server) => server.pause(),
  (server) => server.resume(),
  (server) => configure(server, "1mb"),
  (server) => configure(server, "0"),
];

/** `0` is no limit; a server holds more than a megabyte before it holds anything. */
async function configure({ url }: RedisProcess, maxmemory: string): Promise<void> {
  const client = await createClient({ url }).connect();
  await client.configSet({ maxmemory, "maxmemory-policy": "noeviction" });
  client.destroy();
}

describe.runIf(hasRedis)("a server that is killed, paused and filled under load", () => {
  it(
    `reads no wrong value in ${OPERATIONS} operations, and has everything since its restart in the end`,
    { timeout: 900_000 },
    async () => {
      const server = await startRedis();
      const cache = redisCache({ url: server.url, fallback: fileCache({ dir: scratchFolder() }), timeout: 200, connectTimeout: 200 });
      const expected = new Map<string, string | undefined>();
      /** Keys that were written before the killed server was started again, empty: what it had is lost. */
      const mayBeLost = new Set<string>();
      let isRestarted = false;
      const write = (key: string, value: string | undefined): void => {
        expected.set(key, value);
        if (isRestarted) mayBeLost.delete(key);
        else mayBeLost.add(key);
      };
      const wrong: string[] = [];
      const phaseOperations = Math.ceil(OPERATIONS / PHASES.length);
      let done = 0;

      async function one(worker: number, n: number): Promise<void> {
        const key = `load:${worker}:${n % KEYS_PER_WORKER}`;
        const kind = (n * 7) % 10;
        if (kind < 5) {
          await cache.set(key, `value ${n} of ${worker} ${"x".repeat(200)}`, TTL);
          write(key, `value ${n} of ${worker} ${"x".repeat(200)}`);
        } else if (kind === 9) {
          // A deletion needs the server; of one that failed, nobody knows whether it was done.
          const isDone = await cache.delete(key).then(() => true, unreachableOnly);
          if (!isDone) await cache.set(key, "again", TTL);
          write(key, isDone ? undefined : "again");
        } else {
          const entry = await cache.get(key).catch((error: unknown) => unknownOnly(error, expected.get(key) !== undefined));
          const isLost = entry.kind === "miss" && mayBeLost.has(key);
          if (!isLost && !isEqual(entry, expected.get(key))) wrong.push(`${key} at ${n}`);
        }
      }

      async function work(worker: number, end: number): Promise<void> {
        while (done < end) await one(worker, done++).catch((error: unknown) => wrong.push(String(error)));
      }

      for (const happens of PHASES) {
        const end = done + phaseOperations;
        const load = Array.from({ length: WORKERS }, (_, worker) => work(worker, end));
        await happens(server);
        await Promise.all(load);
        isRestarted ||= happens === PHASES[2];
      }
      expect([done >= OPERATIONS, wrong]).toEqual([true, []]);

      // A write that the server missed reaches it with the next use of its key.
      for (const key of expected.keys()) await cache.get(key);
      await cache.close();
      const shared = redisCache({ url: server.url, fallback: memoryCache(), timeout: 5000 });
      const lost: string[] = [];
      for (const [key, value] of expected) if (!mayBeLost.has(key) && !isEqual(await shared.get(key), value)) lost.push(key);
      await shared.close();
      expect(expected.size).toBe(WORKERS * KEYS_PER_WORKER);
      expect(lost).toEqual([]);
    },
  );
});

function unreachableOnly(error: unknown): false {
  if (!(error instanceof CacheError)) throw error;
  return false;
}

/** Nobody knows while the server is away whether it has what was never written here. */
function unknownOnly(error: unknown, wasWritten: boolean): CacheEntry {
  if (wasWritten || !(error instanceof CacheError) || error.code !== "CACHE_UNREACHABLE") throw error;
  return { kind: "miss" };
}

function isEqual(entry: CacheEntry, value: string | undefined): boolean {
  return value === undefined ? entry.kind === "miss" : entry.kind === "hit" && entry.value === value;
}
