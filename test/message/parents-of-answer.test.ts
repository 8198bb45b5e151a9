import { expect, test } from "vitest";
import { parentsOfAnswer } from "../../src/message/message.ts";

test("the parents of an answer are its one message, whichever was answered before, the empty id first of all", () => {
  for (const id of ["", "", "a", "a", "b", "a", "", "b"]) {
    expect(parentsOfAnswer(id)).toEqual([id]);
    expect(Object.isFrozen(parentsOfAnswer(id))).toBe(true);
  }
  expect(parentsOfAnswer("c")).toBe(parentsOfAnswer("c"));
});
