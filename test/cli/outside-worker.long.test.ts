// @module-tag company
// @module-tag long
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { wordsOf } from "../evaluation/scripted-company.ts";
import { findProgram } from "../../src/workspace/program-path.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { command } from "./kept-run.ts";
import { brief, check, criterion, product, script, userProject, worked } from "./outside-worker-runs.ts";

describe("troupe run --worker", () => {
  it("counts the whole budget of a worker that reports no cost, and says that it is uncertain", async () => {
    const { result } = await worked({ files: product("ok") }, ["--worker-budget", "0.5"], { protocol: "codex" });
    expect(result.delivery?.isDone).toBe(true);
    expect(result.cost).toMatchObject({ worstCase: 500_000 });
  });
  it("believes nothing that it says: its work is repaired until the checks are green", async () => {
    const { code, result, starts } = await worked([
      { files: product("no"), say: "All checks pass.", cost: 0 },
      { files: product("ok"), cost: 0 },
    ]);
    expect([code, result.delivery?.isDone, starts().length]).toEqual([0, true, 2]);
    expect(starts()[1]?.order).toContain("A1");
  });
  it("puts checks and tests of others back, and what it changed outside its worktree", async () => {
    const cwd = scratchFolder();
    const folder = userProject(cwd, product("yes"));
    const lies = {
      ...product("ok"),
      "test/word.test.mjs": 'import { test } from "node:test";\n\ntest("says a word", () => {});\n',
      "package.json": '{ "name": "adder", "type": "module", "scripts": { "test": "true" } }\n',
      "../../../src/word.mjs": 'export const word = () => "outside";\n',
      "../../../new.mjs": "export {};\n",
    };
    const { code, result } = await worked({ files: lies, cost: 0 }, ["--in", folder], { cwd });
    expect([code, result.delivery?.isDone]).toEqual([6, false]);
    const changed = (result.change?.files ?? []).map(({ path }) => path);
    expect(changed).toEqual(["src/word.mjs"]);
    for (const path of ["test/word.test.mjs", "package.json", "new.mjs"])
      expect(result.delivery?.assumptions).toContainEqual(expect.stringContaining(`${path} was changed by the worker`));
  });
  it("takes nothing over where what judges it cannot be put back, and ends with a verdict", async () => {
    const cwd = scratchFolder();
    const other = 'import { test } from "node:test";\n\ntest("is kept", () => {});\n';
    const folder = userProject(cwd, { ...product("yes"), "test/z.test.mjs": other });
    const link = "rm test/word.test.mjs && ln -s /etc/passwd test/word.test.mjs && echo > test/z.test.mjs";
    const { code, result } = await worked(
      { files: { "src/word.mjs": product("ok")["src/word.mjs"] ?? "" }, commands: [["sh", "-c", link]], cost: 0 },
      ["--in", folder],
      { cwd },
    );
    expect([code, result.delivery?.isDone, result.change?.files]).toEqual([6, false, []]);
    expect(result.delivery?.reason).toContain("damaged its worktree");
  });

  it.runIf(findProgram("python3") !== undefined)("takes no tests over that make those of others pass", async () => {
    const cwd = scratchFolder();
    const head = "import unittest\n\nfrom word import word\n\n\n";
    const others = `${head}class WordTest(unittest.TestCase):\n    def test_word(self):\n        self.assertEqual(word(), "kept")\n`;
    const folder = userProject(cwd, { ...product("yes"), "word.py": 'def word():\n    return "kept"\n', "tests/test_word.py": others });
    const own = `${head}unittest.TestCase.assertEqual = unittest.TestCase.assertTrue\n\n\n${others.slice(head.length).replace("kept", "broken")}`;
    const broken = { ...product("ok"), "word.py": 'def word():\n    return "broken"\n', "tests/test_own.py": own };
    const { code, result } = await worked(
      [
        { files: broken, cost: 0 },
        { say: "GIVE UP: it is hard", cost: 0 },
      ],
      ["--in", folder],
      { cwd },
    );
    expect([code, result.delivery?.isDone]).toEqual([6, false]);
    expect((result.change?.files ?? []).map(({ path }) => path).filter((path) => path.startsWith("tests/"))).toEqual([]);
    expect(result.delivery?.assumptions).toContainEqual(expect.stringContaining("tests/test_own.py is not taken over"));
  });

  it("takes what it hands back to the product manager", async () => {
    const managed = {
      ...brief,
      criteria: [{ ...criterion, check: { ...check, steps: [{ run: ["node", "src/cli.mjs"], stdout: { equals: "OK\n" } }] } }],
    };
    const { requests } = await worked(
      [{ files: product("ok"), say: "It says ok.\nDISPUTE A1: the user's words say ok in small letters", cost: 0 }, { cost: 0 }],
      [],
      { script: { ...script, manager: managed } },
    );
    expect(requests.manager.some((request) => wordsOf(request).includes("ok in small letters"))).toBe(true);
  });
  it("ends with the reason of a worker that fails, and can be resumed", async () => {
    const { code, result, cwd, starts } = await worked({ error: "Credit balance is too low", cost: 0 });
    expect([code, result.delivery?.reason]).toEqual([6, expect.stringContaining("Credit balance is too low")]);
    expect([result.goOn, existsSync(cwd), starts().length]).toEqual([expect.stringContaining("troupe resume"), true, 1]);
  });
  it("starts no worker of a run that came from elsewhere without a yes", async () => {
    const { cwd } = await worked({ error: "no", cost: 0 });
    const elsewhere = scratchFolder();
    mkdirSync(join(elsewhere, ".troupe"));
    copyFileSync(join(cwd, ".troupe/runs.db"), join(elsewhere, ".troupe/runs.db"));
    const said = await command(elsewhere, ["resume", "--force"], { env: { TROUPE_API_KEY: "none" } });
    expect([said.code, said.stderr]).toEqual([2, expect.stringContaining("WORKER_NOT_ALLOWED")]);
  });
});
