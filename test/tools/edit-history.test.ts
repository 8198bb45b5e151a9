import { describe, expect, it } from "vitest";
import { EditHistory } from "../../src/tools/editor.ts";

describe("an edit history", () => {
  it("EditHistory.H1 knows a file that changed since it was seen, and only such", () => {
    const history = new EditHistory();
    expect(history.isChanged("a", "x")).toBe(false);
    history.see("a", "x");
    expect([history.isChanged("a", "x"), history.isChanged("a", "y"), history.isChanged("b", "y")]).toEqual([false, true, false]);
    history.record("a", "x", "z");
    expect(history.isChanged("a", "z")).toBe(false);
  });

  it("EditHistory.H2 gives edits back newest first, file by file", () => {
    const history = new EditHistory();
    history.record("a", "1", "2");
    history.record("b", undefined, "b");
    history.record("a", "2", "3");
    const before = ["a", "a", "b", "b"].map((path) => {
      const edit = history.last(path);
      if (edit !== undefined) history.forget(edit);
      return edit === undefined ? "none" : (edit.before ?? "new");
    });
    expect(before).toEqual(["2", "1", "new", "none"]);
  });

  it("EditHistory.H3 is bounded in number and in size, and keeps the newest", () => {
    const many = new EditHistory();
    for (let n = 0; n < 1000; n++) many.record(`f${n}`, "x", "y");
    expect([many.last("f899"), many.last("f900")]).toEqual([undefined, expect.objectContaining({ before: "x" })]);
    const large = new EditHistory();
    for (let n = 0; n < 10; n++) large.record(`f${n}`, "x".repeat(1_000_000), "y");
    expect([large.last("f4"), large.last("f5")]).toEqual([undefined, expect.objectContaining({ path: "f5" })]);
  });
});
