import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Criterion } from "../../src/checks/acceptance.ts";
import { missingPageMeans } from "../../src/checks/chromium.ts";
import type { StackName } from "../../src/checks/stacks.ts";
import { isProven, type Verification } from "../../src/checks/verification.ts";
import { renderVerification } from "../../src/checks/verification-text.ts";
import { verifyProject } from "../../src/checks/verify.ts";
import { criterionOf, hasPython, projectOf, sandbox } from "./project.ts";
import { someOf } from "../long.ts";

const opensPages = missingPageMeans(sandbox) === undefined;
if (!opensPages) process.stderr.write("\nA page is not verified: there is no Chromium\n");

const NODE = {
  "package.json": `{ "name": "wordcount", "version": "1.0.0", "type": "module", "bin": { "wordcount": "src/cli.mjs" }, "scripts": { "start": "node src/cli.mjs", "test": "node --test" } }`,
  "README.md": "# Word count\n\n## Use\n\n```sh\nnode src/cli.mjs example.txt\nnpm start -- example.txt\nwordcount example.txt\n```\n",
  "example.txt": "one two\nthree\n",
  "src/count.mjs": `export function countWords(text) {\n  return text.split(/\\s+/u).filter(Boolean).length;\n}\n`,
  "src/cli.mjs": `#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { countWords } from "./count.mjs";
const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: wordcount <file>");
  process.exitCode = 2;
} else console.log(countWords(readFileSync(file, "utf8")));
`,
  "tests/count.test.mjs": `import { test } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { countWords } from "../src/count.mjs";
test("counts words", () => assert.equal(countWords("a  b\\nc"), 3));
test("refuses a call without a file", () => {
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL("../src/cli.mjs", import.meta.url))], { encoding: "utf8" });
  assert.equal(status, 2);
  assert.match(stderr, /^usage:/);
});
`,
};

const PYTHON = {
  "pyproject.toml": `[project]\nname = "wordcount"\nversion = "1.0.0"\nrequires-python = ">=3.9"\n\n[project.scripts]\nwordcount = "wordcount.__main__:main"\n`,
  "README.md": "# Word count\n\n## Use\n\n```sh\npython3 -m wordcount example.txt\nwordcount example.txt\n```\n",
  "example.txt": "one two\nthree\n",
  "wordcount/__init__.py": "",
  "wordcount/count.py": `def count_words(text: str) -> int:\n    return len(text.split())\n`,
  "wordcount/__main__.py": `import sys
from wordcount.count import count_words


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: wordcount FILE", file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        print(count_words(file.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
`,
  "tests/test_count.py": `import subprocess
import sys
import unittest
from wordcount.count import count_words


class CountTest(unittest.TestCase):
    def test_count(self):
        self.assertEqual(count_words("a  b\\nc"), 3)

    def test_usage(self):
        done = subprocess.run([sys.executable, "-m", "wordcount"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith("usage:"))
`,
};

const PAGE = {
  "index.html": `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Counter</title><link rel="stylesheet" href="styles.css"></head>
<body><label for="text">Text</label><textarea id="text"></textarea><p id="count">0</p>
<script src="src/count.js"></script><script src="src/app.js"></script></body></html>
`,
  "styles.css": "body { font-family: sans-serif; }\n",
  "package.json": `{ "private": true, "scripts": { "test": "node --test" } }`,
  "README.md": "# Counter\n\n## Use\n\nOpen index.html and type.\n",
  "src/count.js": `(() => {\n  function countWords(text) {\n    return text.split(/\\s+/u).filter(Boolean).length;\n  }\n  globalThis.Counter = { ...globalThis.Counter, countWords };\n})();\n`,
  "src/app.js": `(() => {
  const field = document.querySelector("#text");
  const show = () => { document.querySelector("#count").textContent = String(globalThis.Counter.countWords(field.value)); };
  try { field.value = localStorage.getItem("text") ?? ""; } catch { field.value = ""; }
  field.addEventListener("input", () => { localStorage.setItem("text", field.value); show(); });
  show();
})();
`,
  "tests/count.test.mjs": `import { test } from "node:test";
import assert from "node:assert/strict";
import "../src/count.js";
test("counts words", () => assert.equal(globalThis.Counter.countWords("a  b\\nc"), 3));
`,
};

const given = [{ path: "a.txt", content: "grün 🥬" }];
const SHELL = {
  Makefile: "build:\n\t@sh -n wordcount.sh\ntest:\n\t@printf 'a  b\\nc' > t.txt && test $$(sh wordcount.sh t.txt) = 3\n",
  "README.md": "# Word count\n\n## Use\n\n```sh\nsh wordcount.sh README.md\n```\n",
  "wordcount.sh": 'expr $(wc -w < "$1")\n',
};

