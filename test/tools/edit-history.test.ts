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

  it("EditHistory.H4 lets a file be written over only as it was seen, and only when all of it was", () => {
    const history = new EditHistory();
    const text = "1\n2\n3\n";
    const fault = (now = text): string | undefined => history.overwriteFault("a", now);
    expect(fault("")).toBeUndefined();
    expect(fault()).toContain("have not seen what it holds");
    history.see("a", text, { from: 1, to: 0 });
    expect(fault()).toContain("lines 1 to 3");
    history.see("a", text, { from: 2, to: 2 });
    expect(fault()).toContain("lines 1, 3");
    history.see("a", text, { from: 1, to: 1 });
    history.see("a", text, { from: 3, to: 9 });
    expect([fault(), fault("1\n2\n3")]).toEqual([undefined, expect.stringContaining("someone has changed it")]);
    history.record("a", text, "x\n2\n3\n", false);
    expect(fault("x\n2\n3\n")).toBeUndefined();
    history.record("b", "1\n2\n", "x\n2\n", false);
    expect(history.overwriteFault("b", "x\n2\n")).toContain("lines 1 to 2");
    const edit = history.last("b");
    if (edit !== undefined) history.forget(edit);
    expect(history.overwriteFault("b", "1\n2\n")).toContain("have not seen what it holds");
  });
});
