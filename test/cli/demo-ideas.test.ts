import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { demoIdeas, matchIdea } from "../../src/cli/demo-script.ts";

const ideas = await demoIdeas();

describe("the bundled ideas", () => {
  test("are those with a folder, by id, whatever the working folder", async () => {
    const folders = readdirSync(join(import.meta.dirname, "../../demo")).sort();
    expect(ideas.map(({ id }) => id)).toEqual(folders);
    expect(ideas.length).toBeGreaterThanOrEqual(3);
  });

  test("say what they are, and a price that is not nothing", () => {
    for (const idea of ideas) {
      expect([idea.title, idea.idea, idea.model].every((text) => text.trim() !== "")).toBe(true);
      expect(idea.price.input).toBeGreaterThan(0);
      expect(idea.price.output).toBeGreaterThan(0);
      expect(idea.folder.endsWith(join("demo", idea.id))).toBe(true);
    }
  });
});

describe("matching", () => {
  test.each(ideas)("$id is found by all its words", (idea) => {
    for (const words of [idea.id, idea.title, idea.idea, ...idea.aliases]) expect(matchIdea(words, ideas)?.id).toBe(idea.id);
  });

  test("case, spaces, punctuation and a leading article do not count", () => {
    for (const words of ["  create A 2048   GAME!! ", "Create a 2048 game?", "the 2048 game", "\u201cCreate a 2048 game\u201d"]) {
      expect(matchIdea(words, ideas)?.id).toBe("2048");
    }
  });

  test("nothing else is an idea of ours: a little more or less is another idea", () => {
    for (const words of ["", " ", "!", "Create a 2048 game with sound", "Create a game", "20 48", "a", "the", "2048.js", "__proto__"]) {
      expect(matchIdea(words, ideas)).toBeUndefined();
    }
  });

  test("any text is taken", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const found = matchIdea(text, ideas);
        if (found !== undefined) expect(matchIdea(`The ${text}.`, ideas) ?? found).toBe(found);
      }),
    );
  });

  test("no two ideas share a word for themselves", () => {
    for (const idea of ideas) {
      const others = ideas.filter((other) => other !== idea);
      for (const words of [idea.id, idea.title, idea.idea, ...idea.aliases]) expect(matchIdea(words, others)).toBeUndefined();
    }
  });
});
