import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Cache } from "../memory/cache.ts";
import { type GuardedCache, guardedCache } from "./guarded-cache.ts";
import { fileCache } from "./file-cache.ts";
import { RedisConnection } from "./redis-connection.ts";

export { CacheError } from "../kernel/errors.ts";
export type { CacheHealth, GuardedCache } from "./guarded-cache.ts";

/** Options of {@link redisCache}. */
export interface RedisCacheOptions {
  /** `redis://`, or `rediss://` for TLS; with user and password if the server needs them. */
  readonly url: string;
  /** Keeps every entry too, and answers while the server does not. Default: files in `.troupe/cache`. Closed with this cache. */
  readonly fallback?: Cache;
  /** Most milliseconds of one command. Default 500. */
  readonly timeout?: number;
  /** Most milliseconds of connecting; commands wait for it. Default 5000. */
  readonly connectTimeout?: number;
  /** Told when the server stops or starts to answer. Default: none; `health` has the state. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

const redisCacheOptions: Known<RedisCacheOptions> = {
  url: kinds.secret,
  fallback: kinds.cache,
  timeout: kinds.milliseconds,
  connectTimeout: kinds.milliseconds,
  logger: kinds.logger,
  clock: kinds.clock,
};

const TIMEOUT = 500;
const CONNECT_TIMEOUT = 5000;
const FOLDER = ".troupe/cache";

/**
 * A cache in Redis that also works while the server is away. `fallback` keeps every entry too: no entry is lost when the server is down,
 * slow, full or silent, and the server gets the missed entries when it answers again. Meanwhile `fallback` answers; for a key that it does
 * not have, `get` throws `CACHE_UNREACHABLE`. The connection keeps the process running until `close`. The `redis` package is loaded at the
 * first use; without it, that call throws UsageError `PACKAGE_MISSING`.
 *
 * @throws UsageError `REDIS_URL_INVALID` for an invalid address, `OPTION_INVALID` for an invalid timeout
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

/** Returns host and port alone: an address may hold a password. */
function shownAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^rediss?:$/.test(parsed.protocol) && parsed.hostname !== "") return parsed.host;
  throw new UsageError("REDIS_URL_INVALID", "Expected the address of a Redis server such as redis://127.0.0.1:6379, got something else.");
}
