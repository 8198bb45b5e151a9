import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Prd, PrdSchema } from "../../actions/index.ts";
import { renderPrd } from "../../actions/waterfall/write-prd.ts";
import { checkPath } from "../../src/workspace/path-rules.ts";
import { prd } from "./greeter.ts";

function named(projectName: string): string {
  return PrdSchema.parse({ ...prd, projectName }).projectName;
}

describe("the project's name", () => {
  test.each([
    ["Snake Game", "snake-game"],
    ["snakeGame_v2", "snake-game-v2"],
    ["2048", "2048"],
    ["Café Über", "cafe-uber"],
    ["  --x--  ", "x"],
    ["../../etc/passwd", "etc-passwd"],
    ["计算器", "project"],
    ["", "project"],
    ["con", "project-con"],
    ["LPT1", "project-lpt1"],
    [".git", "git"],
  ])("%j becomes %j", (given, name) => {
    expect(named(given)).toBe(name);
  });

  test("is a name for a file whatever was given, and stays as it is the second time", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (given) => {
        const name = named(given);
        expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(checkPath(`docs/prd/${name}.json`)).toBe(`docs/prd/${name}.json`);
        expect(name.length).toBeLessThanOrEqual(60);
        expect(named(name)).toBe(name);
      }),
    );
  });
});

describe("the requirements", () => {
  test.each<[keyof Prd, unknown]>([
    ["productGoals", []],
    ["userStories", []],
    ["requirementPool", []],
    ["requirementPool", [{ priority: "P3", requirement: "x" }]],
    ["originalRequirements", 7],
  ])("%s: %j is refused", (field, value) => {
    expect(PrdSchema.safeParse({ ...prd, [field]: value }).success).toBe(false);
  });

  test("read as a document that holds every part, and nothing of parts without text", () => {
    const text = renderPrd({ ...prd, anythingUnclear: "" });
    for (const part of ["# Requirements: greeter", "- P0: greet(name) says Hello, name!", "- Greet by name", "One line of text."])
      expect(text).toContain(part);
    expect(text).not.toContain("## Unclear");
    expect(text.endsWith("\n")).toBe(true);
  });
});
