import { totalmem } from "node:os";
import { describe, expect, it, vi } from "vitest";

import { defineRole, UsageError } from "../../src/index.ts";
import { assertPopulationFits, environmentOf, populationNeed, runShards, shardedWorld } from "../../src/shards/index.ts";
import { inOne, inShards, town } from "./comparison.ts";

describe("a world over shards", () => {
  it("Shard.SH1 has the states and the log of one environment", async () => {
    const params = { size: 9, talk: 3, faults: true, seed: "a" };
    const [one, three] = await Promise.all([inOne(params), inShards(params, 3)]);
    expect(one.activations).toBeGreaterThan(15);
    expect(three).toEqual(one);
  });

  it.each([
    ["more shards than a machine has cores", { module: town, shards: 10_000 }, "OPTION_INVALID"],
    ["no module", {}, "ARGUMENT_INVALID"],
  ])("refuses %s before a thread starts", async (_, options, code) => {
    await expect(runShards(options as never)).rejects.toMatchObject({ name: "UsageError", code });
  });

  it.each([
    ["a function", { make: () => 1 }, "at $.params.make, got function"],
    ["a map", [new Map()], "at $.params[0], got Map"],
  ])("refuses %s in its parameters before a thread starts", async (_, params, text) => {
    const message = expect.stringContaining(text) as string;
    await expect(runShards({ module: town, params: params as never })).rejects.toMatchObject({ code: "NOT_JSON", message });
  });

  it("refuses more threads than the memory holds before a thread starts", async () => {
    const memory = vi.spyOn(process, "constrainedMemory").mockReturnValue(200e6);
    const message = expect.stringContaining("0 roles in 4 shards") as string;
    await expect(runShards({ module: town, shards: 4 })).rejects.toMatchObject({ code: "POPULATION_TOO_LARGE", message });
    memory.mockRestore();
  });
});

describe("the need of a population", () => {
  it("grows with roles and messages, and a million roles need less than 2 GB", () => {
    const { heap, process: whole } = populationNeed({ roles: 1_000_000 });
    expect([heap < 1.4e9, whole > 1.5e9, whole < 2e9]).toEqual([true, true, true]);
    expect(populationNeed({ roles: 1_000_000, messages: 0 }).heap).toBeLessThan(heap);
    expect(() => populationNeed({ roles: -1 })).toThrow(UsageError);
  });

  it("counts the names that every thread knows, and is refused where the machine has less memory", () => {
    const million = { roles: 1_000_000 };
    expect(populationNeed({ ...million, shards: 4 }).heap).toBeGreaterThan(populationNeed(million).heap + 3 * 200e6);
    expect(() => populationNeed({ ...million, shards: 0 })).toThrow(UsageError);
    const shards = Math.ceil(totalmem() / 200e6);
    expect(() => assertPopulationFits({ ...million, shards })).toThrow(
      expect.objectContaining({
        code: "POPULATION_TOO_LARGE",
        message: expect.stringMatching(/ MB that this machine has\. Take a larger/) as string,
      }),
    );
  });

  it("is told by environmentOf and by runShards before a role is hired", async () => {
    // Two roles of one name would be refused when they are hired.
    const twins = `Array.from({ length: 300_000 }, () => ({ role: { name: "Twin" } }))`;
    const memory = vi.spyOn(process, "constrainedMemory").mockReturnValue(200e6);
    const world = shardedWorld(() => ({ roles: Array.from({ length: 300_000 }, () => ({ role: defineRole({ name: "Twin" }) })) }));
    const prepare = vi.fn<() => void>();
    const need = expect.objectContaining({
      code: "POPULATION_TOO_LARGE",
      data: { need: expect.any(Number) as number, limit: 200e6 },
    }) as Error;
    expect(() => environmentOf(world, { params: null, prepare })).toThrow(need);
    expect(prepare).not.toHaveBeenCalled();
    memory.mockRestore();
    const text = `import { shardedWorld } from ${JSON.stringify(new URL("../../dist/src/shards/index.js", import.meta.url).href)};
      process.constrainedMemory = () => 200e6;
      export const world = shardedWorld(() => ({ roles: ${twins} }));`;
    const module = `data:text/javascript,${encodeURIComponent(text)}`;
    await expect(runShards({ module, shards: 2 })).rejects.toMatchObject({
      code: "POPULATION_TOO_LARGE",
      message: expect.stringMatching(/300000 roles in 2 shards, which need about \d+ MB/) as string,
    });
  });

  it("is told before a role is hired, with the remedy", () => {
    expect(() => assertPopulationFits({ roles: 1_000 })).not.toThrow();
    expect(() => assertPopulationFits({ roles: Math.floor(totalmem() / 2_000) })).toThrow(
      expect.objectContaining({ code: "POPULATION_TOO_LARGE", message: expect.stringContaining("--max-old-space-size") as string }),
    );
  });
});
