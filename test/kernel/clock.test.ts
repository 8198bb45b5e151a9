import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { nextMacrotask, sleep, systemClock } from "../../src/kernel/clock.ts";
import { AbortedError, BudgetError } from "../../src/kernel/errors.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";

describe("systemClock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("tells the machine's time", () => {
    expect(systemClock.now()).toBe(1_000);
    vi.advanceTimersByTime(5);
    expect(systemClock.now()).toBe(1_005);
  });

  test("fires once after the time, and not when cancelled", () => {
    const fire = vi.fn<() => void>();
    const cancelled = vi.fn<() => void>();
    systemClock.timer(10, fire);
    systemClock.timer(10, cancelled)();
    vi.advanceTimersByTime(9);
    expect(fire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(fire).toHaveBeenCalledOnce();
    expect(cancelled).not.toHaveBeenCalled();
  });

  test("fires at once after a time that is no number, as setTimeout does", () => {
    const fire = vi.fn<() => void>();
    systemClock.timer(Number.NaN, fire);
    vi.advanceTimersByTime(1);
    expect(fire).toHaveBeenCalledOnce();
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

  test("a signal that has aborted lets no timer start", async () => {
    const clock = simulatedClock();
    await expect(sleep(clock, 100, AbortSignal.abort())).rejects.toBeInstanceOf(AbortedError);
    expect(clock.pending).toBe(0);
  });

  test("a control error given as the reason comes out as it is", async () => {
    const clock = simulatedClock();
    const reason = new BudgetError({ needed: 2, left: 1, budget: 1 });
    const stop = new AbortController();
    const sleeping = sleep(clock, 100, stop.signal);
    stop.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    await expect(sleep(clock, 1, stop.signal)).rejects.toBe(reason);
  });

  test("once over, it has let go of the signal", async () => {
    const clock = simulatedClock();
    const stop = new AbortController();
    const add = vi.spyOn(stop.signal, "addEventListener");
    const remove = vi.spyOn(stop.signal, "removeEventListener");
    const sleeping = sleep(clock, 5, stop.signal);
    await clock.advance(5);
    await sleeping;
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
    expect(remove.mock.calls[0]?.[1]).toBe(add.mock.calls[0]?.[1]);
    stop.abort();
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
