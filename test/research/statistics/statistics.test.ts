import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomStream } from "../../../src/kernel/random.ts";
import {
  bootstrapInterval,
  cohensD,
  compareBySeed,
  mean,
  pairedD,
  sampleSize,
  shareInterval,
  standardError,
  tInterval,
} from "../../../src/research/index.ts";
import type { SeededValue } from "../../../src/research/statistics/paired.ts";
import { deviationOf } from "../../../src/research/statistics/sample.ts";
import { distributions } from "../../../src/research/statistics/interval.ts";

const seeded = (values: readonly number[]): SeededValue[] => values.map((value, seed) => ({ seed, value }));

/** Hours of sleep gained by two drugs (Student 1908, the data set `sleep` of R). */
const sleep = {
  one: [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2],
  two: [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
};
/** The spatial test scores A of Efron and Tibshirani 1993, table 14.1. */
const spatial = [48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41];

function variance(values: readonly number[]): number {
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / values.length;
}

describe("mean, standard deviation, standard error", () => {
  it("keep the digits of values that are far from 0", () => {
    // NIST StRD, NumAcc: shifted copies have the same spread.
    expect(deviationOf([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16])).toBe(5.477225575051661);
    expect(mean([1e100, 1, -1e100])).toBeCloseTo(1 / 3, 12);
  });

  it("move with their values, and scale with them", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 2, maxLength: 20 }), (values) => {
        const moved = values.map((value) => 3 * value + 7);
        expect(mean(moved)).toBeCloseTo(3 * mean(values) + 7, 9);
        expect(standardError(moved)).toBeCloseTo(3 * standardError(values), 9);
        expect(standardError(values)).toBeCloseTo(deviationOf(values) / Math.sqrt(values.length), 12);
      }),
      { numRuns: 50 },
    );
  });

  it("refuse what has no mean", () => {
    expect(() => mean([])).toThrow(/at least 1 value of mean, got 0/);
    expect(() => standardError([1])).toThrow(/at least 2 values/);
    expect(() => mean([1, Number.NaN])).toThrow(/got NaN at index 1/);
    expect(() => mean([Infinity])).toThrow(/finite/);
    expect(() => mean(["1"] as never)).toThrow(/finite numbers/);
    expect(() => mean([1e308, 1e308, 1e308])).toThrow(/too large/);
    expect(() => deviationOf([1e308, -1e308])).toThrow(/too large/);
  });
});

describe("the distributions", () => {
  it("have the t quantiles that R and SciPy 1.17 give", async () => {
    const { tQuantile } = await distributions();
    const known = [
      [0.975, 1, 12.706204736174694],
      [0.975, 2, 4.302652729749462],
      [0.975, 9, 2.262157162798205],
      [0.995, 30, 2.7499956535672254],
      [0.975, 120, 1.9799304050824402],
      [0.95, 9_999, 1.6450060333112988],
      [0.975, 10_000, 1.960201239890626],
      [0.995, 1_000_000, 2.5758342201053344],
    ] as const;
    for (const [share, degrees, quantile] of known) expect(tQuantile(share, degrees) / quantile).toBeCloseTo(1, 7);
  });

  it("have the tails that SciPy 1.17 gives, also far out", async () => {
    const { tTails } = await distributions();
    const known = [
      [2, 5, 0.10193947882985835],
      [10, 3, 0.0021283990584141503],
      [2.5, 20_000, 0.012427274131994228],
      [30, 9, 2.4837047041582635e-10],
    ] as const;
    for (const [t, degrees, p] of known) {
      expect(tTails(t, degrees) / p).toBeCloseTo(1, 7);
      expect(tTails(-t, degrees)).toBe(tTails(t, degrees));
    }
  });
});

