import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/kernel/clock.ts";
import { allocatedBy, resourcesOf, workOf } from "./work.ts";
import { played, players } from "./players.ts";

/** Made for one hop at most. A hop that gets by with less lowers these; one that needs more says why. */
const MOST_PROMISES = 0;
const MOST_TIMERS = 0;
const MOST_BYTES = 20_000;
/** Others in the process make one now and then. */
const STRAY = 0.5;

/** The difference of a long game and a short one: what a game costs to set up is in neither. */
async function perHop(few: number, many: number, cost: (hops: number) => Promise<number>): Promise<number> {
  const short = await cost(few);
  return ((await cost(many)) - short) / (many - few);
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

  it("makes no more promises and timers than are known of", async () => {
    const made = (type: string) => perHop(100, 300, async (n) => (await resourcesOf(() => game(n))).get(type) ?? 0);
    expect(await made("PROMISE")).toBeLessThan(MOST_PROMISES + STRAY);
    expect(await made("Timeout")).toBeLessThan(MOST_TIMERS + STRAY);
    expect((await made("Immediate")) * 100).toBeLessThanOrEqual(1);
  });

  it("takes a bounded number of bytes, however long the game is", async () => {
    await game(500);
    const early = await perHop(200, 600, (n) => allocatedBy(() => game(n)));
    const late = await perHop(4_000, 6_000, (n) => allocatedBy(() => game(n)));
    expect(early).toBeLessThan(MOST_BYTES);
    expect(late).toBeLessThan(early * 1.5);
  });

  it("does not do twice as much when somebody listens", async () => {
    await game(10, true);
    const alone = await workOf(() => game(300));
    const heard = await workOf(() => game(300, true));
    expect(alone).toBeGreaterThan(3_000);
    expect(heard).toBeLessThan(alone * 2);
  });

  it("asks the clock a bounded number of times", async () => {
    const asked = await perHop(100, 300, async (n) => {
      let times = 0;
      const clock = { ...systemClock, now: () => (times += 1) };
      await played(players(n, { clock }));
      return times;
    });
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(5);
  });
});
