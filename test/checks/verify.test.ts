import { describe, expect, it } from "vitest";
import { isProven } from "../../src/checks/verification.ts";
import { verifyProject } from "../../src/checks/verify.ts";
import type { Criterion } from "../../src/checks/acceptance.ts";
import { renderVerdicts, renderVerification } from "../../src/checks/verification-text.ts";
import { ControlError } from "../../src/kernel/errors.ts";
import { errorOf } from "../workspace/scratch.ts";
import { refusedSandbox } from "../../src/workspace/sandbox.ts";
import { criterionOf, projectOf, sandbox } from "./project.ts";

const sum = {
  "package.json": `{ "name": "sum", "type": "module", "bin": { "sum": "src/cli.mjs" } }`,
  "src/sum.mjs": `export function sum(a, b) {\n  return a + b;\n}\n`,
  "src/cli.mjs": `#!/usr/bin/env node\nimport { sum } from "./sum.mjs";\nconsole.log(sum(Number(process.argv[2]), Number(process.argv[3])));\n`,
  "tests/sum.test.mjs": `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { sum } from "../src/sum.mjs";\ntest("adds", () => assert.equal(sum(1, 2), 3));\n`,
};
const adds = criterionOf("A1", [{ run: ["node", "src/cli.mjs", "1", "2"], stdout: { equals: "3" } }]);
const judged: Criterion = { ...adds, id: "A2", priority: "P1", check: { kind: "judgement", reason: "It is short." } };

describe("verifyProject", () => {
  it("proves a project whose tests pass and whose criteria hold", async () => {
    const lines: string[] = [];
    const root = projectOf(sum);
    const found = await verifyProject({ root, sandbox, criteria: [judged, adds], depth: "quick", progress: (line) => lines.push(line) });
    expect(found).toEqual({
      verdicts: [
        { id: "A2", priority: "P1", outcome: "judged", by: "judgement", evidence: "It is short." },
        { id: "A1", priority: "P0", outcome: "proven", by: "command", evidence: expect.stringContaining("node src/cli.mjs 1 2") },
      ],
      suites: [
        { language: "javascript", kind: "passed", total: 1, passed: 1, failed: 0, skipped: 0, files: ["tests/sum.test.mjs"], failures: [] },
      ],
      faults: [],
    });
    expect(isProven(found)).toBe(true);
    expect(lines.length).toBeGreaterThan(0);
  });

  it("proves nothing where nothing can be run, and says why", async () => {
    const found = await verifyProject({
      root: projectOf(sum),
      sandbox: refusedSandbox("there is no sandbox", "Install one."),
      criteria: [adds, judged],
      depth: "whole",
    });
    expect(found).toEqual({
      verdicts: [
        { id: "A1", priority: "P0", outcome: "not checked", by: "nothing", evidence: "there is no sandbox. Install one." },
        { id: "A2", priority: "P1", outcome: "judged", by: "judgement", evidence: "It is short." },
      ],
      suites: [],
      faults: [],
      notChecked: "there is no sandbox. Install one.",
    });
    expect(isProven(found)).toBe(false);
  });

  it("proves no P0 by an opinion", async () => {
    const criteria: Criterion[] = [{ ...judged, priority: "P0" }];
    const found = await verifyProject({ root: projectOf(sum), sandbox, criteria, depth: "quick" });
    expect([found.verdicts.map(({ outcome }) => outcome), isProven(found)]).toEqual([["judged"], false]);
  });

  it("names what is wrong besides the criteria", async () => {
    const root = projectOf({
      "src/broken.mjs": "export const a = (;",
      "src/empty.mjs": "",
      "tests/a.test.mjs": `import { test } from "node:test"; test("one", () => {}); test.skip("two", () => {});`,
      "README.md": "# sum\n## Use\n```sh\nnode src/gone.mjs\n```\n",
    });
    const planned = ["src/empty.mjs", "src/gone.mjs", "../outside.mjs", "src"];
    const found = await verifyProject({ root, sandbox, criteria: [adds], stack: "node", planned, depth: "whole" });
    expect(found.faults.map(({ kind, file, command }) => [kind, file ?? command])).toEqual([
      ["syntax", "src/broken.mjs"],
      ["tests", undefined],
      ["plan", "package.json"],
      ["plan", "src/empty.mjs"],
      ["plan", "src/gone.mjs"],
      ["plan", "../outside.mjs"],
      ["plan", "src"],
      ["readme", "README.md"],
    ]);
    expect(found.verdicts).toMatchObject([{ id: "A1", outcome: "failed" }]);
    expect(isProven(found)).toBe(false);
    const text = renderVerification(found);
    expect(text).toMatch(/FAULT \(syntax\) src\/broken\.mjs: /);
    expect(text).toContain("FAULT (readme) README.md, `node src/gone.mjs`: The README shows it");
    expect(text).toMatch(/^FAILED A1 \(P0\): node src\/cli\.mjs 1 2: /);
    expect(text).toMatch(/Tests in javascript: passed, 1 of 2 passed, 0 failed, 1 skipped\.\n\nCriteria: 1 failed\.$/);
  });

  it("expects tests of a project of a stack", async () => {
    const root = projectOf({ "package.json": "{}", "README.md": "# x" });
    expect((await verifyProject({ root, sandbox, criteria: [], stack: "node", depth: "quick" })).faults).toEqual([
      { kind: "tests", message: "The project has no tests. Write some, such as tests/list.test.mjs." },
    ]);
    expect(await verifyProject({ root, sandbox, criteria: [], depth: "quick" })).toEqual({ verdicts: [], suites: [], faults: [] });
  });

  it("ends with the caller's signal, and refuses what it does not know", async () => {
    const root = projectOf(sum);
    const aborted = verifyProject({ root, sandbox, criteria: [adds], depth: "quick", signal: AbortSignal.abort() });
    expect(await errorOf(() => aborted)).toBeInstanceOf(ControlError);
    const unknown = { root, sandbox, criteria: [], depth: "quick", deep: true } as const;
    expect((await errorOf(() => verifyProject(unknown))).code).toBe("OPTION_UNKNOWN");
  });
});

