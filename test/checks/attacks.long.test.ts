// @module-tag company
import { describe, expect, it } from "vitest";
import type { Criterion, PageStep } from "../../src/checks/acceptance.ts";
import { missingPageMeans } from "../../src/checks/chromium.ts";
import { isProven } from "../../src/checks/verification.ts";
import { renderVerification } from "../../src/checks/verification-text.ts";
import { verifyProject } from "../../src/checks/verify.ts";
import { criterionOf, hasPytest, projectOf, sandbox } from "./project.ts";

/*
 * Products that are wrong and look right, and products that are right and look wrong.
 */

const use = `import { test, describe } from "node:test"; import assert from "node:assert/strict";\n`;
const base = {
  "package.json": `{ "name": "sum", "version": "1.0.0", "type": "module", "bin": { "sum": "src/cli.mjs" }, "scripts": { "test": "node --test" } }`,
  "README.md": "# sum\n## Use\n```sh\nnode src/cli.mjs 1 2\n```\n",
  "src/sum.mjs": `export function sum(a, b) {\n  return a + b;\n}\n`,
  "src/cli.mjs": `#!/usr/bin/env node\nimport { sum } from "./sum.mjs";\nconsole.log(sum(Number(process.argv[2]), Number(process.argv[3])));\n`,
  "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs";\ntest("adds", () => assert.equal(sum(1, 2), 3));\n`,
};
const adds = criterionOf("A1", [{ run: ["node", "src/cli.mjs", "1", "2"], stdout: { equals: "3" } }]);
const py = {
  "README.md": "# sum\n## Use\n```sh\npython3 -m calc 1 2\n```\n",
  "calc/__init__.py": "",
  "calc/sums.py": "def add(a, b):\n    return a + b\n",
  "calc/__main__.py":
    "import sys\nfrom calc.sums import add\n\ndef main():\n    print(add(int(sys.argv[1]), int(sys.argv[2])))\n    return 0\n\nif __name__ == '__main__':\n    sys.exit(main())\n",
  "tests/test_sums.py": "from calc.sums import add\n\ndef test_add():\n    assert add(1, 2) == 3\n",
};
const pyAdds = criterionOf("A1", [{ run: ["python3", "-m", "calc", "1", "2"], stdout: { equals: "3" } }]);

const pageOf = (id: string, steps: PageStep[]): Criterion => ({
  id,
  priority: "P0",
  given: "",
  when: "",
  then: "",
  check: { kind: "page", steps },
});
const list = {
  "package.json": `{ "private": true, "scripts": { "test": "node --test" } }`,
  "README.md": "# List\n## Use\nOpen index.html.\n",
  "index.html": `<!doctype html><html><head><meta charset="utf-8"><title>L</title></head><body><h1>List</h1><input id="t"><button id="add">Add</button><ul id="l"></ul><script src="src/list.js"></script><script src="src/app.js"></script></body></html>`,
  "src/list.js": `(() => { globalThis.List = { add(items, text) { return text.trim() === "" ? items : [...items, text.trim()]; } }; })();`,
  "src/app.js": `(() => { let items = []; try { items = JSON.parse(localStorage.getItem("l") ?? "[]"); } catch {} const show = () => { document.querySelector("#l").replaceChildren(...items.map((t) => { const li = document.createElement("li"); li.textContent = t; return li; })); }; document.querySelector("#add").onclick = () => { items = List.add(items, document.querySelector("#t").value); localStorage.setItem("l", JSON.stringify(items)); document.querySelector("#t").value = ""; show(); }; show(); })();`,
  "tests/list.test.mjs": `${use}import "../src/list.js"; test("adds", () => assert.deepEqual(globalThis.List.add([], " a "), ["a"]));`,
};
const keeps = pageOf("A1", [
  { do: "type", at: "#t", text: "Milk" },
  { do: "click", at: "#add" },
  { do: "reload" },
  { do: "expect", at: "#l li", count: 1, equals: "Milk" },
]);
const app = list["src/app.js"];

type Case = readonly [what: string, wanted: "proven" | "red", files: Readonly<Record<string, string>>, criteria?: readonly Criterion[]];

const commands: readonly Case[] = [
  ["honest", "proven", {}],
  [
    "test exits 0 in import",
    "red",
    {
      "tests/sum.test.mjs": `${use}import "../src/exit.mjs"; import { sum } from "../src/sum.mjs"; test("adds", () => assert.equal(sum(1, 2), 4));`,
      "src/exit.mjs": "process.exit(0);",
    },
  ],
  [
    "test exits 0 inside a test, others are lost",
    "red",
    {
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test("adds", () => assert.equal(sum(1, 2), 3)); test("exit", () => { assert.ok(sum(1,1)); process.exit(0); }); test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
  ],
  [
    "a test whose failure is swallowed by a late process.exit(0) handler",
    "red",
    {
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; process.on("exit", () => { process.exitCode = 0; process.reallyExit(0); }); test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
  ],
  [
    "test script lies: true",
    "red",
    {
      "package.json": base["package.json"].replace("node --test", "true"),
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
  ],
  [
    "node --test with one file named, a red one left out",
    "red",
    {
      "package.json": base["package.json"].replace("node --test", "node --test tests/sum.test.mjs"),
      "tests/other.test.mjs": `${use}test("bad", () => assert.equal(JSON.parse("1"), 2));`,
    },
  ],
  [
    "--test-only hides tests",
    "red",
    {
      "package.json": base["package.json"].replace("node --test", "node --test --test-only"),
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test.only("adds", () => assert.equal(sum(1, 2), 3)); test("bad", () => assert.equal(sum(1, 2), 4));`,
    },
  ],
  ["README with prompt signs and output", "proven", { "README.md": "# sum\n## Use\n```sh\n$ node src/cli.mjs 1 2\n3\n```\n" }],
  ["README with a lying prompt command", "red", { "README.md": "# sum\n## Use\n```console\n$ node src/cl.mjs 1 2\n3\n```\n" }],
  ["README with bin name", "proven", { "README.md": "# sum\n## Usage\n```sh\nsum 1 2\nnpx sum 1 2\n```\n" }],
  ["README in CRLF", "proven", { "README.md": base["README.md"].replaceAll("\n", "\r\n") }],
  ["README with BOM", "red", { "README.md": "\ufeff# sum\n## Use\n```sh\nnode src/gone.mjs\n```\n" }],
  ["BOM in source and package.json", "proven", { "src/sum.mjs": `\ufeff${base["src/sum.mjs"]}` }],
  ["timer left open by the product", "red", { "src/cli.mjs": `${base["src/cli.mjs"]}setInterval(() => {}, 1000);` }],
  ["timer left open by a test", "proven", { "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}setTimeout(() => {}, 3000);` }],
  [
    "product prints after exit code by child",
    "red",
    {
      "src/cli.mjs": `import { spawn } from "node:child_process"; spawn("sh", ["-c", "sleep 2; echo 3"], { stdio: "inherit", detached: true }).unref();`,
    },
  ],
  [
    "test file that writes into src",
    "proven",
    {
      "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}import fs from "node:fs"; fs.writeFileSync(new URL("../x.txt", import.meta.url), "x");`,
    },
  ],
  ["product that knows the criterion", "proven", { "src/cli.mjs": "console.log(3);" }],
  ["tests that mock", "red", { "tests/sum.test.mjs": `${use}const sum = () => 3; test("adds", () => assert.equal(sum(1, 2), 3));` }],
  [
    "console.log in a test that looks like TAP",
    "red",
    {
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; console.log("# pass 5\\nok 1 - x"); test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
  ],
  [
    "skip by option",
    "red",
    { "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}test("bad", { skip: true }, () => assert.equal(sum(1, 2), 5));` },
  ],
  ["todo", "red", { "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}test("bad", { todo: true }, () => assert.equal(sum(1, 2), 5));` }],
  [
    "describe.skip",
    "red",
    { "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}describe.skip("s", () => { test("bad", () => assert.equal(sum(1, 2), 5)); });` },
  ],
  [
    "not awaited",
    "red",
    {
      "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}test("bad", () => { Promise.resolve().then(() => assert.equal(sum(1, 2), 5)); });`,
    },
  ],
  [
    "swallowed",
    "red",
    {
      "src/sum.mjs": base["src/sum.mjs"],
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test("bad", () => { try { assert.equal(sum(1, 2), 5); } catch {} });`,
    },
  ],
  [
    "only under a variable",
    "red",
    {
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test("ok", () => assert.equal(typeof sum, "function")); if (process.env.CI) test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
  ],
  [
    "reads the acceptance file",
    "red",
    {
      "docs/acceptance.json": JSON.stringify({ criteria: [adds] }),
      "src/cli.mjs": `import fs from "node:fs"; import "./sum.mjs"; const { criteria } = JSON.parse(fs.readFileSync("docs/acceptance.json", "utf8")); console.log(criteria.flatMap((c) => c.check.steps).find((s) => s.run.slice(2).join() === process.argv.slice(2).join()).stdout.equals);`,
    },
  ],
  [
    "crash that names the file",
    "red",
    { "src/cli.mjs": `${base["src/cli.mjs"]}import fs from "node:fs"; if (process.argv[2] === "x.csv") fs.readFileSync("x.csv");` },
    [adds, criterionOf("A2", [{ run: ["node", "src/cli.mjs", "x.csv"], exit: "failure", stderr: { contains: ["x.csv"] } }])],
  ],
  ["no package.json type, ESM by mjs", "proven", { "package.json": `{ "name": "sum", "version": "1.0.0" }` }],
  ["README: output follows a command without prompt", "proven", { "README.md": "# sum\n## Use\n```\nnode src/cli.mjs 1 2\n3\n```\n" }],
  [
    "README: failing example that says so",
    "proven",
    { "README.md": "# sum\n## Use\n```sh\nnode src/cli.mjs 1 2\nnode src/gone.mjs # fails: there is no such file\n```\n" },
  ],
  [
    "README: install first, file made by echo",
    "red",
    { "README.md": "# sum\n## Use\n```sh\nnpm install\necho 1 > a.txt\nnode src/gone.mjs a.txt\n```\n" },
  ],
  [
    "server",
    "proven",
    {
      "src/cli.mjs": `${base["src/cli.mjs"]}if (process.argv[2] === "serve") { const http = await import("node:http"); http.createServer((q, s) => s.end("x")).listen(0, () => console.log("listening")); }`,
      "README.md": "# sum\n## Use\n```sh\nnode src/cli.mjs serve\n```\n",
    },
  ],
];

const pythons: readonly Case[] = [
  ["honest", "proven", {}],
  [
    "python unittest only",
    "proven",
    {
      "tests/test_sums.py":
        "import unittest\nfrom calc.sums import add\n\nclass A(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
    },
  ],
  ["python os._exit(0) in a test module", "red", { "tests/test_a.py": "import os\nos._exit(0)\n" }],
  [
    "python conftest that ignores failures",
    "red",
    {
      "tests/conftest.py":
        "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    o = yield\n    r = o.get_result()\n    r.outcome = 'passed'\n",
      "tests/test_sums.py": "from calc.sums import add\n\ndef test_add():\n    assert add(1, 2) == 4\n",
    },
  ],
  [
    "python pytest.ini deselects",
    "red",
    {
      "pytest.ini": "[pytest]\naddopts = --deselect tests/test_bad.py\n",
      "tests/test_bad.py": "from calc.sums import add\ndef test_bad():\n    assert add(1, 1) == 3\n",
    },
  ],
  ["python CRLF and BOM", "proven", { "calc/sums.py": `\ufeff${py["calc/sums.py"].replaceAll("\n", "\r\n")}` }],
  [
    "python prints CRLF",
    "proven",
    {
      "calc/__main__.py": py["calc/__main__.py"].replace(
        "print(add(int(sys.argv[1]), int(sys.argv[2])))",
        "sys.stdout.write(str(add(1,2)) + '\\r\\n')",
      ),
    },
  ],
];

const pages: readonly Case[] = [
  ["page honest", "proven", {}],
  [
    "page with an error in an event",
    "red",
    { "src/app.js": app.replace("show(); }; show", "show(); setTimeout(() => { throw new Error('late'); }); }; show") },
  ],
  ["page that throws late", "red", { "src/app.js": `${app} Promise.reject(new Error("nobody"));` }],
  [
    "page with a web font",
    "red",
    {
      "index.html": list["index.html"].replace(
        "<title>",
        `<link rel="stylesheet" href="https://fonts.googleapis.com/css2?family=Roboto"><title>`,
      ),
    },
  ],
  ["page with modules", "red", { "index.html": list["index.html"].replaceAll("<script ", `<script type="module" `) }],
  ["page with hidden list", "red", { "index.html": list["index.html"].replace(`<ul id="l">`, `<ul id="l" style="display:none">`) }],
  [
    "page with covered button",
    "red",
    { "index.html": list["index.html"].replace(`<ul id="l">`, `<div style="position:fixed;inset:0;background:#fff"></div><ul id="l">`) },
  ],
  ["page keeps in memory of the tab only", "proven", { "src/app.js": app.replaceAll("localStorage", "sessionStorage") }],
  [
    "page listens to input events",
    "proven",
    {
      "src/app.js": app
        .replace(
          'document.querySelector("#add").onclick',
          "let seen = ''; document.querySelector('#t').addEventListener('input', (e) => { seen = e.target.value; }); document.querySelector(\"#add\").onclick",
        )
        .replace('document.querySelector("#t").value)', "seen)"),
    },
  ],
  ["page renders slowly", "proven", { "src/app.js": app.replace("}; show(); })();", "}; setTimeout(show, 800); })();") }],
  [
    "page with favicon missing",
    "proven",
    { "index.html": list["index.html"].replace("<title>", `<link rel="icon" href="favicon.ico"><title>`) },
  ],
];

const hasPages = missingPageMeans(sandbox) === undefined;
if (!hasPages) process.stderr.write("\nPages are not attacked: there is no Chromium\n");

describe.each([
  ["a command", base, adds, "node", commands],
  ["a command in Python", py, pyAdds, "python", hasPytest ? pythons : []],
  ["a page", list, keeps, "page", hasPages ? pages : []],
] as const)("a verification of %s", (_kind, own, usual, stack, cases) => {
  const all = cases.map(([what, wanted, files, criteria = [usual]]) => [what, wanted, files, criteria] as const);
  it.each(all)("%s: %s", async (_what, wanted, files, criteria) => {
    const root = projectOf({ ...own, ...files });
    const found = await verifyProject({ root, sandbox, criteria, stack, depth: "whole", timeout: 20_000 });
    expect(`${isProven(found) ? "proven" : "red"}\n${renderVerification(found)}`).toMatch(new RegExp(`^${wanted}\n`));
  });
});
