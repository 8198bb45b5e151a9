import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { figure, figuresText } from "../../src/research/figures/study.ts";

const known = { name: "coins", source: "Ada 1843", expected: 2 };

describe("a figure", () => {
  it("of one number holds exactly, but for rounding", () => {
    expect(figure({ ...known, found: 2 + 1e-12 }).holds).toBe(true);
    expect(figure({ ...known, found: 2.001 })).toEqual({ ...known, relation: "equal", found: 2.001, samples: 1, holds: false });
    expect(figure({ ...known, found: 2.001, tolerance: 0.01 }).holds).toBe(true);
  });

  it("of samples holds when their mean is at most four standard errors away", () => {
    const samples = [2, 3, 2, 3, 2, 3, 2, 3];
    const { standardError = 0, found } = figure({ ...known, found: samples });
    expect([found, standardError]).toEqual([2.5, expect.closeTo(Math.sqrt(2 / 7 / 8), 12)]);
    expect(figure({ ...known, expected: 2.5 - 3.9 * standardError, found: samples }).holds).toBe(true);
    expect(figure({ ...known, expected: 2.5 - 4.1 * standardError, found: samples }).holds).toBe(false);
    expect(figure({ ...known, expected: 2.5 - 4.1 * standardError, found: samples, standardErrors: 5 }).holds).toBe(true);
  });

  it("of zeros and ones has the standard error that the published share predicts", () => {
    const found = Array.from({ length: 100 }, (_, place) => (place < 98 ? 1 : 0));
    expect(figure({ ...known, expected: 0.9, found })).toMatchObject({ standardError: expect.closeTo(0.03, 12), holds: true });
    expect(figure({ ...known, expected: 0.85, found })).toMatchObject({ standardError: expect.closeTo(0.0357071, 6), holds: true });
    expect(figure({ ...known, expected: 0.8, found }).holds).toBe(false);
    expect(figure({ ...known, expected: 1, found })).toMatchObject({ standardError: 0, holds: false });
    expect(figure({ ...known, expected: 2, found }).standardError).toBeCloseTo(Math.sqrt((0.98 * 0.02) / 99), 12);
  });

  it("that is a bound is missed on one side only", () => {
    fc.assert(
      fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 }), (expected, found) => {
        expect(figure({ ...known, expected, found, relation: "at most" }).holds).toBe(found <= expected);
        expect(figure({ ...known, expected, found, relation: "at least" }).holds).toBe(found >= expected);
      }),
    );
  });

  it("is reported in a line with its expectation, interval and source", () => {
    const [head, good, bad] = figuresText([
      figure({ ...known, found: [1, 2, 3] }),
      figure({ ...known, found: 5, relation: "at most" }),
    ]).split("\n");
    expect(head).toMatch(/figure +expected +found +interval +samples +source/);
    expect(good).toMatch(/^ok +coins +2 +2 +-0\.3094\d* to 4\.3094\d* +3 +Ada 1843$/);
    expect(bad).toMatch(/^FAILED +coins +<= 2 +5 +exact +1 +Ada 1843$/);
    const one = figure({ ...known, found: 5 });
    expect(figuresText(Array.from({ length: 150_000 }, () => one)).split("\n")).toHaveLength(150_001);
  });
});
