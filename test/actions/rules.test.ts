import { describe, expect, it } from "vitest";
import { numberedRules, uncoveredRules } from "../../actions/company/rules.ts";
import type { Criterion } from "../../src/checks/index.ts";

const criterion = (id: string, then: string): Criterion => {
  return {
    id,
    priority: "P0",
    given: "the command",
    when: "it runs",
    then,
    check: { kind: "command", steps: [{ run: ["node", "a.mjs"] }] },
  };
};
const LIST =
  "A command.\n\n1. It prints totals of each month,\n   sorted by name.\n2. It refuses negative amounts.\n- It writes reports as HTML.\n";

describe("the rules of the user's words", () => {
  it.each([
    ["items of lists, with their further lines", LIST, ["totals of each month, sorted by name", "negative", "HTML"]],
    [
      "else sentences",
      "I run a library. A loan must end after 30 days (not more). `late` lists what is over. Wrong dates are refused!",
      ["library", "30 days", "`late` lists", "Wrong dates"],
    ],
    [
      "not what stands in a block of code",
      "Read this:\n```\n- a\n- b\n- c\n```\nIt must print it. It must never fail.",
      ["Read this", "print it", "never"],
    ],
  ])("are %s", (_what, requirement, parts) => {
    const lines = numberedRules({ requirement, feedback: [] }).split("\n");
    expect(lines).toEqual(parts.map((part, index) => expect.stringMatching(new RegExp(`^${index + 1}: .*${part}`))));
  });

  it("are numbered on through later words, and are all of a specification", () => {
    const rules = Array.from({ length: 40 }, (_rule, n) => `${n + 1}. Rule ${n}.`).join("\n");
    expect(
      numberedRules({ requirement: rules, feedback: ["- It prints.\n- It saves."] })
        .split("\n")
        .at(-1),
    ).toBe("42: It saves.");
  });

  const words = { requirement: LIST, feedback: [] };

  it("are uncovered where no criterion names their number", () => {
    const criteria = [criterion("A1", "it prints"), criterion("A2", "it refuses")];
    expect(uncoveredRules({ ...words, criteria, covers: { A1: [1], A2: [2] } })).toEqual([expect.stringContaining("3: It writes reports")]);
    expect(uncoveredRules({ ...words, criteria, covers: { A1: [1, 3], A2: [2] } })).toEqual([]);
    // The number of a criterion that is gone counts no longer.
    expect(uncoveredRules({ ...words, criteria: [criterion("A1", "it prints")], covers: { A1: [1, 3], A2: [2] } })).toHaveLength(1);
  });

  it("are uncovered without numbers only where no word of them comes up, and never in doubt", () => {
    const some = [criterion("A1", "the totals are printed and negative amounts are refused")];
    expect(uncoveredRules({ ...words, criteria: some })).toEqual([expect.stringContaining("3: It writes reports")]);
    expect(uncoveredRules({ ...words, criteria: [criterion("A1", "Berichte, Summen, Fehler")] })).toEqual([]);
    expect(uncoveredRules({ requirement: "- Fast.\n- Small.", feedback: [], criteria: some })).toEqual([]);
  });
});
