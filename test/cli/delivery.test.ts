import { describe, expect, it } from "vitest";
import { deliveryRows } from "../../src/cli/delivery.ts";
import { styleFor } from "../../src/cli/screen/text.ts";

describe("the rows of a delivery", () => {
  it("name the tasks that were not merged, with where their work is and what failed, on one line each", () => {
    const verification = { verdicts: [], suites: [], faults: [] };
    const base = { kind: "delivery", name: "calc", size: "L", stack: "node", isDone: false, verification } as const;
    const unmerged = [
      { id: "t2", title: "Write the product", by: "Ben", why: "It is hard.\ntests/times.test.mjs fails", keptIn: ".troupe/trees/task-2" },
      { id: "t3", title: "Write the rest", why: "It needs t2." },
    ];
    const rows = deliveryRows({ ...base, complaints: [], assumptions: [], summary: "", round: 0, unmerged }, styleFor(false));
    expect(rows.filter(([label]) => label === "Not merged").map(([, text]) => text)).toEqual([
      "t2, Write the product, by Ben, kept in .troupe/trees/task-2: It is hard. | tests/times.test.mjs fails",
      "t3, Write the rest: It needs t2.",
    ]);
  });

  it("name the rules that no criterion covers in one row, which is not there without them", () => {
    const verification = { verdicts: [], suites: [], faults: [] };
    const base = { kind: "delivery", name: "calc", size: "L", stack: "node", isDone: true, verification } as const;
    const rowsOf = (uncovered?: string[]) =>
      deliveryRows({ ...base, complaints: [], assumptions: [], summary: "", round: 0, uncovered }, styleFor(false));
    const rows = rowsOf(["2: It is\u001B[31m fast.", "7: It keeps\na history."]);
    const [, text] = rows.find(([label]) => label === "No check") ?? [];
    expect(text).toMatch(/^rules 2: It is.* fast\.; 7: It keeps \| a history\.$/);
    expect(text).not.toContain("\u001B");
    expect(rowsOf()).toHaveLength(rows.length - 1);
  });
});
