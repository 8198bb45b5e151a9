import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { sleep } from "../../src/kernel/clock.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { tries } from "../long.ts";

describe("SimulatedClock", () => {
  test("starts at the given time, and does not move by itself", () => {
    expect(simulatedClock().now()).toBe(0);
    expect(simulatedClock(1_700_000_000_000).now()).toBe(1_700_000_000_000);
  });

  test("advance moves to the millisecond, with or without timers", async () => {
    const clock = simulatedClock(100);
    await clock.advance(50);
    clock.timer(10, () => {});
    await clock.advance(25);
    expect(clock.now()).toBe(175);
  });

  test("SimulatedClock.S1 timers fire in order of their time, those of one time in the order they were set", async () => {
    const clock = simulatedClock();
    const fired: string[] = [];
    for (const [name, ms] of [
      ["c", 30],
      ["a", 10],
      ["b1", 20],
      ["b2", 20],
      ["a2", 10],
    ] as const) {
      clock.timer(ms, () => fired.push(name));
    }
    expect(clock.pending).toBe(5);
    await clock.advance(20);
    expect(fired).toEqual(["a", "a2", "b1", "b2"]);
    expect(clock.pending).toBe(1);
  });

  test("SimulatedClock.S1 property: any set of timers fires sorted, once each, cancelled ones never", { tags: "numbers" }, async () => {
    const timers = fc.array(fc.record({ ms: fc.nat(50), cancelled: fc.boolean() }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(timers, fc.nat(60), async (plans, until) => {
        const clock = simulatedClock();
        const fired: { ms: number; n: number; at: number }[] = [];
        for (const [n, { ms, cancelled }] of plans.entries()) {
          const cancel = clock.timer(ms, () => fired.push({ ms, n, at: clock.now() }));
          if (cancelled) cancel();
        }
        await clock.advance(until);
        const due = plans.map((plan, n) => ({ ...plan, n })).filter(({ ms, cancelled }) => !cancelled && ms <= until);
        expect(fired).toEqual(due.toSorted((a, b) => a.ms - b.ms || a.n - b.n).map(({ ms, n }) => ({ ms, n, at: ms })));
      }),
      { numRuns: tries(17, 200) },
    );
  });

  test("SimulatedClock.S2 what a reaction sets in between is seen in time", async () => {
    const clock = simulatedClock();
    const log: string[] = [];
    async function work(): Promise<void> {
      for (let turn = 1; turn <= 3; turn++) {
        await sleep(clock, 10);
        for (let hop = 0; hop < 20; hop++) await Promise.resolve();
        log.push(`turn ${turn} at ${clock.now()}`);
      }
    }
    void work();
    await clock.advance(35);
    expect(log).toEqual(["turn 1 at 10", "turn 2 at 20", "turn 3 at 30"]);
  });

  test("SimulatedClock.S3 while a timer fires, now is its time", async () => {
    const clock = simulatedClock();
    const times: number[] = [];
    clock.timer(7, () => {
      times.push(clock.now());
      clock.timer(5, () => times.push(clock.now()));
    });
    await clock.advance(100);
    expect(times).toEqual([7, 12]);
    expect(clock.now()).toBe(100);
  });

  test("SimulatedClock.S4 calls that overlap run one after another", async () => {
    const clock = simulatedClock();
    const times: number[] = [];
    clock.timer(5, () => times.push(clock.now()));
    clock.timer(15, () => times.push(clock.now()));
    await Promise.all([clock.advance(10), clock.advance(10)]);
    expect(clock.now()).toBe(20);
    expect(times).toEqual([5, 15]);
  });

  test("a timer of nothing, or less, waits for the next advance and fires at the present time", async () => {
    const clock = simulatedClock(5);
    const fired = vi.fn<(now: number) => void>();
    for (const ms of [0, -10, Number.NaN]) clock.timer(ms, () => fired(clock.now()));
    expect(fired).not.toHaveBeenCalled();
    await clock.advance(0);
    expect(fired.mock.calls).toEqual([[5], [5], [5]]);
  });

  test("a timer may cancel another that is due at the same time", async () => {
    const clock = simulatedClock();
    const second = vi.fn<() => void>();
    clock.timer(10, () => cancel());
    const cancel = clock.timer(10, second);
    await clock.advance(10);
    expect(second).not.toHaveBeenCalled();
  });

  test("advanceToNext fires the next timer only, and reports when none waits", async () => {
    const clock = simulatedClock();
    const fired: number[] = [];
    for (const ms of [1_000_000, 10]) clock.timer(ms, () => fired.push(clock.now()));
    expect(await clock.advanceToNext()).toBe(true);
    expect([clock.now(), ...fired]).toEqual([10, 10]);
    expect(await clock.advanceToNext()).toBe(true);
    expect(await clock.advanceToNext()).toBe(false);
    expect(clock.now()).toBe(1_000_000);
  });

  test("what a timer throws comes out of advance, and the clock continues", async () => {
    const clock = simulatedClock();
    const later = vi.fn<() => void>();
    clock.timer(1, () => {
      throw new Error("from the timer");
    });
    clock.timer(2, later);
    await expect(clock.advance(5)).rejects.toThrow("from the timer");
    await clock.advance(5);
    expect(later).toHaveBeenCalledOnce();
  });
});
