import { describe, expect, it } from "vitest";
import { isProven } from "../../src/checks/verification.ts";
import { verifyProject } from "../../src/checks/verify.ts";
import type { Criterion } from "../../src/checks/acceptance.ts";
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
});
