import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shown, styleFor, wantsColor, widthOf, withoutCodes, wrapped } from "../../../src/cli/screen/text.ts";

describe("shown", () => {
  it.each([
    ["\u001b[31mred", "\\u{1b}[31mred"],
    ["a\r\nb\tc", "a b c"],
    ["right\u202eleft", "right\\u{202e}left"],
    ["zero\u200bwidth", "zero\\u{200b}width"],
    ["bell\u0007", "bell\\u{7}"],
    ["c1\u009b31m", "c1\\u{9b}31m"],
    ["  around  ", "around"],
  ])("of %j is %j", (text, safe) => {
    expect(shown(text)).toBe(safe);
  });

  it("never lets through what a terminal obeys", () => {
    const character = fc.oneof(fc.nat({ max: 0x9f }), fc.nat({ max: 0xffff })).map((code) => String.fromCharCode(code));
    const hostile = fc.array(character, { maxLength: 40 }).map((characters) => characters.join(""));
    fc.assert(
      fc.property(hostile, (text) => {
        expect(shown(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

describe("widthOf", () => {
  it.each([
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["日本", 4],
    ["한", 2],
    ["🎉", 2],
    ["✓ · …", 5],
    ["", 0],
  ])("of %j is %i", (text, cells) => {
    expect(widthOf(text)).toBe(cells);
  });
});

describe("wrapped", () => {
  it("does not count the codes of colours", () => {
    const { bad } = styleFor(true);
    expect(wrapped(`${bad("error:")} it broke`, 9).map(withoutCodes)).toEqual(["error: it", "broke"]);
  });

  it("loses no word and keeps lines within the width where words allow", () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(words, fc.integer({ min: 12, max: 60 }), (list, width) => {
        const lines = wrapped(list.join(" "), width, 2);
        expect(lines.map((line) => line.trim()).join(" ")).toBe(list.join(" "));
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

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
