import { afterAll, describe, expect, test } from "vitest";
import { scratchFolder } from "../cli/fake-host.ts";
import { figure, positionsOf, someOf } from "../long.ts";
import { type Death, repeated, type Survived, survive } from "./kills.ts";

/*
 * SIGKILL at every point, by real processes on a real disk with a real wire. `npm test` tries single deaths under one scheduler and
 * several in a row under the other, and `npm run long -- kill` all of both under each.
 */

const scratch = scratchFolder();
/** Durable writes and calls of an unkilled run: a little more than there are, so that the last ones are tried too. */
const WRITES = 40;
const CALLS = 10;
const DEATHS: readonly Death[] = [{ write: 3 }, { call: 1 }, { write: 4 }, { call: 2 }, { write: 6 }];

/** Everything lost, doubled or repeated although it was recorded is a failure; this is what is left to tell. */
const figures = { kills: 0, inFlightRepeated: 0 };

afterAll(() => {
  figure(`killed ${figures.kills} processes; calls in flight that were repeated: ${figures.inFlightRepeated}`);
});

/** An unkilled run and one that was killed differ in nothing but the calls that were in flight, and those are told. */
function expectSame(survived: Survived, whole: Survived, inOrder: boolean): void {
  const { told } = survived;
  expect([told.status, told.error]).toEqual(["finished", undefined]);
  expect(told.messages.toSorted()).toEqual(whole.told.messages.toSorted());
  expect(survived.files).toEqual(whole.files);
  expect(told.answered).toBe(whole.told.answered);
  expect(told.cost).toBe(whole.told.cost + told.uncertain);
  expect(told.cost).toBeGreaterThanOrEqual(survived.billed);
  // Each repeated call had been in flight, and is told; some calls in flight had not left yet.
  const again = repeated(survived.calls, whole.calls);
  expect(again).toBeLessThanOrEqual(told.inFlight);
  figures.kills += survived.deaths;
  figures.inFlightRepeated += again;
  if (inOrder) expect(told.canonical).toBe(whole.told.canonical);
}

describe.each(someOf(["rounds", "eager"] as const, 1))("a run under %s that is killed", { tags: "kill" }, (scheduler) => {
  const inOrder = scheduler === "rounds";
  const lives = (deaths: readonly Death[]): Promise<Survived> => survive(scratch, scheduler, deaths);
  const unkilled = lives([]);

  test.each(positionsOf(WRITES, inOrder ? [5] : []))(
    "after durable write %i loses and doubles no message, and repeats no recorded call",
    { tags: "kill", timeout: 600_000 },
    async (write) => {
      expectSame(await lives([{ write }]), await unkilled, inOrder);
    },
  );

  test.each(positionsOf(CALLS, []))(
    "while the model answers call %i repeats at most what was in flight, and reports its possible cost",
    { tags: "kill", timeout: 600_000 },
    async (call) => {
      const [survived, whole] = [await lives([{ call }]), await unkilled];
      expect(survived.deaths).toBe(1);
      expectSame(survived, whole, inOrder);
      expect(repeated(survived.calls, whole.calls)).toBeGreaterThanOrEqual(1);
      expect(survived.told.uncertain).toBeGreaterThan(0);
    },
  );

  test.each(positionsOf(DEATHS.length, inOrder ? [] : [1]))(
    "again and again, from death %i on, comes to the same end",
    { tags: "kill", timeout: 600_000 },
    async (first) => {
      const survived = await lives([...DEATHS.slice(first - 1), ...DEATHS.slice(0, first - 1)]);
      expect(survived.deaths).toBeGreaterThanOrEqual(3);
      expectSame(survived, await unkilled, inOrder);
    },
  );
});
