import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerStart, withoutThoughts } from "../../src/model/thoughts.ts";
import { tries } from "../long.ts";

describe("withoutThoughts", () => {
  it.each([
    ["a block", "<think>\nHm, {x}.\n</think>\n\nThe answer.", "The answer."],
    ["a block of another name", "<Thinking>Hm.</Thinking>The answer.", "The answer."],
    ["a mark that the server put into the prompt", "Hm, let me see.\n\n</think>\n\nThe answer.", "The answer."],
    ["such a mark in the line of the thought", "Hm, let me see.</think>\nThe answer.", "The answer."],
    ["such a mark before JSON", 'Hm.</think>{"a": 1}', '{"a": 1}'],
    ["several blocks", "<think>a</think>\n<think>b</think>\nThe answer.", "The answer."],
    ["a block in a block", "<think>a <think>b</think> c</think> The answer.", "The answer."],
    ["drafts in fences", "<think>\n```js\nlet draft;\n```\n</think>\n```js\nlet a;\n```", "```js\nlet a;\n```"],
    ["an open fence in the thoughts", "<think>\n```js\nlet draft;\n</think>\nThe answer.", "The answer."],
    ["thoughts without an end", "<think>\nHm, let me see. ```js\nlet draft;\n```", ""],
    ["thoughts and nothing else", "<think>Hm.</think>", ""],
    ["Hunyuan's marks, around the answer too", "<think>Hm.</think>\n<answer>\nThe answer.\n</answer>", "The answer."],
    ["OpenThinker's marks", "<|begin_of_thought|>Hm.<|end_of_thought|><|begin_of_solution|>The answer.<|end_of_solution|>", "The answer."],
    ["Granite's words", "Here is my thought process:\nHm.\n\nHere is my response:\nThe answer.", "The answer."],
    ["such words alone", "Here is my thought process: I add.", "Here is my thought process: I add."],
    ["Apertus' marks", "<|inner_prefix|>Hm.<|inner_suffix|>The answer.", "The answer."],
    ["a summary of the page", '<details type="reasoning" open>\nHm.\n</details>\nThe answer.', "The answer."],
    ["Seed's marks", "<seed:think>Hm.</seed:think>The answer.", "The answer."],
    ["Kimi's marks", "◁think▷Hm.◁/think▷The answer.", "The answer."],
    ["Kimi's last mark alone", "Hm.◁/think▷The answer.", "The answer."],
    ["Magistral's marks", "[THINK]Hm.[/THINK]The answer.", "The answer."],
    ["Command-R's marks", "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>The answer.<|END_RESPONSE|>", "The answer."],
    ["Gemma's marks", "<|channel>thought\nHm.<channel|>The answer.", "The answer."],
    [
      "channels",
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>The answer.<|return|>",
      "The answer.",
    ],
    ["channels without a final one", "<|channel|>analysis<|message|>Hm.<|end|>", ""],
    ["channels whose marks the server dropped", "analysisHm.assistantfinalThe answer.", "The answer."],
    ["marks of the end", "The answer.<|im_end|>\n", "The answer."],
    ["a last mark right before the answer", "Hm, let me see.\n</think>The answer.", "The answer."],
    ["nothing", "", ""],
  ])("%s", (_what, reply, answer) => {
    expect(withoutThoughts(reply)).toBe(answer);
  });

  it.each([
    "No thoughts here.",
    "  Leading spaces stay.",
    '{"a": "</think> x"}',
    '```js\nconst end = "</think>";\n```',
    "```html\n<p>\n</think>\n</p>\n```",
    "Here:\n```sh\nls\n```\nand\n```js\nx\n</think>\ny\n```",
    "In the middle of an answer <think> is a word, and </think> is another.",
    "The mark <thinking> opens, </thinking> closes.",
    "a < think > b </ think >",
  ])("leaves alone %j", (reply) => {
    expect(withoutThoughts(reply)).toBe(reply);
  });

  it("property: an answer comes out as it is, whatever was thought before it", { tags: "numbers" }, () => {
    const thought = fc
      .array(fc.constantFrom("Hm. ", "\n", "```js\n", "{", '{"a": 1}', "<think", "let x;", "</", "`"), { maxLength: 20 })
      .map((parts) => parts.join(""));
    const answer = fc.constantFrom("Yes.", "```js\nlet a;\n```", '{"b": 2}', "# Title\n\nText.");
    const mark = fc.constantFrom("think", "thinking", "reasoning");
    fc.assert(
      fc.property(thought, mark, answer, (inside, name, said) => {
        expect(withoutThoughts(`<${name}>${inside}</${name}>\n${said}`)).toBe(said);
      }),
      { numRuns: tries(200, 2_000) },
    );
  });

  it("property: the place is one in the text, and everything behind it is kept", { tags: "numbers" }, () => {
    const soup = fc
      .array(fc.constantFrom("<think>", "</think>", "</think> ", "<thinking>", "```", "\n", "x", '"', "{", " "), { maxLength: 60 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(soup, (text) => {
        const start = answerStart(text);
        expect(start >= 0 && start <= text.length && text.endsWith(withoutThoughts(text))).toBe(true);
      }),
      { numRuns: tries(300, 4_000) },
    );
  });

  it.each([
    ["openings", "<think>"],
    ["closings in a fence", "</think> "],
    ["blocks", "<think></think>"],
    ["closings in prose", "x</think>y"],
  ])("megabytes of %s are read in one go", (_what, unit) => {
    const text = `\`\`\`\n${unit.repeat(300_000)}`;
    expect(answerStart(text)).toBe(0);
    expect(answerStart(unit.repeat(300_000))).toBeLessThanOrEqual(text.length);
  });

  it.each([
    ["many marks of the end", `The answer.${" <|end|> <|im_end|>".repeat(100_000)}\n`, "The answer."],
    ["many spaces before other words", `<|x|>${" ".repeat(300_000)}The answer.`, `<|x|>${" ".repeat(300_000)}The answer.`],
  ])("%s are read in one go", (_what, reply, answer) => {
    expect(withoutThoughts(reply)).toBe(answer);
  });
});
