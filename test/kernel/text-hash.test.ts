import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { keyedHash, quickHash } from "../../src/kernel/text-hash.ts";

const COUNT = 20_000;

function distinct(hash: (text: string) => number, textOf: (n: number) => string): number {
  return new Set(Array.from({ length: COUNT }, (_, n) => hash(textOf(n)))).size;
}

const families: readonly (readonly [string, (n: number) => string])[] = [
  ["ids of a run", (n) => `Writer#${n}.0`],
  ["ids of activations that say much", (n) => `Writer#${Math.floor(n / 10)}.${n % 10}`],
  ["ids of many roles", (n) => `L${n}#0.0`],
  ["plain numbers", String],
  ["numbers with zeros before them", (n) => `m${"0".repeat(n % 40)}${Math.floor(n / 40)}`],
  ["numbers of twenty digits", (n) => `9${String(n * 2 ** 32).padStart(19, "0")}`],
  ["words", (n) => n.toString(36).replace(/\d/gu, (digit) => String.fromCharCode(65 + Number(digit)))],
  ["names with numbers in them", (n) => `A${n % 100}-B${Math.floor(n / 100)}-end`],
  ["texts that differ in their length", (n) => "x".repeat(n % 128) + String.fromCharCode(256 + Math.floor(n / 128))],
  ["long texts with another end", (n) => `${"word ".repeat(100)}${n}`],
  ["long texts with another beginning", (n) => `${n} ${"word ".repeat(100)}`],
];

describe("a hash of a text", () => {
  it("is a number of 32 bits, and the same for the same text, however often and between which others it is asked", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 300 }), { minLength: 1 }), (texts) => {
        for (const hash of [quickHash, keyedHash]) {
          const first = texts.map(hash);
          // Made anew, so that it is not the same text by where it stands.
          const again = texts.map((text) => hash(text.split("").join("")));
          expect(again).toEqual(first);
          expect(first).toEqual(first.map((number) => number | 0));
          expect(texts.toReversed().map(hash)).toEqual(first.toReversed());
        }
      }),
    );
  });

  it("is the same of the empty text whether it is the first that is asked for or not", async () => {
    vi.resetModules();
    const { quickHash: hash } = await import("../../src/kernel/text-hash.ts");
    const first = hash("");
    for (const text of ["one", "two", "three"]) hash(text);
    expect(hash("")).toBe(first);
  });

  it.each(families)("is hardly ever shared by %s", (_, textOf) => {
    expect(new Set(Array.from({ length: COUNT }, (__, n) => textOf(n))).size).toBe(COUNT);
    // Of 20,000 numbers of 32 bits that chance chose, one pair in twenty draws is equal. Eight neighbours have 29 such bits together: of 2,500
    // eights one pair in two hundred draws is equal, and costs eight at once.
    expect(distinct(quickHash, textOf)).toBeGreaterThan(COUNT - 5 - 2 * 8);
    expect(distinct(keyedHash, textOf)).toBeGreaterThan(COUNT - 5);
  });

  it("is near for ids that count up, which become neighbours", () => {
    const eights = Array.from(
      { length: 100 },
      (_, n) => new Set(Array.from({ length: 8 }, (__, k) => quickHash(`Writer#${n}${k}.0`) >> 3)),
    );
    expect(eights.every(({ size }) => size === 1)).toBe(true);
  });

  it("keyed, tells apart what differs anywhere in a long text, and surrogates that stand alone", () => {
    const middle = (n: number): string => `${"a".repeat(30_000)}${String(n).padStart(5, "0")}${"b".repeat(30_000)}`;
    expect(new Set(Array.from({ length: 50 }, (_, n) => keyedHash(middle(n)))).size).toBe(50);
    expect(new Set(Array.from({ length: 1_000 }, (_, n) => keyedHash(String.fromCharCode(0xd800 + n)))).size).toBe(1_000);
  });
});
