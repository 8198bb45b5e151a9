import { describe, expect, it } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { CacheError } from "../../src/kernel/errors.ts";
import { type GuardedCache, guardedCache } from "../../src/adapters/guarded-cache.ts";
import { replaceIn } from "../../src/memory/cache.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { readStamped, stampedText } from "../../src/adapters/stamped-text.ts";
import { type SimulatedClock, simulatedClock } from "../../src/testing/index.ts";
import { errorOf } from "../workspace/scratch.ts";
import { gate } from "../memory/brain-setup.ts";
import { type FakeRemote, fakeRemote, PATIENCE } from "./fake-remote.ts";

const TTL = 600_000;
const START = 1_000_000;

interface Setup {
  readonly clock: SimulatedClock;
  readonly remote: FakeRemote;
  readonly local: ReturnType<typeof memoryCache>;
  readonly cache: GuardedCache;
  readonly told: string[];
}

function setup(earlier: Partial<Pick<Setup, "clock" | "remote" | "local">> = {}): Setup {
  const clock = earlier.clock ?? simulatedClock(START);
  const remote = earlier.remote ?? fakeRemote(clock);
  const local = earlier.local ?? memoryCache({ clock });
  const told: string[] = [];
  const logger = { debug() {}, error() {}, info: (text: string) => void told.push(text), warn: (text: string) => void told.push(text) };
  return { clock, remote, local, told, cache: guardedCache({ remote, local, clock, logger, cooldown: { first: 500, most: 4000 } }) };
}

function valueIn(remote: FakeRemote, key: string): string | undefined {
  return readStamped(remote.texts.get(key)?.text ?? "")?.value;
}

/** So long that everything that waits for a cooldown has had its turn. */
const LONG = 20_000;

