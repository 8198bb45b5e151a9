import type { RedisClientType } from "redis";
import { withTimeout } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { AbortedError, UsageError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import { CacheError } from "../memory/cache.ts";
import type { RemoteCache } from "../memory/guarded-cache.ts";
import { STAMP_DIGITS, STAMP_MARK, stampDigits } from "../memory/stamped-text.ts";

/** Loads the `redis` package. */
export type LoadRedis = () => Promise<RedisPackage>;

type RedisPackage = Pick<typeof import("redis"), "createClient" | "ErrorReply">;

/** How the server is reached. */
export interface RedisServer {
  readonly url: string;
  /** The server as errors may name it: without user and password. */
  readonly shown: string;
  /** Milliseconds for one command, with connecting where that is needed. */
  readonly timeout: number;
  readonly clock: Clock;
  readonly load: LoadRedis;
}

type Client = Pick<RedisClientType, "connect" | "destroy" | "get" | "eval" | "on">;

/** Commands that wait for one answer. More than a server answers in the time a command has are refused at once. */
const MOST_WAITING = 10_000;

const JSON_MARK = "\u0000json:";

/** Compares and writes in one move: between two commands another machine could write. Stamps of equal length compare as text. */
const PUT = `
local old = redis.call('GET', KEYS[1])
if old and string.sub(old, 1, ${STAMP_MARK.length}) == '${STAMP_MARK}' then
  local stamp = string.sub(old, ${STAMP_MARK.length + 1}, ${STAMP_MARK.length + STAMP_DIGITS})
  if stamp > ARGV[2] then return stamp end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return ''
`;

/**
 * One connection at a time, made when it is needed. The client's own reconnecting and its queue for a server that is away are off: they keep
 * a caller waiting for as long as the server is. A connection on which a command was not answered in time is given up, for all later answers
 * on it would wait behind that one.
 */
export class RedisConnection implements RemoteCache {
  readonly #server: RedisServer;
  readonly #closing = new AbortController();
  #connection: Promise<Client> | undefined;
  #package: ReturnType<LoadRedis> | undefined;

  constructor(server: RedisServer) {
    this.#server = server;
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.#command((client) => client.get(wireKey(key)))) ?? undefined;
  }

  async put(key: string, text: string, stamp: number, ttl: number): Promise<number | undefined> {
    const values = [text, stampDigits(stamp), String(Math.max(1, Math.ceil(ttl)))];
    const later = await this.#command((client) => client.eval(PUT, { keys: [wireKey(key)], arguments: values }));
    return typeof later === "string" && later !== "" ? Number(later) : undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort(new AbortedError("the cache was closed"));
    this.#giveUp(this.#connection);
  }

  async #command<T>(run: (client: Client) => Promise<T>): Promise<T> {
    const { clock, timeout, shown } = this.#server;
    // Not part of the time a server has: a busy machine takes long to read a package.
    const redis = await (this.#package ??= loaded(this.#server.load));
    let connection: Promise<Client> | undefined;
    let isConnected = false;
    try {
      return await withTimeout(clock, timeout, `a command to Redis at ${shown}`, this.#closing.signal, async () => {
        connection = this.#connection ??= this.#connect(redis);
        const client = await connection;
        isConnected = true;
        return run(client);
      });
    } catch (error) {
      const isReply = isConnected && error instanceof redis.ErrorReply;
      if (!isReply) this.#giveUp(connection);
      throw this.#typed(error, isReply);
    }
  }

  async #connect({ createClient }: RedisPackage): Promise<Client> {
    const { url, timeout } = this.#server;
    const client: Client = createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MOST_WAITING,
      socket: { connectTimeout: timeout, reconnectStrategy: false },
    }) as Client;
    // Without a listener a lost connection would end the process. The commands that it takes along tell of it.
    client.on("error", () => undefined);
    const stop = (): void => destroy(client);
    this.#closing.signal.addEventListener("abort", stop, { once: true });
    // A server that takes the connection and says nothing has no other limit.
    const cancel = this.#server.clock.timer(timeout, stop);
    try {
      await client.connect();
      return client;
    } catch (error) {
      destroy(client);
      throw error;
    } finally {
      cancel();
      this.#closing.signal.removeEventListener("abort", stop);
    }
  }

  /** Only the connection that failed: another may have taken its place. */
  #giveUp(connection: Promise<Client> | undefined): void {
    if (connection === undefined) return;
    if (this.#connection === connection) this.#connection = undefined;
    // One that was never made has told its failure to whoever waited for it.
    connection.then(destroy, () => undefined);
  }

  #typed(error: unknown, isReply: boolean): CacheError {
    const { shown } = this.#server;
    if (isReply) {
      return new CacheError(
        "CACHE_REFUSED",
        `Expected Redis at ${shown} to do a command, got an error: ${thrownText(error)}. Give it room (maxmemory) or rights.`,
        { cause: error },
      );
    }
    return new CacheError(
      "CACHE_UNREACHABLE",
      `Expected an answer of Redis at ${shown}, got none: ${thrownText(error)}. Start it, or look at its address and password.`,
      { cause: error },
    );
  }
}

/** The server's keys are UTF-8, which half a character has none of. Such keys go as JSON, and so do those that look as if they did. */
function wireKey(key: string): string {
  const isKept = Buffer.from(key).toString() === key && !key.startsWith(JSON_MARK);
  return isKept ? key : `${JSON_MARK}${JSON.stringify(key)}`;
}

function destroy(client: Client): void {
  try {
    client.destroy();
  } catch {
    // It was closed already, which is what is wanted.
  }
}

async function loaded(load: LoadRedis): Promise<RedisPackage> {
  try {
    return await load();
  } catch (cause) {
    throw new UsageError(
      "PACKAGE_MISSING",
      'Expected the package "redis" (6 or newer) beside this one, got none that can be loaded. Install it: npm install redis.',
      { cause },
    );
  }
}
