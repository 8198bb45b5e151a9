import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { nextMacrotask, sleep, systemClock } from "../../src/kernel/clock.ts";
import { AbortedError } from "../../src/kernel/errors.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";

describe("systemClock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("keeps delays that setTimeout would fire at once", () => {
    const days = 24 * 60 * 60 * 1000;
    const fire = vi.fn<() => void>();
    const cancelled = vi.fn<() => void>();
    systemClock.timer(60 * days, fire);
    const cancel = systemClock.timer(60 * days, cancelled);
    vi.advanceTimersByTime(59 * days);
    expect(fire).not.toHaveBeenCalled();
    cancel();
    vi.advanceTimersByTime(days);
    expect(fire).toHaveBeenCalledOnce();
    expect(cancelled).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("sleep", () => {
  test("resolves when its time has come, and no earlier", async () => {
    const clock = simulatedClock();
    const awake = vi.fn<() => void>();
    void sleep(clock, 100).then(awake);
    await clock.advance(99);
    expect(awake).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(awake).toHaveBeenCalledOnce();
  });

  test("an abort ends it at once and leaves no timer behind", async () => {
    const clock = simulatedClock();
    const stop = new AbortController();
    const sleeping = sleep(clock, 100, stop.signal);
    stop.abort("enough");
    await expect(sleeping).rejects.toBeInstanceOf(AbortedError);
    await expect(sleeping).rejects.toMatchObject({ cause: "enough" });
    expect(clock.pending).toBe(0);
  });
});

describe("nextMacrotask", () => {
  test("lets every promise reaction that is ready run first, however long the chain", async () => {
    let links = 0;
    let chain = Promise.resolve();
    for (let n = 0; n < 1000; n++) {
      chain = chain.then(() => {
        links++;
      });
    }
    await nextMacrotask();
    expect(links).toBe(1000);
  });
});