const counts: Record<StackName, readonly Criterion[]> = {
  node: [criterionOf("A1", [{ run: ["wordcount", "a.txt"], stdout: { equals: "2" } }], given)],
  python: [criterionOf("A1", [{ run: ["wordcount", "a.txt"], stdout: { equals: "2" } }], given)],
  other: [criterionOf("A1", [{ run: ["sh", "wordcount.sh", "a.txt"], stdout: { equals: "2" } }], given)],
  page: [
    {
      ...criterionOf("A1", [{ run: ["node"] }]),
      check: {
        kind: "page",
        steps: [
          { do: "open" },
          { do: "type", at: "#text", text: "one two" },
          { do: "expect", at: "#count", equals: "2" },
          { do: "reload" },
          { do: "expect", at: "#count", equals: "2" },
        ],
      },
    },
  ],
};

function verified(stack: StackName, files: Readonly<Record<string, string>>): Promise<Verification> {
  return verifyProject({ root: projectOf(files), sandbox, criteria: counts[stack], stack, depth: "whole" });
}

/** A command with a page beside it, which shows what the command counts. */
const BOTH = {
  ...NODE,
  "index.html": PAGE["index.html"],
  "styles.css": PAGE["styles.css"],
  "src/app.js": PAGE["src/app.js"],
  "src/count.js": PAGE["src/count.js"],
  "tests/page.test.mjs": PAGE["tests/count.test.mjs"],
};

const projects: readonly [StackName, Readonly<Record<string, string>>][] = [
  ["node", NODE],
  ["other", SHELL],
  ...someOf(hasPython ? [["python", PYTHON] as [StackName, typeof PYTHON]] : [], 0),
  ...someOf(opensPages ? [["page", PAGE] as [StackName, typeof PAGE]] : [], 0),
];

describe("a project that follows the rules of its stack", () => {
  it.each(projects)("is proven: %s", { tags: "company" }, async (stack, files) => {
    const found = await verified(stack, files);
    expect(renderVerification(found)).not.toMatch(/FAULT|FAILED|NOT CHECKED/);
    expect(isProven(found)).toBe(true);
    expect(found.suites.map(({ kind }) => kind)).toEqual(["passed"]);
  });
});

describe.runIf(opensPages)("a command with a page", () => {
  const criteria = [...counts.node, ...counts.page.map((criterion) => ({ ...criterion, id: "A2" }))];
  const both = (files: Readonly<Record<string, string>>): Promise<Verification> =>
    verifyProject({ root: projectOf(files), sandbox, criteria, stack: "node", depth: "whole" });

  it("has the checks of both parts, and its page's scripts are none of Node.js", { tags: ["company", "long"] }, async () => {
    const found = await both(BOTH);
    expect(renderVerification(found)).not.toMatch(/FAULT|FAILED|NOT CHECKED/);
    expect(isProven(found)).toBe(true);
  });

  it("is not proven where the page breaks its rules, or the command its own", { tags: ["company", "long"] }, async () => {
    const index = BOTH["index.html"].replace(`<script src="src/app.js">`, `<script type="module" src="src/app.js">`);
    const cli = "document.title = 'no page';\n";
    const found = await both({ ...BOTH, "index.html": index, "src/more.mjs": cli });
    expect(found.faults.map(({ kind, file }) => [kind, file])).toEqual(
      expect.arrayContaining([
        ["page", "index.html"],
        ["syntax", "src/more.mjs"],
      ]),
    );
  });
});

describe("a page that is dead on arrival", () => {
  it.each(
    someOf(
      [
        [
          "loads a module",
          { ...PAGE, "index.html": PAGE["index.html"].replace(`<script src="src/app.js">`, `<script type="module" src="src/app.js">`) },
        ],
        ["loads a file that is not there", { ...PAGE, "index.html": PAGE["index.html"].replace("src/app.js", "src/gone.js") }],
        ["has an export", { ...PAGE, "src/count.js": `${PAGE["src/count.js"]}export const a = 1;\n` }],
      ] as const,
      1,
    ),
  )("is not proven by tests that pass: it %s", { tags: "company" }, async (_what, files) => {
    const found = await verifyProject({ root: projectOf(files), sandbox, criteria: [], stack: "page", depth: "quick" });
    expect(found.suites.map(({ kind }) => kind)).toEqual(["passed"]);
    expect(found.faults.some(({ kind }) => kind === "page" || kind === "syntax")).toBe(true);
  });
});

describe("a verification", () => {
  it("leaves the project as it is, whatever its tests write to it", async () => {
    const files = {
      ...NODE,
      "tests/write.test.mjs": `import { test } from "node:test"; import assert from "node:assert"; import fs from "node:fs";
      test("writes", () => { for (const name of fs.readdirSync(".")) fs.rmSync(name, { recursive: true }); fs.writeFileSync("new.txt", ""); assert.equal(fs.readdirSync(".").length, 1); });`,
    };
    const root = projectOf(files);
    await verifyProject({ root, sandbox, criteria: counts.node, stack: "node", depth: "quick" });
    for (const [path, content] of Object.entries(files)) expect(readFileSync(join(root, path), "utf8")).toBe(content);
  });
});
