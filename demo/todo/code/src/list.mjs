// The to-do list: a plain object and pure functions on it. Nothing here reads a
// file, a clock or the screen; the time of a change comes in as an argument.
//
// A list is { version: 1, nextId, items: [{ id, text, done, addedAt, doneAt }] }.

/** The longest text of an item, in characters. */
export const TEXT_LIMIT = 500;

/** Characters that would act on a terminal instead of being shown: controls and direction marks. */
export const UNSAFE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** What was asked cannot be done with this list. The message is for the user. */
export class ListError extends Error {
  name = "ListError";
}

export const emptyList = () => ({ version: 1, nextId: 1, items: [] });

/** A text on one line: white space of any kind becomes one space, unsafe characters go. */
export function cleanText(text) {
  const clean = text.replace(/\s+/g, " ").replace(UNSAFE, "").trim();
  if (clean === "") throw new ListError("An item needs a text.");
  const { length } = [...clean];
  if (length > TEXT_LIMIT)
    throw new ListError(`The text has ${length} characters; at most ${TEXT_LIMIT} fit.`);
  return clean;
}

/** Adds an open item at the end. Gives the new list and the item. */
export function addItem(list, text, now) {
  const item = { id: list.nextId, text: cleanText(text), done: false, addedAt: now, doneAt: null };
  return { list: { ...list, nextId: list.nextId + 1, items: [...list.items, item] }, item };
}

/**
 * Marks items as done or open. `changed` holds those that were not so already.
 * One unknown number and nothing is changed; the same holds for removeItems.
 */
export function markItems(list, ids, done, now) {
  const chosen = findItems(list, ids);
  const changed = chosen.filter((item) => item.done !== done);
  const items = list.items.map((item) =>
    changed.includes(item) ? { ...item, done, doneAt: done ? now : null } : item,
  );
  return { list: { ...list, items }, changed, unchanged: chosen.filter((item) => item.done === done) };
}

export function removeItems(list, ids) {
  const removed = findItems(list, ids);
  return {
    list: withItems(
      list,
      list.items.filter((item) => !removed.includes(item)),
    ),
    removed,
  };
}

/** Removes the items that are done, or all of them. */
export function clearItems(list, { all = false } = {}) {
  const removed = list.items.filter((item) => all || item.done);
  return {
    list: withItems(
      list,
      list.items.filter((item) => !removed.includes(item)),
    ),
    removed,
  };
}

/** The items to show: "all", "open" or "done". */
export function selectItems(list, which) {
  return list.items.filter((item) => which === "all" || item.done === (which === "done"));
}

/** Numbers stay with their items and are not used again, until the list is empty. */
function withItems(list, items) {
  return items.length === 0 ? emptyList() : { ...list, items };
}

function findItems(list, ids) {
  const wanted = new Set(ids);
  const known = new Set(list.items.map((item) => item.id));
  const missing = [...wanted].filter((id) => !known.has(id));
  if (missing.length > 0) {
    const has = known.size === 0 ? "The list is empty." : `The list has ${[...known].join(", ")}.`;
    throw new ListError(`There is no item ${missing.join(" or ")}. ${has}`);
  }
  return list.items.filter((item) => wanted.has(item.id));
}

/** True for a value of the right shape: what was read from a file may be anything. */
export function isList(value) {
  if (!isRecord(value) || value.version !== 1 || !isCount(value.nextId) || !Array.isArray(value.items))
    return false;
  const ids = new Set(value.items.map((item) => item?.id));
  return (
    value.items.every(isItem) && ids.size === value.items.length && [...ids].every((id) => id < value.nextId)
  );
}

function isItem(value) {
  return (
    isRecord(value) &&
    isCount(value.id) &&
    typeof value.text === "string" &&
    typeof value.done === "boolean" &&
    typeof value.addedAt === "string" &&
    (value.doneAt === null || typeof value.doneAt === "string")
  );
}

const isRecord = (value) => typeof value === "object" && value !== null;
const isCount = (value) => Number.isSafeInteger(value) && value >= 1;
