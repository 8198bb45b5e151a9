import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { askCode, readCodeReply, elisionIn } from "../../actions/code-reply.ts";
import { inFence } from "../../actions/markdown.ts";
import type { RoleContext } from "../../src/index.ts";

function codeIn(reply: string, path = "src/a.js"): string {
  const read = readCodeReply(reply, path);
  return read.kind === "code" ? read.code : `FAULT ${read.fault}`;
}

const js = (text: string): string => `\`\`\`js\n${text}\n\`\`\``;
const FILE = "export function add(a, b) {\n  return a + b;\n}\n\nexport const VERSION = 1;";
const DIFF =
  "```diff\n--- a/src/a.js\n+++ b/src/a.js\n@@ -1,3 +1,3 @@\n export function add(a, b) {\n-  return a - b;\n+  return a + b;\n }\n```";

describe("the block that is the file", () => {
  test.each<[string, string, string?]>([
    ["after thoughts with drafts", `<think>\n${js("let draft = 1;\n".repeat(50))}\n</think>\n${js(FILE)}`],
    ["after thoughts whose first mark the server ate", `I write it so:\n${js("let draft;")}\n</think>\n\n${js(FILE)}`],
    [
      "between commands",
      `First:\n\`\`\`sh\nnpm install ${"a-long-name ".repeat(20)}\n\`\`\`\n${js(FILE)}\nThen:\n\`\`\`console\n$ node src/a.js\n3\n\`\`\``,
    ],
    ["after a longer block of another language", `\`\`\`python\n${"print(1)\n".repeat(40)}\`\`\`\nin JavaScript:\n${js(FILE)}`],
    ["after a longer block that says no language", `\`\`\`\n${"some output\n".repeat(40)}\`\`\`\n${js(FILE)}`],
    ["before its example", `${js(FILE)}\n\nExample:\n${js('import { add } from "./a.js";\nadd(1, 2);')}`],
    ["beside its diff", `What changed:\n${DIFF}\n\nThe whole file:\n${js(FILE)}`],
    ["titled, beside a longer other file", `### \`src/b.js\`\n${js("let b;\n".repeat(40))}\n\n### \`src/a.js\`\n${js(FILE)}`],
    ["titled in bold", `**src/b.js**\n\n${js("let b;\n".repeat(40))}\n\n**src/a.js**\n\n${js(FILE)}`],
    ["titled by number", `1. src/b.js:\n${js("let b;\n".repeat(40))}\n2. src/a.js:\n${js(FILE)}`],
    ["titled without its folder", `**a.js**\n${js(FILE)}\n**b.js**\n${js("let b;\n".repeat(40))}`],
    ["titled with the project's folder", `my-app/src/a.js\n${js(FILE)}`],
    ["named without its folder", `\`\`\`js a.js\n${FILE}\n\`\`\``],
    ["named in the style of a parameter", `\`\`\`js filename="src/a.js"\n${FILE}\n\`\`\``],
    ["under a heading that is no file", `### Node.js\n${js(FILE)}`],
    ["with Windows line ends", js(FILE).replaceAll("\n", "\r\n")],
    ["in tildes", `~~~js\n${FILE}\n~~~`],
    ["in a list", `- Here:\n  \`\`\`js\n${FILE.replace(/^/gm, "  ")}\n  \`\`\``],
    ["in TypeScript's tag", `\`\`\`typescript\n${FILE}\n\`\`\``],
    ["three fences, the file in the middle", `\`\`\`json\n{"a": 1}\n\`\`\`\n${js(FILE)}\n\`\`\`html\n<p>${"x".repeat(500)}</p>\n\`\`\``],
  ])("%s", (_what, reply, path = "src/a.js") => {
    expect(codeIn(reply, path)).toBe(`${FILE}\n`);
  });

  test("a page and a file of data show their language, whatever the tag says", () => {
    expect(codeIn("```js\n<!doctype html>\n<p>x</p>\n```", "index.html")).toBe("<!doctype html>\n<p>x</p>\n");
    expect(codeIn('```js\n{"a": 1}\n```', "package.json")).toBe('{"a": 1}\n');
    expect(codeIn("```js\nmodule.exports = {};\n```", "package.json")).toMatch(/^FAULT holds JavaScript and no JSON/);
  });
});

