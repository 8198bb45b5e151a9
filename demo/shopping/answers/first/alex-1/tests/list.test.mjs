import assert from "node:assert/strict";
import { test } from "node:test";
import { listText, withBought, withItem } from "../src/list.mjs";

const milk = { name: "milk", isBought: false };
const bread = { name: "bread", isBought: false };

test("an item comes to the end, without spaces around its name", () => {
  assert.deepEqual(withItem([milk], " bread "), [milk, bread]);
});

test("an item without a name is refused", () => {
  assert.throws(() => withItem([milk], " "), /name of an item/);
});

test("one item is ticked off by its number", () => {
  assert.deepEqual(withBought([milk, bread], 2), [milk, { name: "bread", isBought: true }]);
});

test("a number that is not on the list is refused", () => {
  for (const number of [0, 2, 1.5, NaN]) assert.throws(() => withBought([milk], number), /number of an item/);
});

test("the text numbers the items and marks those that are bought", () => {
  assert.equal(listText([{ name: "milk", isBought: true }, bread]), "1. [x] milk\n2. [ ] bread");
});
