import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Ranks } from "../../src/kernel/ranks.ts";

describe("Ranks", () => {
  test("Ranks.K1 Ranks.K2 property: an item is found by its rank and after a number, as in a sorted list", () => {
    const change = fc.record({ number: fc.nat(36), isPut: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
        const ranks = new Ranks<string>(37);
        const present = new Set<number>();
        for (const { number, isPut } of changes) {
          if (isPut) ranks.put(number, `item ${number}`);
          else ranks.remove(number);
          if (isPut) present.add(number);
          else present.delete(number);
        }
        const sorted = [...present].sort((a, b) => a - b);
        const itemOf = (number: number | undefined): string | undefined => (number === undefined ? undefined : `item ${number}`);
        for (let rank = -1; rank < 40; rank += 1) expect(ranks.at(rank)).toBe(itemOf(sorted[rank]));
        for (let number = -1; number < 40; number += 1) expect(ranks.after(number)).toBe(itemOf(sorted.find((other) => other > number)));
      }),
    );
  });
});
