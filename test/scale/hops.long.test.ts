// @module-tag numbers
import { describe, expect, it } from "vitest";
import { resourcesOf, workOf } from "./work.ts";
import { played, players, stepper } from "./players.ts";

/** Blocks a hop for a listener of one event, which freezes that event: measured 255, of 290 of a hop that nobody listens to. */
const MOST_FOR_A_LISTENER = 300;
/** Measured six tenths of the work of a full hop. */
const MOST_OF_A_FULL_ONE = 0.8;

/** The difference of a long game and a short one: what a game costs to set up is in neither. */
async function perHop(few: number, many: number, cost: (hops: number) => Promise<number>): Promise<number> {
  const short = await cost(few);
  return ((await cost(many)) - short) / (many - few);
}

async function stepGame(n: number, kind: typeof stepper = stepper): Promise<void> {
  const environment = players(n, {}, kind);
  expect(await played(environment)).toBe(n);
  expect(environment.getRole("One")?.state["hits"]).toBe(Math.floor(n / 2) + 1);
}

async function game(n: number, listen: boolean = false): Promise<void> {
  const environment = players(n);
  let heard = 0;
  if (listen) environment.on("act.ended", () => void (heard += 1));
  expect(await played(environment)).toBe(n);
  expect(heard).toBe(listen ? n + 1 : 0);
}

describe("a hop", () => {
  it("does no more work after two thousand than after two hundred", async () => {
    await game(10);
    const short = (await workOf(() => game(200))) / 200;
    const long = (await workOf(() => game(2_000))) / 2_000;
    expect(short).toBeGreaterThan(10);
    expect(long).toBeLessThan(short * 1.5);
  });

  it("does little more work when somebody listens", async () => {
    await game(10, true);
    const alone = await workOf(() => game(300));
    expect(alone).toBeGreaterThan(300);
    expect(await workOf(() => game(300, true))).toBeLessThan(alone + 300 * MOST_FOR_A_LISTENER);
  });
});

describe("a hop of plain functions", () => {
  it("does a part of the work of one that observes, thinks and acts, and no more the longer the game is", async () => {
    await game(10);
    await stepGame(10);
    const full = await perHop(200, 2_000, (n) => workOf(() => game(n)));
    const plain = await perHop(200, 2_000, (n) => workOf(() => stepGame(n)));
    expect(plain).toBeGreaterThan(5);
    expect(plain).toBeLessThan(full * MOST_OF_A_FULL_ONE);
    expect(await perHop(3_000, 4_000, (n) => workOf(() => stepGame(n)))).toBeLessThan(plain * 1.5);
  });

  it("makes nothing that waits: a breath for very many, and not one for each", async () => {
    const made = async (n: number): Promise<ReadonlyMap<string, number>> => resourcesOf(() => stepGame(n));
    const [few, many] = [await made(100), await made(1_100)];
    for (const type of ["PROMISE", "Timeout", "Immediate", "TickObject", "Microtask"])
      expect((many.get(type) ?? 0) - (few.get(type) ?? 0), type).toBeLessThan(100);
    expect(many.get("PROMISE")).toBeGreaterThan(0);
  });
});
