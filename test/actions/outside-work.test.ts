import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lastWords, putBackContract } from "../../actions/company/outside-work.ts";
import { memoryWorkspace, type Workspace } from "../../src/workspace/index.ts";

const MANIFEST = JSON.stringify({
  name: "adder",
  scripts: { test: "vitest run", "test:unit": "vitest", start: "node a.mjs" },
  jest: { bail: 1 },
});
const PROJECT: Readonly<Record<string, string>> = {
  "docs/acceptance.json": '{ "criteria": [] }',
  "docs/requirement.md": "Say ok.",
  "test/word.test.mjs": "the user's test",
  "tests/test_word.py": "the user's test in Python",
  "vitest.config.ts": "export default {};",
  ".npmrc": "fund=false",
  Makefile: "test:\n\tnpm test\n",
  "package.json": MANIFEST,
  "pyproject.toml": '[project]\nname = "adder"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
  "src/word.mjs": "export const word = () => 1;",
};
const OWN = ["test/word.test.mjs", "tests/test_word.py"];
const JUDGING = Object.keys(PROJECT).filter((path) => path !== "src/word.mjs");
const NEW = ["conftest.py", "pytest.ini", "sub/jest.config.js", ".mocharc.json"];

async function filled(files: Readonly<Record<string, string>>): Promise<Workspace> {
  const workspace = memoryWorkspace();
  for (const [path, content] of Object.entries(files)) await workspace.write(path, content);
  return workspace;
}

describe("the contract, after a worker that may change anything", () => {
  const change = fc.oneof(
    fc.record({ path: fc.constantFrom(...Object.keys(PROJECT), ...NEW), content: fc.string() }),
    fc.record({ path: fc.constantFrom(...Object.keys(PROJECT)), content: fc.constant(undefined) }),
  );

  it("is as the project has it, and each changed path of it is named", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const [project, fork] = [await filled(PROJECT), await filled(PROJECT)];
        for (const { path, content } of changes) await (content === undefined ? fork.remove(path) : fork.write(path, content));
        const judging = [...JUDGING, ...NEW];
        const before = await Promise.all(judging.map((path) => fork.read(path)));
        const named = await putBackContract(fork, project, { size: "S", tests: OWN });
        for (const [nth, path] of judging.entries()) {
          expect([path, await fork.read(path)]).toEqual([path, PROJECT[path]]);
          expect([path, named.includes(path)]).toEqual([path, before[nth] !== PROJECT[path]]);
        }
      }),
    );
  });

  it("leaves what does not judge: new packages, other scripts, its own tests and sources", async () => {
    const changed = {
      "package.json": JSON.stringify({
        name: "adder",
        scripts: { test: "true", "test:unit": "true", start: "node b.mjs" },
        dependencies: { zod: "4" },
      }),
      "pyproject.toml": PROJECT["pyproject.toml"]?.replace("adder", "adder2") ?? "",
      "src/word.mjs": "export const word = () => 2;",
      "test/own.test.mjs": "its test",
    };
    const [project, fork] = [await filled(PROJECT), await filled({ ...PROJECT, ...changed })];
    expect(await putBackContract(fork, project, { size: "S", tests: OWN })).toEqual(["package.json"]);
    expect(JSON.parse((await fork.read("package.json")) ?? "")).toEqual({
      name: "adder",
      scripts: { test: "vitest run", "test:unit": "vitest", start: "node b.mjs" },
      dependencies: { zod: "4" },
      jest: { bail: 1 },
    });
    for (const path of ["pyproject.toml", "src/word.mjs", "test/own.test.mjs"] as const) expect(await fork.read(path)).toBe(changed[path]);
  });

  it("has only QA's tests where QA writes them", async () => {
    const [project, fork] = [await filled(PROJECT), await filled({ ...PROJECT, "test/own.test.mjs": "its test" })];
    expect(await putBackContract(fork, project, { size: "M", tests: OWN })).toEqual(["test/own.test.mjs"]);
  });

  it("is free in a new project without tests, but for the criteria", async () => {
    const files = { "docs/acceptance.json": "{}", "package.json": MANIFEST };
    const changed = { "docs/acceptance.json": "[]", "package.json": "{}", "conftest.py": "", Makefile: "test:\n\ttrue\n" };
    const [project, fork] = [await filled(files), await filled(changed)];
    expect(await putBackContract(fork, project, { size: "S", tests: [] })).toEqual(["docs/acceptance.json"]);
  });
});

