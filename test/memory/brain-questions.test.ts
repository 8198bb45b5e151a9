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

  it("rewrite completes a sentence from its context, and asks no model without one", async () => {
    const { brain, model } = brainWith(scriptedModel([" The cat sleeps. \n"]));
    expect(await brain.rewrite("It sleeps.", "")).toBe("It sleeps.");
    expect(await brain.rewrite("", "The cat.")).toBe("");
    expect(model.calls).toEqual([]);
    expect(await brain.rewrite("It sleeps.", 'The cat.\n"}]')).toBe("The cat sleeps.");
    expect(shownIn(model.calls[0])).toContain(JSON.stringify({ context: 'The cat.\n"}]', sentence: "It sleeps." }));
  });

  it("getTitle gives at most five words, and of five words or less asks no one", async () => {
    const { brain, model } = brainWith(scriptedModel(["The very long tale of a cat\nand more"]));
    expect(await brain.getTitle(" A cat's life ")).toBe("A cat's life");
    expect(model.calls).toEqual([]);
    expect(await brain.getTitle("Once upon a time there was a cat.")).toBe("The very long tale of");
  });
});
