import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { askOn, joined } from "../../src/model/continuation.ts";
import { tries } from "../long.ts";

describe("joined", () => {
  it.each([
    ["the rest, from the next character", "let first = 1;\nlet sec", "ond = 2;\n", "let first = 1;\nlet second = 2;\n"],
    ["the cut line again", "let first = 1;\nlet sec", "let second = 2;\n", "let first = 1;\nlet second = 2;\n"],
    ["the last words again", "It waits until the answer", " until the answer came.", "It waits until the answer came."],
    ["the last lines again", "a = 1\nb = 2\nc = 3\n", "b = 2\nc = 3\nd = 4\n", "a = 1\nb = 2\nc = 3\nd = 4\n"],
    [
      "another fence with the rest",
      "```js\nlet first = 1;\nlet sec",
      "```js\nlet second = 2;\n```",
      "```js\nlet first = 1;\nlet second = 2;\n```",
    ],
    [
      "another fence with the next lines",
      "```js\nlet first = 1;\n",
      "```\nlet second = 2;\n```\n",
      "```js\nlet first = 1;\nlet second = 2;\n```\n",
    ],
    ["the rest of JSON in a fence", '{"a": [1, 2', "```json\n, 3]}\n```", '{"a": [1, 2, 3]}'],
    ["a block of its own after a closed one", "```js\nlet a;\n```\nThen:\n", "```sh\nls\n```", "```js\nlet a;\n```\nThen:\n```sh\nls\n```"],
    [
      "the whole reply anew",
      "# A title that is long enough to be known\n\nText",
      "# A title that is long enough to be known\n\nText and more.",
      "# A title that is long enough to be known\n\nText and more.",
    ],
    ["the fence that closes the block", "```js\nlet a;", "```\nDone.", "```js\nlet a;\n```\nDone."],
    ["the fence that closes it, alone", "```js\nlet a;\n", "```", "```js\nlet a;\n```"],
    ["a block after words", "Here is the file:", "```js\nlet a;\n```\n", "Here is the file:\n```js\nlet a;\n```\n"],
    ["a short word that is there by chance", "an", "answer", "ananswer"],
    ["a closing brace that is there by chance", "if (a) {\n  b();\n}\n", "}\n", "if (a) {\n  b();\n}\n}\n"],
    ["brackets and indents by chance", "          }\n        }\n", "        }\n      }\n", "          }\n        }\n        }\n      }\n"],
    ["nothing", "let a", "", "let a"],
  ])("%s", (_what, soFar, more, whole) => {
    expect(joined(soFar, more)).toBe(whole);
  });

  const words = fc
    .array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 30, maxLength: 80 })
    .map((all) => all.map((word, n) => `${word}${n}`).join(" "));

  it("property: a text cut anywhere is whole again, also when the last part of it is repeated", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(words, fc.nat(1_000), fc.nat(60), (text, place, repeated) => {
        const cut = 45 + (place % (text.length - 45));
        const again = repeated < 16 ? 0 : Math.min(repeated, cut - 41);
        expect(joined(text.slice(0, cut), text.slice(cut - (again < 16 ? 0 : again)))).toBe(text);
      }),
      { numRuns: tries(300, 4_000) },
    );
  });

  it("property: whatever comes, what was said so far stays, or the reply began anew", { tags: "numbers" }, () => {
    const part = fc
      .array(fc.constantFrom("```js\n", "```\n", "a line of text\n", "x", "\n", "{", "}", "  "), { maxLength: 30 })
      .map((all) => all.join(""));
    fc.assert(
      fc.property(part, part, (soFar, more) => {
        const whole = joined(soFar, more);
        expect(whole.startsWith(soFar) || whole === more).toBe(true);
        expect(whole.length).toBeLessThanOrEqual(soFar.length + more.length + 1);
      }),
      { numRuns: tries(300, 4_000) },
    );
  });

  it("megabytes of one letter are joined in one go", () => {
    const long = "a".repeat(2_000_000);
    expect(joined(long, `b${long}`)).toBe(`${long}b${long}`);
    expect(joined(`c${long}`, `${"ab".repeat(1_000_000)}`).length).toBeGreaterThan(long.length);
  });
});

describe("askOn", () => {
  it("puts the reply so far behind the same conversation, and the request last", () => {
    const messages = [{ role: "user", content: "Write." }] as const;
    const asked = askOn(messages, "let a");
    expect(asked.slice(0, 2)).toEqual([...messages, { role: "assistant", content: "let a" }]);
    expect(asked[2]?.content).toMatch(/Go on exactly where it stops/);
  });
});
