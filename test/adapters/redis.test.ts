import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { createClient } from "redis";
import { afterEach, describe, expect, it } from "vitest";
import { type LoadRedis, RedisConnection } from "../../src/adapters/redis-connection.ts";
import { redisCache } from "../../src/adapters/redis.ts";
import { nextMacrotask, systemClock } from "../../src/kernel/clock.ts";
import type { Cache } from "../../src/memory/cache.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { revisionOf } from "../../src/adapters/remote-cache.ts";
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

function cacheAt(url: string, options: Partial<Parameters<typeof redisCache>[0]> = {}): Cache {
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
    expect(await client.get("chat:ann:1")).toMatch(/^{"value":"hello","expires":\d+}$/);
    const left = await client.pTTL("chat:ann:1");
    expect(left).toBeGreaterThan(29 * MINUTE);
    expect(left).toBeLessThanOrEqual(30 * MINUTE);
    client.destroy();
    expect(await cacheAt(url).get("chat:ann:1")).toEqual({ kind: "hit", value: "hello" });
  });

  it("RemoteCache.R3 the server replaces only the revision that was compared", async () => {
    const load = (): ReturnType<LoadRedis> => import("redis");
    const connection = new RedisConnection({ url, shown: "it", timeout: PATIENCE, connectTimeout: PATIENCE, clock: systemClock, load });
    expect(await connection.replace("two", "猫", revisionOf(undefined), MINUTE)).toBe(true);
    expect(await connection.replace("two", "new", revisionOf("dog"), MINUTE)).toBe(false);
    expect(await connection.replace("two", "new", revisionOf(undefined), MINUTE)).toBe(false);
    expect(await connection.replace("two", "new", revisionOf("猫"), MINUTE)).toBe(true);
    expect(await connection.get("two")).toBe("new");
    await connection.close();
  });

  it("Cache.C4 reports an entry of another program as damaged, and overwrites it", async () => {
    const client = await createClient({ url }).connect();
    await client.set("foreign", '{"history": []}');
    await client.hSet("other kind", "field", "value");
    client.destroy();
    const cache = cacheAt(url);
    expect(await cache.get("foreign")).toMatchObject({ kind: "damaged" });
    await cache.set("foreign", "mine", MINUTE);
    expect(await cache.get("foreign")).toEqual({ kind: "hit", value: "mine" });
    expect(await errorOf(() => cache.get("other kind"))).toMatchObject({ cause: { code: "CACHE_REFUSED" } });
    await cache.set("other kind", "mine", MINUTE);
    expect(await cache.get("other kind")).toEqual({ kind: "hit", value: "mine" });
  });

  it("a wrong password is logged, without the password, and the local copy is used", async () => {
    const guarded = await startRedis("--requirepass", "right-word");
    const logged: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void logged.push(text) };
    for (const user of [":wrong-word@", ""]) {
      const cache = cacheAt(`redis://${user}127.0.0.1:${guarded.port}`, { logger });
      await cache.set("a", "1", MINUTE);
      expect(await cache.get("a")).toEqual({ kind: "hit", value: "1" });
    }
    expect(logged.join()).toMatch(new RegExp(`127.0.0.1:${guarded.port}.*WRONGPASS.*password.*NOAUTH.*password`, "s"));
    expect(logged.join()).not.toContain("wrong-word");
    expect(logged.join()).not.toMatch(/start it/i);
  });
});

describe("without a server", () => {
  it("without a listener every call is answered", async () => {
    const cache = cacheAt(`redis://127.0.0.1:${await freePort()}`);
    await cache.set("a", "1", MINUTE);
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "1" });
  });

  it("RedisConnection.C1 a server that accepts and never answers is waited for once by all callers of that time", async () => {
    const clock = simulatedClock();
    const server = await silentServer();
    const cache = cacheAt(server.url, { connectTimeout: 20_000, clock, fallback: memoryCache({ clock }) });
    let done = 0;
    const sets = Array.from({ length: 50 }, (_, n) => cache.set(`key ${n}`, "1", MINUTE).then(() => done++));
    await server.connected;
    expect(done).toBe(0);
    await clock.advance(20_000);
    await Promise.all(sets);
    expect(sockets.size).toBe(1);
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
