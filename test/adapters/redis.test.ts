import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { createClient } from "redis";
import { afterEach, describe, expect, it } from "vitest";
import { type LoadRedis, RedisConnection } from "../../src/adapters/redis-connection.ts";
import { redisCache } from "../../src/adapters/redis.ts";
import { nextMacrotask, systemClock } from "../../src/kernel/clock.ts";
import type { Cache } from "../../src/memory/cache.ts";
import type { GuardedCache } from "../../src/adapters/guarded-cache.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { readStamped, stampedText } from "../../src/adapters/stamped-text.ts";
import { cacheContract, simulatedClock } from "../../src/testing/index.ts";
import { errorOf } from "../workspace/scratch.ts";
import { gate } from "../memory/brain-setup.ts";
import { freePort } from "../kernel/free-port.ts";
import { hasRedis, startRedis } from "./redis-process.ts";

const MINUTE = 60_000;
const open: Cache[] = [];
const servers: Server[] = [];
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const cache of open.splice(0)) await cache.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers.splice(0)) server.close();
});

/** Milliseconds for a command: so many that no busy machine is taken for a server that is gone. */
const PATIENCE = 20_000;

function cacheAt(url: string, options: Partial<Parameters<typeof redisCache>[0]> = {}): GuardedCache {
  const cache = redisCache({ url, fallback: memoryCache(), timeout: PATIENCE, ...options });
  open.push(cache);
  return cache;
}

/** A server that takes connections and never says a word. */
async function silentServer(): Promise<{ readonly url: string; readonly connected: Promise<unknown> }> {
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.resume();
  });
  servers.push(server);
  const connected = once(server, "connection");
  const port = await freePort();
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve);
  });
  return { url: `redis://127.0.0.1:${port}`, connected };
}

describe.runIf(hasRedis)("with a real server", async () => {
  const server = hasRedis ? await startRedis() : undefined;
  const url = server?.url ?? "";

  // The contract moves the cache's clock, not the server's: the longest wait it makes is far below the real time to live.
  cacheContract({ describe, it, expect }, "redisCache", async (clock) => {
    const client = await createClient({ url }).connect();
    await client.flushAll();
    client.destroy();
    return redisCache({ url, fallback: memoryCache({ clock }), clock, timeout: PATIENCE });
  });

  it("keeps an entry in the server, for its time, under its key", async () => {
    await cacheAt(url).set("chat:ann:1", "hello", 30 * MINUTE);
    const client = await createClient({ url }).connect();
    expect(readStamped((await client.get("chat:ann:1")) ?? "")?.value).toBe("hello");
    const left = await client.pTTL("chat:ann:1");
    expect(left).toBeGreaterThan(29 * MINUTE);
    expect(left).toBeLessThanOrEqual(30 * MINUTE);
    client.destroy();
    expect(await cacheAt(url).get("chat:ann:1")).toEqual({ kind: "hit", value: "hello" });
  });

  it("GuardedCache.G4 the server itself keeps the newer of two texts, whichever comes first", async () => {
    const connection = new RedisConnection({
      url,
      shown: "it",
      timeout: 5000,
      connectTimeout: 5000,
      clock: systemClock,
      load: () => import("redis"),
    });
    const expires = Date.now() + MINUTE;
    expect(await connection.put("two", stampedText({ stamp: 20, expires, value: "new" }), 20, MINUTE)).toBeUndefined();
    expect(await connection.put("two", stampedText({ stamp: 3, expires, value: "old" }), 3, MINUTE)).toBe(20);
    expect(readStamped((await connection.get("two")) ?? "")?.value).toBe("new");
    expect(await connection.put("two", stampedText({ stamp: 100, expires, value: "newest" }), 100, MINUTE)).toBeUndefined();
    expect(readStamped((await connection.get("two")) ?? "")?.value).toBe("newest");
    await connection.close();
  });

  it("Cache.C4 tells an entry that somebody else has written from a miss, and writes over it", async () => {
    const client = await createClient({ url }).connect();
    await client.set("foreign", '{"history": []}');
    await client.hSet("other kind", "field", "value");
    client.destroy();
    const cache = cacheAt(url);
    expect(await cache.get("foreign")).toMatchObject({ kind: "damaged" });
    await cache.set("foreign", "mine", MINUTE);
    expect(await cache.get("foreign")).toEqual({ kind: "hit", value: "mine" });
    await cache.set("other kind", "mine", MINUTE);
    expect(await cache.get("other kind")).toEqual({ kind: "hit", value: "mine" });
    expect(cache.health).toMatchObject({ remote: "up", behind: 1, lastError: { code: "CACHE_REFUSED" } });
  });

  it("a wrong password makes no call fail, is told, and stays out of what is told", async () => {
    const guarded = await startRedis("--requirepass", "right-word");
    const told: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void told.push(text) };
    const cache = cacheAt(`redis://:wrong-word@127.0.0.1:${guarded.port}`, { logger });
    await cache.set("a", "1", MINUTE);
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "1" });
    expect(cache.health.lastError).toMatchObject({ code: "CACHE_REFUSED", message: expect.stringMatching(/WRONGPASS.*password/) });
    expect(cache.health.lastError?.message).not.toMatch(/start it/i);
    expect(await errorOf(() => cache.get("b"))).toMatchObject({ code: "CACHE_UNREACHABLE", message: expect.stringContaining("WRONGPASS") });
    const nameless = cacheAt(`redis://127.0.0.1:${guarded.port}`);
    await nameless.set("a", "1", MINUTE);
    expect(nameless.health.lastError).toMatchObject({ code: "CACHE_REFUSED", message: expect.stringMatching(/NOAUTH.*password/) });
    expect(told.join()).toContain(`127.0.0.1:${guarded.port}`);
    expect(`${told.join()}${cache.health.lastError?.message}`).not.toContain("wrong-word");
    const right = cacheAt(`redis://:right-word@127.0.0.1:${guarded.port}`);
    await right.set("a", "2", MINUTE);
    expect(right.health).toEqual({ remote: "up", behind: 0, lastError: undefined });
  });
});

