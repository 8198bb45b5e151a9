import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCodeReply } from "../../actions/code-reply.ts";
import { inFence } from "../../actions/markdown.ts";

function codeIn(reply: string, path = "src/a.js"): string {
  const read = readCodeReply(reply, path);
  return read.kind === "code" ? read.code : `FAULT ${read.fault}`;
}

describe("one block", () => {
  test("is the file, whatever tag of its language and prose around it", () => {
    for (const tag of ["", "js", "javascript", "text", "src/a.js", "ts", "unknown-tongue", "js {1,3}"]) {
      expect(codeIn(`Sure! Here is the file.\n\n\`\`\`${tag}\nlet a;\n\`\`\`\n\nIt does what you asked.`)).toBe("let a;\n");
    }
  });

  test("comes out exactly as it went in, fences of its own included", () => {
    const line = fc.constantFrom("let a = 1;", "", "```", "```js", "~~~", "````md", "  x", "# T", "- `a`");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom("src/a.js", "README.md"), (lines, path) => {
        const file = `start\n${lines.join("\n")}\nend`;
        expect(codeIn(`Here:\n\n${inFence(file, "x")}\n`, path)).toBe(`${file}\n`);
      }),
    );
  });

  test("of a megabyte is read like any other", () => {
    const file = "const line = 1;\n".repeat(65_536).trimEnd();
    expect(codeIn(`\`\`\`js\n${file}\n\`\`\``)).toBe(`${file}\n`);
  });
});

describe("several blocks", () => {
  test("the one named with the path is the file, though another is longer", () => {
    const reply = "```js src/b.js\nlet longer = 1;\nlet more = 2;\n```\n```js src/a.js\nlet a;\n```";
    expect(codeIn(reply)).toBe("let a;\n");
    expect(codeIn('```src/bigger/src/a.js\nlet longer = 1;\n```\n```js title="./src/a.js"\nlet a;\n```')).toBe("let a;\n");
  });

  test("without a name the longest is", () => {
    expect(codeIn("First install it:\n```sh\nnpm i\n```\nThen:\n```js\nlet a = 1;\nlet b;\n```\nRun:\n```sh\nnode a\n```")).toBe(
      "let a = 1;\nlet b;\n",
    );
  });

  test("a document that holds plain blocks is taken whole", () => {
    const document = "# Title\n\n```\nnode --test\n```\n\nMore.\n\n```\nls\n```\n\nEnd.";
    expect(codeIn(`Here is the README:\n\n\`\`\`markdown\n${document}\n\`\`\`\n`, "README.md")).toBe(`${document}\n`);
    const mixed = "# Title\n\n```sh\nnode --test\n```\n\n```\nls\n```";
    expect(codeIn(`\`\`\`markdown\n${mixed}\n\`\`\``, "README.md")).toBe(`${mixed}\n`);
  });

  test("a document followed by a block that says what it is, is not", () => {
    expect(codeIn("```markdown\n# A long title\n```\nTry it:\n```sh\nls\n```", "README.md")).toBe("# A long title\n");
    expect(codeIn("```js\nlet a = 1;\n```\nor\n```\nls\n```")).toBe("let a = 1;\n");
  });
});

describe("no file", () => {
  test("prose alone is never code", () => {
    fc.assert(
      fc.property(fc.lorem({ maxCount: 30 }), fc.constantFrom("", "`a`", "``", "    indented code"), (prose, code) => {
        expect(readCodeReply(`${prose}\n${code}\n${prose}`, "src/a.js")).toEqual({ kind: "fault", fault: "holds no fenced block" });
      }),
    );
    expect(readCodeReply("", "src/a.js").kind).toBe("fault");
  });

  test("an empty block is no file", () => {
    expect(codeIn("```js\n```")).toBe("FAULT holds an empty fenced block");
    expect(codeIn("```js\n \n\t\n```")).toBe("FAULT holds an empty fenced block");
  });

  test("a block that was cut off is no file, though a shorter one is whole", () => {
    expect(codeIn("```js\nlet a = 1;\nlet b")).toBe("FAULT ends before its fenced block is closed");
    expect(codeIn("```sh\nls\n```\n```js\nlet a = 1;\nlet b")).toBe("FAULT ends before its fenced block is closed");
  });
});