describe("helpers of tests in other folders", () => {
  const assert = 'import assert from "node:assert";\n';
  const helped: Readonly<Record<string, string>> = {
    "test/word.test.mjs": 'import { is } from "../dev/expect.mjs";\nimport { word } from "../src/word.mjs";\nis(word());\n',
    "tests/test_word.py": "from support.checks import same\nfrom word import word\n",
    "dev/expect.mjs": `import { deep } from "./deep/index.js";\n${assert}export const is = deep;\n`,
    "dev/deep/index.ts": 'import { expect } from "vitest";\nexport const deep = expect;\n',
    "support/checks.py": "import unittest\n",
    "src/word.mjs": `import { sure } from "./sure.mjs";\n${assert}export const word = () => sure("a");\n`,
    "src/main.mjs": 'import { word } from "./word.mjs";\nconsole.log(word());\n',
    "src/sure.mjs": `${assert}export const sure = (word) => word;\n`,
    "word.py": "def word():\n    return 1\n",
  };
  const HELPERS = ["dev/deep/index.ts", "dev/expect.mjs", "support/checks.py"];

  it("are as the project has them, and what the product imports is not", async () => {
    const changed = Object.fromEntries(Object.keys(helped).map((path) => [path, "changed"]));
    const [project, fork] = [await filled(helped), await filled(changed)];
    expect(await putBackContract(fork, project, { size: "S", tests: OWN })).toEqual([...HELPERS, ...OWN]);
  });

  it("are none in a project whose tests import its product alone", async () => {
    const files = {
      ...helped,
      "test/word.test.mjs": `${assert}import { word } from "../src/word.mjs";\n`,
      "tests/test_word.py": "import word\n",
    };
    const [project, fork] = [await filled(files), await filled({ ...files, "src/word.mjs": "changed", "word.py": "changed" })];
    expect(await putBackContract(fork, project, { size: "S", tests: OWN })).toEqual([]);
  });
});

describe("the last words of a worker", () => {
  it("may hand back checks and tests, ask, and give up", () => {
    const text = `I did most of it.

DISPUTE A1: the words say ok in small letters
- **DISPUTE** \`test/word.test.mjs\`: it expects OK
QUESTION: Which language shall it speak?
GIVE UP: There is no network.`;
    expect(lastWords(text, ["A1", "A2"])).toEqual({
      summary: "I did most of it.",
      disputes: [{ criterion: "A1", why: "A1: the words say ok in small letters" }, { why: expect.stringContaining("it expects OK") }],
      questions: ["Which language shall it speak?"],
      gaveUp: "There is no network.",
    });
  });

  it("are read line by line, and quickly", () => {
    const { gaveUp, disputes, questions } = lastWords("GIVE UP:\nAll tests pass.\nQUESTION:\nDISPUTE A1: it is wrong", ["A1"]);
    expect([gaveUp, questions, disputes]).toEqual([undefined, [], [{ criterion: "A1", why: "A1: it is wrong" }]]);
    // 64,000 line ends held the process for seconds when the pattern crossed lines.
    expect(lastWords("\n".repeat(64_000), []).summary).toBe("");
  });

  it("mean nothing without these marks", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/DISPUTE|QUESTION|GIVE UP/.test(text));
        expect(lastWords(text, ["A1"])).toEqual({ summary: text.trim(), disputes: [], questions: [], gaveUp: undefined });
      }),
    );
  });
});
