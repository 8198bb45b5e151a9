import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomStream } from "../../src/kernel/random.ts";
import { modelError } from "../../src/model/failure.ts";
import { defaultRetry, type NextTry, Retries, retryAfterOf, retryDelay } from "../../src/model/retry.ts";

const cut = modelError("MODEL_CUT", "cut");
const limited = (retryAfterMs: number): Error => modelError("MODEL_RATE_LIMIT", "slow down", { data: { retryAfterMs } });

describe("retryDelay", () => {
  it("waits at random up to a bound that doubles, and stops after the last try", () => {
    const always = (): number => 1;
    expect([1, 2, 3, 4].map((n) => retryDelay(cut, n, defaultRetry, always))).toEqual([1000, 2000, 4000, undefined]);
    expect([1, 2, 3].map((n) => retryDelay(cut, n, defaultRetry, () => 0))).toEqual([0, 0, 0]);
  });

  it("property: never longer than the longest wait", () => {
    const random = randomStream("retry");
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (n) => {
        const delay = retryDelay(cut, n, { ...defaultRetry, tries: 100 }, random) ?? -1;
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(Math.min(20_000, 1000 * 2 ** (n - 1)));
      }),
    );
  });

  it("does what the server asks, up to its limit", () => {
    expect(retryDelay(limited(7_500), 1, defaultRetry, () => 1)).toBe(7_500);
    expect(retryDelay(limited(0), 1, defaultRetry, () => 1)).toBe(0);
    expect(retryDelay(limited(3_600_000), 1, defaultRetry, () => 1)).toBe(60_000);
    expect(retryDelay(limited(-5), 1, defaultRetry, () => 1)).toBe(0);
  });
});

describe("Retries", () => {
  const refused = modelError("MODEL_UNREACHABLE", "refused", { data: { mayHaveRun: false } });
  const reset = modelError("MODEL_UNREACHABLE", "reset");
  const late = modelError("MODEL_TIMEOUT", "late");
  const loading = modelError("MODEL_SERVER", "loading", { data: { status: 503, mayHaveRun: false } });

  /** The delays of a call whose every try fails with the error, and takes no time. */
  function delays(error: Error, retries: Retries, hold = 0): readonly number[] {
    const waited: number[] = [];
    for (let next: NextTry | undefined; waited.length < 200 && (next = retries.after(error, 0, hold)) !== undefined;)
      waited.push(next.delay);
    return waited;
  }
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0);

  it("Retries.T1 a server that answered before and is away is tried for a minute, one that never answered for ten seconds", () => {
    for (const random of [() => 0, () => 1, randomStream("away")]) {
      for (const error of [refused, reset, loading]) {
        expect(sum(delays(error, new Retries(defaultRetry, random, true)))).toBe(60_000);
        expect(sum(delays(error, new Retries(defaultRetry, random, false)))).toBe(10_000);
      }
      expect(delays(refused, new Retries(defaultRetry, random, true)).length).toBeLessThan(20);
    }
    expect(delays(refused, new Retries(defaultRetry, () => 1, true))).toEqual([
      1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 10_000, 5_000,
    ]);
    expect(new Retries(defaultRetry, () => 0, true).after(refused, 0, 0)).toEqual({ delay: 500, outage: 60_000, isFirst: true });
  });

  it("Retries.T1 such tries do not count among the others, and the time starts anew when it was there in between", () => {
    const retries = new Retries({ ...defaultRetry, tries: 2 }, () => 1, true);
    for (const took of [0, 20_000, 30_000]) expect(retries.after(refused, took, 0)).toMatchObject({ outage: 60_000 });
    expect(retries.after(cut, 0, 0)).toEqual({ delay: 1_000 });
    expect(retries.after(refused, 70_000, 0)).toMatchObject({ outage: 60_000 });
    expect(retries.after(cut, 0, 0)).toBeUndefined();
  });

  it("Retries.T1 a reset that may have cost something counts, and so does everything without an outage or with one try", () => {
    expect(delays(reset, new Retries(defaultRetry, () => 0, true), 5)).toHaveLength(3);
    expect(delays(refused, new Retries({ ...defaultRetry, outage: 0 }, () => 0, true))).toHaveLength(3);
    expect(delays(refused, new Retries({ ...defaultRetry, tries: 1 }, () => 0, true))).toEqual([]);
    expect(sum(delays(refused, new Retries({ ...defaultRetry, outage: 1_000 }, () => 0, false)))).toBe(1_000);
  });

  it("Retries.T2 a try that a time limit ended is repeated once", () => {
    expect(delays(late, new Retries(defaultRetry, () => 0, true))).toEqual([0]);
    const mixed = new Retries(defaultRetry, () => 0, true);
    expect([cut, late, cut, late].map((error) => mixed.after(error, 0, 0)?.delay)).toEqual([0, 0, 0, undefined]);
  });
});

describe("retryAfterOf", () => {
  const now = Date.parse("2026-11-20T10:00:00Z");
  const headers = (fields: Record<string, string>): Headers => new Headers(fields);

  it.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after-ms": "1500" }, 1_500],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
    [{ "retry-after": "Fri, 20 Nov 2026 10:00:30 GMT" }, 30_000],
    [{ "retry-after": "Fri, 20 Nov 2026 09:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-3" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after-ms": "never", "retry-after": "2" }, 2_000],
    // The server's clock runs a day ahead of ours: only its own difference counts.
    [{ "retry-after": "Sat, 21 Nov 2026 10:00:20 GMT", date: "Sat, 21 Nov 2026 10:00:00 GMT" }, 20_000],
  ])("reads %j", (fields, expected) => {
    expect(retryAfterOf(headers(fields), now)).toBe(expected);
  });
});
