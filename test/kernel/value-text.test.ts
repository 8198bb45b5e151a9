import { describe, expect, test } from "vitest";
import { thrownText, valueText } from "../../src/kernel/value-text.ts";

describe("a value in an error", () => {
  test.each<[unknown, string]>([
    [undefined, "undefined"],
    [null, "null"],
    [7, "7"],
    [Number.NaN, "NaN"],
    [7n, "7n"],
    ["a word", '"a word"'],
    [{ a: [1] }, '{"a":[1]}'],
    [[], "[]"],
    [{}, "{}"],
    [Object.create(null), "{}"],
    [Symbol("s"), "a symbol"],
    [(): number => 1, "a function"],
    [class Shop {}, "the class Shop"],
    [new Map(), "an object of the kind Map"],
    [new Error("rain"), "an object of the kind Error"],
    [{ toJSON: () => undefined }, "an object of the kind Object"],
  ])("%# is told as what it is", (value, text) => {
    expect(valueText(value)).toBe(text);
  });

  test("a value that throws when it is read has a text all the same", () => {
    const fails = (): never => {
      throw new Error("boom");
    };
    const bombs = [
      { toJSON: fails },
      new Proxy({}, { ownKeys: fails, get: fails }),
      Object.defineProperty({}, "a", { enumerable: true, get: fails }),
    ];
    expect(valueText(new Proxy(class {}, { get: fails }))).toBe("a function");
    for (const bomb of bombs) expect(valueText(bomb)).toBe("an object that is no JSON");
  });

  test("a word that the cut would go through is left out: no part of a key is told", () => {
    const key = "sk-0123456789abcdef0123456789abcdef";
    for (let before = 150; before < 250; before += 1) {
      const text = thrownText(`${" ".repeat(before)}${key} and so on, and so on`);
      expect(text.includes(key) || !text.includes("sk-")).toBe(true);
    }
    expect(valueText("x".repeat(500))).toBe('"... (502 characters)');
  });
});

describe("a thrown value", () => {
  test.each<[unknown, string]>([
    [new RangeError("rain"), "rain"],
    [new RangeError(""), "RangeError"],
    ["a word", "a word"],
    [{ status: 503 }, '{"status":503}'],
    [null, "null"],
  ])("%# is told by its own words", (thrown, text) => {
    expect(thrownText(thrown)).toBe(text);
  });
});
