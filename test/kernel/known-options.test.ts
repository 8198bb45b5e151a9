import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { checkKnownOptions } from "../../src/kernel/known-options.ts";
import { kinds } from "../../src/kernel/option-kinds.ts";
import type { Shape } from "../../src/kernel/argument.ts";

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

  test("a short name is not taken for another short one", () => {
    expect(() => checkKnownOptions("listen", { host: 1 }, { port: kinds.checked, hostname: kinds.checked })).toThrow(
      "Did you mean hostname?",
    );
  });

  test("a long one with control characters is shown short and escaped", () => {
    const { message } = refusal({ [`\u001b[2J${"x".repeat(10_000)}`]: 1 });
    expect(message).not.toContain("\u001b");
    expect(message.length).toBeLessThan(300);
  });

  test.each([["a text"], [3], [null], [[]]])("%j is no object of options", (given) => {
    expect(refusal(given).code).toBe("OPTION_INVALID");
  });
});

describe("options of another kind", () => {
  test("one is refused with what was expected and what came; an unknown name comes first", () => {
    expect(refusal({ rounds: "5" })).toMatchObject({
      code: "OPTION_INVALID",
      message: 'Expected rounds of run to be a whole number of 0 or more, got "5".',
    });
    expect(refusal({ rounds: "5", colour: "red" }).code).toBe("OPTION_UNKNOWN");
  });

  test("a secret is not shown", () => {
    expect(() => checkKnownOptions("openai", { key: ["hunter2"] }, { key: kinds.secret })).toThrow(
      "Expected key of openai to be a text, got something else.",
    );
  });

  const within = kinds.options({ a: kinds.count, b: kinds.options({ c: kinds.text }, "c") });

  test.each<[place: string, kind: Shape, value: unknown, path: string]>([
    ["options", within, { b: { c: 5 } }, "value.b.c"],
    ["options without a needed member", within, { b: {} }, "value.b.c"],
    ["a list", kinds.list(within), [{}, { a: -1 }], "value[1].a"],
    ["a record", kinds.record(within), { x: {}, y: { a: -1 } }, "value.y.a"],
    ["one of two kinds", kinds.either(kinds.boolean, within), { a: -1 }, "value.a"],
  ])("a member of another kind within %s is named by its path", (_place, kind, value, path) => {
    expect(() => checkKnownOptions("f", { value }, { value: kind })).toThrow(`Expected ${path} of f to be `);
  });

  test("an unknown member within options is named by its path, with what was meant", () => {
    const check = () => checkKnownOptions("f", { value: { fileBites: 1 } }, { value: kinds.options({ fileBytes: kinds.count }) });
    expect(check).toThrow('got "value.fileBites". Did you mean fileBytes? Known: fileBytes.');
  });

  const circle = {
    get name(): string {
      throw new Error("no");
    },
  };
  const table: readonly (readonly [name: string, kind: Shape, right: readonly unknown[], wrong: readonly unknown[]])[] = [
    ["text", kinds.text, ["", "a"], [5, null, ["a"], {}]],
    ["texts", kinds.texts, [[], ["a"]], ["a", [5], null]],
    ["boolean", kinds.boolean, [true, false], [0, "true", null]],
    ["number", kinds.number, [0, -1, 1.5, Infinity], [Number.NaN, "1", null]],
    ["amount", kinds.amount, [0, 1.5, Infinity], [-1, Number.NaN, "1"]],
    ["milliseconds", kinds.milliseconds, [0, 5], [-1, Number.NaN, "5s"]],
    ["count", kinds.count, [0, 5], [-1, 1.5, Infinity, Number.NaN, "1"]],
    ["size", kinds.size, [1], [0, -1, 1.5]],
    ["function", kinds.function, [() => 1, class {}], [{}, "f"]],
    ["seed", kinds.seed, ["a", 5], [Number.NaN, null, {}]],
    ["object", kinds.object, [{}, new Map(), circle], [[], null, "a", () => 1]],
    ["signal", kinds.signal, [new AbortController().signal], [{}, null]],
    ["model", kinds.model, [{ chat() {} }, { stream() {} }], [{}, "gpt-5", () => 1]],
    ["address", kinds.address, ["A", { name: "A" }, class A {}], [5, null, [5], {}]],
    ["oneOf", kinds.oneOf("a", true, null), ["a", true, null], ["b", false, 0]],
    ["either", kinds.either(kinds.text, kinds.count), ["a", 5], [-1, null]],
    ["list", kinds.list(kinds.count), [[], [1]], [[-1], 5, new Set([1])]],
    ["iterable", kinds.iterable("names"), [[], new Set()], ["abc", 5, {}]],
    ["record", kinds.record(kinds.text), [{}, { a: "b", c: undefined }], [{ a: 5 }, [], null]],
    ["options", within, [{}, { a: 1 }, { b: { c: "x" } }], [[], null]],
    ["having", kinds.having("a printer", "print"), [{ print() {} }], [{}, { print: 5 }, null]],
    ["checked", kinds.checked, [5, null, circle], []],
  ];
  test.each(table)("%s", (_name, kind, right, wrong) => {
    for (const value of [undefined, ...right]) expect(() => checkKnownOptions("f", { value }, { value: kind })).not.toThrow();
    for (const value of wrong) expect(() => checkKnownOptions("f", { value }, { value: kind })).toThrow("Expected value of f to be ");
  });
});
