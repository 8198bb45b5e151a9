import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { messageId } from "../../../src/runtime/record/role-state.ts";

describe("messageId", () => {
  const count = fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 1_100 }), fc.integer({ min: 999, max: 1_001 }), fc.nat({ max: 2 ** 40 }));
  const asked = fc.array(fc.tuple(fc.constantFrom("Ann", "a#1", ""), count, fc.nat({ max: 2 })), { maxLength: 30 });

  test("property: names role, activation and place, whatever was asked for before", () => {
    fc.assert(
      fc.property(asked, (all) => {
        const ids = all.map(([role, n, place]) => messageId(role, n, place));
        expect(ids).toEqual(all.map(([role, n, place]) => `${role}#${n}.${place}`));
      }),
      { numRuns: 500 },
    );
  });

  test("counts on over the thousands", () => {
    for (const n of [998, 999, 1_000, 1_001, 1_999, 2_000, 10_007, 999_999, 1_000_000]) {
      expect([messageId("A", n, 0), messageId("B", n, 0), messageId("A", n, 1)]).toEqual([`A#${n}.0`, `B#${n}.0`, `A#${n}.1`]);
    }
  });
});
