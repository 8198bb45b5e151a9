import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COMMANDS, mistypedCommand } from "../../src/cli/idea.ts";
import { editDistance } from "../../src/kernel/known-options.ts";

describe("editDistance", () => {
  it.each([
    ["", "", 0],
    ["demo", "demo", 0],
    ["dmeo", "demo", 1],
    ["demmo", "demo", 1],
    ["deo", "demo", 1],
    ["dxmo", "demo", 1],
    ["", "run", 3],
    ["doctor", "dotcro", 2],
    ["kitten", "sitting", 3],
  ])("of %j and %j is %i", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  it("is symmetric, 0 only for equal words, and at most the longer length", () => {
    const word = fc.string({ maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      }),
    );
  });

  it("counts one slip as one", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 2, maxLength: 8, unit: "grapheme-ascii" }), fc.nat(), (word, at) => {
        const n = at % word.length;
        expect(editDistance(word.slice(0, n) + word.slice(n + 1), word)).toBe(1);
        expect(editDistance(`${word.slice(0, n)}\u00e9${word.slice(n)}`, word)).toBe(1);
      }),
    );
  });
});

describe("mistypedCommand", () => {
  it.each([
    ["dmeo", "demo"],
    ["demos", "demo"],
    ["Demo", "demo"],
    ["docter", "doctor"],
    ["doctro", "doctor"],
    ["rn", "run"],
    ["runn", "run"],
    ["hlep", "help"],
    ["demo todo", "demo"],
    [" Dmeo\ttodo ", "demo"],
    ["doctor --json now", "doctor"],
    ["run it", "run"],
    ["resmue", "resume"],
    ["contiune", "continue"],
    ["anwser", "answer"],
    ["reply", "replay"],
    ["frok mabc1234", "fork"],
    ["rus", "run"],
  ])("takes %j for %s", (word, command) => {
    expect(mistypedCommand(word)).toBe(command);
  });

  it("finds every command itself, for one that does not stand first", () => {
    for (const command of COMMANDS) expect(mistypedCommand(command)).toBe(command);
  });

  it.each([
    "2048",
    "todo",
    "tetris",
    "pacman",
    "Create a 2048 game",
    "run a marathon planner",
    "demo of a game",
    "todo list",
    "dmoe todo list",
    "rn it",
    "work timer app",
    "form builder",
    "for kids",
    "",
  ])("leaves %j alone", (word) => {
    expect(mistypedCommand(word)).toBeUndefined();
  });
});
