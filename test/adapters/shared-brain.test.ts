import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "redis";
import { describe, expect, it } from "vitest";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { redisCache } from "../../src/adapters/redis.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { tries } from "../long.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import { brainWith, idsOf, said, talk } from "../memory/brain-setup.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";
import { hasRedis, startRedis } from "./redis-process.ts";
import type { Task } from "./shared-brain-child.ts";

/*
 * Processes that start at once and use one conversation. `npm test` does it once with three of them, `npm run long -- numbers` ten times with six.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = await sourceProgram(fileURLToPath(new URL("shared-brain-child.ts", import.meta.url)));
const rounds = tries(1, 10);
const NAMES = ["a", "b", "c", "d", "e", "f"].slice(0, tries(3, 6));

/** The end of each load in a separate process. */
function loadedBy(task: Task): Promise<string[]> {
  const child = spawn(process.execPath, ["--input-type=module", "-", JSON.stringify(task)], { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
  // A process may be killed before it has read its program.
  child.stdin.on("error", () => undefined).end(program);
  let [out, trouble] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (trouble += text));
  return new Promise((resolve, reject) => {
    child.once("close", (code) =>
      code === 0 ? resolve(JSON.parse(out) as string[]) : reject(new Error(`ended with ${code}: ${trouble}`)),
    );
  });
}

function sayings(count: number): string[] {
  return NAMES.flatMap((name) => Array.from({ length: count }, (_, n) => `${name}.${n}`));
}

describe.runIf(hasRedis)("cold processes that load, add and save at once", async () => {
  const server = hasRedis ? await startRedis() : undefined;
  const url = server?.url ?? "";

  it.each(Array.from({ length: rounds }, (_, n) => n))(
    "BrainMemory.B6 each find the conversation and lose nothing of it: round %d",
    { tags: "numbers" },
    async () => {
      const client = await createClient({ url }).connect();
      await client.flushAll();
      client.destroy();
      const dir = scratchFolder();
      const cache = redisCache({ url, fallback: memoryCache(), timeout: 10_000 });
      const { brain } = brainWith(undefined, { cache, key: "shared" });
      talk(brain, 1, 2);
      await brain.save();
      // Two of them share a fallback, as processes of one machine do; each other has its own.
      const tasks = NAMES.map((name) => ({ url, dir: join(dir, name > "b" ? name : "shared"), name, count: 2 }));
      expect((await Promise.all(tasks.map(loadedBy))).flat()).toEqual(Array.from({ length: 2 * NAMES.length }, () => "loaded"));
      await brain.load();
      await cache.close();
      expect(idsOf(brain.history).toSorted()).toEqual([...sayings(2), "m1", "m2"].toSorted());
    },
  );
});

describe.runIf(hasRedis)("a server that stops for a moment", () => {
  it.each(["pause", "kill"] as const)(
    "Cache.C7 BrainMemory.B6 is distinguished from an empty one, and the conversation is whole afterwards: %s",
    async (how) => {
      const server = await startRedis();
      const steady = redisCache({ url: server.url, fallback: memoryCache(), timeout: 10_000 });
      const { brain: there } = brainWith(undefined, { cache: steady, key: "shared" });
      talk(there, 1, 2);
      await there.save();
      const cache = redisCache({ url: server.url, fallback: memoryCache(), timeout: 100, connectTimeout: 100 });
      const { brain } = brainWith(undefined, { cache, key: "shared" });
      await server[how]();
      expect(await errorOf(() => brain.load())).toMatchObject({ name: "CacheError", code: "CACHE_UNREACHABLE" });
      brain.addTalk(said(3));
      expect(await brain.save()).toBe(true);
      await (how === "kill" ? server.restart() : server.resume());
      // A process that has the conversation restores what a killed server has lost.
      await there.load();
      there.addTalk(said(4));
      await there.save();
      // A busy machine may miss an answer again.
      while (!idsOf(brain.history).includes("m4")) await brain.load();
      brain.addTalk(said(5));
      await brain.save();
      while (!idsOf(there.history).includes("m5")) {
        await brain.load();
        await there.load();
      }
      await Promise.all([cache.close(), steady.close()]);
      expect(idsOf(there.history).toSorted()).toEqual(["m1", "m2", "m3", "m4", "m5"]);
    },
  );
});

describe("processes with a cache in files", () => {
  it("Cache.C6 FileCache.F6 BrainMemory.B6 lose nothing of a conversation that all of them write", { tags: "numbers" }, async () => {
    const dir = scratchFolder();
    await Promise.all(NAMES.map((name) => loadedBy({ dir, name, count: 5 })));
    const { brain } = brainWith(undefined, { cache: fileCache({ dir }), key: "shared" });
    await brain.load();
    expect(idsOf(brain.history).toSorted()).toEqual(sayings(5).toSorted());
  });
});
