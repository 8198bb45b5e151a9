import fc from "fast-check";
import { expect, it } from "vitest";
import { titled } from "./titled.ts";

it("properties are tried with the same values in every run", () => {
  const tried = (): readonly unknown[] => fc.sample(fc.jsonValue(), 20);
  expect(tried()).toEqual(tried());
});

it.fails("a title that is longer than a line of a report is refused, whatever the test does: this one has more than 120 characters, so", ({
  task,
}) => {
  expect(task.name.length).toBeGreaterThan(120);
});

it.each(titled([["x".repeat(100_000), { a: 1 }], undefined, new Error("no")]))("titled cuts %s", (...[text]) => {
  expect(text.length).toBeLessThanOrEqual(70);
});
