import fc from "fast-check";
import { expect, it } from "vitest";

it("properties are tried with the same values in every run", () => {
  const tried = (): readonly unknown[] => fc.sample(fc.jsonValue(), 20);
  expect(tried()).toEqual(tried());
});
