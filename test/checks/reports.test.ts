import { parseXml, XmlElement } from "@rgrove/parse-xml";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { badge, junitReport, sarifReport } from "../../src/checks/reports.ts";
import type { Verification } from "../../src/checks/verification.ts";

const found: Verification = {
  verdicts: [
    { id: "A1", priority: "P0", outcome: "proven", by: "command", evidence: "exit code 0" },
    { id: "A2", priority: "P0", outcome: "not checked", by: "nothing", evidence: "no browser" },
    { id: "A3", priority: "P1", outcome: "failed", by: "command", evidence: 'stdout is "<b>"' },
    { id: "A4", priority: "P2", outcome: "judged", by: "judgement", evidence: "taste" },
  ],
  suites: [
    {
      ...{ language: "javascript", kind: "failed", total: 3, passed: 2, failed: 1, skipped: 0, files: ["a.test.mjs"] },
      failures: [{ name: "adds", file: "a.test.mjs", message: "1 is not 2" }],
    },
  ],
  faults: [{ kind: "syntax", file: "src/a b.mjs", message: "It does not parse." }],
};

function elements(text: string, name: string): readonly XmlElement[] {
  const inside = (element: XmlElement): readonly XmlElement[] =>
    [element].concat(...element.children.filter((child) => child instanceof XmlElement).map(inside)).filter((one) => one.name === name);
  const { root } = parseXml(text);
  return root === null ? [] : inside(root);
}

describe("a report for other tools", () => {
  it("in JUnit's form has a case for each criterion, suite and fault, and P0 that is not proven has failed", () => {
    const cases = elements(junitReport(found), "testcase").map((one) => [
      one.attributes["name"],
      one.children.flatMap((child) => (child instanceof XmlElement ? child.name : [])).join(),
    ]);
    expect(cases).toEqual([
      ["A1 (P0)", ""],
      ["A2 (P0)", "failure"],
      ["A3 (P1)", "failure"],
      ["A4 (P2)", "skipped"],
      ["all tests", "failure"],
      ["adds", "failure"],
      ["syntax in src/a b.mjs", "failure"],
    ]);
    expect(elements(junitReport(found), "testsuite").map(({ attributes }) => attributes)).toMatchObject([
      { name: "criteria", tests: "4", failures: "2", skipped: "1" },
      { tests: "2", failures: "2" },
      { name: "faults", tests: "1" },
    ]);
  });

  it("in SARIF has a result for each failure, with the file that it is in", () => {
    const { runs } = JSON.parse(sarifReport(found, "1.2.3")) as { runs: readonly [{ results: readonly Record<string, unknown>[] }] };
    expect(runs[0]).toMatchObject({ tool: { driver: { version: "1.2.3" } } });
    expect(runs[0].results).toHaveLength(5);
    expect(JSON.stringify(runs[0].results.at(-1))).toContain('"uri":"src/a%20b.mjs"');
  });

  it("as a badge counts the proofs, and is red unless the project is proven", () => {
    expect(elements(badge(found, false), "text").map((one) => one.text)).toEqual(["proven", "1 of 4"]);
    expect(badge(found, true)).not.toBe(badge(found, false));
  });

  it("of a project that could not be checked fails", () => {
    const report = junitReport({ verdicts: [], suites: [], faults: [], notChecked: "no sandbox" });
    expect(elements(report, "failure").map((one) => one.text)).toEqual(["no sandbox"]);
  });

  it("stays well-formed XML whatever a project prints", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme-composite" }), (evidence, name) => {
        const [first] = found.verdicts as [Verification["verdicts"][number]];
        const hostile = {
          ...found,
          verdicts: [{ ...first, id: name, outcome: "failed" as const, evidence: `${evidence}\u{0}\u{d800}]]>` }],
        };
        expect(elements(junitReport(hostile), "failure")[0]?.text).toContain("]]>");
        expect(elements(badge(hostile, false), "text")).toHaveLength(2);
      }),
    );
  });
});
