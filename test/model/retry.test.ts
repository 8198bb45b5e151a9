import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomStream } from "../../src/kernel/random.ts";
import { modelError } from "../../src/model/failure.ts";
import { defaultRetry, retryAfterOf, retryDelay } from "../../src/model/call.ts";

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

  it("never waits for what does not pass", () => {
    for (const error of [modelError("MODEL_AUTH", "no"), modelError("MODEL_CUT", "no", { retryable: false }), new Error("other")]) {
      expect(retryDelay(error, 1, defaultRetry, () => 1)).toBeUndefined();
    }
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
