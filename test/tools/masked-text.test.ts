import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskSecrets } from "../../src/kernel/mask.ts";
import { fitsMasked, isMasked } from "../../src/tools/tool-files.ts";

describe("a text fits what a record has of it", () => {
  it.each([
    ["KEY=abc\nX=1\n", "KEY=[secret]\nX=1\n"],
    ["a abc b def c", "a [secret] b [secret] c"],
    ["abc", "[secret]"],
    ["same", "same"],
  ])("%j: %j", (text, masked) => expect(fitsMasked(text, masked)).toBe(true));

  it.each([
    ["KEY=abc\nX=2\n", "KEY=[secret]\nX=1\n"],
    ["KEY=abc\nMORE=1\n", "KEY=[secret]\n"],
    ["x KEY=abc\n", "KEY=[secret]\n"],
    ["KEY=abc\n more", "KEY=[secret]\n"],
    ["a", "aa[secret]"],
    ["other", "same"],
  ])("%j not: %j", (text, masked) => expect(fitsMasked(text, masked)).toBe(false));
});

it("knows every text that was masked", () => {
  const mask = maskSecrets(["hunter2hunter2"]);
  const line = fc.constantFrom("a=hunter2hunter2", "b=1", "c=sk-abcdefghijklmnop1234", "", "plain words");
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      const text = lines.join("\n");
      expect([fitsMasked(text, mask(text)), isMasked(mask(text))]).toEqual([true, mask(text) !== text]);
    }),
  );
});