describe("no block is the file", () => {
  test.each<[string, string, RegExp, string?]>([
    ["a diff", DIFF, /an edit/],
    ["a diff without its tag", DIFF.replace("```diff", "```js"), /an edit/],
    ["search and replace", js("<<<<<<< SEARCH\nlet a;\n=======\nlet b;\n>>>>>>> REPLACE"), /an edit/],
    ["nothing", "", /no fenced block/],
    ["words", "I cannot do that.", /no fenced block/],
    ["thoughts alone", `<think>\n${js(FILE)}`, /thoughts and nothing else/],
    ["another language", "```python\ndef add(a, b):\n    return a + b\n```", /holds Python and no JavaScript/],
    ["commands alone", "```sh\nnpm init -y\n```", /holds a shell and no JavaScript/],
    ["another file", `**src/b.js**\n${js(FILE)}`, /blocks of other files/],
    ["the rest unchanged", js(`${FILE}\n\n// ... rest unchanged`), /leaves parts of the file out.*rest unchanged/],
    ["a half", `\`\`\`js\n${FILE}`, /before its fenced block is closed/],
    ["an empty block", "```js\n\n```", /empty fenced block/],
  ])("%s", (_what, reply, fault, path = "src/a.js") => {
    expect(codeIn(reply, path)).toMatch(fault);
    expect(codeIn(reply, path)).toMatch(/^FAULT /);
  });
});

describe("lines that stand for code", () => {
  test.each([
    "// ...",
    "// ... rest unchanged",
    "// ...rest of the code...",
    "// rest of the file remains unchanged",
    "// The rest of the code stays the same",
    "// rest of your code here",
    "// (rest of the implementation)",
    "// existing code",
    "// ... existing code ...",
    "/* ... other methods ... */",
    "// other functions remain the same",
    "// remaining routes unchanged",
    "// everything else stays as before",
    "// same as before",
    "// … same as above …",
    "// code omitted for brevity",
    "// ... more handlers here",
    "// your code goes here",
    "...",
    "…",
    "[... the rest is unchanged ...]",
    "{/* ... existing code ... */}",
  ])("%j in JavaScript", (line) => {
    expect(elisionIn(`let a;\n  ${line}\nlet b;`, "src/a.js")).toBe(line);
  });

  test.each([
    ["# ... existing code", "a.py"],
    ["# rest of the function unchanged", "a.py"],
    ["<!-- rest of the page unchanged -->", "index.html"],
    ["/* ... other styles ... */", "a.css"],
    ["# ... rest unchanged", "ci.yml"],
    ["-- ... other tables unchanged", "schema.sql"],
    ["// ... rest unchanged", "package.json"],
  ])("%j in %s", (line, path) => {
    expect(elisionIn(`a\n${line}\nb`, path)).toBe(line);
  });

  test.each([
    ["// The rest of the line is read as a name.", "src/a.js"],
    ["// Other functions", "src/a.js"],
    ["// Existing users keep their names.", "src/a.js"],
    ["// existing code paths are handled by the router", "src/a.js"],
    ["const rest = [...others];", "src/a.js"],
    ["...rest,", "src/a.js"],
    ["// Wait for it...", "src/a.js"],
    ["// Loading more...", "src/a.js"],
    ['console.log("... rest unchanged");', "src/a.js"],
    ["// the same as in the specification, section 4", "src/a.js"],
    ["// Unchanged", "src/a.js"],
    ["// it stays here", "src/a.js"],
    [" * ...", "src/a.js"],
    ["...", "a.py"],
    ["...", "a.yml"],
    ["# Other settings", "a.toml"],
    ["... and the rest is unchanged.", "README.md"],
    ["# ... rest unchanged", "README.md"],
    ["[data-rest] { color: red; }", "a.css"],
    ["// TODO", "src/a.js"],
    ["[...]", "src/a.js"],
    ["# the same as decode() or not...", "a.py"],
    ["//", "src/a.js"],
    ["", "src/a.js"],
  ])("but not %j in %s", (line, path) => {
    expect(elisionIn(`a\n${line}\nb`, path)).toBeUndefined();
  });

  test("megabytes are read in one go", () => {
    for (const line of ["// ...x", "// rest of the the the", `// ${"the ".repeat(30)}`, "/*".repeat(90)]) {
      expect(elisionIn(`${line}\n`.repeat(20_000), "src/a.css")?.length ?? 0).toBeLessThan(201);
    }
  });
});

