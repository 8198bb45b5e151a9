import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitTexts } from "../../src/memory/summary.ts";

const OVERLAP = 20;

function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

describe("splitTexts", () => {
  it("gives a text that fits as it is, also an empty one", () => {
    expect([splitTexts("", 10), splitTexts("0123456789", 10)]).toEqual([[""], ["0123456789"]]);
  });

  it("overlaps by twenty characters where a window is longer than that, and not where it is not", () => {
    const text = Array.from({ length: 100 }, (_, n) => String.fromCharCode(33 + (n % 90))).join("");
    const windows = splitTexts(text, 50);
    expect(windows).toEqual([text.slice(0, 50), text.slice(30, 80), text.slice(60, 100)]);
    expect(splitTexts("0123456789", 4)).toEqual(["0123", "4567", "89"]);
  });

  it("[MetaGPT: a text that ended with a window got one more, of nothing but the overlap] ends with the text", () => {
    expect(splitTexts("x".repeat(100), 60).map(({ length }) => length)).toEqual([60, 60]);
  });

  it("is the text again when the overlaps are taken out, in windows that fit and cut no character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), fc.integer({ min: 1, max: 120 }), (text, window) => {
        const windows = splitTexts(text, window);
        let place = 0;
        for (const [n, part] of windows.entries()) {
          // The last place that leaves nothing out is meant in a text that repeats itself.
          const start = text.lastIndexOf(part, place);
          const isNext = n === 0 ? start === 0 : start >= place - OVERLAP - 2 && start <= place;
          const fits = part.length <= Math.max(2, window);
          const isWhole = isWellFormed(part) || !isWellFormed(text);
          if (!isNext || !fits || !isWhole) return false;
          place = start + part.length;
        }
        return place === text.length;
      }),
    );
  });
});
