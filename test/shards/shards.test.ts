import { describe, expect, it, vi } from "vitest";

import { createMessage, defineRole, UsageError } from "../../src/index.ts";
import { delay } from "../../src/runtime/record/delivery.ts";
import type { Sent } from "../../src/runtime/record/event.ts";
import { addRoleState, OUTSIDE, RunState } from "../../src/runtime/record/run-state.ts";
import { Packer, unpack } from "../../src/shards/shard.ts";
import { environmentOf, populationNeed, runShards, shardedWorld } from "../../src/shards/index.ts";
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

describe("a packet", () => {
  it("Packer.PK1 has each message once for each shard with recipients, in its sender's order, of its own roles only", () => {
    const state = new RunState("run");
    const hired = { fingerprint: "", traits: {}, state: {} };
    for (let place = 0; place < 4; place += 1) addRoleState(state, `p${place}`, hired);
    const sent = (id: string, to: readonly string[]): Sent => ({ message: createMessage(id, { id, sendTo: to }), to });
    state.pending = [
      { order: 1, sent: sent("a", ["p0", "p2", "p3"]) },
      { order: 1, sent: sent("b", ["p3"]) },
      { order: 2, sent: sent("c", ["p0"]) },
      { order: OUTSIDE, sent: sent("d", ["p3"]) },
    ];
    const [own, other, ...more] = new Packer(state, 0, 2).pack();
    expect([own, more]).toEqual(["", []]);
    expect(unpack(other ?? "").map(([order, { message, to }]) => [order, message.id, to])).toEqual([
      [1, "a", ["p2", "p3"]],
      [1, "b", ["p3"]],
    ]);
    expect(state.pending).toHaveLength(4);
  });

  it("Packer.PK2 has a delayed message in the round in which it was sent, and looks at none that waits", () => {
    const state = new RunState("run");
    const packer = withTwoRoles(state);
    const looks = vi.spyOn(state.delayed, "inOrder");
    const later = (id: string): void => {
      const sent: Sent = { message: createMessage(id, { id, sendTo: ["p1"] }), to: ["p1"], due: 9 };
      delay(state, { order: 0, sent }, 9);
      delay(state, { order: 0, sent, part: true }, 9);
    };
    const packed = (): readonly string[] => packer.pack().flatMap((packet) => unpack(packet).map(([, { message }]) => message.id));
    later("a");
    later("b");
    expect(packed()).toEqual(["a", "b"]);
    later("c");
    expect([packed(), packed()]).toEqual([["c"], []]);
    expect(state.delayed.size).toBe(6);
    expect(looks).not.toHaveBeenCalled();
  });
});

/** The packer of the first of two shards, each with one role. */
function withTwoRoles(state: RunState): Packer {
  for (const name of ["p0", "p1"]) addRoleState(state, name, { fingerprint: "", traits: {}, state: {} });
  const packer = new Packer(state, 0, 2);
  state.shard = { from: 0, to: 1, delayed: (one) => packer.delayed(one) };
  return packer;
}

describe("the need of a population", () => {
  it("grows with roles and messages, and a million roles need less than 2 GB", () => {
    const { heap, process: whole } = populationNeed({ roles: 1_000_000 });
    expect([heap < 1.4e9, whole > 1.5e9, whole < 2e9]).toEqual([true, true, true]);
    expect(populationNeed({ roles: 1_000_000, messages: 0 }).heap).toBeLessThan(heap);
    expect(() => populationNeed({ roles: -1 })).toThrow(UsageError);
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
});
