import { describe, expect, it } from "vitest";
import { EditHistory } from "../../src/tools/edit-history.ts";

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

  it("EditHistory.H4 lets a file be written over only as it was seen, and only when it was seen whole", () => {
    const history = new EditHistory();
    const fault = (path: string, now: string): string | undefined => history.overwriteFault(path, now);
    expect(fault("a", "")).toBeUndefined();
    expect(fault("a", "1")).toContain("have not seen what it holds");
    history.see("a", "1", false);
    expect(fault("a", "1")).toContain("seen a part of it");
    history.see("a", "1");
    history.see("a", "1", false);
    expect([fault("a", "1"), fault("a", "2")]).toEqual([undefined, expect.stringContaining("someone has changed it")]);
    history.record("a", "1", "x", false);
    expect(fault("a", "x")).toBeUndefined();
    history.record("b", "1", "x", false);
    expect(fault("b", "x")).toContain("seen a part of it");
    const edit = history.last("b");
    if (edit !== undefined) history.forget(edit);
    expect(fault("b", "1")).toContain("have not seen what it holds");
  });
});
