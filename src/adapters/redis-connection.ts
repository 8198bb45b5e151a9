import type { RedisClientType } from "redis";
import { untilAborted, withTimeout } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { AbortedError, CacheError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import { optionalPackage } from "./optional-package.ts";
import type { RemoteTexts } from "./remote-cache.ts";

export type LoadRedis = () => Promise<Pick<typeof import("redis"), "createClient" | "ErrorReply">>;

export interface RedisServer {
  readonly url: string;
  readonly shown: string;
  readonly timeout: number;
  readonly connectTimeout: number;
  readonly clock: Clock;
  readonly load: LoadRedis;
}

type Client = Pick<RedisClientType, "connect" | "destroy" | "get" | "set" | "del" | "eval" | "on" | "scan">;

const MAX_WAITING = 10_000;

const JSON_MARK = "\u0000json:";

/** Compares and writes in one script: between two commands another machine could write. */
const REPLACE = `
local old = redis.call('GET', KEYS[1])
if (old and redis.sha1hex(old) or '-') ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
`;

/**
 * Strings in a Redis server. It owns the connection. The client's own reconnecting and offline queue are off: with them a caller waits as long as the
 * server is away. RedisConnection.C1 (`#connection`) at most one connection is in use. The first command opens it, and the others share it.
 * RedisConnection.C2 (`#giveUp`) a command that fails without a reply gives up the connection that it used; a newer one stays. RedisConnection.C3
 * (`#closing`) `close` ends waiting commands at once.
 */
export class RedisConnection implements RemoteTexts {
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

  async set(key: string, text: string, ttl: number): Promise<void> {
    await this.#command((client) => client.set(wireKey(key), text, { PX: wireTtl(ttl) }));
  }

  async replace(key: string, text: string, revision: string, ttl: number): Promise<boolean> {
    const values = [text, revision, String(wireTtl(ttl))];
    return (await this.#command((client) => client.eval(REPLACE, { keys: [wireKey(key)], arguments: values }))) === 1;
  }

  async delete(key: string): Promise<void> {
    await this.#command((client) => client.del(wireKey(key)));
  }

  async keys(prefix: string): Promise<readonly string[]> {
    const found = new Set<string>();
    let from = "0";
    do {
      const page = await this.#command((client) => client.scan(from, { MATCH: `${prefix.replace(/[\\*?[\]]/g, "\\$&")}*`, COUNT: PAGE }));
      for (const key of page.keys) found.add(key);
      from = page.cursor;
    } while (from !== "0");
    return [...found];
  }

  async close(): Promise<void> {
    this.#closing.abort(new AbortedError("the cache was closed"));
    this.#giveUp(this.#connection);
  }

  /** Loading the package and connecting do not count against the limit of a command: on a busy machine they take long. */
  async #command<T>(run: (client: Client) => Promise<T>): Promise<T> {
    const { timeout, shown } = this.#server;
    const redis = await (this.#package ??= optionalPackage("redis", "6", this.#server.load));
    const connection = (this.#connection ??= this.#connect(redis));
    let isConnected = false;
    try {
      const client = await untilAborted(connection, this.#closing.signal);
      isConnected = true;
      return await withTimeout(this.#server.clock, timeout, `a command to Redis at ${shown}`, this.#closing.signal, () => run(client));
    } catch (error) {
      const isReply = error instanceof redis.ErrorReply;
      if (!isReply || !isConnected) this.#giveUp(connection);
      throw isReply ? refused(shown, error) : unreachable(shown, error);
    }
  }

  async #connect({ createClient }: Awaited<ReturnType<LoadRedis>>): Promise<Client> {
    const { url, shown, connectTimeout } = this.#server;
    const client: Client = createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING,
      socket: { connectTimeout, reconnectStrategy: false },
    }) as Client;
    // Without a listener a lost connection would end the process. Its open commands report the loss.
    client.on("error", () => undefined);
    // A server that accepts the connection and never answers has no other limit.
    const what = `connecting to Redis at ${shown}`;
    try {
      await withTimeout(this.#server.clock, connectTimeout, what, this.#closing.signal, () => client.connect());
      return client;
    } catch (error) {
      destroy(client);
      throw error;
    }
  }

  #giveUp(connection: Promise<Client> | undefined): void {
    if (connection === undefined) return;
    if (this.#connection === connection) this.#connection = undefined;
    // The callers of a connection that failed already have its error.
    connection.then(destroy, () => undefined);
  }
}

/** Replies of a server that cannot answer yet or at all. */
const NOT_READY = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY)\b/;

function refused(shown: string, error: Error): CacheError {
  const said = thrownText(error);
  if (NOT_READY.test(said)) return unreachable(shown, error);
  const advice = /^(WRONGPASS|NOAUTH)\b|^ERR (AUTH|invalid password)/.test(said)
    ? "Put the user and the password that it wants into its address: redis://user:password@host."
    : "Look at the server, its room (maxmemory), the rights of this user (GET, SET, DEL, SCAN, EVAL), and who else writes this key.";
  return new CacheError("CACHE_REFUSED", `Expected Redis at ${shown} to do a command, got an error: ${said}. ${advice}`, { cause: error });
}

function unreachable(shown: string, error: unknown): CacheError {
  return new CacheError(
    "CACHE_UNREACHABLE",
    `Expected an answer of Redis at ${shown}, got none: ${thrownText(error)}. Start it, or look at its address.`,
    { cause: error },
  );
}

const PAGE = 1_000;

function wireTtl(ttl: number): number {
  return Math.max(1, Math.ceil(ttl));
}

/** Keys with a lone surrogate have no UTF-8 and are sent as JSON, and so are keys that begin like that JSON. */
function wireKey(key: string): string {
  const isKept = Buffer.from(key).toString() === key && !key.startsWith(JSON_MARK);
  return isKept ? key : `${JSON_MARK}${JSON.stringify(key)}`;
}

function destroy(client: Client): void {
  try {
    client.destroy();
  } catch {
    // It is closed already.
  }
}
