import { describe, expect, it } from "vitest";
import { minisearch } from "../../src/adapters/minisearch.ts";

async function filled(): Promise<ReturnType<typeof minisearch>> {
  const index = minisearch();
  const texts = ["the red bridge", "the blue bridge over the river", "数据库迁移失败", "authentication of users", ""];
  for (const [key, text] of texts.entries()) await index.add(key, text);
  return index;
}

describe("minisearch", () => {
  it("finds by words, best first, and nothing where no word is shared", async () => {
    const index = await filled();
    expect((await index.search("red bridge", 5)).map(({ key }) => key)).toEqual([0, 1]);
    expect((await index.search("bridge", 1)).length).toBe(1);
    expect(await index.search("zebra", 5)).toEqual([]);
    expect(await index.search("", 5)).toEqual([]);
  });

  it("finds Chinese without spaces", async () => {
    expect((await (await filled()).search("数据库", 5)).map(({ key }) => key)).toEqual([2]);
  });

  it("finds a longer word misspelt, and by its beginning", async () => {
    const index = await filled();
    for (const word of ["authentificaton", "authent"]) expect((await index.search(word, 5)).map(({ key }) => key)).toEqual([3]);
  });

  it("replaces, deletes, filters and clears", async () => {
    const index = await filled();
    await index.add(0, "a green door");
    expect((await index.search("bridge", 5)).map(({ key }) => key)).toEqual([1]);
    expect((await index.search("green bridge", 5, (key) => key !== 1)).map(({ key }) => key)).toEqual([0]);
    expect([await index.delete(1), await index.delete(1), index.size]).toEqual([true, false, 4]);
    expect(await index.search("bridge", 5)).toEqual([]);
    await index.add(1, "the blue bridge");
    expect((await index.search("bridge", 5)).map(({ key }) => key)).toEqual([1]);
    await index.clear();
    expect([index.size, await index.search("door", 5)]).toEqual([0, []]);
  });
});
