import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fencedBlocks, inFence } from "../../actions/markdown.ts";

/** Texts made of what matters to fences: ticks, tildes, indents, words, line ends. */
const fenceText = fc
  .array(fc.constantFrom("```", "````", "~~~", "`", "   ", " ", "js", "x", "\n", "\n", "const a = 1;", "# T"), { maxLength: 40 })
  .map((parts) => parts.join(""));

describe("reading blocks", () => {
  test("a block has what stands behind its fence, and its lines", () => {
    expect(fencedBlocks("Here it is:\n```js src/a.js\none\n\ntwo\n```\nDone.")).toEqual([
      { info: "js src/a.js", before: "Here it is:", content: "one\n\ntwo\n", isClosed: true },
    ]);
  });

  test("only a fence at least as long and of the same kind closes a block", () => {
    const text = "````\n```\n~~~~\n```\n````\n~~~\n```\n~~~\n";
    expect(fencedBlocks(text).map((block) => block.content)).toEqual(["```\n~~~~\n```\n", "```\n"]);
  });

  test("a fence with a word inside a block opens a block in it", () => {
    const text = "```markdown\n# Title\n```sh\nnode --test\n```\nmore\n```\nBye.";
    expect(fencedBlocks(text)).toEqual([
      { info: "markdown", before: "", content: "# Title\n```sh\nnode --test\n```\nmore\n", isClosed: true },
    ]);
  });

  test("a block that the text ends in is told as not closed", () => {
    expect(fencedBlocks("```js\nlet a")).toEqual([{ info: "js", before: "", content: "let a\n", isClosed: false }]);
  });

  test("code spans and fences in the middle of a line are prose", () => {
    expect(fencedBlocks("```not a fence``` and ``` here\n    ```\n text ```")).toEqual([]);
  });
});

describe("writing blocks", () => {
  test("the text between fences comes out again, alone", () => {
    fc.assert(
      fc.property(fenceText, fc.constantFrom("", "js", "src/a.js"), (text, info) => {
        const blocks = fencedBlocks(`Here:\n\n${inFence(text, info)}\n\nDone.`);
        const lines = text.endsWith("\n") ? text : `${text}\n`;
        expect(blocks).toEqual([{ info, before: "Here:", content: lines, isClosed: true }]);
      }),
    );
  });
});

describe("hostile texts", () => {
  test("reading never throws, and every block stands in the text", () => {
    fc.assert(
      fc.property(fenceText, (text) => {
        for (const block of fencedBlocks(text)) expect(text).toContain(block.content.split("\n")[0]?.trim() ?? "");
      }),
    );
  });

  test("a megabyte of fences is read in time that grows with its length alone", { tags: ["company", "long"] }, () => {
    for (const unit of ["```a\n```b\n```\n", "```a\n", "```\n", "~~~~\n```x\n"]) {
      const blocks = fencedBlocks(unit.repeat(Math.ceil(1_000_000 / unit.length)));
      expect(blocks.length).toBeGreaterThan(0);
    }
  });
});
