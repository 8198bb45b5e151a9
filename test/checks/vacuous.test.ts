import { describe, expect, it } from "vitest";
import type { CommandStep } from "../../src/checks/acceptance.ts";
import { missingPageMeans } from "../../src/checks/chromium.ts";
import { findVacuous } from "../../src/checks/vacuous.ts";
import { verifyProject } from "../../src/checks/verify.ts";
import { pageCriterion } from "./page-project.ts";
import { criterionOf, isolates, projectOf, sandbox } from "./project.ts";

const product = { "cli.mjs": `console.log("5");`, "README.md": "# Sum\n" };
const real: CommandStep = { run: ["node", "cli.mjs"], stdout: { equals: "5" } };
const empty: CommandStep = { run: ["node", "--version"] };

describe.runIf(isolates)("a criterion that holds without the project", () => {
  it("is found, and others are not: runners of tests, texts, and what shall fail", async () => {
    const criteria = [
      criterionOf("A1", [real]),
      criterionOf("A2", [empty]),
      criterionOf("A3", [real], [{ path: "cli.mjs", content: "console.log(5);" }]),
      criterionOf("A4", [{ run: ["node", "--test"] }]),
      criterionOf("A5", [{ run: ["python3", "-m", "unittest"] }]),
      criterionOf("A6", [{ run: ["cat", "README.md"], stdout: { contains: ["Sum"] } }]),
      criterionOf("A7", [{ run: ["node", "cli.mjs", "--wrong"], exit: "failure" }]),
      criterionOf("A8", [{ run: ["python3", "cli.py", "--wrong"], exit: "failure" }]),
      criterionOf("A9", [{ run: ["python3", "-m", "cli", "--wrong"], exit: 1 }]),
      criterionOf("A10", [{ run: ["node", "-e", "process.exit(2)"], exit: 2 }]),
    ];
    expect(await findVacuous({ sandbox, criteria })).toEqual(["A2", "A3", "A10"]);
  });

  it.runIf(missingPageMeans(sandbox) === undefined)("is found on a page too", { tags: ["pages", "long"] }, async () => {
    const criteria = [
      pageCriterion("B1", { do: "expect", at: "#error", visible: false }),
      pageCriterion("B2", { do: "script", code: "1 + 1", value: 2 }, { do: "requests", count: 0 }),
      pageCriterion("B3", { do: "expect", at: "#list", count: 1 }),
    ];
    expect(await findVacuous({ sandbox, criteria })).toEqual(["B1", "B2"]);
  });

  it("proves nothing where there is no other", async () => {
    const root = projectOf(product);
    const alone = await verifyProject({ root, sandbox, criteria: [criterionOf("A1", [empty])], depth: "whole" });
    expect(alone.verdicts).toMatchObject([{ outcome: "not checked", evidence: expect.stringMatching(/holds without the project too/) }]);
    const criteria = [criterionOf("A1", [empty]), criterionOf("A2", [real])];
    const both = await verifyProject({ root, sandbox, criteria, depth: "whole" });
    expect(both.verdicts.map(({ outcome }) => outcome)).toEqual(["proven", "proven"]);
  });
});
