import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { insertLines, linesOf, replaceOnce } from "../../src/tools/text-edit.ts";
import { tries } from "../long.ts";

function replaced(text: string, old: string, replacement: string): string {
  const edit = replaceOnce(text, old, replacement);
  return edit.kind === "edited" ? edit.text : `refused: ${edit.reason}`;
}

function inserted(text: string, after: number, lines: string): string {
  const edit = insertLines(text, after, lines);
  return edit.kind === "edited" ? edit.text : `refused: ${edit.reason}`;
}

describe("a replacement", () => {
  it("keeps tabs, spaces at line ends and line ends everywhere else", () => {
    expect(replaced("\tif (a) {\t \r\n\t\tb();\r\n\t}\r\n\f", "b();", "c();")).toBe("\tif (a) {\t \r\n\t\tc();\r\n\t}\r\n\f");
  });

  it("takes on the line ends of the file, in what is looked for and in what comes", () => {
    expect(replaced("one\r\ntwo\r\nthree\r\n", "one\ntwo", "1\n2\n2.5")).toBe("1\r\n2\r\n2.5\r\nthree\r\n");
    expect(replaced("one\ntwo\n", "one\r\ntwo", "1\r\n2")).toBe("1\n2\n");
  });

  it("takes what is written literally", () => {
    expect(replaced("price: x", "x", "$& $1 $$ $`")).toBe("price: $& $1 $$ $`");
    expect(replaced("a.*b", ".*", "+")).toBe("a+b");
  });

  it("is refused when it fits twice, with the lines and how often", () => {
    expect(replaced("x\ny\nx\nx", "x", "z")).toBe(
      "refused: Expected the old text once in the file, but it is there 3 times, at lines 1, 3, 4. Give more of the lines around it.",
    );
    expect(replaced("x\n".repeat(30), "x", "z")).toContain("30 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...");
  });

  it("is refused when it fits nowhere, with where something like it is", () => {
    expect(replaced("a\n\tb = 1;\n", "  b = 1;", "x")).toContain("Its first line is at line 2, with other spaces");
    expect(replaced("a", "b", "x")).toContain("not there. View");
  });

  it("is refused when nothing would be found or change", () => {
    expect(replaced("a", "", "x")).toContain("refused");
    expect(replaced("a", "a", "a")).toContain("differs");
  });
});

describe("inserted lines", () => {
  it.each([
    ["a\nb\n", 0, "x", "x\na\nb\n"],
    ["a\nb\n", 1, "x\ny\n", "a\nx\ny\nb\n"],
    ["a\nb\n", 2, "x", "a\nb\nx\n"],
    ["a\nb", 2, "x", "a\nb\nx"],
    ["a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"],
    ["", 0, "x", "x\n"],
    ["a\n", 1, "", "a\n\n"],
    ["\ta\n", 1, "\t\tb", "\ta\n\t\tb\n"],
  ])("%j after %i: %j", (text, after, lines, expected) => expect(inserted(text, after, lines)).toBe(expected));

  it("are refused after a line that is not there", () => {
    expect(inserted("a\nb\n", 3, "x")).toBe("refused: Expected a line from 0 to 2, got 3.");
  });
});

const anyText = fc
  .array(fc.constantFrom("a", "b", "\t", " ", "\n", "\r\n", "é", "$&", "\u2028", "\ufeff"), { maxLength: 40 })
  .map((parts) => parts.join(""));

it("leaves all outside of the replaced text byte for byte", () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, (before, after, replacement) => {
      const edit = replaceOnce(`${before}<old>${after}`, "<old>", replacement);
      if (edit.kind === "refused") throw new Error(edit.reason);
      expect(edit.text.startsWith(before) && edit.text.endsWith(after)).toBe(true);
      const middle = edit.text.slice(before.length, edit.text.length - after.length);
      expect(middle.replace(/\r\n|\r/g, "\n")).toBe(replacement.replace(/\r\n|\r/g, "\n"));
    }),
  );
});

it("inserts whole lines and changes no other", { tags: "numbers" }, () => {
  const added = fc.array(fc.constantFrom("", "x", "\ty"), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(anyText, fc.nat(), added, (text, number, fresh) => {
      const lines = linesOf(text);
      const after = number % (lines.length + 1);
      const expected = [...lines.slice(0, after), ...fresh, ...lines.slice(after)];
      expect(linesOf(inserted(text, after, `${fresh.join("\n")}\n`))).toEqual(expected);
    }),
    {
      numRuns: tries(300, 4_000),
    },
  );
});
