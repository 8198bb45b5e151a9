import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/kernel/clock.ts";
import type { RoleState } from "../../src/runtime/record/role-state.ts";
import { allocatedBy, resourcesOf, workOf } from "./work.ts";
import { counter, played, players, stepper } from "./players.ts";

/** Made for one hop at most. A hop that gets by with less lowers these; one that needs more says why. */
const MOST_PROMISES = 0;
const MOST_TIMERS = 0;
/** The two that are waited for, before its end and after it, and what the engine makes to wait. */
const MOST_PROMISES_OF_A_ROUND = 4;
/** 2,200 to 2,700 were measured. */
const MOST_BYTES = 4_500;
/** Stretches of code that are run: 211 were counted, and 248 with a listener. */
const MOST_WORK = 280;
const MOST_OF_A_SILENT_ONE = 1.5;
/** The same of a role that is a plain function with a state: measured 1,600 to 1,900, and six tenths of the work of a full one. */
const MOST_BYTES_OF_A_STEP = 3_000;
const MOST_OF_A_FULL_ONE = 0.8;
/** Others in the process make one now and then. */
const STRAY = 0.5;

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

async function countingGame(n: number): Promise<void> {
  await stepGame(n, counter);
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
    const once = async (type: string, n: number) => (await resourcesOf(() => game(n))).get(type) ?? 0;
    // Others in the process only ever add: the least of several counts is what the game makes.
    const made = (type: string) => perHop(100, 300, async (n) => Math.min(await once(type, n), await once(type, n), await once(type, n)));
    expect(await made("PROMISE")).toBeLessThan(MOST_PROMISES + STRAY);
    expect(await made("Timeout")).toBeLessThan(MOST_TIMERS + STRAY);
    expect((await made("Immediate")) * 100).toBeLessThanOrEqual(1);
  });

  it("makes few promises for a round, and none for its turns", async () => {
    const inRounds = (n: number): Promise<unknown> => played(players(n, { scheduler: "rounds" }));
    const once = async (n: number): Promise<number> => (await resourcesOf(() => inRounds(n))).get("PROMISE") ?? 0;
    const made = await perHop(100, 300, async (n) => Math.min(await once(n), await once(n), await once(n)));
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(MOST_PROMISES_OF_A_ROUND + STRAY);
  });

  it("takes a bounded number of bytes, however long the game is", async () => {
    await game(500);
    const early = await perHop(200, 600, (n) => allocatedBy(() => game(n)));
    const late = await perHop(4_000, 6_000, (n) => allocatedBy(() => game(n)));
    expect(early).toBeLessThan(MOST_BYTES);
    expect(late).toBeLessThan(early * 1.5);
  });

  it("does a bounded amount of work, and little more when somebody listens", async () => {
    await game(10, true);
    const alone = await workOf(() => game(300));
    const heard = await workOf(() => game(300, true));
    expect(alone / 300).toBeGreaterThan(10);
    expect(alone / 300).toBeLessThan(MOST_WORK);
    expect(heard).toBeLessThan(alone * MOST_OF_A_SILENT_ONE);
  });

  it("looks up no more who hears it: that was done for the first", async () => {
    const looked = await perHop(100, 300, async (n) => {
      const environment = players(n);
      const { roles } = environment.state;
      let times = 0;
      roles.get = (name) => {
        times += 1;
        return Map.prototype.get.call(roles, name) as RoleState | undefined;
      };
      expect(await played(environment)).toBe(n);
      expect(times).toBeGreaterThan(0);
      return times;
    });
    expect(looked).toBeLessThan(0.1);
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

describe("a hop of plain functions", () => {
  it("does a part of the work of one that observes, thinks and acts, and no more the longer the game is", async () => {
    await game(10);
    await stepGame(10);
    const full = await perHop(200, 2_000, (n) => workOf(() => game(n)));
    const plain = await perHop(200, 2_000, (n) => workOf(() => stepGame(n)));
    expect(plain).toBeGreaterThan(5);
    expect(plain).toBeLessThan(full * MOST_OF_A_FULL_ONE);
    expect(await perHop(4_000, 6_000, (n) => workOf(() => stepGame(n)))).toBeLessThan(plain * 1.5);
  });

  it("makes nothing that waits: a breath for very many, and not one for each", async () => {
    const made = async (n: number): Promise<ReadonlyMap<string, number>> => resourcesOf(() => stepGame(n));
    const [few, many] = [await made(100), await made(1_100)];
    for (const type of ["PROMISE", "Timeout", "Immediate", "TickObject", "Microtask"])
      expect((many.get(type) ?? 0) - (few.get(type) ?? 0), type).toBeLessThan(100);
    expect(many.get("PROMISE")).toBeGreaterThan(0);
  });

  it("takes a bounded number of bytes, fewer than a full one, however long the game is", async () => {
    await stepGame(500);
    await countingGame(500);
    const early = await perHop(200, 600, (n) => allocatedBy(() => stepGame(n)));
    const late = await perHop(4_000, 6_000, (n) => allocatedBy(() => stepGame(n)));
    expect(early).toBeLessThan(MOST_BYTES_OF_A_STEP);
    expect(late).toBeLessThan(early * 1.5);
    // Of one that counts its hits too: a hop that changes no state makes less than either.
    expect(late).toBeLessThan(await perHop(4_000, 6_000, (n) => allocatedBy(() => countingGame(n))));
  });

  it("asks the clock when it begins and when it is recorded", async () => {
    const asked = await perHop(100, 300, async (n) => {
      let times = 0;
      await played(players(n, { clock: { ...systemClock, now: () => (times += 1) } }, stepper));
      return times;
    });
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(2);
  });
});