describe("a guarded cache", () => {
  it("GuardedCache.G1 keeps every entry in both places", async () => {
    const { cache, remote, local } = setup();
    await cache.set("a", "1", TTL);
    expect(valueIn(remote, "a")).toBe("1");
    const near = await local.get("a");
    expect(near.kind === "hit" && readStamped(near.value)?.value).toBe("1");
  });

  it("GuardedCache.G1 fails a write only when neither place has it, and gives the reason", async () => {
    const { clock, remote } = setup();
    const full = new CacheError("CACHE_UNWRITABLE", "the disk is full");
    const local = {
      ...memoryCache({ clock }),
      get: async () => ({ kind: "miss" as const }),
      set: () => Promise.reject(full),
      close: async () => undefined,
    };
    const { cache } = setup({ clock, remote, local });
    await cache.set("a", "1", TTL);
    expect(valueIn(remote, "a")).toBe("1");
    remote.state = "unreachable";
    expect(await errorOf(() => cache.set("a", "2", TTL))).toBe(full);
  });

  it("GuardedCache.G2 what the remote lost with its contents the local place still has, and the remote gets it back", async () => {
    const { cache, remote, clock } = setup();
    await cache.set("a", "1", TTL);
    remote.texts.clear();
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "1" });
    expect(cache.health.behind).toBe(1);
    await clock.advance(LONG);
    expect([valueIn(remote, "a"), cache.health.behind]).toEqual(["1", 0]);
  });

  it("GuardedCache.G2 a remote that comes back with old contents hides nothing written meanwhile, also after a restart here", async () => {
    const first = setup();
    await first.cache.set("a", "old", TTL);
    first.remote.state = "unreachable";
    await first.cache.set("a", "new", TTL);
    // The process dies here: nothing is closed, and what it had to write back is forgotten.
    first.remote.state = "up";
    const { cache } = setup(first);
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "new" });
  });

  it("GuardedCache.G2 what another machine wrote later is what is read", async () => {
    const here = setup();
    const there = setup({ clock: here.clock, remote: here.remote });
    await here.cache.set("a", "here", TTL);
    await here.clock.advance(1);
    await there.cache.set("a", "there", TTL);
    expect(await here.cache.get("a")).toEqual({ kind: "hit", value: "there" });
  });

  it("GuardedCache.G3 GuardedRemote.R1 a silent remote is waited for once per cooldown, by the callers of that time", async () => {
    const { cache, remote, clock } = setup();
    remote.state = "silent";
    let done = 0;
    const waiting = [0, 1, 2].map((n) => cache.set(`key ${n}`, "1", TTL).then(() => done++));
    await nextMacrotask();
    expect([done, remote.asked]).toEqual([0, 3]);
    await clock.advance(PATIENCE);
    await Promise.all(waiting);
    for (let n = 0; n < 100; n++) await cache.set(`key ${n}`, "2", TTL);
    expect(await cache.get("key 99")).toEqual({ kind: "hit", value: "2" });
    expect([remote.asked, cache.health.remote]).toEqual([3, "down"]);
  });

  it("GuardedCache.G7 of a remote that is down, what is here answers, what is not is unknown, what was deleted here is gone", async () => {
    const { cache, remote, clock } = setup();
    remote.state = "unreachable";
    await cache.set("a", "1", TTL);
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "1" });
    await cache.delete("a");
    expect(await cache.get("a")).toEqual({ kind: "miss" });
    const unknown = await errorOf(() => cache.get("b"));
    expect(unknown).toMatchObject({ name: "CacheError", code: "CACHE_UNREACHABLE", cause: { message: "nobody is there" } });
    remote.state = "up";
    await clock.advance(LONG);
    expect(await cache.get("b")).toEqual({ kind: "miss" });
  });

  it("GuardedCache.G4 GuardedRemote.R3 what was missed is written back when the remote answers again, without a caller", async () => {
    const { cache, remote, clock, told } = setup();
    remote.state = "unreachable";
    for (let n = 0; n < 30; n++) await cache.set(`key ${n % 10}`, `value ${n}`, TTL);
    expect([cache.health.behind, remote.texts.size]).toEqual([10, 0]);
    await clock.advance(3000);
    remote.state = "up";
    await clock.advance(LONG);
    expect(cache.health).toEqual({ remote: "up", behind: 0, lastError: undefined });
    expect(Array.from({ length: 10 }, (_, n) => valueIn(remote, `key ${n}`))).toEqual(
      Array.from({ length: 10 }, (_, n) => `value ${20 + n}`),
    );
    expect(told).toEqual(["nobody is there", "The shared place of a cache answers again."]);
  });

  it("GuardedCache.G4 GuardedRemote.R2 a full remote is asked again later, and is not taken for one that is down", async () => {
    const { cache, remote, clock } = setup();
    await cache.set("b", "1", TTL);
    remote.state = "full";
    await cache.set("a", "1", TTL);
    expect(await cache.get("b")).toEqual({ kind: "hit", value: "1" });
    expect(cache.health).toMatchObject({ remote: "up", behind: 1, lastError: { code: "CACHE_REFUSED" } });
    await clock.advance(LONG);
    expect(cache.health.behind).toBe(1);
    remote.state = "up";
    await clock.advance(LONG);
    expect([cache.health.behind, valueIn(remote, "a")]).toEqual([0, "1"]);
  });

  it("GuardedCache.G4 nothing newer is overwritten by what is written back", async () => {
    const here = setup();
    const there = setup({ clock: here.clock, remote: here.remote });
    here.remote.state = "full";
    await here.cache.set("a", "here, earlier", TTL);
    here.remote.state = "up";
    await here.clock.advance(10);
    await there.cache.set("a", "there, later", TTL);
    await here.clock.advance(LONG);
    expect([valueIn(here.remote, "a"), here.cache.health.behind]).toEqual(["there, later", 0]);
  });

  it("GuardedCache.G4 WriteBackList.L2 what is written while an older one is being written back is not taken for written", async () => {
    const { cache, remote, clock } = setup();
    remote.state = "full";
    await cache.set("a", "1", TTL);
    const older = gate<undefined>();
    const { put } = remote;
    let puts = 0;
    remote.put = (...all) => (puts++ === 0 ? older.promise : put(...all));
    await clock.advance(500);
    await cache.set("a", "2", TTL);
    older.open(undefined);
    await nextMacrotask();
    expect([puts, cache.health.behind]).toEqual([2, 1]);
    remote.state = "up";
    await clock.advance(LONG);
    expect([valueIn(remote, "a"), cache.health.behind]).toEqual(["2", 0]);
  });

  it("GuardedCache.G4 what expired meanwhile is not written back", async () => {
    const { cache, remote, clock } = setup();
    remote.state = "unreachable";
    await cache.set("a", "1", 1000);
    await clock.advance(1000);
    remote.state = "up";
    await clock.advance(LONG);
    expect([cache.health.behind, remote.texts.size]).toEqual([0, 0]);
  });

  it("GuardedCache.G5 what was deleted while the remote was away does not come back with it", async () => {
    const { cache, remote, clock } = setup();
    await cache.set("a", "1", TTL);
    remote.state = "unreachable";
    await cache.delete("a");
    remote.state = "up";
    await clock.advance(100);
    expect(await cache.get("a")).toEqual({ kind: "miss" });
    await clock.advance(LONG);
    expect([valueIn(remote, "a"), cache.health.behind]).toEqual([undefined, 0]);
  });

  it("GuardedCache.G5 what another machine deleted is not brought back by the copy that is here", async () => {
    const here = setup();
    const there = setup({ clock: here.clock, remote: here.remote });
    await here.cache.set("a", "1", TTL);
    await here.clock.advance(1);
    await there.cache.delete("a");
    expect(await here.cache.get("a")).toEqual({ kind: "miss" });
    await here.clock.advance(LONG);
    expect(await there.cache.get("a")).toEqual({ kind: "miss" });
  });

  it("a clock that goes back makes no later write older, also after a restart", async () => {
    const before = setup();
    await before.cache.set("a", "1", TTL);
    const clock = simulatedClock(START - 5000);
    const after = setup({ ...before, clock });
    expect(await after.cache.get("a")).toEqual({ kind: "hit", value: "1" });
    after.remote.state = "unreachable";
    await after.cache.set("a", "2", TTL);
    after.remote.state = "up";
    expect(await after.cache.get("a")).toEqual({ kind: "hit", value: "2" });
  });

  it("who writes blindly against a machine whose clock is ahead is still the last to have written", async () => {
    const clock = simulatedClock(START);
    const remote = fakeRemote(clock);
    const ahead = setup({ clock: simulatedClock(START + 60_000), remote });
    await ahead.cache.set("a", "ahead", TTL);
    const { cache } = setup({ clock, remote });
    await cache.set("a", "behind", TTL);
    expect(valueIn(remote, "a")).toBe("behind");
  });

  it("Cache.C4 a damaged entry is no miss; a whole one in the other place answers and mends it", async () => {
    const { cache, remote, local, clock } = setup();
    const good = stampedText({ stamp: 7, expires: START + TTL, value: "good" });
    for (const bad of [good.slice(0, -1), good.replace("good", "goof"), good.replace("0000007", "0000008"), "", "{}"]) {
      remote.texts.set("both", { text: bad, expires: START + TTL });
      await local.set("both", bad, TTL);
      expect(await cache.get("both"), bad).toMatchObject({ kind: "damaged" });
      remote.texts.set("one", { text: bad, expires: START + TTL });
      await local.set("one", good, TTL);
      expect(await cache.get("one")).toEqual({ kind: "hit", value: "good" });
    }
    await clock.advance(LONG);
    expect(valueIn(remote, "one")).toBe("good");
  });

  it("Cache.C4 a damaged entry that claims to be of the far future is written over, by a write and by writing back", async () => {
    const { cache, remote, local, clock } = setup();
    const good = stampedText({ stamp: 7, expires: START + TTL, value: "good" });
    const bad = good.replace("troupe1 000000000000007", "troupe1 999999999999999");
    expect(bad).not.toBe(good);
    for (const key of ["set", "mended"]) remote.texts.set(key, { text: bad, expires: START + TTL });
    await local.set("mended", good, TTL);
    expect(await cache.get("mended")).toEqual({ kind: "hit", value: "good" });
    await cache.set("set", "new", TTL);
    await clock.advance(LONG);
    expect([valueIn(remote, "set"), valueIn(remote, "mended"), cache.health.behind]).toEqual(["new", "good", 0]);
    await cache.set("set", "newer", TTL);
    expect(await cache.get("set")).toEqual({ kind: "hit", value: "newer" });
  });

  it("closing writes back what is missing, and tells what it could not", async () => {
    const refused = setup();
    refused.remote.state = "full";
    await refused.cache.set("a", "1", TTL);
    refused.remote.state = "up";
    await refused.cache.close();
    expect([valueIn(refused.remote, "a"), refused.clock.pending]).toEqual(["1", 0]);
    const down = setup();
    down.remote.state = "unreachable";
    await down.cache.set("a", "1", TTL);
    await down.cache.close();
    expect([down.told.at(-1), down.clock.pending]).toEqual(["The cache was closed with 1 entries that only its local place has.", 0]);
  });

  it("a mistake of the program is not hidden behind the local place", async () => {
    const { clock, remote } = setup();
    const { cache } = setup({ clock, remote: Object.assign(remote, { get: () => Promise.reject(new RangeError("a mistake")) }) });
    for (let n = 0; n < 2; n++) await expect(cache.get("a")).rejects.toThrow("a mistake");
  });
});

