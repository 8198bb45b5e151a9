import type { Cache, CacheEntry } from "../../memory/cache.ts";
import { type SimulatedClock, simulatedClock } from "../simulated-clock.ts";
import { checkContract, codeOf, checksOf, type ContractKit } from "./contract-kit.ts";

export type MakeCache = (clock: SimulatedClock) => Cache | Promise<Cache>;

const MINUTE = 60_000;
const START = 1_800_000_000_000;

/**
 * The contract of every {@link Cache}.
 *
 * Cache.C1 `get` returns the value of a resolved `set` until it is deleted, replaced or expired. Cache.C2 of two overlapping writes the
 * later call counts. Cache.C3 keys and values are any string. Cache.C5 closing twice is no error; later calls throw `CACHE_CLOSED`.
 * Cache.C6 of concurrent `replace` calls with one expectation, one writes. Implementations check damaged entries (Cache.C4) and unreachable
 * places (Cache.C7).
 */
export function cacheContract(kit: ContractKit, name: string, make: MakeCache): void {
  checkContract("cacheContract", kit, name, make);
  kit.describe(`${name} keeps the contract of a cache`, () => {
    const check: CacheChecks["check"] = (title, body) => {
      const clock = simulatedClock(START);
      checksOf(kit, () => make(clock)).check(title, (cache) => body(cache, clock));
    };
    const checks = { check, expect: kit.expect };
    keepingChecks(checks);
    forgettingChecks(checks);
    textChecks(checks);
    replacingChecks(checks);
    closingChecks(checks);
  });
}

interface CacheChecks {
  check(title: string, body: (cache: Cache, clock: SimulatedClock) => Promise<void>): void;
  readonly expect: ContractKit["expect"];
}

function keepingChecks({ check, expect }: CacheChecks): void {
  check("Cache.C1 what was set is there, what was not is a miss, and keys keep apart", async (cache) => {
    await cache.set("a", "1", MINUTE);
    await cache.set("b", "2", MINUTE);
    expect([await cache.get("a"), await cache.get("b"), await cache.get("c")]).toEqual([hit("1"), hit("2"), miss]);
  });

  check("Cache.C1 a later value replaces the earlier, and its time with it", async (cache, clock) => {
    await cache.set("a", "1", MINUTE);
    await cache.set("a", "2", 3 * MINUTE);
    await clock.advance(2 * MINUTE);
    expect(await cache.get("a")).toEqual(hit("2"));
  });

  check("Cache.C2 of writes that overlap the last asked for stays", async (cache) => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => cache.set("a", `value ${n}`, MINUTE)));
    expect(await cache.get("a")).toEqual(hit("value 19"));
    await Promise.all([cache.set("a", "again", MINUTE), cache.delete("a")]);
    expect(await cache.get("a")).toEqual(miss);
    await Promise.all([cache.delete("a"), cache.set("a", "and again", MINUTE)]);
    expect(await cache.get("a")).toEqual(hit("and again"));
  });
}

