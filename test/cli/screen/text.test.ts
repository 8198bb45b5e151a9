import fc from "fast-check";
import { ageText, brief, counted, durationIn, elapsed, momentText, plural } from "../../../src/cli/screen/amounts.ts";
import { column, fitted, widthOf, withoutCodes, wrapped } from "../../../src/cli/screen/layout.ts";
import { bytesText, shown, type Style, styleFor, wantsColor } from "../../../src/cli/screen/text.ts";
import { describe, expect, it } from "vitest";

const anything = fc.string({ unit: "grapheme", maxLength: 80 });

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

  it("keeps to its limit, also for an endless text", () => {
    expect(shown("x".repeat(1_000_000), 10)).toBe(`${"x".repeat(10)}...`);
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

describe("fitted", () => {
  it.each([
    ["abcdef", 6, "abcdef"],
    ["abcdef", 5, "abcd…"],
    ["ab cdef", 4, "ab…"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["abc", 1, "…"],
    ["abc", 0, ""],
    ["", 0, ""],
  ])("of %j at %i is %j", (text, width, cut) => {
    expect(fitted(text, width)).toBe(cut);
  });

  it("never takes more cells than there are", () => {
    fc.assert(
      fc.property(anything, fc.nat({ max: 100 }), (text, width) => {
        expect(widthOf(fitted(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe("column", () => {
  it("takes exactly its cells", () => {
    fc.assert(
      fc.property(anything, fc.nat({ max: 100 }), (text, width) => {
        expect(widthOf(column(text, width))).toBe(width);
      }),
    );
  });
});

describe("wrapped", () => {
  it("breaks between words and indents what follows", () => {
    expect(wrapped("  label one two three", 12, 8)).toEqual(["  label one", "        two", "        three"]);
  });

  it("lets a word that is too long stand alone", () => {
    expect(wrapped("a veryverylongword b", 6)).toEqual(["a", "veryverylongword", "b"]);
  });

  it("keeps the spaces that make columns", () => {
    expect(wrapped("  label   text   more", 17, 2)).toEqual(["  label   text", "  more"]);
  });

  it("does not count the codes of colours", () => {
    const { bad } = styleFor(true);
    expect(wrapped(`${bad("error:")} it broke`, 9).map(withoutCodes)).toEqual(["error: it", "broke"]);
  });

  it("keeps an empty line and one without an end", () => {
    expect(wrapped("", 10)).toEqual([""]);
    expect(wrapped("x ".repeat(100).trim(), Infinity)).toHaveLength(1);
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

describe("numbers", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [1_234, "1,234"],
    [1_234_567, "1,234,567"],
  ])("counted(%i) is %s", (n, text) => {
    expect(counted(n)).toBe(text);
  });

  it.each([
    [0, "0"],
    [999, "999"],
    [1_000, "1.0k"],
    [9_949, "9.9k"],
    [9_950, "10k"],
    [999_499, "999k"],
    [999_500, "1.0M"],
    [12_300_000, "12M"],
  ])("brief(%i) is %s", (n, text) => {
    expect(brief(n)).toBe(text);
  });

  it.each([
    [-5, "0:00"],
    [999, "0:00"],
    [61_000, "1:01"],
    [3_723_000, "1:02:03"],
  ])("elapsed(%i) is %s", (ms, text) => {
    expect(elapsed(ms)).toBe(text);
  });

  it("plural tells one from many", () => {
    expect([plural(1, "file"), plural(0, "file"), plural(1_000, "reply", "replies")]).toEqual(["1 file", "0 files", "1,000 replies"]);
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
