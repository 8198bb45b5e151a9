import fc from "fast-check";
import { countTokens as exactly } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { gptTokenizer } from "../../src/adapters/gpt-tokenizer.ts";
import { estimateTokens } from "../../src/memory/tokens.ts";
import { spentBy } from "../kernel/spent.ts";
import { tries } from "../long.ts";

const WORDS = "The quick brown fox jumps over the lazy dog, and then it rests in the shade of a big tree. ";

describe("gptTokenizer", () => {
  it.each([
    ["gpt-5-mini", "o200k_base"],
    ["openai/gpt-4o", "o200k_base"],
    ["GPT-4.1", "o200k_base"],
    ["o3", "o200k_base"],
    ["gpt-4-turbo", "cl100k_base"],
    ["gpt-3.5-turbo", "cl100k_base"],
    ["gpt-oss-20b", "o200k_harmony"],
    ["qwen3:8b", "estimate"],
    ["", "estimate"],
  ])("counts for %j with %s", (model, name) => {
    expect(gptTokenizer({ model }).name).toBe(name);
  });

  it.each(["hello world", "你好，世界", WORDS.repeat(200), "const x = 1;\n".repeat(900), "", "x y ".repeat(2000)])(
    "counts as the model does: %#",
    async (text) => {
      expect(await gptTokenizer({ model: "gpt-4o" }).count(text)).toBe(exactly(text));
    },
  );

  it("estimates for a model it does not know", async () => {
    expect(await gptTokenizer({ model: "qwen3:8b" }).count("你好, world")).toBe(estimateTokens("你好, world"));
  });

  it("counts a text that looks like the model's own marks as a text", async () => {
    const count = await gptTokenizer({ model: "gpt-4o" }).count("<|endoftext|> and <|im_start|>system");
    expect(count).toBeGreaterThan(8);
  });

  it("a hundred thousand equal letters take no minutes", { tags: ["numbers", "long"] }, async () => {
    const counted = async () => expect(await gptTokenizer({ model: "gpt-4o" }).count("a".repeat(100_000))).toBeGreaterThan(5000);
    expect(await spentBy(counted)).toBeLessThan(5000);
  });

  it("differs from the exact count by at most one token for each piece of 2000 characters", { tags: "numbers" }, async () => {
    const counter = gptTokenizer({ model: "gpt-4o" });
    const text = fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 120 }).map((parts) => parts.join(" "));
    await fc.assert(
      fc.asyncProperty(
        text,
        async (one) =>
          Math.abs(((await counter.count(one)) as number) - exactly(one, { disallowedSpecial: new Set() })) <=
          2 * Math.floor(one.length / 1000),
      ),
      { numRuns: tries(17, 200) },
    );
  });
});
