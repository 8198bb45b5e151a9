// @module-tag science
import { describe, expect, it } from "vitest";
import { explore } from "../../../src/research/index.ts";
import { figure } from "../../long.ts";
import { plants } from "./planted-faults.ts";
import type { Plant } from "./planted-worlds.ts";

/** No test ends by the time that it takes. */
const PATIENCE = 3_600_000;
const SCHEDULES = 600;
const SEEDS = [1, 2, 3, 4, 5];

/** The median number of schedules until the fault is found; one more than the limit if it is not. */
async function foundAfter({ world, claims, kind }: Plant, by: "orders" | "random"): Promise<number> {
  const counts: number[] = [];
  for (const seed of SEEDS) {
    const { findings } = await explore(world(true), { ...claims, by, seed, schedules: SCHEDULES, findings: 1, ms: PATIENCE });
    counts.push(findings.find((finding) => finding.kind === kind)?.foundAt ?? SCHEDULES + 1);
  }
  return counts.toSorted((a, b) => a - b)[Math.floor(SEEDS.length / 2)] as number;
}

describe("planted faults", { tags: ["science", "long"] }, () => {
  const sums = { orders: 0, random: 0 };

  it.each(plants)("$name: is found, and nothing where it is repaired", async (plant) => {
    const [orders, random] = [await foundAfter(plant, "orders"), await foundAfter(plant, "random")];
    sums.orders += orders;
    sums.random += random;
    figure(`explore: ${plant.name}: found after ${orders} schedules, by random walks after ${random}`);
    expect(orders).toBeLessThanOrEqual(SCHEDULES);
    const repaired = await explore(plant.world(false), { ...plant.claims, ms: PATIENCE });
    expect([repaired.isComplete, repaired.findings]).toEqual([true, []]);
  });

  it("are found with at most half the schedules of random walks, all together", () => {
    expect(2 * sums.orders).toBeLessThanOrEqual(sums.random);
  });
});