describe("the texts of a verification", () => {
  const verdict = { id: "A1", priority: "P0", outcome: "failed", by: "command", evidence: "a\nb".repeat(300) } as const;

  it("are bounded, with the counts at the end", () => {
    const verdicts = Array.from({ length: 100 }, () => verdict);
    const text = renderVerification({ verdicts, suites: [], faults: [] });
    expect(text.length).toBeLessThan(15_000);
    expect(text).toMatch(/\d+ more failures are left out here\.\n\nCriteria: 100 failed\.$/);
  });

  it("have one line for each criterion", () => {
    const lines = renderVerdicts([verdict, { ...verdict, id: "A10", outcome: "proven", by: "browser", evidence: "ok" }]);
    expect(lines).toEqual([`A1  P0 failed: ${"a b".repeat(300).slice(0, 160)} ...`, "A10 P0 proven: ok"]);
  });

  it("tell failing tests and why some did not run", () => {
    const failures = [{ name: "adds", file: "a.test.mjs", message: "1 is not 2" }];
    const counts = { total: 1, passed: 0, failed: 1, skipped: 0, files: [] };
    const text = renderVerification({
      verdicts: [],
      suites: [
        { language: "javascript", kind: "failed", ...counts, failures },
        { language: "python", kind: "not run", ...counts, failures: [], reason: "There is no pytest." },
      ],
      faults: [],
    });
    expect(text).toBe(
      "FAILED TEST a.test.mjs: adds: 1 is not 2\n\nTests in javascript: failed, 0 of 1 passed, 1 failed, 0 skipped.\n\n" +
        "Tests in python: not run, 0 of 1 passed, 1 failed, 0 skipped (There is no pytest.).",
    );
  });
});
