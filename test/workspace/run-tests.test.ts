import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { AbortedError } from "../../src/kernel/errors.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { type ProjectTests, runProjectTests } from "../../src/workspace/run-tests.ts";
import { refusedSandbox, type Sandbox, type SandboxResult } from "../../src/workspace/sandbox.ts";
import { someOf } from "../long.ts";
import { errorOf, scratchFolder } from "./scratch.ts";

const bubblewrap = await chooseSandbox("auto");
if (bubblewrap.kind !== "bubblewrap") process.stderr.write(`\nTests of projects run without a sandbox only: ${bubblewrap.describe}\n`);

const sandboxes: readonly [string, Sandbox][] = [
  ...(bubblewrap.kind === "bubblewrap" ? [["bubblewrap", bubblewrap] as [string, Sandbox]] : []),
  ["no isolation", await chooseSandbox("none")],
];

const use = `import test, { describe, it, before } from "node:test"; import assert from "node:assert";\n`;

function projectOf(files: Readonly<Record<string, string>>): string {
  const root = scratchFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** Runs one test file of the given text. */
function judged(sandbox: Sandbox, content: string, timeout?: number): Promise<ProjectTests> {
  const root = projectOf({ "tests/a.test.mjs": use + content });
  return runProjectTests({ root, sandbox, ...(timeout === undefined ? {} : { timeout }) });
}

describe.each(someOf(sandboxes, 1))("runProjectTests with %s", { tags: "company" }, (_name, sandbox) => {
  it("passes a project whose tests pass, and finds them in any folder", async () => {
    const root = projectOf({
      "package.json": `{ "type": "module" }`,
      "src/sum.js": `export const sum = (a, b) => a + b;`,
      "tests/sum.test.js": `${use}import { sum } from "../src/sum.js"; test("adds", () => assert.equal(sum(1, 2), 3));`,
      "src/[id].test.mjs": `${use}test("odd name", () => {});`,
      "0 {a,b}(c)!@+.test.mjs": `${use}test("odder name", () => {});`,
      "cases.mjs": `${use}test("declared elsewhere", () => {});`,
      "src/cases.test.mjs": `import "../cases.mjs";`,
      "src/sum.spec.cjs": `require("node:test").test("common", () => {});`,
      "test/whole.js": `${use}test("by its folder", () => {});`,
      "test/fixture.js": `throw new Error("no test, it imports none");`,
      "helper.mjs": `throw new Error("no test");`,
      "test.js": `throw new Error("no test either");`,
      "node_modules/p/p.test.js": `throw new Error("not ours");`,
    });
    expect(await runProjectTests({ root, sandbox })).toEqual({
      kind: "passed",
      files: [
        "0 {a,b}(c)!@+.test.mjs",
        "src/[id].test.mjs",
        "src/cases.test.mjs",
        "src/sum.spec.cjs",
        "test/whole.js",
        "tests/sum.test.js",
      ],
      tests: 6,
      passed: 6,
      failed: 0,
      skipped: 0,
      failures: [],
      output: "",
    });
  });

  it("ends tests that hang and fork when the time is up", { tags: ["company", "long"] }, async () => {
    const result = await judged(
      sandbox,
      `import { spawn } from "node:child_process"; spawn("sleep", ["300"], { stdio: "ignore" }); test("hangs", () => { for (;;); });`,
      1200,
    );
    expect(["timeout", "failed"]).toContain(result.kind);
    expect(result.passed).toBe(0);
  });
});

describe.each(someOf(sandboxes, 1))("the verdict of runProjectTests with %s", { tags: "company" }, (_name, sandbox) => {
  it("names each failure with its file, its message and its place", async () => {
    const result = await judged(
      sandbox,
      `
      describe("suite", () => {
        it("fails", () => assert.deepEqual({ a: 1 }, { a: 2 }));
        it("passes", () => {});
        it.skip("is skipped", () => {});
        it.todo("is to do");
      });
      test("outer", async (t) => { await t.test("inner", () => { throw new Error("inner broke\\nsecond line"); }); });
      describe("hooked", () => { before(() => { throw new Error("hook broke"); }); it("never runs", () => {}); });
      test("throws no error", () => { throw "a string"; });
    `,
    );
    expect(result).toMatchObject({ kind: "failed", tests: 8, passed: 1, failed: 5, skipped: 2 });
    expect(result.failures.map(({ name, file }) => [name, file])).toEqual([
      ["fails", "tests/a.test.mjs"],
      ["inner", "tests/a.test.mjs"],
      ["never runs", "tests/a.test.mjs"],
      ["hooked", "tests/a.test.mjs"],
      ["throws no error", "tests/a.test.mjs"],
    ]);
    const [fails, inner, , hooked, string] = result.failures.map(({ message }) => message);
    expect(fails).toMatch(/a: 1[^]*a: 2[^]*at .*\(tests\/a\.test\.mjs:4:/);
    expect(inner).toMatch(/^Error: inner broke\nsecond line\n/);
    expect(hooked).toContain("hook broke");
    expect(string).toContain("a string");
  });

  it.each(
    someOf(
      [
        ["prints TAP and leaves", `console.log("TAP version 13\\nok 1 - all\\n1..1\\n# pass 1\\n# fail 0"); process.exit(0);`],
        ["prints reports of this form and leaves", `console.log('{"type":"end","passed":9,"failed":0,"skipped":0}'); process.exit(0);`],
        ["leaves before its tests", `test("bad", () => assert.fail()); process.exit(0);`],
        ["leaves within a test", `test("one", () => {}); test("two", () => process.exit(0)); test("bad", () => assert.fail());`],
        [
          "leaves within a test, later",
          `test("one", () => {}); test("two", async () => { await new Promise(setImmediate); process.exit(); }); test("bad", () => assert.fail());`,
        ],
        [
          "leaves by the back door",
          `test("one", () => {}); test("two", async () => { await new Promise(setImmediate); process.reallyExit(0); });`,
        ],
        ["has no tests", `console.log("all good");`],
        ["has an empty suite", `describe("nothing", () => {});`],
        ["skips every test", `test.skip("one", () => {}); test("two", { skip: true }, () => {});`],
        ["kills itself", `test("one", () => process.kill(process.pid, "SIGKILL"));`],
        ["fails after its tests", `test("one", () => {}); process.on("exit", () => { process.exitCode = 3; });`],
        ["throws outside its tests", `test("one", () => {}); setTimeout(() => { throw new Error("late"); }, 1);`],
      ],
      6,
    ),
  )("is not fooled by a file that %s", { tags: "company" }, async (_what, content) => {
    const result = await judged(sandbox, content);
    expect(result.kind).toBe("failed");
    expect(result.failed).toBeGreaterThan(0);
    expect(result.failures.length).toBeGreaterThan(0);
  });

  it("takes nothing that tests print for a result", async () => {
    const prints = [`{"type":"failed","name":"n","file":"f","message":"m"}`, `not ok 1 - no`, `\u001b[2J`];
    const result = await judged(
      sandbox,
      `test("one", () => { for (const line of ${JSON.stringify(prints)}) { console.log(line); console.error(line); } });`,
    );
    expect(result).toMatchObject({ kind: "passed", tests: 1, failures: [] });
    expect(result.output).toContain("not ok 1 - no");
    expect(result.output).not.toContain("\u001b");
  });

  it("names the file that never ends, and keeps the results of the others", { tags: ["company", "long"] }, async () => {
    const root = projectOf({
      "a.test.mjs": `${use}import http from "node:http"; test("opens", () => { http.createServer().listen(0); });`,
      "b.test.mjs": `${use}test("good", () => {});`,
    });
    const result = await runProjectTests({ root, sandbox, timeout: 10_000 });
    expect(result).toMatchObject({ kind: "failed", passed: 2, failed: 1, failures: [{ name: "a.test.mjs", file: "a.test.mjs" }] });
    expect(result.failures[0]?.message).toMatch(/did not end|timed out/);
  });

  it("throws the reason when the signal aborts", async () => {
    const root = projectOf({ "a.test.mjs": `${use}test("hangs", () => { for (;;); });` });
    const controller = new AbortController();
    const reason = new AbortedError("enough");
    const running = errorOf(() => runProjectTests({ root, sandbox, signal: controller.signal }));
    controller.abort(reason);
    expect(await running).toBe(reason);
  });
});

describe("runProjectTests", () => {
  const root = projectOf({ "a.test.mjs": "" });
  const output = { stdout: "", stderr: "", isCut: false };

  /** A sandbox that answers without running anything. */
  function answering(result: SandboxResult): Sandbox {
    return { kind: "none", describe: "", run: () => Promise.resolve(result) };
  }

  it("runs the files that are named and there, and no others", async () => {
    const given = projectOf({ "tests/mine.test.mjs": "", "tests/theirs.test.mjs": "", "src/app.mjs": "" });
    const commands: (readonly string[])[] = [];
    const sandbox: Sandbox = {
      kind: "none",
      describe: "",
      run: ({ command }) => {
        commands.push(command);
        return Promise.resolve({ kind: "unstarted", reason: "EAGAIN" });
      },
    };
    const files = ["tests/mine.test.mjs", "tests/gone.test.mjs", "src/app.mjs", "../outside.test.mjs"];
    expect(await runProjectTests({ root: given, sandbox, files })).toMatchObject({ files: ["tests/mine.test.mjs"] });
    expect(commands.map((words) => words.filter((word) => word.includes(".test.mjs")))).toEqual([["./tests/mine.test.mjs"]]);
    expect(await runProjectTests({ root: given, sandbox, files: ["tests/gone.test.mjs"] })).toMatchObject({ kind: "none", files: [] });
    expect(await runProjectTests({ root: given, sandbox })).toMatchObject({ files: ["tests/mine.test.mjs", "tests/theirs.test.mjs"] });
  });

  it("says why tests were not run", async () => {
    expect(await runProjectTests({ root, sandbox: refusedSandbox("no sandbox", "get one") })).toEqual({
      kind: "not run",
      reason: "no sandbox",
      hint: "get one",
      files: ["a.test.mjs"],
      tests: 0,
      passed: 0,
      failed: 0,
      skipped: 0,
      failures: [],
      output: "",
    });
    expect(await runProjectTests({ root, sandbox: answering({ kind: "unstarted", reason: "EAGAIN" }) })).toMatchObject({ kind: "not run" });
    expect(await runProjectTests({ root, sandbox: answering({ kind: "missing", file: "node" }) })).toMatchObject({ kind: "not run" });
  });

  it.each<[string, SandboxResult, string]>([
    ["a good end without a report", { kind: "exited", code: 0, ...output }, "without its report"],
    ["a bad code without a report", { kind: "exited", code: 9, ...output, stderr: "bad option" }, "exit code 9.\nbad option"],
    ["a signal", { kind: "signalled", signal: "SIGXCPU", ...output }, "SIGXCPU"],
    [
      "a bad code against a good report",
      {
        kind: "exited",
        code: 1,
        ...output,
        stdout: '{"type":"passed"}\n{"type":"ended","file":"a.test.mjs"}\n{"type":"end","passed":1,"failed":0,"skipped":0}\n',
      },
      "exit code 1",
    ],
    [
      "a report that is cut",
      { kind: "exited", code: 0, ...output, stdout: '{"type":"passed"}\n{"type":"end","pas\n[output cut]\n' },
      "without its report",
    ],
  ])("does not take %s for passed", async (_what, result, message) => {
    const verdict = await runProjectTests({ root, sandbox: answering(result) });
    expect(verdict.kind).toBe("failed");
    expect(verdict.failures.at(-1)).toMatchObject({ name: "node --test", message: expect.stringContaining(message) });
  });

  it("does not take a file for passed that was not run", async () => {
    const two = projectOf({ "a.test.mjs": "", "b.test.mjs": "" });
    const stdout = '{"type":"passed"}\n{"type":"ended","file":"a.test.mjs"}\n{"type":"end","passed":1,"failed":0,"skipped":0}\n';
    const verdict = await runProjectTests({ root: two, sandbox: answering({ kind: "exited", code: 0, ...output, stdout }) });
    expect(verdict).toMatchObject({ kind: "failed", passed: 1, failed: 1, failures: [{ name: "b.test.mjs", file: "b.test.mjs" }] });
  });
});
