import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitsPath, patternFault } from "../../src/tools/file-search.ts";
import { tries } from "../long.ts";
import { titled } from "../titled.ts";

describe("a path fits a pattern", () => {
  it.each([
    ["a.ts", "*.ts"],
    ["src/deep/a.ts", "*.ts"],
    ["src/a.ts", "src/*.ts"],
    ["src/a.ts", "src/**"],
    ["src/x/y/a.ts", "src/**/*.ts"],
    ["src/a.ts", "src/**/*.ts"],
    ["a.ts", "**/*.ts"],
    ["a/b/c", "**"],
    ["a/b", "./a/b"],
    ["abc", "a?c"],
    ["a/b/c/d", "a/**/d"],
    ["a/b/c/d", "**/b/**/d"],
    ["aXbXc", "a*b*c"],
    ["[x]+.js", "[x]+.js"],
    ["a", "a**"],
  ])("%s: %s", (path, pattern) => expect(fitsPath(path, pattern)).toBe(true));

  it.each([
    ["a.tsx", "*.ts"],
    ["src/x/a.ts", "src/*.ts"],
    ["lib/a.ts", "src/**"],
    ["src", "src/**/*.ts"],
    ["ac", "a?c"],
    ["a/c", "a?c"],
    ["a/b", "b/a"],
    ["A.ts", "a.ts"],
    ["axxb", "a.*b"],
    ["a/b/c", "a/c"],
    ["", "a"],
  ])("%s not: %s", (path, pattern) => expect(fitsPath(path, pattern)).toBe(false));
});

it("agrees with a slow and simple reading", { tags: "numbers" }, () => {
  const slow = (path: readonly string[], pattern: readonly string[]): boolean => {
    const [first, ...rest] = pattern;
    if (first === undefined) return path.length === 0;
    if (first === "**" && (slow(path, rest) || (path.length > 0 && slow(path.slice(1), pattern)))) return true;
    const [head, ...tail] = path;
    return first !== "**" && head !== undefined && segment(head, first) && slow(tail, rest);
  };
  const segment = (text: string, pattern: string): boolean => {
    if (pattern === "") return text === "";
    if (pattern.startsWith("*")) return segment(text, pattern.slice(1)) || (text !== "" && segment(text.slice(1), pattern));
    return text !== "" && (pattern.startsWith("?") || pattern[0] === text[0]) && segment(text.slice(1), pattern.slice(1));
  };
  const parts = (unit: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
    fc.array(fc.string({ unit, minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(parts(fc.constantFrom("a", "b")), parts(fc.constantFrom("a", "b", "*", "?")), (path, pattern) => {
      expect(fitsPath(path.join("/"), pattern.join("/"))).toBe(slow(path, pattern));
    }),
    { numRuns: tries(667, 8_000) },
  );
});

it("takes no time over patterns made to take time", { tags: ["numbers", "long"] }, () => {
  const started = process.cpuUsage();
  for (const pattern of ["*a".repeat(20) + "b", "**/".repeat(9) + "x", "?*".repeat(20) + "b"])
    fitsPath(`${"a/".repeat(200)}${"a".repeat(5000)}`, pattern);
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});

it.each(titled(["", "x".repeat(201), "*".repeat(21), "/etc/*", "../*", "a/../b"]))("tells what is wrong with %s", (_case, pattern) =>
  expect(patternFault(pattern)).toMatch(/^Expected/),
);
