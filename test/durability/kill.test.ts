import { afterAll, describe, expect, test } from "vitest";
import { scratchFolder } from "../cli/fake-host.ts";
import { effort, placesOf } from "../effort.ts";
import { type Death, repeated, type Survived, survive } from "./kills.ts";

/*
 * SIGKILL at every point, by real processes on a real disk with a real wire. `npm test` tries a few points of each kind, `npm run soak`
 * more, and `npm run kill` all of them, and several deaths in a row.
 */

const scratch = scratchFolder();
/** Durable writes and calls of an unkilled run: a little more than there are, so that the last ones are tried too. */
const WRITES = 40;
const CALLS = 10;

/** Everything lost, doubled or repeated although it was recorded is a failure; this is what is left to tell. */
const figures = { kills: 0, inFlightRepeated: 0 };

afterAll(() => {
  if (effort !== "kill") return;
  process.stdout.write(`killed ${figures.kills} processes; calls in flight that were repeated: ${figures.inFlightRepeated}\n`);
});

/** An unkilled run and one that was killed differ in nothing but the calls that were in flight, and those are told. */
function expectSame(survived: Survived, whole: Survived, inOrder: boolean): void {
  const { told } = survived;
  expect([told.status, told.error]).toEqual(["finished", undefined]);
  expect(told.messages.toSorted()).toEqual(whole.told.messages.toSorted());
  expect(survived.files).toEqual(whole.files);
  expect(told.answered).toBe(whole.told.answered);
  expect(told.cost).toBe(whole.told.cost + told.uncertain);
  // What was asked once more had been in flight, and is told; some of what was in flight had not left yet.
  const again = repeated(survived.calls, whole.calls);
  expect(again).toBeLessThanOrEqual(told.inFlight);
  figures.kills += survived.deaths;
  figures.inFlightRepeated += again;
  if (inOrder) expect(told.canonical).toBe(whole.told.canonical);
}

describe.each(["rounds", "eager"] as const)("a run under %s that is killed", (scheduler) => {
  const inOrder = scheduler === "rounds";
  const lives = (deaths: readonly Death[]): Promise<Survived> => survive(scratch, scheduler, deaths);
  const unkilled = lives([]);

  test("after a durable write goes on as if it had not been: no message lost or doubled, no recorded call repeated", async () => {
    const whole = await unkilled;
    for (const write of placesOf(WRITES, inOrder ? [1, 5, 13] : [3], [1, 2, 3, 5, 8, 13, 21])) {
      const survived = await lives([{ write }]);
      expectSame(survived, whole, inOrder);
    }
  }, 600_000);

  test("while the model answers repeats what was in flight, at most, and tells what that may have cost", async () => {
    const whole = await unkilled;
    for (const call of placesOf(CALLS, [4], [1, 4, 8])) {
      const survived = await lives([{ call }]);
      expect(survived.deaths).toBe(1);
      expectSame(survived, whole, inOrder);
      expect(repeated(survived.calls, whole.calls)).toBeGreaterThanOrEqual(1);
      expect(survived.told.uncertain).toBeGreaterThan(0);
    }
  }, 600_000);

  test("again and again comes to the same end", async () => {
    const whole = await unkilled;
    const deaths: Death[] = [{ write: 3 }, { call: 1 }, { write: 4 }, { call: 2 }, { write: 6 }];
    for (const start of placesOf(deaths.length, [1], [1, 3])) {
      const survived = await lives([...deaths.slice(start - 1), ...deaths.slice(0, start - 1)]);
      expect(survived.deaths).toBeGreaterThanOrEqual(3);
      expectSame(survived, whole, inOrder);
    }
  }, 600_000);
});
