import assert from "node:assert/strict";
import { test } from "node:test";
import { padText, textWidth } from "../src/text-width.js";

test("wide characters take two columns", () => {
  assert.equal(textWidth("東京"), 4);
  assert.equal(textWidth("e\u0301"), 1);
});

test("a text is filled up to a width", () => {
  assert.equal(padText("東", 4), "東  ");
  assert.equal(padText("long", 2), "long");
});
