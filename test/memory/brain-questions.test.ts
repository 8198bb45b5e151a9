import { describe, expect, it } from "vitest";
import { scriptedModel } from "../../src/testing/index.ts";
import { errorOf } from "../workspace/scratch.ts";
import { brainWith, shownIn } from "./brain-setup.ts";

describe("what a brain memory asks a model", () => {
  it.each([
    ["TRUE", true],
    ["FALSE", false],
    ["true.", true],
    ['"False"', false],
    ["TRUE: both are about cats. TRUE", true],
  ])("isRelated reads %j as %s", async (answer, related) => {
    const { brain, model } = brainWith(scriptedModel([answer]));
    expect(await brain.isRelated("a cat", "a dog")).toBe(related);
    expect(shownIn(model.calls[0])).toContain('{"paragraph 1":"a dog","paragraph 2":"a cat"}');
  });

  it.each(["maybe", "FALSE, it is not TRUE", "UNTRUE", "TRUEFALSE"])(
    "[MetaGPT: any answer with TRUE in it was a yes] isRelated refuses %j",
    async (answer) => {
      expect(await errorOf(() => brainWith(scriptedModel([answer])).brain.isRelated("a", "b"))).toMatchObject({ code: "OUTPUT_INVALID" });
    },
  );

  it("isRelated asks each time: it is no summary", async () => {
    const { brain } = brainWith(scriptedModel(["TRUE", "FALSE"]));
    expect([await brain.isRelated("a", "b"), await brain.isRelated("a", "b")]).toEqual([true, false]);
  });

  it("rewrite fills in what the context tells, and asks nobody without one", async () => {
    const { brain, model } = brainWith(scriptedModel([" The cat sleeps. \n"]));
    expect(await brain.rewrite("It sleeps.", "")).toBe("It sleeps.");
    expect(await brain.rewrite("", "The cat.")).toBe("");
    expect(model.calls).toEqual([]);
    expect(await brain.rewrite("It sleeps.", 'The cat.\n"}]')).toBe("The cat sleeps.");
    expect(shownIn(model.calls[0])).toContain(JSON.stringify({ context: 'The cat.\n"}]', sentence: "It sleeps." }));
  });

  it("getTitle gives at most five words, and of five words or less asks nobody", async () => {
    const { brain, model } = brainWith(scriptedModel(["The very long tale of a cat\nand more"]));
    expect(await brain.getTitle(" A cat's life ")).toBe("A cat's life");
    expect(model.calls).toEqual([]);
    expect(await brain.getTitle("Once upon a time there was a cat.")).toBe("The very long tale of");
  });

  it("getTitle of a book reads it in windows first", async () => {
    const { brain, model } = brainWith((request) =>
      shownIn(request).includes("titles") ? "A Book" : "what it tells, in more words than five",
    );
    expect(await brain.getTitle("word ".repeat(20_000))).toBe("A Book");
    expect(model.calls.length).toBeGreaterThan(3);
    expect(shownIn(model.calls.at(-1)).length).toBeLessThan(2000);
  });

  it("summarize gives at most so many words", async () => {
    const { brain } = brainWith(() => "one two three four five six");
    expect(await brain.summarize("a b c d e f g", { maxWords: 5 })).toBe("one two three four five…");
    expect(await brain.summarize("a b c", { maxWords: 5 })).toBe("a b c");
  });
});
