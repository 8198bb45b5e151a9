import { describe, expect, it } from "vitest";
import { fitsPath, patternFault } from "../../src/tools/file-search.ts";
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

it("takes no time over patterns made to take time", { tags: ["numbers", "long"] }, () => {
  const started = process.cpuUsage();
  for (const pattern of ["*a".repeat(20) + "b", "**/".repeat(9) + "x", "?*".repeat(20) + "b"])
    fitsPath(`${"a/".repeat(200)}${"a".repeat(5000)}`, pattern);
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});

it.each(titled(["", "x".repeat(201), "*".repeat(21), "/etc/*", "../*", "a/../b"]))("tells what is wrong with %s", (_case, pattern) =>
  expect(patternFault(pattern)).toMatch(/^Expected/),
);
