import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { formatCost, formatUsd, type MicroUsd, usd } from "../../src/model/money.ts";

const micro = (amount: number): MicroUsd => amount as MicroUsd;

describe("usd", () => {
  it.each([
    [0, 0],
    [1, 1_000_000],
    [3, 3_000_000],
    [0.1, 100_000],
    [0.29, 290_000],
    [1.005, 1_005_000],
    [0.000001, 1],
    [0.0000011, 2],
    [1e-9, 1],
  ])("%d dollars are %d micro-dollars", (dollars, amount) => {
    expect(usd(dollars)).toBe(amount);
  });

  it("property: cents are exact", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000_000 }), (cents) => {
        expect(usd(cents / 100)).toBe(cents * 10_000);
      }),
    );
  });

  it.each([-1, Number.NaN, Infinity])("refuses %d dollars", (dollars) => {
    expect(() => usd(dollars)).toThrow(UsageError);
  });
});

describe("formatUsd", () => {
  it.each([
    [0, "$0.00"],
    [10_000, "$0.01"],
    [3_000_000, "$3.00"],
    [123, "$0.0001"],
    [12_345, "$0.0123"],
    [1_234_567, "$1.2346"],
  ])("%d micro-dollars are %s", (amount, text) => {
    expect(formatUsd(amount)).toBe(text);
  });
});

describe("formatCost", () => {
  it("says that a price is unknown, and never that it is nothing", () => {
    expect(formatCost({ known: micro(0), unpriced: 0 })).toBe("$0.00");
    expect(formatCost({ known: micro(20_000), unpriced: 0 })).toBe("$0.02");
    expect(formatCost({ known: micro(0), unpriced: 3 })).toBe("$?");
    expect(formatCost({ known: micro(20_000), unpriced: 1 })).toBe("$0.02 + $?");
  });
});
