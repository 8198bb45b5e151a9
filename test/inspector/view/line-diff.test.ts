import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DiffLine, diffHunks, lineDiff } from "../../../src/inspector/view/line-diff.ts";
import { shownLine, shownText } from "../../../src/inspector/view/shown-text.ts";
import { tries } from "../../long.ts";

const lines = fc.array(fc.constantFrom("a", "b", "c", "", "d"), { maxLength: 30 });

function side(diff: readonly DiffLine[], without: DiffLine["kind"]): readonly string[] {
  return diff.filter(({ kind }) => kind !== without).map(({ text }) => text);
}

/** The length of the longest common subsequence, by the plain table. */
function common(a: readonly string[], b: readonly string[]): number {
  const table = [...a, ""].map(() => Array<number>(b.length + 1).fill(0));
  for (let x = a.length - 1; x >= 0; x -= 1)
    for (let y = b.length - 1; y >= 0; y -= 1) {
      const [row, next] = [table[x] as number[], table[x + 1] ?? []];
      row[y] = a[x] === b[y] ? (next[y + 1] ?? 0) + 1 : Math.max(next[y] ?? 0, row[y + 1] ?? 0);
    }
  return table[0]?.[0] ?? 0;
}

describe("lineDiff", () => {
  test("property: it has both texts, and the fewest changes", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const [a, b] = [before, after].map((list) => list.map((line) => `${line}\n`).join("")) as [string, string];
        const diff = lineDiff(a, b);
        expect(side(diff, "added")).toEqual(before);
        expect(side(diff, "removed")).toEqual(after);
        expect(diff.filter(({ kind }) => kind === "same")).toHaveLength(common(before, after));
        expect(diff.flatMap((line) => line.before ?? [])).toEqual(before.map((_, nth) => nth + 1));
        expect(diff.flatMap((line) => line.after ?? [])).toEqual(after.map((_, nth) => nth + 1));
        for (const hunk of diffHunks(diff)) expect(hunk.some(({ kind }) => kind !== "same")).toBe(true);
      }),
      { numRuns: tries(300, 5_000) },
    );
  });

  test("texts without a common line are all removed and all added, also long ones", () => {
    const text = (mark: string): string => Array.from({ length: 5_000 }, (_, nth) => `${mark}${nth}`).join("\n");
    const diff = lineDiff(text("a"), text("b"));
    expect(diff).toHaveLength(10_000);
    expect(diff[4_999]?.kind).toBe("removed");
    expect(lineDiff("", "one")).toEqual([{ kind: "added", text: "one", before: undefined, after: 1 }]);
  });
});

describe("shownText", () => {
  test("shows what would steer or hide, cuts long texts, and divides no character", () => {
    expect(shownText("a\u202eb\u001b[2J\u0000").text).toBe("a\\u202eb\\x1b[2J\\x00");
    expect(shownText("<script>\n\t&amp;")).toEqual({ text: "<script>\n\t&amp;", left: 0 });
    const { text, left } = shownText("x".repeat(10_000_000), 100);
    expect([text.length, left]).toEqual([100, 9_999_900]);
    expect(shownText("a\u{1f600}b", 2)).toEqual({ text: "a", left: 3 });
    expect(shownLine("one\n  two\tthree", 9)).toBe("one two …");
  });
});
