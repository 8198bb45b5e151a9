import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  addItem,
  cleanText,
  clearItems,
  emptyList,
  isList,
  ListError,
  markItems,
  removeItems,
  selectItems,
  TEXT_LIMIT,
} from "../src/list.mjs";

const NOW = "2030-01-02T03:04:05.000Z";
const LATER = "2030-01-02T04:00:00.000Z";

const listOf = (...texts) => texts.reduce((list, text) => addItem(list, text, NOW).list, emptyList());
const idsOf = ({ items }) => items.map(({ id }) => id);

describe("adding", () => {
  test("items are numbered from 1 in the order they came", () => {
    const { list, item } = addItem(listOf("milk"), "bread", NOW);
    assert.deepEqual(item, { id: 2, text: "bread", done: false, addedAt: NOW, doneAt: null });
    assert.deepEqual(idsOf(list), [1, 2]);
  });

  test("the list that was given stays as it was", () => {
    const before = listOf("milk");
    const copy = structuredClone(before);
    addItem(before, "bread", NOW);
    markItems(before, [1], true, NOW);
    removeItems(before, [1]);
    assert.deepEqual(before, copy);
  });
});

describe("texts", () => {
  test("white space of any kind becomes one space", () => {
    assert.equal(cleanText("  call\n\tAnn   now "), "call Ann now");
  });

  test("characters that would act on a terminal are dropped", () => {
    assert.equal(cleanText("\u001b[31mred\u0007\u202e"), "[31mred");
  });

  test("letters of every script and joined emoji stay whole", () => {
    assert.equal(cleanText("\u{1f469}\u200d\u{1f4bb} naïve 東京"), "\u{1f469}\u200d\u{1f4bb} naïve 東京");
  });

  test("an empty text is refused, and so is one beyond the limit", () => {
    assert.throws(() => cleanText(" \n "), ListError);
    assert.throws(() => cleanText("x".repeat(TEXT_LIMIT + 1)), /501 characters/);
    assert.equal(cleanText("\u{1f4bb}".repeat(TEXT_LIMIT)).length, 2 * TEXT_LIMIT);
  });
});

describe("marking", () => {
  test("a done item carries the time, and loses it when it is open again", () => {
    const done = markItems(listOf("milk", "bread"), [2], true, LATER);
    assert.deepEqual(done.list.items[1], { id: 2, text: "bread", done: true, addedAt: NOW, doneAt: LATER });
    const open = markItems(done.list, [2], false, LATER);
    assert.equal(open.list.items[1].done, false);
    assert.equal(open.list.items[1].doneAt, null);
  });

  test("an item that is done already keeps its first time", () => {
    const once = markItems(listOf("milk"), [1], true, NOW).list;
    const twice = markItems(once, [1, 1], true, LATER);
    assert.deepEqual(twice.list, once);
    assert.deepEqual([twice.changed.length, twice.unchanged.length], [0, 1]);
  });

  test("one unknown number and nothing is changed", () => {
    assert.throws(() => markItems(listOf("milk", "bread"), [1, 7, 9], true, NOW), {
      name: "ListError",
      message: "There is no item 7 or 9. The list has 1, 2.",
    });
    assert.throws(() => removeItems(emptyList(), [1]), /The list is empty/);
  });
});

describe("removing and clearing", () => {
  test("the other items keep their numbers, and a number is not used again", () => {
    const { list, removed } = removeItems(listOf("milk", "bread", "tea"), [3, 1]);
    assert.deepEqual(idsOf(list), [2]);
    assert.deepEqual(
      removed.map(({ text }) => text),
      ["milk", "tea"],
    );
    assert.equal(addItem(list, "jam", NOW).item.id, 4);
  });

  test("clear removes what is done, and everything when told so", () => {
    const list = markItems(listOf("milk", "bread"), [1], true, NOW).list;
    assert.deepEqual(idsOf(clearItems(list).list), [2]);
    assert.deepEqual(clearItems(list, { all: true }).list.items, []);
  });

  test("an empty list numbers from 1 again", () => {
    assert.equal(addItem(removeItems(listOf("milk"), [1]).list, "bread", NOW).item.id, 1);
  });
});

test("selecting gives all, open or done items", () => {
  const { list } = markItems(listOf("milk", "bread", "tea"), [2], true, NOW);
  assert.equal(selectItems(list, "all").length, 3);
  assert.deepEqual(
    selectItems(list, "open").map(({ id }) => id),
    [1, 3],
  );
  assert.deepEqual(
    selectItems(list, "done").map(({ id }) => id),
    [2],
  );
});

test("only a value of the right shape counts as a list", () => {
  const good = listOf("milk", "bread");
  const [first, second] = good.items;
  assert.equal(isList(JSON.parse(JSON.stringify(good))), true);
  const bad = [
    undefined,
    null,
    [],
    {},
    { ...good, version: 2 },
    { ...good, nextId: 2 },
    { ...good, items: [null] },
    { ...good, items: [first, { ...second, id: 1 }] },
    { ...good, items: [{ ...first, text: 5 }] },
    { ...good, items: [{ ...first, id: "1" }] },
    { ...good, items: [{ ...first, done: "no" }] },
  ];
  for (const value of bad) assert.equal(isList(value), false, JSON.stringify(value));
});