describe("tInterval", () => {
  it("gives what t.test of R gives for the differences of sleep", async () => {
    const { low, high, estimate, n } = await tInterval(sleep.one.map((value, place) => value - (sleep.two[place] ?? 0)));
    expect({ estimate: estimate.toFixed(2), n, low: low.toFixed(7), high: high.toFixed(7) }).toEqual({
      estimate: "-1.58",
      n: 10,
      low: "-2.4598858",
      high: "-0.7001142",
    });
  });

  it("contains the true mean in 95 of 100 samples, within four standard errors", { tags: ["science", "long"] }, async () => {
    const random = randomStream("coverage");
    const draws = 4_000;
    let covered = 0;
    for (let draw = 0; draw < draws; draw += 1) {
      const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      const { low, high } = await tInterval(Array.from({ length: 5 }, () => 10 + 3 * normal()));
      if (low <= 10 && 10 <= high) covered += 1;
    }
    expect(Math.abs(covered / draws - 0.95)).toBeLessThan(4 * Math.sqrt((0.95 * 0.05) / draws));
  });
});

describe("shareInterval", () => {
  const heads = (hits: number, n: number): readonly number[] => Array.from({ length: n }, (_, place) => Number(place < hits));

  it.each([
    [81, 263, "0.2553", "0.3662"],
    [15, 148, "0.0624", "0.1605"],
    [0, 20, "0.0000", "0.1611"],
    [1, 29, "0.0061", "0.1718"],
  ])("gives what Newcombe 1998, table I, method 3 gives for %i of %i", async (hits, n, low, high) => {
    const found = await shareInterval(heads(hits, n));
    expect({ low: found.low.toFixed(4), high: found.high.toFixed(4) }).toEqual({ low, high });
    expect(found).toMatchObject({ estimate: hits / n, n, method: "wilson", confidence: 0.95 });
    expect((await shareInterval(heads(hits, n), { confidence: 0.99 })).high).toBeGreaterThan(found.high);
  });

  it("holds the estimate, mirrored for misses, and refuses what is neither a hit nor a miss", async () => {
    for (const n of [1, 3, 5, 30])
      for (let hits = 0; hits <= n; hits += 1) {
        const [{ estimate, low, high }, misses] = [await shareInterval(heads(hits, n)), await shareInterval(heads(n - hits, n))];
        expect(0 <= low && low <= estimate && estimate <= high && high <= 1 && low < high).toBe(true);
        expect(misses.low).toBeCloseTo(1 - high, 12);
      }
    await expect(shareInterval([1, 0.5])).rejects.toThrow(/got 0.5. Use tInterval/);
    await expect(shareInterval([])).rejects.toMatchObject({ code: "SAMPLE_INVALID" });
    await expect(shareInterval([1], { confidence: 95 })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("bootstrapInterval", () => {
  it("warns below thirty values", async () => {
    const values = Array.from({ length: 30 }, (_, n) => n ** 2);
    expect((await bootstrapInterval(values.slice(1), { resamples: 200 })).warning).toMatch(/fewer than 30/);
    expect((await bootstrapInterval(values, { resamples: 200 })).warning).toBeUndefined();
  });

  it("gives the intervals that the literature gives", async () => {
    // Efron and Tibshirani 1993, table 14.2: (115.8, 259.6), from 2,000 resamples. SciPy 1.17 with 200,000 resamples: (115.4, 260.9).
    const options = { statistic: variance, confidence: 0.9, resamples: 5_000 };
    const bca = await bootstrapInterval(spatial, options);
    for (const [found, known] of [
      [bca.low, 115.4],
      [bca.high, 260.9],
    ] as const)
      expect(Math.abs(found - known)).toBeLessThan(4);
    expect(bca.estimate).toBeCloseTo(171.534, 3);
  });

  it("is a function of its seed", async () => {
    const values = [3, 5, 4, 8, 21];
    const first = await bootstrapInterval(values, { seed: 7, resamples: 200 });
    expect(await bootstrapInterval(values, { seed: 7, resamples: 200 })).toEqual(first);
    expect(await bootstrapInterval(values, { seed: 8, resamples: 200 })).not.toEqual(first);
  });
});

describe("compareBySeed", () => {
  it("gives what t.test of R gives for sleep", async () => {
    const { t, permutation, effectSize } = await compareBySeed(seeded(sleep.one), seeded(sleep.two));
    expect(t?.value).toBeCloseTo(-4.0621277, 7);
    expect(t?.p).toBeCloseTo(0.00283289, 8);
    expect(permutation).toEqual({ p: 0.00390625, exact: true });
    expect(effectSize).toBeCloseTo(pairedD(sleep.one, sleep.two), 12);
  });

  it("tries all sign changes of few pairs, as SciPy 1.17 does", async () => {
    const differences = [1.5, -0.3, 2.2, 0.9, -1.1, 0.4, 3.1, 0.8];
    const { permutation, t } = await compareBySeed(seeded(differences), seeded(differences.map(() => 0)));
    expect(permutation).toEqual({ p: 0.09375, exact: true });
    expect(t?.p).toBeCloseTo(0.08843013, 8);
  });

  it("finds no effect in the rounding of equal differences", async () => {
    const values = [1.1, 2.2, 3.3, 4.4, 5.7];
    const shifted = values.map((value) => value + 0.1);
    expect(await compareBySeed(seeded(shifted), seeded(values))).toMatchObject({ t: undefined, effectSize: undefined });
    expect(() => pairedD(shifted, values)).toThrowError(/without spread/);
    expect(() => cohensD([0.1 + 0.2, 0.3], [0.3, 0.3])).toThrowError(/without spread/);
  });

  it("pairs by the seed, whatever the order, and turns with its sides", async () => {
    const [one, two] = [seeded(sleep.one), seeded(sleep.two)];
    const straight = await compareBySeed(one, two);
    expect(await compareBySeed(one.toReversed(), two)).toMatchObject({ permutation: straight.permutation });
    const turned = await compareBySeed(two, one);
    expect(turned.difference.estimate).toBeCloseTo(-straight.difference.estimate, 12);
    expect(turned.permutation).toEqual(straight.permutation);
  });

  it("draws sign changes of many pairs from its seed, and is never sure", async () => {
    const many = Array.from({ length: 20 }, (_, place) => 5 + (place % 3));
    const compared = await compareBySeed(seeded(many), seeded(many.map(() => 0)), { resamples: 500 });
    expect(compared.permutation).toEqual({ p: 1 / 501, exact: false });
  });

  it("has no t without spread, and says so", async () => {
    expect(await compareBySeed(seeded([2, 3, 4]), seeded([1, 2, 3]))).toMatchObject({ t: undefined, effectSize: undefined });
    expect(await compareBySeed(seeded([2, 3]), seeded([2, 3]))).toMatchObject({ permutation: { p: 1 } });
  });

  it("refuses seeds that are no pairs", async () => {
    const [one, two] = [seeded([1, 2, 3]), seeded([1, 2])];
    await expect(compareBySeed(one, two)).rejects.toThrow(/"2" on one side only/);
    await expect(compareBySeed([...two, ...two], two)).rejects.toThrow(/two for the seed 0/);
    await expect(compareBySeed(seeded([1]), seeded([2]))).rejects.toMatchObject({ code: "SAMPLE_INVALID" });
    await expect(compareBySeed([{ seed: 1, value: Number.NaN }], two)).rejects.toThrow(/finite/);
  });
});

describe("effect sizes", () => {
  it("have the values of their definitions", () => {
    expect(cohensD([2, 4, 6], [1, 3, 5])).toBe(0.5);
    expect(pairedD([3, 5, 7], [2, 3, 4])).toBe(2);
    expect(cohensD([1, 3, 5], [2, 4, 6])).toBe(-0.5);
  });
});

describe("sampleSize", () => {
  it("is the least n whose t interval is that narrow", async () => {
    // The numbers that the definition gives with the quantiles of SciPy 1.17.
    expect(await sampleSize({ standardDeviation: 10, halfWidth: 2 })).toBe(99);
    expect(await sampleSize({ standardDeviation: 1, halfWidth: 1 })).toBe(7);
    expect(await sampleSize({ standardDeviation: 1, halfWidth: 0.1, confidence: 0.99 })).toBe(668);
    expect(await sampleSize({ standardDeviation: 0, halfWidth: 1 })).toBe(2);
  });

  it("refuses a precision that no number reaches", async () => {
    await expect(sampleSize({ standardDeviation: 1, halfWidth: 0 })).rejects.toThrow(/halfWidth/);
    await expect(sampleSize({ standardDeviation: 1, halfWidth: 1e-9 })).rejects.toThrow(/values reach/);
    await expect(sampleSize({ standardDeviation: Number.NaN, halfWidth: 1 })).rejects.toThrow(/standardDeviation/);
  });
});
