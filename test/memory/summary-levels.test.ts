import { describe, expect, it } from "vitest";
import { dueMerge, joined, merged, NO_SUMMARY, type SummaryLevels, summaryText, withRecent } from "../../src/memory/summary-levels.ts";

const texts = (name: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${name} ${n}`);
const FAN_IN = 10;
const full: SummaryLevels = { oldest: "long ago", older: texts("older", 2), recent: texts("recent", FAN_IN) };

describe("the levels of a summary", () => {
  it("read from the oldest to the newest", () => {
    expect(summaryText({ oldest: "a", older: ["b", "c"], recent: ["d"] })).toBe("a\n\nb\n\nc\n\nd");
    expect([summaryText(NO_SUMMARY), summaryText(withRecent(NO_SUMMARY, "x"))]).toEqual(["", "x"]);
  });

  it("are merged when ten have come together, with all that is older in sight", () => {
    expect(dueMerge({ ...full, recent: texts("recent", FAN_IN - 1) })).toBeUndefined();
    expect(dueMerge(full)).toEqual({ level: "recent", items: full.recent, earlier: "long ago\n\nolder 0\n\nolder 1" });
    expect(dueMerge({ ...full, older: texts("older", FAN_IN) })).toEqual({
      level: "older",
      items: texts("older", FAN_IN),
      earlier: "long ago",
    });
  });

  it("make one of the next level; the oldest, which went into it, is replaced", () => {
    const merge = { level: "recent", items: full.recent, earlier: "" } as const;
    expect(merged({ ...full, recent: [...full.recent, "new"] }, merge, "one")).toEqual({
      oldest: "long ago",
      older: ["older 0", "older 1", "one"],
      recent: ["new"],
    });
    expect(merged(full, { level: "older", items: full.older, earlier: "" }, "all")).toEqual({ ...full, oldest: "all", older: [] });
  });

  it("that were replaced while they were merged stay as they are", () => {
    const other = { ...full, recent: ["loaded meanwhile", ...full.recent] };
    expect(merged(other, { level: "recent", items: full.recent, earlier: "" }, "one")).toBe(other);
  });

  it("from here follow those that were stored, and none is told twice", () => {
    const here = { oldest: "long ago", older: ["older 1", "here"], recent: [] };
    expect(joined(full, here)).toEqual({ ...full, recent: [...full.recent, "here"] });
    expect(joined(full, NO_SUMMARY)).toEqual(full);
  });
});
