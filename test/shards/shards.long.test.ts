// @module-tag fleet
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runShards } from "../../src/shards/index.ts";
import { faulty, inOne, inShards } from "./comparison.ts";

describe("a world over shards", () => {
  it("property: Shard.SH1 has the states and the log of one environment at 1, 2, 3, 4 and 7 shards", async () => {
    const towns = fc.record({
      size: fc.integer({ min: 1, max: 40 }),
      talk: fc.integer({ min: 0, max: 8 }),
      faults: fc.boolean(),
      seed: fc.string({ maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(towns, async (params) => {
        const one = await inOne(params);
        for (const shards of [1, 2, 3, 4, 7]) expect(await inShards(params, shards), `${shards} shards`).toEqual(one);
      }),
      { numRuns: 8 },
    );
  });

  it("ShardedRun.SR2 tells the failure of a role, when the others have ended their round", async () => {
    for (const shards of [1, 2]) {
      const { reason, failure, activations } = await runShards({ module: faulty, params: { fault: "throw" }, shards, seed: 1 });
      expect([reason, failure?.message, activations]).toEqual(["failed", expect.stringContaining("no more"), 1]);
    }
  });
});

describe("a mailbox without room for the messages of a round", () => {
  it("Shard.SH1 fails the run before the round ends in any shard", async () => {
    const params = { fault: "none", says: ["Bad", "<self>"], more: ["Too"], options: { mailbox: { limit: 1 } } };
    for (const shards of [1, 2]) {
      const { failure, rounds, activations } = await runShards({ module: faulty, params, shards, seed: 1 });
      expect([failure?.code, rounds, activations]).toEqual(["MAILBOX_FULL", 0, 3]);
    }
  });
});

describe("ShardedRun.SR1 a thread that", () => {
  it("ends is named in the error of the run", async () => {
    await expect(runShards({ module: faulty, params: { fault: "exit" } })).rejects.toMatchObject({
      code: "SHARD_DIED",
      data: { shard: 1 },
    });
  });

  it("never returns ends the run after its limit, or when the signal aborts", async () => {
    const params = { fault: "hang" };
    const late = runShards({ module: faulty, params, roundLimit: 20_000 });
    await expect(late).rejects.toMatchObject({ name: "TimeoutError", message: expect.stringContaining("shard 1") as string });
    const stopped = new AbortController();
    const run = runShards({ module: faulty, params, signal: stopped.signal });
    stopped.abort(new Error("enough"));
    await expect(run).rejects.toMatchObject({ name: "AbortedError" });
  });

  it.each([
    ["a scheduler without simultaneous rounds", { module: faulty, params: { options: { scheduler: "eager" } } }, "SHARDS_SCHEDULER"],
    ["a seed in the options of a world", { module: faulty, params: { options: { seed: "a" } } }, "WORLD_INVALID"],
    ["a module without a world", { module: new URL("comparison-none.mjs", import.meta.url).href }, "SHARD_FAILED"],
    ["a module that exports another thing", { module: "data:text/javascript,export const world = 3" }, "WORLD_INVALID"],
  ])("gets %s is refused", async (_, options, code) => {
    await expect(runShards(options)).rejects.toMatchObject({ name: "UsageError", code });
  });

  it.each([["two roles of one name", { more: ["Bad"] }, /got a second "Bad"\. Hire it under another name\.$/]])(
    "gets %s says what to do about that alone, and which shard it is",
    async (_, params, text) => {
      const message = expect.stringMatching(text) as string;
      await expect(runShards({ module: faulty, params, shards: 1 })).rejects.toMatchObject({ message, data: { shard: 0 } });
    },
  );

  it("throws before it has a world is refused with what it threw", async () => {
    const module = "data:text/javascript,throw new Error('no file.')";
    const message = expect.stringContaining("for shard 0, but no file. Correct the module") as string;
    await expect(runShards({ module, shards: 1 })).rejects.toMatchObject({ code: "SHARD_FAILED", message });
  });
});
