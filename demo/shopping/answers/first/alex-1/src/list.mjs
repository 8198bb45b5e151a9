/** The list with one more item at its end. */
export function withItem(items, name) {
  const given = name.trim();
  if (given === "") throw new RangeError("Expected the name of an item, got none.");
  return [...items, { name: given, isBought: false }];
}

/** The list with the item of this number, from 1, ticked off. */
export function withBought(items, number) {
  if (items[number - 1] === undefined) throw new RangeError(`Expected the number of an item, got ${number}.`);
  return items.map((item, index) => (index === number - 1 ? { ...item, isBought: true } : item));
}

/** The list as lines of text. */
export function listText(items) {
  return items.map(({ name, isBought }, index) => `${index + 1}. [${isBought ? "x" : " "}] ${name}`).join("\n");
}
