import { describe, expect, it } from "vitest";
import { ageText, bytesText, durationIn, momentText } from "../../../src/cli/screen/text.ts";

describe("ageText", () => {
  it.each([
    [-5, "now"],
    [999, "now"],
    [1_000, "1s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [3_600_000, "1h"],
    [86_399_999, "23h"],
    [30 * 86_400_000, "30d"],
  ])("of %i ms is %s", (ms, text) => {
    expect(ageText(ms)).toBe(text);
  });
});

describe("durationIn", () => {
  it.each([
    ["30d", 30 * 86_400_000],
    [" 12h ", 12 * 3_600_000],
    ["90m", 90 * 60_000],
    ["0s", 0],
  ])("of %j is %i", (text, ms) => {
    expect(durationIn(text)).toBe(ms);
  });

  it.each(["", "30", "d", "-1d", "1.5d", "1w", "1e3d", "9999999d", "30 days"])("of %j is none", (text) => {
    expect(durationIn(text)).toBeUndefined();
  });
});

describe("momentText", () => {
  it("is the time of the world, and never throws", () => {
    expect(momentText(1_700_000_000_000)).toBe("2023-11-14 22:13:20");
    expect([momentText(Number.NaN), momentText(9e15)]).toEqual(["at no time", "at no time"]);
  });
});

describe("bytesText", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_234, "1.2 kB"],
    [120_000, "120 kB"],
    [999_500, "1.0 MB"],
    [3_400_000_000_000_000, "3400 TB"],
  ])("of %i is %s", (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });
});
