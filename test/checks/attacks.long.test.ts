// @module-tag company
import { describe, expect, it } from "vitest";
import type { Criterion, PageStep } from "../../src/checks/acceptance.ts";
import { missingPageMeans } from "../../src/checks/chromium.ts";
import type { StackName } from "../../src/checks/stacks.ts";
import { isProven } from "../../src/checks/verification.ts";
import { renderVerification } from "../../src/checks/verification-text.ts";
import { verifyProject } from "../../src/checks/verify.ts";
import { criterionOf, projectOf, sandbox } from "./project.ts";

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

type Case = readonly [
  what: string,
  wanted: "proven" | "red",
  files: Readonly<Record<string, string>>,
  criteria: readonly Criterion[],
  stack: StackName,
];

const commands: readonly Case[] = [
  ["honest", "proven", {}, [adds], "node"],
  [
    "test exits 0 in import",
    "red",
    {
      "tests/sum.test.mjs": `${use}import "../src/exit.mjs"; import { sum } from "../src/sum.mjs"; test("adds", () => assert.equal(sum(1, 2), 4));`,
      "src/exit.mjs": "process.exit(0);",
    },
    [adds],
    "node",
  ],
  [
    "test exits 0 inside a test, others are lost",
    "red",
    {
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test("adds", () => assert.equal(sum(1, 2), 3)); test("exit", () => { assert.ok(sum(1,1)); process.exit(0); }); test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
    [adds],
    "node",
  ],
  [
    "a test whose failure is swallowed by a late process.exit(0) handler",
    "red",
    {
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; process.on("exit", () => { process.exitCode = 0; process.reallyExit(0); }); test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
    [adds],
    "node",
  ],
  [
    "test script lies: true",
    "red",
    {
      "package.json": base["package.json"].replace("node --test", "true"),
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
    [adds],
    "node",
  ],
  [
    "test script lies: true, without node:test import quotes",
    "red",
    {
      "package.json": base["package.json"].replace("node --test", "echo ok"),
      "tests/sum.test.mjs": `const { test } = await import("node:" + "test"); import { sum } from "../src/sum.mjs"; test("bad", () => { if (sum(1, 2) !== 5) throw new Error("x"); });`,
    },
    [adds],
    "node",
  ],
  [
    "node --test with one file named, a red one left out",
    "red",
    {
      "package.json": base["package.json"].replace("node --test", "node --test tests/sum.test.mjs"),
      "tests/other.test.mjs": `${use}test("bad", () => assert.equal(JSON.parse("1"), 2));`,
    },
    [adds],
    "node",
  ],
  [
    "--test-only hides tests",
    "red",
    {
      "package.json": base["package.json"].replace("node --test", "node --test --test-only"),
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test.only("adds", () => assert.equal(sum(1, 2), 3)); test("bad", () => assert.equal(sum(1, 2), 4));`,
    },
    [adds],
    "node",
  ],
  [
    "README with prompt signs and output",
    "proven",
    { "README.md": "# sum\n## Use\n```sh\n$ node src/cli.mjs 1 2\n3\n```\n" },
    [adds],
    "node",
  ],
  [
    "README with a lying prompt command",
    "red",
    { "README.md": "# sum\n## Use\n```console\n$ node src/cl.mjs 1 2\n3\n```\n" },
    [adds],
    "node",
  ],
  ["README with > prompt", "red", { "README.md": "# sum\n## Use\n```\n> node src/cl.mjs 1 2\n```\n" }, [adds], "node"],
  ["README with bin name", "proven", { "README.md": "# sum\n## Usage\n```sh\nsum 1 2\nnpx sum 1 2\n```\n" }, [adds], "node"],
  ["README in CRLF", "proven", { "README.md": base["README.md"].replaceAll("\n", "\r\n") }, [adds], "node"],
  ["README with BOM", "red", { "README.md": "\ufeff# sum\n## Use\n```sh\nnode src/gone.mjs\n```\n" }, [adds], "node"],
  [
    "sources in CRLF",
    "proven",
    { "src/sum.mjs": base["src/sum.mjs"].replaceAll("\n", "\r\n"), "src/cli.mjs": base["src/cli.mjs"].replaceAll("\n", "\r\n") },
    [adds],
    "node",
  ],
  ["BOM in source and package.json", "proven", { "src/sum.mjs": `\ufeff${base["src/sum.mjs"]}` }, [adds], "node"],
  ["BOM in package.json", "proven", { "package.json": `\ufeff${base["package.json"]}` }, [adds], "node"],
  ["timer left open by the product", "red", { "src/cli.mjs": `${base["src/cli.mjs"]}setInterval(() => {}, 1000);` }, [adds], "node"],
  [
    "timer left open by a test",
    "proven",
    { "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}setTimeout(() => {}, 3000);` },
    [adds],
    "node",
  ],
  [
    "product prints after exit code by child",
    "red",
    {
      "src/cli.mjs": `import { spawn } from "node:child_process"; spawn("sh", ["-c", "sleep 2; echo 3"], { stdio: "inherit", detached: true }).unref();`,
    },
    [adds],
    "node",
  ],
  [
    "no newline at the end",
    "proven",
    { "src/cli.mjs": base["src/cli.mjs"].replace("console.log(", "process.stdout.write(String(").replace("));", ")));") },
    [adds],
    "node",
  ],
  [
    "test file that writes into src",
    "proven",
    {
      "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}import fs from "node:fs"; fs.writeFileSync(new URL("../x.txt", import.meta.url), "x");`,
    },
    [adds],
    "node",
  ],
  ["product that knows the criterion", "proven", { "src/cli.mjs": "console.log(3);" }, [adds], "node"],
  [
    "tests that mock",
    "red",
    { "tests/sum.test.mjs": `${use}const sum = () => 3; test("adds", () => assert.equal(sum(1, 2), 3));` },
    [adds],
    "node",
  ],
  [
    "console.log in a test that looks like TAP",
    "red",
    {
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; console.log("# pass 5\\nok 1 - x"); test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
    [adds],
    "node",
  ],
  ["python honest", "proven", py, [pyAdds], "python"],
  [
    "python unittest only",
    "proven",
    {
      ...py,
      "tests/test_sums.py":
        "import unittest\nfrom calc.sums import add\n\nclass A(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
    },
    [pyAdds],
    "python",
  ],
  ["python os._exit(0) in a test module", "red", { ...py, "tests/test_a.py": "import os\nos._exit(0)\n" }, [pyAdds], "python"],
  [
    "python conftest that ignores failures",
    "red",
    {
      ...py,
      "tests/conftest.py":
        "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    o = yield\n    r = o.get_result()\n    r.outcome = 'passed'\n",
      "tests/test_sums.py": "from calc.sums import add\n\ndef test_add():\n    assert add(1, 2) == 4\n",
    },
    [pyAdds],
    "python",
  ],
  [
    "python pytest.ini deselects",
    "red",
    {
      ...py,
      "pytest.ini": "[pytest]\naddopts = --deselect tests/test_bad.py\n",
      "tests/test_bad.py": "from calc.sums import add\ndef test_bad():\n    assert add(1, 1) == 3\n",
    },
    [pyAdds],
    "python",
  ],
  ["python CRLF and BOM", "proven", { ...py, "calc/sums.py": `\ufeff${py["calc/sums.py"].replaceAll("\n", "\r\n")}` }, [pyAdds], "python"],
  [
    "python prints CRLF",
    "proven",
    {
      ...py,
      "calc/__main__.py": py["calc/__main__.py"].replace(
        "print(add(int(sys.argv[1]), int(sys.argv[2])))",
        "sys.stdout.write(str(add(1,2)) + '\\r\\n')",
      ),
    },
    [pyAdds],
    "python",
  ],
  [
    "skip by option",
    "red",
    { "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}test("bad", { skip: true }, () => assert.equal(sum(1, 2), 5));` },
    [adds],
    "node",
  ],
  [
    "todo",
    "red",
    { "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}test("bad", { todo: true }, () => assert.equal(sum(1, 2), 5));` },
    [adds],
    "node",
  ],
  [
    "describe.skip",
    "red",
    { "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}describe.skip("s", () => { test("bad", () => assert.equal(sum(1, 2), 5)); });` },
    [adds],
    "node",
  ],
  [
    "not awaited",
    "red",
    {
      "tests/sum.test.mjs": `${base["tests/sum.test.mjs"]}test("bad", () => { Promise.resolve().then(() => assert.equal(sum(1, 2), 5)); });`,
    },
    [adds],
    "node",
  ],
  [
    "swallowed",
    "red",
    {
      "src/sum.mjs": base["src/sum.mjs"],
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test("bad", () => { try { assert.equal(sum(1, 2), 5); } catch {} });`,
    },
    [adds],
    "node",
  ],
  [
    "only under a variable",
    "red",
    {
      "tests/sum.test.mjs": `${use}import { sum } from "../src/sum.mjs"; test("ok", () => assert.equal(typeof sum, "function")); if (process.env.CI) test("bad", () => assert.equal(sum(1, 2), 5));`,
    },
    [adds],
    "node",
  ],
  [
    "reads the acceptance file",
    "red",
    {
      "docs/acceptance.json": JSON.stringify({ criteria: [adds] }),
      "src/cli.mjs": `import fs from "node:fs"; import "./sum.mjs"; const { criteria } = JSON.parse(fs.readFileSync("docs/acceptance.json", "utf8")); console.log(criteria.flatMap((c) => c.check.steps).find((s) => s.run.slice(2).join() === process.argv.slice(2).join()).stdout.equals);`,
    },
    [adds],
    "node",
  ],
  [
    "crash that names the file",
    "red",
    { "src/cli.mjs": `${base["src/cli.mjs"]}import fs from "node:fs"; if (process.argv[2] === "x.csv") fs.readFileSync("x.csv");` },
    [adds, criterionOf("A2", [{ run: ["node", "src/cli.mjs", "x.csv"], exit: "failure", stderr: { contains: ["x.csv"] } }])],
    "node",
  ],
  ["no package.json type, ESM by mjs", "proven", { "package.json": `{ "name": "sum", "version": "1.0.0" }` }, [adds], "node"],
  [
    "README: output follows a command without prompt",
    "proven",
    { "README.md": "# sum\n## Use\n```\nnode src/cli.mjs 1 2\n3\n```\n" },
    [adds],
    "node",
  ],
  [
    "README: failing example that says so",
    "proven",
    { "README.md": "# sum\n## Use\n```sh\nnode src/cli.mjs 1 2\nnode src/gone.mjs # fails: there is no such file\n```\n" },
    [adds],
    "node",
  ],
  ["README: cd first", "proven", { "README.md": "# sum\n## Use\n```sh\ncd sum\nnode src/cli.mjs 1 2\n```\n" }, [adds], "node"],
  [
    "README: install first, file made by echo",
    "red",
    { "README.md": "# sum\n## Use\n```sh\nnpm install\necho 1 > a.txt\nnode src/gone.mjs a.txt\n```\n" },
    [adds],
    "node",
  ],
  [
    "server",
    "proven",
    {
      "src/cli.mjs": `${base["src/cli.mjs"]}if (process.argv[2] === "serve") { const http = await import("node:http"); http.createServer((q, s) => s.end("x")).listen(0, () => console.log("listening")); }`,
      "README.md": "# sum\n## Use\n```sh\nnode src/cli.mjs serve\n```\n",
    },
    [adds],
    "node",
  ],
];

const pages: readonly Case[] = [
  ["page honest", "proven", {}, [keeps], "page"],
  [
    "page with an error in an event",
    "red",
    { "src/app.js": app.replace("show(); }; show", "show(); setTimeout(() => { throw new Error('late'); }); }; show") },
    [keeps],
    "page",
  ],
  ["page that throws late", "red", { "src/app.js": `${app} Promise.reject(new Error("nobody"));` }, [keeps], "page"],
  [
    "page with a web font",
    "red",
    {
      "index.html": list["index.html"].replace(
        "<title>",
        `<link rel="stylesheet" href="https://fonts.googleapis.com/css2?family=Roboto"><title>`,
      ),
    },
    [keeps],
    "page",
  ],
  ["page with modules", "red", { "index.html": list["index.html"].replaceAll("<script ", `<script type="module" `) }, [keeps], "page"],
  [
    "page with hidden list",
    "red",
    { "index.html": list["index.html"].replace(`<ul id="l">`, `<ul id="l" style="display:none">`) },
    [keeps],
    "page",
  ],
  [
    "page with covered button",
    "red",
    { "index.html": list["index.html"].replace(`<ul id="l">`, `<div style="position:fixed;inset:0;background:#fff"></div><ul id="l">`) },
    [keeps],
    "page",
  ],
  ["page keeps in memory of the tab only", "proven", { "src/app.js": app.replaceAll("localStorage", "sessionStorage") }, [keeps], "page"],
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
    [keeps],
    "page",
  ],
  ["page renders slowly", "proven", { "src/app.js": app.replace("}; show(); })();", "}; setTimeout(show, 800); })();") }, [keeps], "page"],
  [
    "page in a folder with CRLF and BOM",
    "proven",
    { "index.html": `\ufeff${list["index.html"].replaceAll(">", ">\r\n")}` },
    [keeps],
    "page",
  ],
  [
    "page with favicon missing",
    "proven",
    { "index.html": list["index.html"].replace("<title>", `<link rel="icon" href="favicon.ico"><title>`) },
    [keeps],
    "page",
  ],
];

async function outcomeOf(files: Readonly<Record<string, string>>, criteria: readonly Criterion[], stack: StackName): Promise<string> {
  const root = projectOf({ ...(stack === "node" ? base : stack === "page" ? list : {}), ...files });
  const found = await verifyProject({ root, sandbox, criteria, stack, depth: "whole", timeout: 20_000 });
  return `${isProven(found) ? "proven" : "red"}\n${renderVerification(found)}`;
}

const python = await sandbox.run({ root: projectOf({}), command: ["python3", "-m", "pytest", "--version"] });
const hasPytest = python.kind === "exited" && python.code === 0;
if (!hasPytest) process.stderr.write("\nPython products are not attacked: the sandbox has no pytest (apt-get install python3-pytest)\n");
const hasPages = missingPageMeans(sandbox) === undefined;
if (!hasPages) process.stderr.write("\nPages are not attacked: there is no Chromium\n");

describe("a verification", () => {
  it.each(commands.filter(([, , , , stack]) => stack !== "python" || hasPytest))(
    "of a command: %s: %s",
    async (_what, wanted, files, criteria, stack) => {
      expect(await outcomeOf(files, criteria, stack)).toMatch(new RegExp(`^${wanted}\\n`));
    },
  );

  it.runIf(hasPages).each(pages)("of a page: %s: %s", async (_what, wanted, files, criteria, stack) => {
    expect(await outcomeOf(files, criteria, stack)).toMatch(new RegExp(`^${wanted}\\n`));
  });
});
