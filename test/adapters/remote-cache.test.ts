import { describe, expect, it } from "vitest";
import { RemoteCache } from "../../src/adapters/remote-cache.ts";
import { CacheError } from "../../src/kernel/errors.ts";
import type { Cache, CacheEntry } from "../../src/memory/cache.ts";
import { type SimulatedClock, simulatedClock } from "../../src/testing/index.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { errorOf } from "../workspace/scratch.ts";
import { type FakeRemote, fakeRemote } from "./fake-remote.ts";

const TTL = 600_000;

interface Setup {
  readonly clock: SimulatedClock;
  readonly remote: FakeRemote;
  readonly local: Cache;
  readonly cache: RemoteCache;
  readonly logged: string[];
}

/** A machine: with its own local cache, and with the remote of another one where given. */
function setup(earlier: Partial<Pick<Setup, "clock" | "remote" | "local">> = {}): Setup {
  const { clock = simulatedClock(1_000_000) } = earlier;
  const { remote = fakeRemote(clock), local = memoryCache({ clock }) } = earlier;
  const logged: string[] = [];
  const log = (text: string): void => void logged.push(text);
  const cache = new RemoteCache({ remote, local, clock, logger: { debug() {}, error() {}, info: log, warn: log } });
  return { clock, remote, local, cache, logged };
}

function hit(value: string, other?: string): CacheEntry {
  return { kind: "hit", value, ...(other === undefined ? {} : { other }) };
}

function textOf(value: string): string {
  return JSON.stringify({ value, expires: 1_000_000 + TTL });
}

describe("a cache on a server with a local copy", () => {
  it("RemoteCache.R1 answers from the local copy while the server is away, and says so once", async () => {
    const { cache, remote, logged } = setup();
    await cache.set("a", "1", TTL);
    remote.state = "unreachable";
    expect([await cache.get("a"), await cache.get("a")]).toEqual([hit("1"), hit("1")]);
    expect(await errorOf(() => cache.get("b"))).toMatchObject({ code: "CACHE_UNREACHABLE", cause: { message: "no server listens" } });
    remote.state = "up";
    expect(await cache.get("b")).toEqual({ kind: "miss" });
    expect(logged).toEqual(["no server listens Until then the local copy is used.", "The server of a cache answers again."]);
  });

  it("RemoteCache.R1 what another machine wrote or deleted later is what is read", async () => {
    const here = setup();
    const there = setup({ clock: here.clock, remote: here.remote });
    await here.cache.set("a", "here", TTL);
    await there.cache.set("a", "there", TTL);
    expect(await here.cache.get("a")).toEqual(hit("there"));
    await there.cache.delete("a");
    expect(await here.cache.get("a")).toEqual({ kind: "miss" });
  });

  it.each(["unreachable", "full"] as const)("RemoteCache.R2 what an %s server missed reaches it with the next use", async (state) => {
    const { cache, remote, clock, local } = setup();
    await cache.set("a", "old", TTL);
    remote.state = state;
    expect(await cache.replace("a", "new", { expected: hit("old"), ttl: TTL })).toBeUndefined();
    await cache.set("b", "set", TTL);
    remote.state = "up";
    // Another process of this machine.
    const { cache: next } = setup({ clock, remote, local });
    expect([await next.get("a"), await next.get("b")]).toEqual([hit("new"), hit("set")]);
    expect(["a", "b"].map((key) => remote.texts.get(key)?.text)).toEqual([textOf("new"), textOf("set")]);
  });

  it("RemoteCache.R2 what was stored alone never goes over what another machine wrote meanwhile: both are returned", async () => {
    const { cache, remote, clock } = setup();
    const { cache: other } = setup({ clock, remote });
    await cache.set("a", "old", TTL);
    remote.state = "unreachable";
    expect(await cache.replace("a", "here", { expected: hit("old"), ttl: TTL })).toBeUndefined();
    expect(await cache.replace("a", "here 2", { expected: hit("here"), ttl: TTL })).toBeUndefined();
    remote.state = "up";
    expect(await other.replace("a", "there", { expected: hit("old"), ttl: TTL })).toBeUndefined();
    expect([await cache.get("a"), await other.get("a")]).toEqual([hit("there", "here 2"), hit("there")]);
    expect(await cache.replace("a", "both", { expected: hit("there"), ttl: TTL })).toEqual(hit("there", "here 2"));
    expect(await cache.replace("a", "both", { expected: hit("there", "here 2"), ttl: TTL })).toBeUndefined();
    expect([await cache.get("a"), await other.get("a")]).toEqual([hit("both"), hit("both")]);
  });

  it("RemoteCache.R3 a write between the comparison and the replacement is noticed", async () => {
    const { cache, remote } = setup();
    await cache.set("a", "old", TTL);
    const { get } = remote;
    remote.get = async (key) => {
      const text = await get(key);
      remote.get = get;
      await remote.set(key, textOf("other"), TTL);
      return text;
    };
    expect(await cache.replace("a", "new", { expected: hit("old"), ttl: TTL })).toEqual(hit("other"));
  });

  it("RemoteCache.R4 a deletion and a list of keys need the server", async () => {
    const { cache, remote } = setup();
    await cache.set("a", "1", TTL);
    remote.state = "unreachable";
    for (const work of [() => cache.delete("a"), () => cache.keys("")]) {
      expect(await errorOf(work)).toMatchObject({ code: "CACHE_UNREACHABLE" });
    }
    remote.state = "up";
    expect([await cache.get("a"), await cache.keys("")]).toEqual([hit("1"), ["a"]]);
  });

  it("Cache.C4 a text of another program is damaged, and is overwritten only by `set` or with this expectation", async () => {
    const { cache, remote } = setup();
    for (const text of ["", "{}", '"cut', "7"]) {
      await remote.set("a", text, TTL);
      const entry = await cache.get("a");
      expect(entry).toMatchObject({ kind: "damaged" });
      expect(await cache.replace("a", "new", { ttl: TTL })).toEqual(entry);
      expect(await cache.replace("a", "new", { expected: entry, ttl: TTL })).toBeUndefined();
      expect(await cache.get("a")).toEqual(hit("new"));
    }
  });

  it("a write fails only when neither has it, and a fault of the program is not hidden", async () => {
    const full = new CacheError("CACHE_UNWRITABLE", "the disk is full");
    const clock = simulatedClock(1_000_000);
    const local: Cache = {
      get: async () => ({ kind: "miss" }),
      set: () => Promise.reject(full),
      delete: async () => undefined,
      close: async () => undefined,
    };
    const { cache, remote } = setup({ clock, local });
    await cache.set("a", "1", TTL);
    remote.state = "unreachable";
    expect(await errorOf(() => cache.set("a", "2", TTL))).toBe(full);
    remote.get = () => Promise.reject(new RangeError("a fault"));
    await expect(cache.get("a")).rejects.toThrow("a fault");
  });
});
