import { describe, expect, it } from "vitest";
import type { CommandStep } from "../../src/checks/acceptance.ts";
import { findVacuous } from "../../src/checks/vacuous.ts";
import { verifyProject } from "../../src/checks/verify.ts";
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
    ];
    expect(await findVacuous({ sandbox, criteria })).toEqual(["A2", "A3"]);
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