function forgettingChecks({ check, expect }: CacheChecks): void {
  check("Cache.C1 an entry whose time is up is a miss, and one whose is not is there", async (cache, clock) => {
    await cache.set("short", "1", MINUTE);
    await cache.set("long", "2", 2 * MINUTE);
    await clock.advance(MINUTE - 1);
    expect(await cache.get("short")).toEqual(hit("1"));
    await clock.advance(1);
    expect([await cache.get("short"), await cache.get("long")]).toEqual([miss, hit("2")]);
  });

  check("Cache.C1 what was deleted is a miss, and can be set again; deleting nothing is no error", async (cache) => {
    await cache.set("a", "1", MINUTE);
    await cache.delete("a");
    await cache.delete("a");
    expect(await cache.get("a")).toEqual(miss);
    await cache.set("a", "2", MINUTE);
    expect(await cache.get("a")).toEqual(hit("2"));
  });

  check("Cache.C1 a time to live that cannot pass is refused, and nothing is stored", async (cache) => {
    for (const ttl of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(await codeOf(() => cache.set("a", "1", ttl))).toBe("TTL_INVALID");
    expect(await cache.get("a")).toEqual(miss);
  });
}

const ODD_TEXTS: readonly string[] = [
  "",
  "..",
  "../../etc/passwd",
  "a/b\\c",
  "a:b",
  "A",
  "\u0000\r\n\u001b[2J",
  "__proto__",
  "猫と🎭",
  "half a character: \ud83c",
  "x".repeat(5000),
];

function textChecks({ check, expect }: CacheChecks): void {
  check("Cache.C3 any text is a key of its own", async (cache) => {
    const keys = [...ODD_TEXTS, "a", "half a character: \ud83d"];
    for (const [place, key] of keys.entries()) await cache.set(key, `value ${place}`, MINUTE);
    const found: unknown[] = [];
    for (const key of keys) found.push(await cache.get(key));
    expect(found).toEqual(keys.map((_, place) => hit(`value ${place}`)));
  });

  check("Cache.C3 any text is a value, also a megabyte", async (cache) => {
    for (const value of [...ODD_TEXTS, "猫 and cat ".repeat(90_000)]) {
      await cache.set("a", value, MINUTE);
      const entry = await cache.get("a");
      expect(entry.kind === "hit" && entry.value === value).toBe(true);
    }
  });
}

function replacingChecks({ check, expect }: CacheChecks): void {
  check("Cache.C6 replaces what is as expected, and else returns the present value", async (cache, clock) => {
    if (cache.replace === undefined) return;
    expect(await cache.replace("a", "1", { ttl: MINUTE })).toBe(undefined);
    expect(await cache.get("a")).toEqual(hit("1"));
    expect(await cache.replace("a", "2", { expected: miss, ttl: MINUTE })).toEqual(hit("1"));
    expect(await cache.replace("a", "2", { expected: hit("3"), ttl: MINUTE })).toEqual(hit("1"));
    expect(await cache.replace("a", "2", { expected: hit("1"), ttl: 2 * MINUTE })).toBe(undefined);
    await clock.advance(2 * MINUTE - 1);
    expect(await cache.get("a")).toEqual(hit("2"));
    await clock.advance(1);
    expect(await cache.replace("a", "3", { expected: hit("2"), ttl: MINUTE })).toEqual(miss);
    expect(await cache.replace("a", "3", { ttl: MINUTE })).toBe(undefined);
    await cache.delete("a");
    expect(await cache.replace("a", "4", { expected: hit("3"), ttl: MINUTE })).toEqual(miss);
    expect(await cache.replace("a", "4", { expected: miss, ttl: MINUTE })).toBe(undefined);
    expect(await codeOf(() => cache.replace?.("a", "5", { expected: hit("4"), ttl: 0 }))).toBe("TTL_INVALID");
    expect(await cache.get("a")).toEqual(hit("4"));
  });

  check("Cache.C6 of several at once that expect the same one writes, and whoever tries again loses nothing", async (cache) => {
    if (cache.replace === undefined) return;
    const outcomes = await Promise.all(Array.from({ length: 8 }, async (_, n) => cache.replace?.("one", `value ${n}`, { ttl: MINUTE })));
    expect(outcomes.filter((outcome) => outcome === undefined).length).toBe(1);
    await Promise.all(Array.from({ length: 6 }, (_, n) => appended(cache, `${n} `)));
    const entry = await cache.get("list");
    const parts = entry.kind === "hit" ? entry.value.trim().split(" ") : [];
    expect(parts.toSorted()).toEqual(["0", "1", "2", "3", "4", "5"]);
  });
}

async function appended(cache: Cache, text: string): Promise<void> {
  let seen: CacheEntry | undefined = { kind: "miss" };
  for (;;) {
    const before: string = seen.kind === "hit" ? seen.value : "";
    const now: CacheEntry | undefined = await cache.replace?.("list", `${before}${text}`, { expected: seen, ttl: MINUTE });
    if (now === undefined) return;
    seen = now;
  }
}

function closingChecks({ check, expect }: CacheChecks): void {
  check("Cache.C5 closing twice is no error, and then nothing is answered", async (cache) => {
    await cache.set("a", "1", MINUTE);
    expect([await codeOf(() => cache.close()), await codeOf(() => cache.close())]).toEqual(["resolved", "resolved"]);
    const codes = [
      await codeOf(() => cache.get("a")),
      await codeOf(() => cache.set("a", "2", MINUTE)),
      await codeOf(() => cache.delete("a")),
    ];
    expect(codes).toEqual(["CACHE_CLOSED", "CACHE_CLOSED", "CACHE_CLOSED"]);
  });
}

const miss = { kind: "miss" } as const;

function hit(value: string): { readonly kind: "hit"; readonly value: string } {
  return { kind: "hit", value };
}
