import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CacheError } from "../../src/kernel/errors.ts";
import type { BrainMemory } from "../../src/memory/brain-memory.ts";
import type { Cache } from "../../src/memory/cache.ts";
import { RemoteCache } from "../../src/adapters/remote-cache.ts";
import { silentLogger as logger } from "../../src/kernel/emit.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { scriptedModel, simulatedClock } from "../../src/testing/index.ts";
import { errorOf } from "../workspace/scratch.ts";
import { brainWith, idsOf, said, talk } from "./brain-setup.ts";
import { type FakeRemote, fakeRemote } from "../adapters/fake-remote.ts";
import { tries } from "../long.ts";

const KEY = "shared";

async function brainIn(cache: Cache, name = "s"): Promise<BrainMemory> {
  const { brain } = brainWith(
    scriptedModel((_request, n) => `summary ${name}${n + 1}`),
    { cache, key: KEY, ttl: 1e9 },
  );
  return brain;
}

async function loaded(cache: Cache, name?: string): Promise<BrainMemory> {
  const brain = await brainIn(cache, name);
  await brain.load();
  return brain;
}

/** A conversation of so many messages. */
async function begun(cache: Cache, count: number): Promise<void> {
  const brain = await brainIn(cache);
  talk(brain, 1, count);
  await brain.save();
}

describe("two memories of one conversation", () => {
  it("BrainMemory.B6 BrainEntry.P1 one that never loaded writes over nothing", async () => {
    const cache = memoryCache();
    await begun(cache, 2);
    const blind = await brainIn(cache);
    blind.addTalk(said(3));
    expect(await blind.save()).toBe(true);
    expect(idsOf((await loaded(cache)).history)).toEqual(["m1", "m2", "m3"]);
  });

  it("BrainMemory.B6 one that adds takes over the summary of another that has continued for hundreds of messages", async () => {
    const cache = memoryCache();
    await begun(cache, 30);
    const busy = await loaded(cache, "b");
    await busy.compress();
    const idle = await loaded(cache);
    for (let first = 31; first < 300; first += 10) {
      talk(busy, first, first + 9);
      await busy.compress();
    }
    await busy.save();
    idle.addTalk(said(900));
    expect(await idle.save()).toBe(true);
    expect([idsOf(idle.history), idle.summary]).toEqual([[...idsOf(busy.history), "m900"], busy.summary]);
  });

  it("BrainMemory.B6 two that summarize at once have one summary in the end, and nothing is covered that it does not cover", async () => {
    const cache = memoryCache();
    await begun(cache, 12);
    const [one, two] = [await loaded(cache, "one "), await loaded(cache, "two ")];
    await Promise.all([one.compress(), two.compress()]);
    const stored = await loaded(cache);
    expect(stored.summary).toMatch(/^summary (one|two) 1$/);
    expect([one.summary, two.summary]).toEqual([stored.summary, stored.summary]);
    expect(idsOf(stored.history)).toEqual(["m11", "m12"]);
  });

  it("BrainMemory.B6 two that both changed the summary keep both summaries", async () => {
    const cache = memoryCache();
    await begun(cache, 2);
    const [one, two] = [await loaded(cache), await loaded(cache)];
    one.setHistorySummary("first");
    two.addTalk(said(3));
    two.setHistorySummary("second");
    await one.save();
    expect([await two.save(), (await loaded(cache)).summary]).toEqual([true, "first\n\nsecond"]);
  });

  it("BrainMemory.B6 an entry that is no memory is not overwritten by a memory that did not load", async () => {
    const cache = memoryCache();
    await cache.set(KEY, "somebody's note", 1e9);
    const brain = await brainIn(cache);
    brain.addTalk(said(1));
    expect(await errorOf(() => brain.save())).toMatchObject({ code: "MEMORY_CONFLICT" });
    expect(await cache.get(KEY)).toEqual({ kind: "hit", value: "somebody's note" });
  });

  it("BrainMemory.B6 one whose conversation was deleted or has expired stores all that it holds", async () => {
    const cache = memoryCache();
    await begun(cache, 2);
    const brain = await loaded(cache);
    await cache.delete(KEY);
    brain.addTalk(said(3));
    await brain.save();
    expect(idsOf((await loaded(cache)).history)).toEqual(["m1", "m2", "m3"]);
  });

  it(
    "BrainMemory.B6 whatever several do in whatever order, every message that was saved is there or summarized",
    { tags: "numbers" },
    async () => {
      const doing = fc.constantFrom("add", "save", "load", "compress", "begin");
      const steps = fc.array(fc.tuple(fc.nat(2), doing, fc.boolean()), { maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const cache = memoryCache();
          const brains = [await brainIn(cache, "a"), await brainIn(cache, "b"), await brainIn(cache, "c")];
          const pending: string[][] = [[], [], []];
          const saved = new Set<string>();
          let [said_, waiting] = [0, [] as Promise<unknown>[]];
          for (const [who, what, isAtOnce] of all) {
            const brain = brains[who] as BrainMemory;
            const done = async (): Promise<unknown> => {
              if (what === "load") return brain.load();
              if (what === "compress") return brain.compress();
              const ids = pending[who] ?? [];
              pending[who] = [];
              return what === "save" ? brain.save().then(() => ids.forEach((id) => saved.add(id))) : undefined;
            };
            if (what === "begin") brains[who] = await brainIn(cache, `${who}`);
            if (what === "begin") pending[who] = [];
            else if (what === "add") {
              talk(brain, ++said_, said_);
              pending[who]?.push(`m${said_}`);
            } else waiting.push(done());
            if (isAtOnce) continue;
            await Promise.all(waiting);
            waiting = [];
          }
          await Promise.all(waiting);
          const { history, covered } = (await loaded(cache)).toJSON();
          const kept = new Set([...history.map(({ id }) => id), ...covered]);
          expect([...saved].filter((id) => !kept.has(id))).toEqual([]);
        }),
        { numRuns: tries(34, 400) },
      );
    },
  );
});

