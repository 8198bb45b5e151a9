import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Cache } from "../memory/cache.ts";
import { type GuardedCache, guardedCache } from "./guarded-cache.ts";
import { fileCache } from "./file-cache.ts";
import { RedisConnection } from "./redis-connection.ts";

export { CacheError } from "../kernel/errors.ts";
export type { CacheHealth, GuardedCache } from "./guarded-cache.ts";

/** Where the server is, and what stands in for it. */
export interface RedisCacheOptions {
  /** `redis://`, or `rediss://` for TLS; with user and password where the server wants them. */
  readonly url: string;
  /** What keeps every entry too, and answers while the server does not. Default: files in `.troupe/cache`. It is closed with this cache. */
  readonly fallback?: Cache;
  /** Milliseconds that one command may take. Default 500. */
  readonly timeout?: number;
  /** Milliseconds that making a connection may take; the questions of that time wait for it. Default 5000. */
  readonly connectTimeout?: number;
  /** Told when the server goes and comes. Default: nobody; `health` says how it is. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

const redisCacheOptions: Known<RedisCacheOptions> = {
  url: true,
  fallback: true,
  timeout: true,
  connectTimeout: true,
  logger: true,
  clock: true,
};

const TIMEOUT = 500;
const CONNECT_TIMEOUT = 5000;
const FOLDER = ".troupe/cache";

/**
 * A cache in Redis that goes on without it. Every entry is kept in `fallback` too: a server that is down, slow, full, or silent makes no entry
 * disappear, and gets what it missed when it answers again. While it is away `fallback` answers; what that does not have is unknown, and `get`
 * throws `CACHE_UNREACHABLE`. Close it when nobody uses it any more: until then its connection
 * keeps the process running. The `redis` package is loaded with the first question; when it
 * is missing, that question is refused with UsageError `PACKAGE_MISSING`.
 *
 * @throws UsageError `REDIS_URL_INVALID` for an address that is none, `OPTION_INVALID` for a timeout that is none.
 * @example
 * import { fileCache } from "troupe/files";
 * import { redisCache } from "troupe/redis";
 *
 * export const cache = redisCache({ url: "redis://127.0.0.1:6379", fallback: fileCache({ dir: ".troupe/cache" }) });
 * console.log(cache.health.behind); // 0
 */
export function redisCache(options: RedisCacheOptions): GuardedCache {
  checkGivenOptions("redisCache", options, redisCacheOptions);
  const { url, fallback, timeout = TIMEOUT, connectTimeout = CONNECT_TIMEOUT, logger, clock = systemClock } = options;
  const shown = shownAddress(url);
  for (const [name, ms] of Object.entries({ timeout, connectTimeout })) {
    if (Number.isFinite(ms) && ms > 0) continue;
    throw new UsageError("OPTION_INVALID", `Expected ${name} of a cache in Redis to be a positive number of milliseconds, got ${ms}.`);
  }
  return guardedCache({
    remote: new RedisConnection({ url, shown, timeout, connectTimeout, clock, load: () => import("redis") }),
    local: fallback ?? fileCache({ dir: FOLDER, clock }),
    clock,
    ...(logger === undefined ? {} : { logger }),
  });
}

/** Host and port alone: an address may carry a password. */
function shownAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^rediss?:$/.test(parsed.protocol) && parsed.hostname !== "") return parsed.host;
  throw new UsageError("REDIS_URL_INVALID", "Expected the address of a Redis server such as redis://127.0.0.1:6379, got something else.");
}
