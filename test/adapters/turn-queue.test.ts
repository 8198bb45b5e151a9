import { expect, it } from "vitest";
import { TurnQueue } from "../../src/adapters/turn-queue.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";

it("TurnQueue.Q1 TurnQueue.Q2 TurnQueue.Q3 what is asked in one turn is one batch, and one batch is worked on at a time", async () => {
  const begun: (readonly number[])[] = [];
  let end: () => void = () => undefined;
  const queue = new TurnQueue<number>((batch) => {
    begun.push(batch);
    return new Promise((resolve) => (end = resolve));
  });
  queue.add(1);
  queue.add(2);
  let isSettled = false;
  const settled = queue.settled().then(() => (isSettled = true));
  await nextMacrotask();
  await nextMacrotask();
  queue.add(3);
  await nextMacrotask();
  queue.add(4);
  await nextMacrotask();
  expect([begun, isSettled]).toEqual([[[1, 2]], false]);
  end();
  await nextMacrotask();
  await nextMacrotask();
  expect([begun, isSettled]).toEqual([
    [
      [1, 2],
      [3, 4],
    ],
    false,
  ]);
  end();
  await settled;
  await queue.settled();
});