interface Machine {
  readonly cache: Cache;
  readonly local: Cache;
}

/** Machines with a local place each, and one shared place. */
function machines(): { readonly remote: FakeRemote; readonly clock: ReturnType<typeof simulatedClock>; machine(local?: Cache): Machine } {
  const clock = simulatedClock(1_000_000);
  const remote = fakeRemote(clock);
  return {
    remote,
    clock,
    machine(local = memoryCache({ clock })) {
      return { local, cache: new RemoteCache({ remote, local, clock, logger }) };
    },
  };
}

describe("a memory whose shared cache goes away", () => {
  it("Cache.C7 BrainEntry.P2 throws when no cache answers, which is not an empty entry", async () => {
    const { remote, clock, machine } = machines();
    await begun(machine().cache, 2);
    remote.state = "unreachable";
    const { cache } = machine();
    const brain = await brainIn(cache);
    expect(await errorOf(() => brain.load())).toMatchObject({ name: "CacheError", code: "CACHE_UNREACHABLE" });
    expect(await errorOf(() => brain.load())).toBeInstanceOf(CacheError);
    remote.state = "up";
    expect(await brain.load()).toEqual({ kind: "loaded" });
    expect(await (await brainIn(machine().cache)).load()).toEqual({ kind: "loaded" });
    await clock.advance(1e9);
    expect(await brain.load()).toEqual({ kind: "nothing" });
  });

  it("BrainMemory.B6 RemoteCache.R2 writes over nothing that it could not ask for: what it saved meanwhile is added", async () => {
    const { remote, machine } = machines();
    await begun(machine().cache, 2);
    remote.state = "unreachable";
    const { cache } = machine();
    const brain = await brainIn(cache);
    await errorOf(() => brain.load());
    brain.addTalk(said(3));
    expect(await brain.save()).toBe(true);
    remote.state = "up";
    // Its own stored part does not go over the conversation by itself either.
    expect(idsOf((await loaded(machine().cache)).history)).toEqual(["m1", "m2"]);
    brain.addTalk(said(4));
    await brain.save();
    expect(idsOf((await loaded(machine().cache)).history)).toEqual(["m1", "m2", "m3", "m4"]);
  });

  it("BrainMemory.B6 RemoteCache.R2 finds what it saved alone after its process has died, beside what others wrote since", async () => {
    const { remote, clock, machine } = machines();
    const here = machine();
    await begun(here.cache, 2);
    const there = await loaded(machine().cache);
    const brain = await loaded(here.cache);
    remote.state = "unreachable";
    brain.addTalk(said(3));
    await brain.save();
    remote.state = "up";
    await clock.advance(100);
    there.addTalk(said(4));
    await there.save();
    // Another process of the machine, with the local place that was left behind.
    const later = await loaded(machine(here.local).cache);
    expect([idsOf(later.history), later.isDirty]).toEqual([["m1", "m2", "m4", "m3"], true]);
    await later.save();
    expect(idsOf((await loaded(machine().cache)).history)).toEqual(["m1", "m2", "m4", "m3"]);
    expect((await loaded(machine(here.local).cache)).isDirty).toBe(false);
  });

  it("BrainMemory.B6 RemoteCache.R2 what was saved alone reaches the cache with the next use where no one else has written", async () => {
    const { remote, machine } = machines();
    const { cache } = machine();
    await begun(cache, 2);
    const brain = await loaded(cache);
    remote.state = "full";
    brain.addTalk(said(3));
    await brain.save();
    remote.state = "unreachable";
    brain.addTalk(said(4));
    await brain.save();
    remote.state = "up";
    await brain.load();
    expect(idsOf((await loaded(machine().cache)).history)).toEqual(["m1", "m2", "m3", "m4"]);
  });
});
