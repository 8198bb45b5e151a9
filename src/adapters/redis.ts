import type { Shape } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Cache } from "../memory/cache.ts";
import { fileCache } from "./file-cache.ts";
import { RedisConnection } from "./redis-connection.ts";
import { RemoteCache } from "./remote-cache.ts";

export { CacheError } from "../kernel/errors.ts";

/** Options of {@link redisCache}. */
export interface RedisCacheOptions {
  /** `redis://`, or `rediss://` for TLS; with user and password if the server needs them. */
  readonly url: string;
  /** Keeps a copy of every entry, and answers while the server does not. Default: files in `.troupe/cache`. Closed with this cache. */
  readonly fallback?: Cache;
  /** Limit on the milliseconds of one command. Default 500. */
  readonly timeout?: number;
  /** Limit on the milliseconds of connecting; commands wait for it. Default 5000. */
  readonly connectTimeout?: number;
  /** Gets a warning when the server stops to answer. Default: stderr. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

const aDuration: Shape = { says: "milliseconds above 0", fits: (value) => Number.isFinite(value) && (value as number) > 0 };

const redisCacheOptions: Known<RedisCacheOptions> = {
  url: kinds.secret,
  fallback: kinds.cache,
  timeout: aDuration,
  connectTimeout: aDuration,
  logger: kinds.logger,
  clock: kinds.clock,
};

const TIMEOUT = 500;
const CONNECT_TIMEOUT = 5000;
const FOLDER = ".troupe/cache";

/**
 * A cache in Redis. While the server does not answer, `fallback` does, and a warning is logged; for a key that it does not have, `get` throws
 * `CACHE_UNREACHABLE`. What was stored meanwhile goes to the server with the next use of its key, and never over what others have stored.
 * A server that accepts connections and is silent makes each call wait for its limit. The connection keeps the process running until `close`. The `redis` package is loaded at the first use; without it, that call throws
 * UsageError `PACKAGE_MISSING`.
 *
 * @throws UsageError `REDIS_URL_INVALID` for an invalid address, `OPTION_INVALID` for an invalid timeout
 * @example
 * import { fileCache } from "troupe/files";
 * import { redisCache } from "troupe/redis";
 *
 * export const cache = redisCache({ url: "redis://127.0.0.1:6379", fallback: fileCache({ dir: ".troupe/cache" }) });
 */
export function redisCache(options: RedisCacheOptions): Cache {
  checkGivenOptions("redisCache", options, redisCacheOptions);
  const { url, timeout = TIMEOUT, connectTimeout = CONNECT_TIMEOUT, logger = defaultLogger, clock = systemClock } = options;
  const shown = shownAddress(url);
  return new RemoteCache({
    remote: new RedisConnection({ url, shown, timeout, connectTimeout, clock, load: () => import("redis") }),
    local: options.fallback ?? fileCache({ dir: FOLDER, clock }),
    clock,
    logger,
  });
}

/** Returns host and port alone: an address may hold a password. */
function shownAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^rediss?:$/.test(parsed.protocol) && parsed.hostname !== "") return parsed.host;
  throw new UsageError("REDIS_URL_INVALID", "Expected the address of a Redis server such as redis://127.0.0.1:6379, got something else.");
}
