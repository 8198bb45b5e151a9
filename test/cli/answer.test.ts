import { describe, expect, it } from "vitest";
import { chosenQuestion } from "../../src/cli/commands/answer.ts";

const [one, two] = [
  { id: "abcd1234", role: "Bob", text: "Which colour?" },
  { id: "ef005678", role: "Eve", text: "Which\u001b[2J size?" },
];

describe("what the words of an answer mean", () => {
  it.each([
    [["abcd", "red"], [one, two], { question: "abcd", text: "red" }],
    [["red"], [one], { question: "abcd1234", text: "red" }],
    [["ab"], [one], { question: "abcd1234", text: "ab" }],
    [["-"], [one], { question: "abcd1234", text: "-" }],
  ])("%j", (words, pending, expected) => {
    expect(chosenQuestion(words, pending, "r")).toEqual(expected);
  });

  it("the id of a question alone is no answer", () => {
    expect(() => chosenQuestion(["abcd"], [one], "r")).toThrow(
      expect.objectContaining({
        code: "ANSWER_MISSING",
        message: expect.stringContaining('troupe answer r abcd "..."') as string,
      }) as Error,
    );
  });

  it("an answer alone is none where several wait, or none", () => {
    expect(() => chosenQuestion(["red"], [one, two], "r")).toThrow(
      expect.objectContaining({
        code: "QUESTION_MISSING",
        message: expect.stringContaining("abcd1234 (Bob: Which colour?), ef005678 (Eve: Which\\u{1b}[2J size?)") as string,
      }) as Error,
    );
    expect(() => chosenQuestion(["red"], [], "r")).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("a run with a question that waits, but run r has none") as string,
      }) as Error,
    );
  });
});
