import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimatedTokens, estimateTokens } from "../../src/memory/tokens.ts";

describe("the estimate of tokens", () => {
  it.each([
    ["", 0],
    ["a", 1],
    ["four", 1],
    ["fives", 2],
    ["a sentence of 28 characters.", 7],
    ["你好世界", 4],
    ["你好, world", 4],
    ["こんにちは", 5],
    ["안녕하세요", 5],
    ["你好。", 3],
    ["𠀀𠀁", 2],
    ["ｆｕｌｌ", 4],
    ["\u1100\u1101\u1102\u1103", 4],
    ["naïve \u10ff", 2],
    ["⺀⺁", 2],
  ])("of %j is %d", (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
    expect(estimatedTokens.count(text)).toBe(tokens);
  });

  it("[R093: a quarter of the characters told Chinese less than half] ten thousand Chinese characters are ten thousand tokens", () => {
    expect(estimateTokens("记".repeat(10_000))).toBe(10_000);
  });

  it("never falls when a text grows, and is a whole number", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
        const [one, both] = [estimateTokens(a), estimateTokens(a + b)];
        return Number.isInteger(both) && both >= one && both <= one + estimateTokens(b);
      }),
    );
  });
});
