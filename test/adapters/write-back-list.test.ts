import { expect, it } from "vitest";
import { WriteBackList } from "../../src/adapters/write-back-list.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { gate } from "../memory/brain-setup.ts";

it("WriteBackList.L1 makes one try at a time, waits with one timer unless it is told to start, and stops for good", async () => {
  const clock = simulatedClock();
  let writing = gate<boolean>();
  let tries = 0;
  const write = (): Promise<boolean> => {
    tries += 1;
    return writing.promise;
  };
  const list = new WriteBackList({ clock, wait: () => 1_000, write });
  for (const key of ["a", "b", "a"]) list.add(key);
  expect([clock.pending, tries]).toEqual([1, 0]);
  await clock.advance(1_000);
  list.add("c");
  list.startNow();
  await clock.advance(10_000);
  expect([clock.pending, tries]).toEqual([0, 1]);
  writing.open(false);
  await clock.advance(0);
  expect([clock.pending, tries, list.size]).toEqual([1, 1, 3]);
  writing = gate();
  list.startNow();
  await clock.advance(0);
  expect([clock.pending, tries]).toEqual([0, 2]);
  const stopped = list.stop();
  writing.open(false);
  await stopped;
  list.add("d");
  list.startNow();
  await clock.advance(10_000);
  expect([clock.pending, tries, list.size]).toEqual([0, 2, 4]);
});
