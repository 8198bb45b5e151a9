import { describe, expect, it } from "vitest";
import { type Style, styleFor, wantsColor, withoutCodes } from "../../../src/cli/screen/text.ts";

describe("wantsColor", () => {
  it.each([
    ["a terminal", {}, true, true],
    ["a pipe", {}, false, false],
    ["a terminal and NO_COLOR", { NO_COLOR: "1" }, true, false],
    ["a terminal and an empty NO_COLOR", { NO_COLOR: "" }, true, true],
    ["a dumb terminal", { TERM: "dumb" }, true, false],
    ["a pipe and FORCE_COLOR", { FORCE_COLOR: "1" }, false, true],
    ["a pipe and an empty FORCE_COLOR", { FORCE_COLOR: "" }, false, true],
    ["a terminal and FORCE_COLOR=0", { FORCE_COLOR: "0" }, true, false],
    ["FORCE_COLOR against NO_COLOR", { FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
  ])("for %s", (_what, env, isTTY, expected) => {
    expect(wantsColor({ isOff: false, env, isTTY })).toBe(expected);
    expect(wantsColor({ isOff: true, env, isTTY })).toBe(false);
  });
});

describe("styleFor", () => {
  const names: readonly (keyof Style)[] = ["strong", "faint", "good", "bad", "warn", "active"];

  it("adds nothing without colour, and nothing around nothing", () => {
    for (const name of names) {
      expect(styleFor(false)[name]("text")).toBe("text");
      expect(styleFor(true)[name]("")).toBe("");
    }
  });

  it("adds codes that end where the text does", () => {
    for (const name of names) {
      const painted = styleFor(true)[name]("text");
      expect(painted).toMatch(/^\u001b\[\d+mtext\u001b\[\d+m$/);
      expect(withoutCodes(painted)).toBe("text");
    }
  });
});
