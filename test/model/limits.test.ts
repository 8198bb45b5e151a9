import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { AbortedError, UsageError } from "../../src/kernel/errors.ts";
import { allLimits, type Lease, type ModelLimits, modelLimits } from "../../src/model/limits.ts";
import { simulatedClock, type SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { errorOf, until } from "./call-setup.ts";

const minute = 60_000;

interface Asked {
  readonly lease: Promise<Lease>;
  readonly abort: AbortController;
  got: boolean;
  at: number | undefined;
}

function ask(limits: ModelLimits, clock: SimulatedClock, tokens = 1): Asked {
  const abort = new AbortController();
  const lease = limits.acquire({ tokens, clock, signal: abort.signal });
  const asked: Asked = { lease, abort, got: false, at: undefined };
  lease.then(
    () => {
      asked.got = true;
      asked.at = clock.now();
    },
    () => {},
  );
  return asked;
}

const granted = (asked: readonly Asked[]): number[] => asked.flatMap((one, index) => (one.got ? [index] : []));

async function settle(): Promise<void> {
  let turns = 0;
  await until(() => ++turns > 20, "a few turns of the event loop");
}

describe("modelLimits", () => {
  it("without limits everybody gets a place at once", async () => {
    const clock = simulatedClock();
    const asked = Array.from({ length: 50 }, () => ask(modelLimits({}), clock));
    await Promise.all(asked.map((one) => one.lease));
    expect(clock.pending).toBe(0);
  });

  it.each([
    { concurrency: 0 },
    { requestsPerSecond: 0 },
    { requestsPerMinute: -1 },
    { tokensPerMinute: Number.NaN },
    { concurrency: Infinity },
  ])("refuses %j", (options) => {
    expect(() => modelLimits(options)).toThrow(UsageError);
  });

  it("Limits.W1 Limits.W3 no more at a time than allowed, in the order asked", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ concurrency: 2 });
    const asked = [0, 1, 2, 3].map(() => ask(limits, clock));
    await until(() => granted(asked).length === 2, "the first two");
    await settle();
    expect(granted(asked)).toEqual([0, 1]);
    (await asked[1]!.lease).release();
    await until(() => asked[2]!.got, "the third");
    (await asked[0]!.lease).release();
    (await asked[0]!.lease).release();
    await until(() => asked[3]!.got, "the fourth");
    const late = ask(limits, clock);
    await settle();
    expect(late.got).toBe(false);
  });

  it("Limits.W2 requests by the minute", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ requestsPerMinute: 2 });
    const asked = [0, 1, 2, 3, 4].map(() => ask(limits, clock));
    await until(() => granted(asked).length === 2, "the first two");
    await clock.advance(minute - 1);
    expect(granted(asked)).toEqual([0, 1]);
    await clock.advance(1);
    await until(() => granted(asked).length === 4, "the next two");
    await clock.advance(minute);
    await until(() => asked[4]!.got, "the last");
    expect(asked.map((one) => one.at)).toEqual([0, 0, minute, minute, 2 * minute]);
  });

  it("Limits.W2 a place counts from the begin of its call, not from when it was given", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ requestsPerSecond: 1 });
    const first = await ask(limits, clock).lease;
    await clock.advance(900);
    await first.begin?.();
    const second = ask(limits, clock);
    await clock.advance(999);
    await settle();
    expect(second.got).toBe(false);
    await clock.advance(1);
    await until(() => second.got, "the second");
  });

  it("Limits.W2 requests by the second and by the minute", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ requestsPerSecond: 2, requestsPerMinute: 3 });
    const asked = [0, 1, 2, 3].map(() => ask(limits, clock));
    await until(() => granted(asked).length === 2, "the first two");
    await clock.advance(999);
    expect(granted(asked)).toEqual([0, 1]);
    await clock.advance(minute);
    await until(() => granted(asked).length === 4, "the others");
    expect(asked.map((one) => one.at)).toEqual([0, 0, 1_000, minute]);
  });

  it("Limits.W2 tokens by the minute, put right when a call used less", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ tokensPerMinute: 100 });
    const [first, second, third] = [ask(limits, clock, 60), ask(limits, clock, 60), ask(limits, clock, 10)];
    await until(() => first.got, "the first");
    await settle();
    // W3: the third would fit, but it came later.
    expect([second.got, third.got]).toEqual([false, false]);
    (await first.lease).release(5);
    await until(() => second.got && third.got, "the others");
    expect(clock.now()).toBe(0);
  });

  it("Limits.W2 a call that used more than it said is paid for by those after it", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ tokensPerMinute: 100 });
    const first = ask(limits, clock, 10);
    (await first.lease).release(95);
    const second = ask(limits, clock, 10);
    await settle();
    expect(second.got).toBe(false);
    await clock.advance(minute);
    await until(() => second.got, "the second");
  });

  it("Limits.W2 a call larger than the whole allowance goes alone instead of never", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ tokensPerMinute: 100 });
    const [small, large, after] = [ask(limits, clock, 10), ask(limits, clock, 5000), ask(limits, clock, 10)];
    await until(() => small.got, "the small one");
    await clock.advance(minute);
    await until(() => large.got, "the large one");
    await settle();
    expect(after.got).toBe(false);
    await clock.advance(minute);
    await until(() => after.got, "the last one");
  });

  it("Limits.W4 Limits.W5 a call that is aborted while it begins late holds up nobody", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ requestsPerSecond: 1 });
    const late = ask(limits, clock);
    const lease = await late.lease;
    await clock.advance(1_000);
    await (await ask(limits, clock).lease).begin?.();
    const reason = new AbortedError("enough");
    const beginning = errorOf(lease.begin?.() ?? Promise.resolve());
    await settle();
    late.abort.abort(reason);
    expect(await beginning).toBe(reason);
    lease.release(0);
    const next = ask(limits, clock);
    await clock.advance(1_000);
    await until(() => next.got, "the next");
    expect(next.at).toBe(2_000);
  });

  it("Limits.W5 a call that begins late comes before those that asked later", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ requestsPerSecond: 1 });
    const late = await ask(limits, clock).lease;
    await clock.advance(1_000);
    await (await ask(limits, clock).lease).begin?.();
    const order: string[] = [];
    const [head, tail] = [ask(limits, clock), ask(limits, clock)];
    await settle();
    const all = [
      head.lease.then(() => order.push("head")),
      tail.lease.then(() => order.push("tail")),
      Promise.resolve(late.begin?.()).then(() => order.push("late")),
    ];
    for (let n = 0; n < 3; n++) {
      await clock.advance(1_000);
      await settle();
    }
    await Promise.all(all);
    expect(order).toEqual(["head", "late", "tail"]);
  });

  it("Limits.W5 of limits that hold together, a call begins when all of them have room", async () => {
    const clock = simulatedClock();
    const [seconds, minutes] = [modelLimits({ requestsPerSecond: 1 }), modelLimits({ requestsPerMinute: 1 })];
    const lease = await allLimits(seconds, minutes)!.acquire({ tokens: 1, clock, signal: new AbortController().signal });
    await clock.advance(minute);
    await (await ask(minutes, clock).lease).begin?.();
    let hasBegun = false;
    const beginning = lease.begin?.().then(() => (hasBegun = true));
    await settle();
    await clock.advance(minute - 1);
    await settle();
    expect(hasBegun).toBe(false);
    await clock.advance(1);
    await beginning;
    const next = ask(seconds, clock);
    await clock.advance(999);
    await settle();
    expect(next.got).toBe(false);
  });

  it.each([{ concurrency: 1 }, { requestsPerMinute: 1 }, { tokensPerMinute: 1 }, { concurrency: 1, requestsPerMinute: 1 }])(
    "Limits.W4 who is aborted takes nothing and holds up nobody: %j",
    async (options) => {
      const clock = simulatedClock();
      const limits = modelLimits(options);
      const [first, second, third] = [ask(limits, clock), ask(limits, clock), ask(limits, clock)];
      await until(() => first.got, "the first");
      await settle();
      const reason = new AbortedError("enough");
      second.abort.abort(reason);
      expect(await errorOf(second.lease)).toBe(reason);
      (await first.lease).release();
      await clock.advance(minute);
      await until(() => third.got, "the third");
      expect(third.at).toBeLessThanOrEqual(minute);
    },
  );

  it("Limits.W4 an aborted signal gets no place at all", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ concurrency: 1 });
    const signal = AbortSignal.abort(new AbortedError("before"));
    expect(await errorOf(limits.acquire({ tokens: 1, clock, signal }))).toMatchObject({ code: "ABORTED" });
    const next = ask(limits, clock);
    await until(() => next.got, "a place");
  });

  it("Limits.W1 an abort while running keeps the place until it is given back", async () => {
    const clock = simulatedClock();
    const limits = modelLimits({ concurrency: 1 });
    const [first, second] = [ask(limits, clock), ask(limits, clock)];
    const lease = await first.lease;
    first.abort.abort();
    await settle();
    expect(second.got).toBe(false);
    lease.release();
    await until(() => second.got, "the second");
  });

  it("loads p-queue with the first place asked for and not before", async () => {
    const loaded: string[] = [];
    vi.doMock("p-queue", async (original) => {
      loaded.push("p-queue");
      return original();
    });
    vi.resetModules();
    const fresh = (await import("../../src/model/limits.ts")).modelLimits({ concurrency: 1 });
    expect(loaded).toEqual([]);
    await fresh.acquire({ tokens: 1, clock: simulatedClock(), signal: new AbortController().signal });
    expect(loaded).toEqual(["p-queue"]);
    vi.doUnmock("p-queue");
  });

  it("Limits.W1 Limits.W2 property: whatever is asked and given back, no limit is passed", async () => {
    const calls = fc.array(
      fc.record({
        tokens: fc.integer({ min: 1, max: 120 }),
        used: fc.integer({ min: 0, max: 120 }),
        wait: fc.integer({ min: 0, max: 30_000 }),
      }),
      {
        minLength: 1,
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(
        calls,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 20, max: 300 }),
        async (plan, concurrency, requestsPerMinute, tokensPerMinute) => {
          const clock = simulatedClock();
          const limits = modelLimits({ concurrency, requestsPerMinute, tokensPerMinute });
          const begun: { at: number; tokens: number }[] = [];
          let running = 0;
          let most = 0;
          const work = plan.map(async ({ tokens, used, wait }) => {
            const lease = await limits.acquire({ tokens, clock, signal: new AbortController().signal });
            running++;
            most = Math.max(most, running);
            // Only what was known when a call began counts: its own estimate.
            begun.push({ at: clock.now(), tokens });
            await new Promise<void>((resolve) => {
              clock.timer(wait, resolve);
            });
            running--;
            lease.release(Math.max(used, tokens));
          });
          let done = false;
          void Promise.all(work).then(() => {
            done = true;
          });
          for (let turn = 0; turn < 2000 && !done; turn++) {
            await settle();
            await clock.advanceToNext();
          }
          expect(done).toBe(true);
          expect(most).toBeLessThanOrEqual(concurrency);
          for (const { at } of begun) {
            const window = begun.filter((other) => other.at > at - minute && other.at <= at);
            expect(window.length).toBeLessThanOrEqual(requestsPerMinute);
            const tokens = window.reduce((sum, other) => sum + other.tokens, 0);
            if (window.length > 1) expect(tokens).toBeLessThanOrEqual(tokensPerMinute);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
