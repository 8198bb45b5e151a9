import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ask, product, products, squareOf } from "../../src/memory/dot-product.ts";

const numbers = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 23 });

function summed(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((sum, value, n) => sum + value * (b[n] as number), 0);
}

describe("product", () => {
  it("is the sum of all products, whatever the size, and of a row in the middle", () => {
    fc.assert(
      fc.property(numbers, fc.nat(5), (query, before) => {
        const rows = Float32Array.from({ length: query.length * (before + 2) }, (_, n) => ((n * 7) % 11) - 5);
        ask(Float32Array.from(query));
        const from = before * query.length;
        const wanted = summed(query, rows.subarray(from, from + query.length));
        expect(product(rows, from, query.length)).toBeCloseTo(wanted, 9);
        const all = new Float64Array(before + 2);
        products(rows, before + 2, query.length, all);
        expect(all[before]).toBeCloseTo(wanted, 9);
      }),
    );
  });

  it("knows nothing of what was asked before", () => {
    ask(Float32Array.of(9, 9, 9, 9, 9, 9));
    ask(Float32Array.of(1, 2));
    expect(product(Float32Array.of(3, 4, 5, 6), 0, 2)).toBe(11);
  });
});

describe("squareOf", () => {
  it("is the product of a vector with itself", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        expect(squareOf(Float32Array.from(values))).toBeCloseTo(summed(values, values), 6);
      }),
    );
  });
});
