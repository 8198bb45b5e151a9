import { describe, expect, it } from "vitest";
import { wordsOf } from "../../src/memory/text-terms.ts";
import { minisearch } from "../../src/memory/word-index.ts";

/** Many texts, and one that answers. */
async function large(): Promise<ReturnType<typeof minisearch>> {
  const index = minisearch();
  for (let n = 0; n < 1_200; n += 1) await index.add(n, `Note ${n}: the bridge over the river was painted on day ${n % 31}.`);
  await index.add(1_200, "The lighthouse keeper paints the bridge at Kvarnholmen in vermilion.");
  return index;
}

describe("an index of many texts", () => {
  it("finds the one that holds the rare word: whole, misspelt, or by its beginning", async () => {
    const index = await large();
    for (const question of ["Who paints the bridge with vermilion?", "the bridge at kvarnholmn", "a bridge near light"]) {
      const [first] = await index.search(question, 4);
      expect([question, first?.key]).toEqual([question, 1_200]);
    }
    expect(await index.search("zebra", 4)).toEqual([]);
  });

  it("asks for those that are accepted alone, however many are not", async () => {
    const index = await large();
    expect((await index.search("painted bridge", 3, (key) => key >= 1_198 && key < 1_200)).map(({ key }) => key)).toEqual([1_198, 1_199]);
  });

  it("WordIndex.W1 answers the same whatever was asked before, and when texts have come and gone", async () => {
    const [index, other] = [await large(), await large()];
    await index.search("day 12", 50);
    expect(await index.search("river painted vermilion", 9)).toEqual(await other.search("river painted vermilion", 9));
    for (let key = 0; key < 600; key += 1) await index.delete(key);
    expect((await index.search("vermilion", 2)).map(({ key }) => key)).toEqual([1_200]);
    for (let n = 0; n < 600; n += 1) await index.add(n, `Note ${n}: the bridge over the river was painted on day ${n % 31}.`);
    await index.delete(1_200);
    expect(await index.search("vermilion", 2)).toEqual([]);
    expect(index.size).toBe(1_200);
  });
});

describe("an index and words that are no words", () => {
  it("finds the others beside a text of hundreds of thousands of letters without a space", async () => {
    const index = minisearch();
    await index.add(1, "The budget is five.");
    await index.add(2, "The office is blue.");
    const found = await index.search(`the budget ${"qw".repeat(100_000)}`, 4);
    expect(found.map(({ key }) => key)).toEqual([1]);
  });
});

describe("words with signs that stand on their letters", () => {
  it("are distinguished by a vowel sign", async () => {
    const index = minisearch();
    await index.add(1, "दिन अच्छा है");
    await index.add(2, "दीन अच्छा है");
    expect((await index.search("दीन", 4)).map(({ key }) => key)).toEqual([2]);
    expect(wordsOf("दिन")).not.toBe(wordsOf("दीन"));
  });
});
