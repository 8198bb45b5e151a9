import { describe, expect, it } from "vitest";
import { EditHistory } from "../../src/tools/edit-history.ts";

describe("an edit history", () => {
  it("EditHistory.H3 is bounded in number and in size, and keeps the newest", () => {
    const many = new EditHistory();
    for (let n = 0; n < 1000; n++) many.record(`f${n}`, "x", "y");
    expect([many.last("f899"), many.last("f900")]).toEqual([undefined, expect.objectContaining({ before: "x" })]);
    const large = new EditHistory();
    for (let n = 0; n < 10; n++) large.record(`f${n}`, "x".repeat(1_000_000), "y");
    expect([large.last("f4"), large.last("f5")]).toEqual([undefined, expect.objectContaining({ path: "f5" })]);
  });
});