describe("property", () => {
  const line = fc.constantFrom("let a = 1;", "", "  return a;", "// adds", "const s = `x`;", "}", "import x from 'y';");
  const noise = fc.constantFrom(
    "Here you are.\n",
    "```sh\nnpm test\n```\n",
    "```json\n{}\n```\n",
    `${DIFF}\n`,
    "**src/other.js**\n```js\nlet o = 1;\n```\n",
    "\n",
  );

  test("the one block with the path is the file, whatever stands around it", () => {
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.array(noise, { maxLength: 5 }),
        fc.array(noise, { maxLength: 5 }),
        (lines, before, after) => {
          const file = `let first;\n${lines.join("\n")}`;
          expect(codeIn(`${before.join("\n")}\n${inFence(file, "js src/a.js")}\n${after.join("\n")}`)).toBe(
            file.endsWith("\n") ? file : `${file}\n`,
          );
        },
      ),
    );
  });

  test("what is read is a part of the reply, and never an edit or a file with gaps", () => {
    const part = fc.oneof(
      noise,
      line.map((text) => `${text}\n`),
      fc.constantFrom("```js\n", "```\n", "// ... rest unchanged\n", "@@ -1,2 +1,2 @@\n", "<think>", "</think>\n", "```python\n", "~~~\n"),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const reply = parts.join("");
        const read = readCodeReply(reply, "src/a.js");
        if (read.kind === "fault") return;
        expect(read.code.trim()).not.toBe("");
        expect(elisionIn(read.code, "src/a.js")).toBeUndefined();
        expect(read.code).not.toMatch(/^@@ -/m);
        for (const one of read.code.trimEnd().split("\n")) expect(reply).toContain(one);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a file with fences of its own", () => {
  test("property: comes out exactly as it went in", () => {
    const line = fc.constantFrom("let a = 1;", "", "```", "```js", "~~~", "````md", "  x", "# T", "- `a`");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom("src/a.js", "README.md"), (lines, path) => {
        const file = `start\n${lines.join("\n")}\nend`;
        expect(codeIn(`Here:\n\n${inFence(file, "x")}\n`, path)).toBe(`${file}\n`);
      }),
    );
  });

  test("is whole when it is a document, unless the block after it has a language", () => {
    const document = "# Title\n\n```\nnode --test\n```\n\nMore.\n\n```\nls\n```\n\nEnd.";
    expect(codeIn(`Here is the README:\n\n\`\`\`markdown\n${document}\n\`\`\`\n`, "README.md")).toBe(`${document}\n`);
    expect(codeIn("```markdown\n# A long title\n```\nTry it:\n```sh\nls\n```", "README.md")).toBe("# A long title\n");
  });
});

describe("askCode", () => {
  function asking(replies: readonly string[]): { readonly ctx: RoleContext; readonly asked: string[] } {
    const asked: string[] = [];
    const ask = (prompt: string): Promise<string> => Promise.resolve(replies[asked.push(prompt) - 1] ?? "nothing");
    return { ctx: { ask } as unknown as RoleContext, asked };
  }

  test("asks again for the whole file, and names what was wrong", async () => {
    const { ctx, asked } = asking([DIFF, js(`${FILE}\n// ... rest unchanged`), js(FILE)]);
    expect(await askCode(ctx, "src/a.js", "Write it.")).toBe(`${FILE}\n`);
    expect(asked[1]).toContain("Your last reply holds an edit of the file");
    expect(asked[2]).toContain('"// ... rest unchanged"');
    expect(asked[2]).toContain("This is the last time.");
    // The beginning is the same, so that the provider's cache serves it.
    for (const prompt of asked) expect(prompt.startsWith(asked[0] as string)).toBe(true);
  });

  test("gives up after the third reply, and keeps it", async () => {
    const { ctx, asked } = asking([]);
    await expect(askCode(ctx, "src/a.js", "Write it.")).rejects.toMatchObject({
      code: "CODE_MISSING",
      data: { path: "src/a.js", text: "nothing" },
    });
    expect(asked).toHaveLength(3);
  });
});
