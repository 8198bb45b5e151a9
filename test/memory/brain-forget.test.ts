import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { redisCache } from "../../src/adapters/redis.ts";
import { BrainMemory, createMessage, memoryJournal } from "../../src/index.ts";
import { forget } from "../../src/memories.ts";
import type { Cache } from "../../src/memory/cache.ts";
import type { MemoryScope } from "../../src/memory/memory-scope.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { hasRedis, startRedis } from "../adapters/redis-process.ts";

const CANARY = "canary778899";
const model = scriptedModel(() => `They spoke of ${CANARY}.`);
const NOW = Date.now();

function brainIn(cache: Cache, key: MemoryScope | string = "chat"): BrainMemory {
  return new BrainMemory({ model, cache, key, maxMessages: 4 });
}

function said(n: number, content: string, age = 0): ReturnType<typeof createMessage> {
  return createMessage(content, { id: `${n}`, timestamp: NOW - age });
}

async function loaded(cache: Cache, key?: MemoryScope | string): Promise<BrainMemory> {
  const brain = brainIn(cache, key);
  await brain.load();
  return brain;
}

describe("a message that is deleted from a brain memory", () => {
  it("is gone from history, knowledge and the last talk, and does not come back from what others have stored", async () => {
    const cache = memoryCache();
    const mine = brainIn(cache);
    mine.addTalk(said(1, CANARY));
    mine.addKnowledge(said(2, `${CANARY} is a code`));
    await mine.save();
    const theirs = await loaded(cache);
    expect([mine.delete("1"), mine.delete(said(2, "")), mine.delete("3"), mine.lastTalk]).toEqual([true, true, false, undefined]);
    await mine.save();
    theirs.addAnswer(said(4, "I see."));
    await theirs.save();
    const now = JSON.stringify(await loaded(cache));
    expect([now.includes(CANARY), now.includes("I see.")]).toEqual([false, true]);
  });

  it("takes the summary that covers it along, here and in what others have stored", async () => {
    const cache = memoryCache();
    const mine = brainIn(cache);
    for (let n = 0; n < 12; n += 1) mine.addTalk(said(n, n === 0 ? CANARY : `x${n}`));
    await mine.compress();
    await mine.save();
    const theirs = await loaded(cache);
    expect([mine.summary.includes(CANARY), mine.delete("0"), mine.summary]).toEqual([true, true, ""]);
    await mine.save();
    theirs.addAnswer(said(99, "I see."));
    await theirs.save();
    const now = await loaded(cache);
    expect([JSON.stringify(now).includes(CANARY), now.history.at(-1)?.content]).toEqual([false, "I see."]);
  });

  it("is not the last talk any more, whether it is summarized here, or deleted by others", async () => {
    const cache = memoryCache();
    const mine = brainIn(cache);
    mine.addTalk(said(0, CANARY));
    await mine.save();
    const other = brainIn(memoryCache());
    other.addTalk(said(0, CANARY));
    for (let n = 1; n < 12; n += 1) other.addAnswer(said(n, `x${n}`));
    await other.compress();
    expect([other.lastTalk, other.delete("0"), other.lastTalk]).toEqual([CANARY, true, undefined]);
    const fresh = brainIn(cache);
    fresh.addKnowledge(said(0, CANARY));
    fresh.delete("0");
    await fresh.save();
    expect(JSON.stringify(await loaded(cache))).not.toContain(CANARY);
  });

  it("may be added again", () => {
    const brain = new BrainMemory({ model });
    brain.addTalk(said(1, "a"));
    expect([brain.delete("1"), brain.addTalk(said(1, "a")), brain.history.length]).toEqual([true, true, 1]);
  });
});

const caches: readonly (readonly [string, () => Promise<{ readonly cache: Cache; readonly close: () => Promise<void> }>])[] = [
  ["in memory", async () => ({ cache: memoryCache(), close: async () => {} })],
  ["in files", async () => ({ cache: fileCache({ dir: mkdtempSync(join(tmpdir(), "troupe-cache-")) }), close: async () => {} })],
  ...(hasRedis
    ? [
        [
          "in Redis",
          async () => {
            const server = await startRedis();
            const fallback = fileCache({ dir: mkdtempSync(join(tmpdir(), "troupe-cache-")) });
            const cache = redisCache({ url: server.url, fallback, timeout: 20_000 });
            const close = async (): Promise<void> => {
              await cache.close();
              await server.kill();
            };
            return { cache, close };
          },
        ] as const,
      ]
    : []),
];

describe.each(caches)("brain memories of a scope %s", (_name, make) => {
  it("are found by it, separate, and forgotten by it; a process that has one stores only what came since", async () => {
    const { cache, close } = await make();
    const of = (user: string): MemoryScope => ({ role: "Guide", tenant: "shop", user });
    for (const user of ["ann", "b*n"]) {
      const brain = brainIn(cache, of(user));
      brain.addTalk(said(1, `${user} ${CANARY}`, 1_000));
      await brain.save();
    }
    const open = await loaded(cache, of("ann"));
    expect(open.history.map(({ content }) => content)).toEqual([`ann ${CANARY}`]);
    expect(await forget({ user: "ann" }, { journal: memoryJournal(), caches: [cache] })).toEqual({ runs: 0, texts: 0, messages: 1 });
    open.addTalk(said(2, "hello again", -60_000));
    await open.save();
    expect((await loaded(cache, of("ann"))).history.map(({ content }) => content)).toEqual(["hello again"]);
    expect((await loaded(cache, of("b*n"))).history.map(({ content }) => content)).toEqual([`b*n ${CANARY}`]);
    await close();
  });
});

describe("forget of a brain memory", () => {
  it("leaves no byte of it in the files of its cache, and an open one elsewhere stores nothing of it", async () => {
    const dir = mkdtempSync(join(tmpdir(), "troupe-cache-"));
    const cache = fileCache({ dir });
    const brain = brainIn(cache);
    brain.addTalk(said(1, CANARY, 1_000));
    await brain.save();
    const other = await loaded(cache);
    other.addAnswer(said(2, `You said ${CANARY}`, 500));
    await brain.forget();
    await other.save();
    const kept = readdirSync(join(dir, "entries")).map((name) => readFileSync(join(dir, "entries", name), "utf8"));
    expect([kept.join("").includes(CANARY), other.history]).toEqual([false, []]);
  });
});
