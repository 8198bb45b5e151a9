import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { checkKnownOptions } from "../../src/kernel/known-options.ts";
import { kinds } from "../../src/kernel/option-kinds.ts";

const known = { rounds: kinds.count, scheduler: kinds.text, watch: kinds.texts };

function refusal(given: unknown): UsageError {
  try {
    checkKnownOptions("run", given, known);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error("nothing thrown");
}

describe("options of unknown names", () => {
  test.each([
    ["watches", "watch"],
    ["schedular", "scheduler"],
    ["maxRounds", "rounds"],
    ["Watch", "watch"],
  ])("%s is refused, and %s is told as what was meant", (name, meant) => {
    const error = refusal({ [name]: 1 });
    expect(error.code).toBe("OPTION_UNKNOWN");
    expect(error.message).toContain(`Did you mean ${meant}?`);
    expect(error.message).toContain("Known: rounds, scheduler, watch.");
  });

  test("one that is like none of the known says which are known", () => {
    expect(refusal({ colour: "red" }).message).toMatch(/got "colour"\. Leave it out\. Known: rounds/);
  });

  test("a long one with control characters is shown short and escaped", () => {
    const { message } = refusal({ [`\u001b[2J${"x".repeat(10_000)}`]: 1 });
    expect(message).not.toContain("\u001b");
    expect(message.length).toBeLessThan(300);
  });

  test("a name that every object has behind it is unknown too", () => {
    expect(refusal({ constructor: 1 }).code).toBe("OPTION_UNKNOWN");
    expect(refusal(JSON.parse('{"__proto__": 1}')).code).toBe("OPTION_UNKNOWN");
  });

  test.each([["a text"], [3], [null], [[]]])("%j is no object of options", (given) => {
    expect(refusal(given).code).toBe("OPTION_INVALID");
  });

  test("nothing, known names and members that are undefined pass", () => {
    for (const given of [undefined, {}, { rounds: 1, watch: [] }, { watches: undefined }]) {
      expect(() => checkKnownOptions("run", given, known)).not.toThrow();
    }
  });
});
