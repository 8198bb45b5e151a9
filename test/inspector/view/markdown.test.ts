import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Block, markdownBlocks, plainText, type Span } from "../../../src/inspector/view/markdown.ts";

/** A block in one line: its kind, and its texts with the kinds of their parts. */
function lineOf(block: Block): string {
  switch (block.kind) {
    case "code":
      return `code: ${block.text}`;
    case "list":
      return `${block.start === undefined ? "list" : `list from ${block.start}`}: ${block.items.map(([depth, spans]) => `${depth} ${marked(spans)}`).join(" / ")}`;
    case "table":
      return `table: ${[block.head, ...block.rows].map((row) => row.map(marked).join(" | ")).join(" / ")}`;
    default:
      return `${block.kind}: ${marked(block.spans)}`;
  }
}

function marked(spans: readonly Span[]): string {
  return spans
    .map((span) => (typeof span === "string" ? span : `<${span.kind} ${span.kind === "code" ? span.text : marked(span.spans)}>`))
    .join("");
}

const linesOf = (text: string): readonly string[] => markdownBlocks(text).map(lineOf);

/** As many characters as the page reads at a time. */
const LONG = 220_000;

describe("the Markdown of a message", () => {
  test.each<[string, readonly string[]]>([
    ["# A *title*\n## And `more`", ["heading: A <em title>", "heading: And <code more>"]],
    ["one\ntwo\n\nthree", ["text: one\ntwo", "text: three"]],
    ["- a\n  and b\n  - c\n\n- [x] d\n- [ ] e", ["list: 0 a\nand b / 1 c / 0 ☑ d / 0 ☐ e"]],
    ["3. a\n4) b\n\nend", ["list from 3: 0 a / 0 b", "text: end"]],
    ["- a\n  ```js\n  **b**\n  ```\n- c", ["list: 0 a", "code:   **b**", "list: 0 c"]],
    ["````\n```\nx\n````\ny", ["code: ```\nx", "text: y"]],
    ["```\nnever ended", ["code: never ended"]],
    ["| a | **b** |\n|---|:-:|\n| `c` | d\\|e |\n\nend", ["table: a | <strong b> / <code c> | d|e", "text: end"]],
    ["> quoted\n>> twice\nnot", ["quote: quoted\ntwice", "text: not"]],
    ["a\n\n---\n\nb", ["text: a", "text: b"]],
    ["a | b\nno table", ["text: a | b\nno table"]],
    ["**a *b* c** __d__ ***e***", ["text: <strong a <em b> c> <strong d> <strong e>"]],
    ["snake_case 2 * 3 * 4 src/*.ts, *.js _so_", ["text: snake_case 2 * 3 * 4 src/*.ts, *.js <em so>"]],
    ["[a](https://b.c 'd') ![e](f.png) [g](g) [h]", ["text: a (https://b.c) e (f.png) g [h]"]],
    [String.raw`\*not\* \# <b>HTML</b> <!-- x -->`, ["text: *not* # <b>HTML</b> <!-- x -->"]],
    ["[a](javascript:alert(1))", ["text: [a](javascript:alert(1))"]],
    ["a\r\nb\r\rc", ["text: a\nb", "text: c"]],
    ["", []],
  ])("is blocks with spans: %j", (text, lines) => {
    expect(linesOf(text)).toEqual(lines);
  });

  test("property: words without marks stay as they are, in their order", () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    const words = fc.array(word, { minLength: 1 });
    const form = fc.constantFrom("# %", "- %", "> %", "**%**", "%", "1. %");
    fc.assert(
      fc.property(fc.array(fc.tuple(form, words)), (parts) => {
        const text = parts.map(([mark, all]) => mark.replace("%", all.join(" "))).join("\n\n");
        const read = markdownBlocks(text).flatMap((block) =>
          block.kind === "list" ? block.items.map(([, spans]) => plainText(spans)) : "spans" in block ? [plainText(block.spans)] : [],
        );
        expect(read).toEqual(parts.map(([, all]) => all.join(" ")));
      }),
    );
  });

  test.each([
    "*",
    "**",
    "_",
    "__",
    "`",
    "``",
    "[",
    "[](",
    "[a](b ",
    "![",
    "> ",
    "- ",
    "  - ",
    "#",
    "|",
    "|-",
    "```\n",
    "~~~\n",
    "**a",
    "*a ",
    "\\",
    "1. ",
    " \n",
    "*a**",
  ])("repeated %j is read in linear time, and without deep nesting", (mark) => {
    for (const end of ["", "x", "\n|-|\n"]) expect(markdownBlocks(`${mark.repeat(LONG / mark.length)}${end}`)).toBeInstanceOf(Array);
  });

  test("property: every text can be read", () => {
    const piece = fc.constantFrom(
      "*",
      "**",
      "_",
      "`",
      "```",
      "\n",
      "|",
      "-",
      "# ",
      "[",
      "](",
      ")",
      " ",
      "a",
      "\\",
      ">",
      "1. ",
      "é",
      "\u202e",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
        expect(markdownBlocks(pieces.join(""))).toBeInstanceOf(Array);
      }),
    );
  });
});
