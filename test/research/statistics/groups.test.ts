import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anova, cohensD, compareSamples, holm, linearRegression } from "../../../src/research/index.ts";
import { distributions } from "../../../src/research/statistics/interval.ts";

/** The data set `sleep` of R. */
const sleep = {
  one: [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2],
  two: [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
};
/** The data set `PlantGrowth` of R: a control and two treatments. */
const plants = [
  [4.17, 5.58, 5.18, 6.11, 4.5, 4.61, 5.17, 4.53, 5.33, 5.14],
  [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
  [6.31, 5.12, 5.54, 5.5, 5.37, 5.29, 4.92, 6.15, 5.8, 5.26],
];
/** Ozone in May and in August, of the data set `airquality` of R. */
const ozone = {
  may: [41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37],
  august: [39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85],
};
/** The data set `cars` of R: speed, and the distance until the car stops. */
const speeds = [4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15];
speeds.push(15, 16, 16, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25);
const distances = [2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26];
distances.push(54, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85);
const cars = speeds.map((speed, index) => [speed, distances[index] ?? 0] as const);

const someValues = fc.array(fc.integer({ min: -6, max: 6 }), { minLength: 2, maxLength: 6 });

describe("the F distribution", () => {
  it("has the tails that SciPy 1.17 gives, scipy.stats.f.sf, for few degrees and many", async () => {
    const { fTail } = await distributions();
    const known = [
      [3, 2, 15, 0.08017514100740991],
      [1.2, 5, 20_000, 0.30626269925842314],
      [1.2, 40, 1_000_000, 0.18026675184962954],
      [3, 1, 1_000_000, 0.08326482502421008],
      [0.5, 3, 7, 0.6940363875688137],
      [30, 3, 40, 2.5002827378619107e-10],
      [1.01, 1_000, 1_000, 0.4375085865963026],
      [1.3, 500, 600, 0.0010604092855889184],
    ] as const;
    for (const [f, between, within, tail] of known) expect(fTail(f, between, within) / tail).toBeCloseTo(1, 7);
    expect(fTail(0, 2, 3)).toBe(1);
  });
});

describe("compareSamples", () => {
  it("gives what t.test of R gives for sleep", async () => {
    const { difference, t, effectSize } = await compareSamples(sleep.one, sleep.two);
    expect(t?.value).toBeCloseTo(-1.8608134674868531, 12);
    expect(t?.degrees).toBeCloseTo(17.7764735161784984, 10);
    expect(t?.p).toBeCloseTo(0.0793941401873582, 9);
    expect(difference.low).toBeCloseTo(-3.3654832307117104, 6);
    expect(difference.high).toBeCloseTo(0.2054832307117102, 6);
    expect(difference).toMatchObject({ n: 20, method: "t", confidence: 0.95 });
    expect(effectSize).toBeCloseTo(cohensD(sleep.one, sleep.two), 12);
  });

  it("gives what wilcox.test of R gives: Hollander and Wolfe 1973, page 69, exactly, and ozone with ties", async () => {
    const atTerm = [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const early = [1.15, 0.88, 0.9, 0.74, 1.21];
    const { ranks } = await compareSamples(atTerm, early);
    expect(ranks).toEqual({ u: 35, superiority: 0.7, exact: true, p: expect.closeTo(0.2544122544122544, 12) });
    const months = await compareSamples(ozone.may, ozone.august);
    expect(months.ranks).toMatchObject({ u: 127.5, exact: false });
    expect((months.ranks.p / 1.20807830768774e-4).toFixed(6)).toBe("1.000000");
    // A small probability is not 0.
    const numbers = Array.from({ length: 60 }, (_, n) => n);
    const apart = await compareSamples(
      numbers,
      numbers.map((n) => n + 100),
    );
    expect((apart.ranks.p / 3.556570974984777e-21).toFixed(9)).toBe("1.000000000");
  });

  it("counts every division of few values, also of equal ones", async () => {
    await fc.assert(
      fc.asyncProperty(someValues, someValues, async (a, b) => {
        const { ranks } = await compareSamples(a, b);
        const all = [...a, ...b];
        const uOf = (chosen: readonly number[], rest: readonly number[]): number =>
          chosen.reduce((sum, x) => sum + rest.reduce((wins, y) => wins + (x > y ? 1 : x === y ? 0.5 : 0), 0), 0);
        const centre = (a.length * b.length) / 2;
        let [far, count] = [0, 0];
        for (let bits = 0; bits < 2 ** all.length; bits += 1) {
          const chosen = all.filter((_, index) => (bits & (1 << index)) !== 0);
          if (chosen.length !== a.length) continue;
          count += 1;
          const rest = all.filter((_, index) => (bits & (1 << index)) === 0);
          if (Math.abs(uOf(chosen, rest) - centre) >= Math.abs(uOf(a, b) - centre)) far += 1;
        }
        expect(ranks.u).toBe(uOf(a, b));
        expect(ranks.p).toBeCloseTo(far / count, 12);
      }),
      { numRuns: 25 },
    );
  });

  it("turns with its sides, ignores the order of values, and moves with both samples", async () => {
    await fc.assert(
      fc.asyncProperty(someValues, someValues, async (a, b) => {
        const [straight, turned] = [await compareSamples(a, b), await compareSamples(b.toReversed(), a.toReversed())];
        expect(turned.difference.estimate).toBeCloseTo(-straight.difference.estimate, 9);
        expect(turned.ranks.p).toBeCloseTo(straight.ranks.p, 12);
        expect(turned.ranks.superiority).toBeCloseTo(1 - straight.ranks.superiority, 12);
        expect(turned.t === undefined).toBe(straight.t === undefined);
        expect(turned.t?.p ?? 0).toBeCloseTo(straight.t?.p ?? 0, 9);
        const moved = await compareSamples(
          a.map((value) => 2 * value + 100),
          b.map((value) => 2 * value + 100),
        );
        expect(moved.ranks).toEqual(straight.ranks);
        expect(moved.t?.p ?? 0).toBeCloseTo(straight.t?.p ?? 0, 9);
        for (const p of [straight.ranks.p, straight.t?.p ?? 1]) expect(p >= 0 && p <= 1).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("has no t without spread, and a rank test also then", async () => {
    expect(await compareSamples([1, 1], [2, 2])).toMatchObject({
      difference: { estimate: -1, low: -1, high: -1 },
      t: undefined,
      effectSize: undefined,
      ranks: { u: 0, superiority: 0, p: expect.closeTo(1 / 3, 12), exact: true },
    });
    const equal = Array.from({ length: 40 }, () => 0.1);
    expect(await compareSamples(equal, equal)).toMatchObject({ t: undefined, ranks: { superiority: 0.5, p: 1, exact: false } });
  });

  it("refuses what is no sample", async () => {
    await expect(compareSamples([1], [1, 2])).rejects.toThrow(/at least 2 values/);
    await expect(compareSamples([], [1, 2])).rejects.toMatchObject({ code: "SAMPLE_INVALID" });
    await expect(compareSamples([1, Number.NaN], [1, 2])).rejects.toThrow(/got NaN at index 1/);
    await expect(compareSamples([1, 2], [1, 2], { confidence: 1 })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(compareSamples([1e200, -1e200], [1, 2])).rejects.toThrow(/too large/);
  });
});

describe("anova", () => {
  it("gives what aov of R gives for PlantGrowth", async () => {
    const { f, etaSquared, means } = await anova(plants);
    expect(f?.value).toBeCloseTo(4.846088, 6);
    expect(f?.degrees).toEqual([2, 27]);
    expect(f?.p).toBeCloseTo(0.01591, 5);
    expect(etaSquared).toBeCloseTo(3.76634 / (3.76634 + 10.49209), 6);
    expect(means.map((value) => value.toFixed(3))).toEqual(["5.032", "4.661", "5.526"]);
  });

  it("of two groups is the t test with one variance: F = t²", async () => {
    const { f } = await anova([sleep.one, sleep.two]);
    const t = cohensD(sleep.one, sleep.two) * Math.sqrt(10 / 2);
    expect(f?.value).toBeCloseTo(t ** 2, 10);
    // t.test(extra ~ group, sleep, var.equal = TRUE) of R.
    expect(f?.p).toBeCloseTo(0.07918671, 8);
  });

  it("ignores the order of groups and of values, the unit and the origin", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someValues, { minLength: 2, maxLength: 4 }), async (groups) => {
        const straight = await anova(groups);
        const moved = await anova(groups.toReversed().map((group) => group.toReversed().map((value) => 5 - 3 * value)));
        expect(moved.f === undefined).toBe(straight.f === undefined);
        expect(moved.f?.p ?? 0).toBeCloseTo(straight.f?.p ?? 0, 9);
        expect(moved.etaSquared ?? -1).toBeCloseTo(straight.etaSquared ?? -1, 9);
        if (straight.f !== undefined) expect(straight.f.p >= 0 && straight.f.p <= 1 && straight.f.value >= 0).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("has no F without spread within the groups, and refuses what has none at all", async () => {
    expect(
      await anova([
        [1, 1],
        [2, 2],
      ]),
    ).toMatchObject({ f: undefined, etaSquared: 1 });
    expect(
      await anova([
        [1, 1],
        [1, 1],
      ]),
    ).toMatchObject({ f: undefined, etaSquared: undefined });
    for (const groups of [[], [[1, 2]], [[1], [2]], [[1, 2], []], [[1, 2], [Infinity]]])
      await expect(anova(groups)).rejects.toMatchObject({ code: "SAMPLE_INVALID" });
    await expect(anova(5 as never)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });
});

describe("holm", () => {
  it("gives what p.adjust of R gives", () => {
    const adjusted = holm([0.01, 0.02, 0.03, 0.04, 0.05, 0.001]);
    for (const [index, p] of [0.05, 0.08, 0.09, 0.09, 0.09, 0.006].entries()) expect(adjusted[index]).toBeCloseTo(p, 12);
  });

  it("keeps the order of its values, is never below them, and never above Bonferroni", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 }), (ps) => {
        const adjusted = holm(ps);
        for (const [index, p] of ps.entries()) {
          expect(adjusted[index]).toBeGreaterThanOrEqual(p);
          expect(adjusted[index]).toBeLessThanOrEqual(Math.min(1, p * ps.length));
          for (const [other, q] of ps.entries()) if (p < q) expect(adjusted[index]).toBeLessThanOrEqual(adjusted[other] ?? 0);
        }
        expect(holm(ps.toReversed())).toEqual(adjusted.toReversed());
      }),
    );
  });

  it("refuses what is no probability", () => {
    for (const ps of [[], [-0.1], [1.1], [Number.NaN]]) expect(() => holm(ps)).toThrow(expect.objectContaining({ code: "SAMPLE_INVALID" }));
  });
});

describe("linearRegression", () => {
  it("gives what lm of R gives for cars", async () => {
    const { slope, intercept, t, rSquared, deviation } = await linearRegression(cars);
    expect(slope.estimate).toBeCloseTo(3.93240875912409, 12);
    expect(intercept.estimate).toBeCloseTo(-17.57909489051095, 10);
    expect([slope.low, slope.high, intercept.low, intercept.high].map((end) => end.toFixed(5))).toEqual(
      [3.09696432814032, 4.76785319010785, -31.16784960238864, -3.99034017863326].map((end) => end.toFixed(5)),
    );
    expect(t).toMatchObject({ value: expect.closeTo(9.46398999029837, 10), degrees: 48 });
    expect(((t?.p ?? 0) / 1.48983649629509e-12).toFixed(6)).toBe("1.000000");
    expect(rSquared).toBeCloseTo(0.651079380758251, 12);
    expect(deviation).toBeCloseTo(15.3795867488199, 10);
  });

  it("finds a line from which no point differs, and says that there is no test", async () => {
    const on = await linearRegression([
      [1, 3],
      [2, 5],
      [4, 9],
    ]);
    expect(on).toMatchObject({ slope: { estimate: 2, low: 2, high: 2 }, intercept: { estimate: 1 }, t: undefined, rSquared: 1 });
    const flat = await linearRegression([
      [1, 3],
      [2, 3],
      [4, 3],
    ]);
    expect(flat).toMatchObject({ slope: { estimate: 0 }, t: undefined, rSquared: undefined });
  });

  it("has the same line for points in another order, and the product of both slopes is the explained share", async () => {
    const point = fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 }));
    const points = fc
      .array(point, { minLength: 3, maxLength: 8 })
      .filter((some) => [0, 1].every((side) => new Set(some.map((one) => one[side])).size > 1));
    await fc.assert(
      fc.asyncProperty(points, async (some) => {
        const straight = await linearRegression(some);
        const turned = await linearRegression(some.map(([x, y]) => [y, x] as const).toReversed());
        expect(straight.slope.estimate * turned.slope.estimate).toBeCloseTo(straight.rSquared ?? -1, 9);
        expect(straight.rSquared).toBeCloseTo(turned.rSquared ?? -1, 9);
      }),
      { numRuns: 50 },
    );
  });

  it("refuses points that have no line", async () => {
    for (const points of [
      [],
      [
        [1, 2],
        [2, 3],
      ],
      [
        [1, 2],
        [1, 3],
        [1, 4],
      ],
      [
        [1, 2],
        [2, Number.NaN],
        [3, 4],
      ],
    ] as [number, number][][])
      await expect(linearRegression(points)).rejects.toMatchObject({ code: "SAMPLE_INVALID" });
    for (const point of [[1], [1, 2, 3], ["1", 2], 5])
      await expect(linearRegression([point as never, [1, 2], [2, 3]])).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });
});