describe("without a server", () => {
  it("nobody listens: every call is answered", async () => {
    const cache = cacheAt(`redis://127.0.0.1:${await freePort()}`);
    await cache.set("a", "1", MINUTE);
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "1" });
    expect(cache.health).toMatchObject({ remote: "down", behind: 1, lastError: { code: "CACHE_UNREACHABLE" } });
  });

  it("RedisConnection.C1 a server that accepts and never answers is waited for by the callers of that time, not by the next", async () => {
    const clock = simulatedClock();
    const server = await silentServer();
    const cache = cacheAt(server.url, { connectTimeout: 20_000, clock, fallback: memoryCache({ clock }) });
    let done = 0;
    const sets = Array.from({ length: 50 }, (_, n) => cache.set(`key ${n}`, "1", MINUTE).then(() => done++));
    await server.connected;
    expect(done).toBe(0);
    await clock.advance(20_000);
    await Promise.all(sets);
    for (let n = 0; n < 50; n++) expect(await cache.get(`key ${n}`)).toEqual({ kind: "hit", value: "1" });
    expect([cache.health.remote, cache.health.behind, sockets.size]).toEqual(["down", 50, 1]);
  });

  it("RedisConnection.C3 is closed at once, also while a command waits", async () => {
    const server = await silentServer();
    // No time passes, so only the closing can end it.
    const cache = cacheAt(server.url, { clock: simulatedClock() });
    const waiting = errorOf(() => cache.get("a"));
    await server.connected;
    await cache.close();
    expect(await waiting).toMatchObject({ code: "CACHE_UNREACHABLE" });
  });

  it("RedisConnection.C2 a command that fails late leaves the connection alone that is in use by then", async () => {
    const clients: { readonly answers: ReturnType<typeof gate<string>>[]; isClosed: boolean }[] = [];
    const create = (): object => {
      const made = { answers: [] as ReturnType<typeof gate<string>>[], isClosed: false };
      clients.push(made);
      const get = (): Promise<string> => {
        const answer = gate<string>();
        made.answers.push(answer);
        return answer.promise;
      };
      return { on() {}, connect: async () => undefined, destroy: () => void (made.isClosed = true), get };
    };
    const load = (async () => ({ createClient: create, ErrorReply: class extends Error {} })) as unknown as LoadRedis;
    const connection = new RedisConnection({ url: "", shown: "it", timeout: 1, connectTimeout: 1, clock: simulatedClock(), load });
    const [early, late] = [errorOf(() => connection.get("a")), errorOf(() => connection.get("b"))];
    await nextMacrotask();
    clients[0]?.answers[0]?.fail(new Error("cut"));
    expect(await early).toMatchObject({ code: "CACHE_UNREACHABLE" });
    const next = connection.get("c");
    await nextMacrotask();
    clients[0]?.answers[1]?.fail(new Error("cut"));
    expect(await late).toMatchObject({ code: "CACHE_UNREACHABLE" });
    clients[1]?.answers[0]?.open("there");
    expect(await next).toBe("there");
    void connection.get("d");
    await nextMacrotask();
    expect(clients.map(({ answers, isClosed }) => [answers.length, isClosed])).toEqual([
      [2, true],
      [2, false],
    ]);
  });

  it("the package is missing: every question says what to install, and is not answered in silence", async () => {
    const load = (): Promise<never> => Promise.reject(Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" }));
    const connection = new RedisConnection({
      url: "redis://localhost",
      shown: "it",
      timeout: 1000,
      connectTimeout: 1000,
      clock: systemClock,
      load,
    });
    for (const work of [() => connection.get("a"), () => connection.put("a", "", 1, 1), () => connection.get("a")]) {
      expect(await errorOf(work)).toMatchObject({ code: "PACKAGE_MISSING", message: expect.stringContaining("npm install redis") });
    }
  });

  it.each(["", "localhost:6379", "http://localhost", "redis://"])("refuses %j as an address, without repeating it", (url) => {
    expect(() => redisCache({ url })).toThrow(expect.objectContaining({ code: "REDIS_URL_INVALID" }));
  });

  it.each([0, -1, Number.NaN])("refuses a timeout of %d", (timeout) => {
    expect(() => redisCache({ url: "redis://localhost", connectTimeout: timeout })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
    expect(() => redisCache({ url: "redis://localhost", timeout })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