describe("GuardedCache.G9 what the local place alone has", () => {
  const MINE = { expected: { kind: "miss" }, ttl: TTL } as const;

  it("[behind was 0 while a message was here alone] counts until it is joined with what another machine has written", async () => {
    const { cache, remote, clock } = setup();
    const other = setup({ clock, remote }).cache;
    remote.state = "unreachable";
    await replaceIn(cache, "a", "here", MINE);
    expect(cache.health.behind).toBe(1);
    remote.state = "up";
    await replaceIn(other, "a", "there", MINE);
    await clock.advance(LONG);
    expect([cache.health.remote, cache.health.behind]).toEqual(["up", 1]);
    const both = await cache.get("a");
    expect([both, cache.health.behind]).toEqual([{ kind: "hit", value: "there", other: "here" }, 1]);
    expect(await replaceIn(cache, "a", "both", { expected: both, ttl: TTL })).toBeUndefined();
    await clock.advance(LONG);
    expect([valueIn(remote, "a"), cache.health.behind]).toEqual(["both", 0]);
  });

  it.each([
    ["set", (cache: GuardedCache) => cache.set("a", "new", TTL)],
    ["delete", (cache: GuardedCache) => cache.delete("a")],
    ["its time is up", (_cache: GuardedCache, clock: SimulatedClock) => clock.advance(TTL)],
  ])("counts no more after: %s", async (_how, end) => {
    const { cache, remote, clock } = setup();
    remote.state = "unreachable";
    await replaceIn(cache, "a", "here", MINE);
    remote.state = "up";
    await replaceIn(setup({ clock, remote }).cache, "a", "there", MINE);
    await clock.advance(LONG);
    await end(cache, clock);
    expect(cache.health.behind).toBe(0);
  });

  it.each([true, false])(
    "counts, and is written back, also when the process that stored it has died; written elsewhere too: %s",
    async (isApart) => {
      const { cache, remote, local, clock } = setup();
      remote.state = "unreachable";
      await replaceIn(cache, "a", "here", MINE);
      remote.state = "up";
      if (isApart) await replaceIn(setup({ clock, remote }).cache, "a", "there", MINE);
      const { cache: next } = setup({ clock, remote, local });
      await next.get("anything else");
      await nextMacrotask();
      expect(next.health.behind).toBe(1);
      await clock.advance(LONG);
      expect([valueIn(remote, "a"), next.health.behind]).toEqual(isApart ? ["there", 1] : ["here", 0]);
    },
  );
});
