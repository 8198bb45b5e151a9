import type { Message } from "../message/message.ts";

/** The position of a held message. All lists with the message share it. */
export interface Slot {
  readonly message: Message;
  /** Grows in order of arrival; `DELETED` after the message was deleted. */
  order: number;
}

/** The order of a deleted slot. */
export const DELETED = 0;
/** A list with fewer deleted slots than this is not compacted. */
const FEW_DELETED = 8;

/**
 * Messages in order of arrival. Owns the list of slots; its memory marks the deleted ones.
 *
 * Arrivals.A1 (`drop`) a list has at most as many deleted slots as others, besides a few, and none at its ends.
 * Arrivals.A2 (`slots`) compacting makes a new list, so an open iteration continues over the old one, and skips deleted messages.
 */
export class Arrivals {
  #slots: Slot[] = [];
  /** Index of the oldest slot that is not deleted. */
  #first = 0;
  size = 0;

  add(message: Message): Slot {
    const slot = { message, order: (this.#slots.at(-1)?.order ?? DELETED) + 1 };
    // The first `push` of an array allocates 17 elements, and most memories hold one message.
    if (this.#slots.length === 0) this.#slots = [slot];
    else this.#slots.push(slot);
    this.size++;
    return slot;
  }

  push(slot: Slot): void {
    this.#slots.push(slot);
    this.size++;
  }

  drop(): void {
    const slots = this.#slots;
    this.size--;
    while (slots.at(-1)?.order === DELETED) slots.pop();
    while (slots[this.#first]?.order === DELETED) this.#first++;
    this.#first = Math.min(this.#first, slots.length);
    const deleted = slots.length - this.size;
    if (deleted <= FEW_DELETED || deleted <= this.size) return;
    this.#slots = this.slots();
    this.#first = 0;
  }

  slots(): Slot[] {
    const slots: Slot[] = [];
    for (const slot of this.#slots) if (slot.order !== DELETED) slots.push(slot);
    return slots;
  }

  /** Returns the message at an index counted from the oldest, or from the end when negative. O(1) when no slot between is deleted. */
  nth(index: number): Message | undefined {
    if (!Number.isInteger(index) || index >= this.size || index < -this.size) return undefined;
    const fromStart = index < 0 ? this.size + index : index;
    if (this.#slots.length - this.#first === this.size) return this.#slots[this.#first + fromStart]?.message;
    if (fromStart >= this.size / 2) return this.newest(this.size - fromStart)[0];
    let left = fromStart;
    for (const message of this.oldestFirst()) if (left-- === 0) return message;
    return undefined;
  }

  newest(k: number): Message[] {
    const messages: Message[] = [];
    for (let n = this.#slots.length - 1; n >= this.#first && messages.length < k; n--) {
      const { message, order } = this.#slots[n] as Slot;
      if (order !== DELETED) messages.push(message);
    }
    return messages.reverse();
  }

  *oldestFirst(): Generator<Message, void> {
    const slots = this.#slots;
    for (let n = this.#first; n < slots.length; n++) {
      const { message, order } = slots[n] as Slot;
      if (order !== DELETED) yield message;
    }
  }

  *newestFirst(): Generator<Message, void> {
    const slots = this.#slots;
    for (let n = slots.length - 1; n >= 0; n--) {
      // Slots at the end may be removed meanwhile.
      const slot = slots[n];
      if (slot !== undefined && slot.order !== DELETED) yield slot.message;
    }
  }

  grouped(keyOf: (message: Message) => string): Map<string, Arrivals> {
    const groups = new Map<string, Arrivals>();
    for (const slot of this.slots()) listOf(groups, keyOf(slot.message)).push(slot);
    return groups;
  }
}

export function listOf(lists: Map<string, Arrivals>, key: string): Arrivals {
  let list = lists.get(key);
  if (list === undefined) lists.set(key, (list = new Arrivals()));
  return list;
}

export function dropFrom(lists: Map<string, Arrivals> | undefined, key: string): void {
  const list = lists?.get(key);
  list?.drop();
  if (list?.size === 0) lists?.delete(key);
}
