import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countText } from "../../src/kernel/count-text.ts";

describe("countText", () => {
  const count = fc.oneof(fc.nat({ max: 1_100 }), fc.integer({ min: 999_990, max: 1_000_010 }), fc.maxSafeNat());

  test("property: it is the number's own text, whatever was asked for before", () => {
    fc.assert(
      fc.property(fc.array(count), (counts) => {
        expect(counts.map(countText)).toEqual(counts.map(String));
      }),
      { numRuns: 500 },
    );
  });

  test("counts on over the thousands", () => {
    const counts = Array.from({ length: 4_000 }, (_, place) => place);
    expect(counts.map(countText)).toEqual(counts.map(String));
  });
});
