import fc from "fast-check";
import { expect, test } from "vitest";
import { filesInPrompt } from "../../actions/project-files.ts";

test("files are whole while they fit, and outlined from then on", () => {
  const small = { path: "a.js", content: "const a = 1;\n" };
  const large = {
    path: "b.js",
    content: `// first line\n${"x();\n".repeat(100)}export function late() {}\nglobalThis.Game.board = {};\n<p id="score">`,
  };
  const text = filesInPrompt([large, small], 200);
  expect(text).toContain("a.js\n```\nconst a = 1;\n```");
  expect(text).toContain(`b.js (${large.content.length} characters, of which only the beginning is shown)`);
  expect(text).toContain("// first line");
  expect(text).toContain("It names: late, Game.board, score");
  expect(text).not.toContain("x();\n".repeat(10));
});

test("no number and size of files makes a prompt larger than its budget and an outline for each", () => {
  const file = fc.record({
    path: fc.constantFrom("a.js", "b.css"),
    content: fc.string({ maxLength: 300 }).map((text) => `${text}\nlet ${text};`.repeat(20)),
  });
  fc.assert(
    fc.property(fc.array(file, { maxLength: 20 }), fc.integer({ min: 0, max: 5_000 }), (files, budget) => {
      expect(filesInPrompt(files, budget).length).toBeLessThanOrEqual(budget + files.length * 1_600);
    }),
    { numRuns: 40 },
  );
});
