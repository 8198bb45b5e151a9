import type { RedisClientType } from "redis";
import { untilAborted, withTimeout } from "../kernel/abort.ts";
import { type Clock, nextMacrotask } from "../kernel/clock.ts";
import { AbortedError, CacheError, UsageError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import type { RemoteCache, RemoteReplace, RemoteReplaced } from "./guarded-cache.ts";
import { NO_BODY, STAMP_DIGITS, STAMP_MARK, stampDigits } from "./stamped-text.ts";

/** Loads the `redis` package. */
export type LoadRedis = () => Promise<RedisPackage>;

type RedisPackage = Pick<typeof import("redis"), "createClient" | "ErrorReply">;

/** How the server is reached. */
export interface RedisServer {
  readonly url: string;
  /** The server as errors may name it: without user and password. */
  readonly shown: string;
  /** Milliseconds for one command over a connection. */
  readonly timeout: number;
  /** Milliseconds for making a connection. */
  readonly connectTimeout: number;
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
 * Compares by what follows the first line: where a text of this package stands there, its stamp, its time and its checksum. A text of others has no such
 * sum; the caller knows that it is damaged. `stamp` is what stands there and is no earlier than the one that was to be written.
 */
const REPLACE = `
local old = redis.call('GET', KEYS[1])
local sum = '${NO_BODY}'
if old then
  local line = string.find(old, '\\n', 1, true)
  local body = line and string.sub(old, line + 1) or old
  if body ~= '' then sum = redis.sha1hex(body) end
end
if sum ~= ARGV[2] then return 'differs' end
if old and string.sub(old, 1, ${STAMP_MARK.length}) == '${STAMP_MARK}' then
  local stamp = string.sub(old, ${STAMP_MARK.length + 1}, ${STAMP_MARK.length + STAMP_DIGITS})
  if stamp >= ARGV[3] then return stamp end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[4])
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
  readonly #patient: Clock;

  constructor(server: RedisServer) {
    this.#server = server;
    this.#patient = patientClock(server.clock);
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.#command((client) => client.get(wireKey(key)))) ?? undefined;
  }

  async put(key: string, text: string, stamp: number, ttl: number): Promise<number | undefined> {
    const values = [text, stampDigits(stamp), wireTtl(ttl)];
    const later = await this.#command((client) => client.eval(PUT, { keys: [wireKey(key)], arguments: values }));
    return typeof later === "string" && later !== "" ? Number(later) : undefined;
  }

  async replace(key: string, text: string, { stamp, expected, ttl }: RemoteReplace): Promise<RemoteReplaced> {
    const values = [text, expected, stampDigits(stamp), wireTtl(ttl)];
    const said = await this.#command((client) => client.eval(REPLACE, { keys: [wireKey(key)], arguments: values }));
    if (said === "") return { kind: "written" };
    return said === "differs" ? { kind: "differs" } : { kind: "later", stamp: Number(said) };
  }

  async close(): Promise<void> {
    this.#closing.abort(new AbortedError("the cache was closed"));
    this.#giveUp(this.#connection);
  }

  /** Reading the package and connecting are not part of the time that a command has: the first question of a busy machine takes long. */
  async #command<T>(run: (client: Client) => Promise<T>): Promise<T> {
    const { timeout, shown } = this.#server;
    const redis = await (this.#package ??= loaded(this.#server.load));
    const connection = (this.#connection ??= this.#connect(redis));
    let isConnected = false;
    try {
      const client = await untilAborted(connection, this.#closing.signal);
      isConnected = true;
      return await withTimeout(this.#patient, timeout, `a command to Redis at ${shown}`, this.#closing.signal, () => run(client));
    } catch (error) {
      const isReply = error instanceof redis.ErrorReply;
      if (!isReply || !isConnected) this.#giveUp(connection);
      throw isReply ? refused(shown, error) : unreachable(shown, error);
    }
  }

  async #connect({ createClient }: RedisPackage): Promise<Client> {
    const { url, shown, connectTimeout } = this.#server;
    const client: Client = createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MOST_WAITING,
      socket: { connectTimeout, reconnectStrategy: false },
    }) as Client;
    // Without a listener a lost connection would end the process. The commands that it takes along tell of it.
    client.on("error", () => undefined);
    // A server that takes the connection and says nothing has no other limit.
    const what = `connecting to Redis at ${shown}`;
    try {
      await withTimeout(this.#patient, connectTimeout, what, this.#closing.signal, () => client.connect());
      return client;
    } catch (error) {
      destroy(client);
      throw error;
    }
  }

  /** Only the connection that failed: another may have taken its place. */
  #giveUp(connection: Promise<Client> | undefined): void {
    if (connection === undefined) return;
    if (this.#connection === connection) this.#connection = undefined;
    // One that was never made has told its failure to whoever waited for it.
    connection.then(destroy, () => undefined);
  }
}

/** Replies of a server that cannot answer yet or at all. */
const NOT_READY = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY)\b/;
/** What to do about an error by which a server answers. */
const ADVICE: readonly (readonly [said: RegExp, advice: string])[] = [
  [
    /^(WRONGPASS|NOAUTH)\b|^ERR (AUTH|invalid password)/,
    "Put the user and the password that it wants into its address: redis://user:password@host.",
  ],
  [/^NOPERM\b/, "Give this user the right to GET, SET and EVAL."],
  [/^OOM\b/, "Give it room (maxmemory)."],
  [/^(READONLY|MISCONF)\b/, "It takes no writes: look at its disk, or name the server that does."],
];

function refused(shown: string, error: Error): CacheError {
  const said = thrownText(error);
  if (NOT_READY.test(said)) return unreachable(shown, error);
  const advice = ADVICE.find(([form]) => form.test(said))?.[1] ?? "Look at the server and at who else writes this key.";
  return new CacheError("CACHE_REFUSED", `Expected Redis at ${shown} to do a command, got an error: ${said}. ${advice}`, { cause: error });
}

function unreachable(shown: string, error: unknown): CacheError {
  return new CacheError(
    "CACHE_UNREACHABLE",
    `Expected an answer of Redis at ${shown}, got none: ${thrownText(error)}. Start it, or look at its address.`,
    { cause: error },
  );
}

/** A clock whose timers look once more at what has come: a process that was busy for long has answers that nobody has read yet. */
function patientClock(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    timer(ms, call) {
      let isCancelled = false;
      const cancel = clock.timer(ms, () => void nextMacrotask().then(() => (isCancelled ? undefined : call())));
      return () => {
        isCancelled = true;
        cancel();
      };
    },
  };
}

function wireTtl(ttl: number): string {
  return String(Math.max(1, Math.ceil(ttl)));
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
