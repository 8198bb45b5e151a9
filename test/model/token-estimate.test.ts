import { expect, it } from "vitest";
import { estimateTokens } from "../../src/model/token-estimate.ts";

it.each<[string, string, number, number]>([
  ["English", "The quick brown fox jumps. ".repeat(100), 500, 800],
  ["Chinese", "中文".repeat(500), 900, 1_100],
  ["Korean", "한국어".repeat(300), 800, 1_000],
  ["Russian", "привет мир ".repeat(100), 350, 650],
  ["Thai", "สวัสดี".repeat(100), 250, 700],
  ["emoji", "🦊".repeat(300), 300, 900],
])("%s takes about as many tokens as real encodings need", (_script, text, least, most) => {
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(least);
  expect(estimateTokens(text)).toBeLessThanOrEqual(most);
});
