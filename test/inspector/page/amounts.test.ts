import { expect, test } from "vitest";
import { costText, shareText } from "../../../src/inspector/page/amounts.ts";

test.each([
  [0, 0, "$0.00"],
  [1, 0, "< $0.0001"],
  [99, 0, "< $0.0001"],
  [100, 0, "$0.0001"],
  [12_300, 0, "$0.0123"],
  [30, 1, "< $0.0001 + $?"],
  [0, 1, "$?"],
])("%i micro-dollars and %i unpriced calls are %s", (cost, unpriced, text) => {
  expect(costText(cost, unpriced)).toBe(text);
});

test.each([
  [0, "0%"],
  [0.002, "< 1%"],
  [0.53, "53%"],
  [1, "100%"],
])("a share of %d is %s", (share, text) => {
  expect(shareText(share)).toBe(text);
});
