import { describe, expect, test, vi } from "vitest";
import { abortReason, eitherSignal, throwIfAborted, untilAborted, withTimeout } from "../../src/kernel/abort.ts";
import { AbortedError, BudgetError, TimeoutError } from "../../src/kernel/errors.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";

const budget = new BudgetError({ needed: 3, left: 2, budget: 10 });
const never = new Promise<never>(() => {});

describe("abortReason", () => {
  test("gives a control error as it is and wraps anything else", () => {
    expect(abortReason(AbortSignal.abort(budget))).toBe(budget);
    const wrapped = abortReason(AbortSignal.abort("a word"));
    expect(wrapped).toBeInstanceOf(AbortedError);
    expect(wrapped.cause).toBe("a word");
  });
});

describe("throwIfAborted", () => {
  test("throws the reason, and nothing while there is none", () => {
    expect(() => throwIfAborted(undefined)).not.toThrow();
    expect(() => throwIfAborted(new AbortController().signal)).not.toThrow();
    expect(() => throwIfAborted(AbortSignal.abort(budget))).toThrow(budget);
  });
});

describe("eitherSignal", () => {
  test("aborts when one of the two does, also when one has", () => {
    for (const which of [0, 1]) {
      const two = [new AbortController(), new AbortController()] as const;
      const both = eitherSignal(two[0].signal, two[1].signal);
      expect(both.aborted).toBe(false);
      two[which]?.abort(budget);
      expect([both.aborted, both.reason]).toEqual([true, budget]);
      expect(eitherSignal(two[0].signal, two[1].signal).aborted).toBe(true);
    }
  });
});

describe("untilAborted", () => {
  test("does not wait for work that ignores its signal", async () => {
    const stop = new AbortController();
    const waiting = untilAborted(never, stop.signal);
    stop.abort(budget);
    await expect(waiting).rejects.toBe(budget);
  });

  test("a failure of work given up is not an unhandled rejection", async () => {
    const unhandled = vi.fn<() => void>();
    process.on("unhandledRejection", unhandled);
    const stop = new AbortController();
    let fail: (error: Error) => void = () => {};
    const work = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const waiting = untilAborted(work, stop.signal);
    stop.abort();
    await expect(waiting).rejects.toBeInstanceOf(AbortedError);
    await expect(untilAborted(Promise.reject(new Error("late")), stop.signal)).rejects.toBeInstanceOf(AbortedError);
    fail(new Error("later"));
    await simulatedClock().advance(0);
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe("withTimeout", () => {
  const idle = new AbortController().signal;

  test("names the work and the limit when the time is up, even if the work ignores its signal", async () => {
    const clock = simulatedClock();
    const outcome = withTimeout(clock, 10, "the call", idle, () => never).catch((error: unknown) => error);
    await clock.advance(10);
    const error = await outcome;
    expect(error).toBeInstanceOf(TimeoutError);
    expect((error as TimeoutError).message).toContain("the call to end within 10 ms");
  });

  test("a work that ends by its signal still counts as late", async () => {
    const clock = simulatedClock();
    const obedient = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("cancelled")), { once: true });
      });
    const outcome = withTimeout(clock, 10, "the call", idle, obedient).catch((error: unknown) => error);
    await clock.advance(10);
    expect(await outcome).toBeInstanceOf(TimeoutError);
  });

  test("the outer signal stops the work too, with its own reason", async () => {
    const clock = simulatedClock();
    const outer = new AbortController();
    let inner: AbortSignal | undefined;
    const outcome = withTimeout(clock, 10, "the call", outer.signal, (signal) => {
      inner = signal;
      return never;
    });
    outer.abort(budget);
    await expect(outcome).rejects.toBe(budget);
    expect(inner?.reason).toBe(budget);
    expect(clock.pending).toBe(0);
  });
});
