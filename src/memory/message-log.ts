import type { Message } from "../message/message.ts";

/** A list with fewer holes than this is not compacted. */
const FEW_HOLES = 32;

/**
 * The messages of a memory in order of arrival. Each keeps its position while it is held; a deleted one leaves a hole.
 *
 * Owns order and positions. Its memory knows which messages are equal.
 *
 * MessageLog.L1 (`push`) positions grow in order of arrival. MessageLog.L2 (`drop`, `isMostlyHoles`) `push`, `at` and `drop` are O(1) amortised: holes
 * at the ends are trimmed, and the memory rebuilds a log that is mostly holes. MessageLog.L3 (`drop`) a position is used again only after it
 * and all later ones were dropped.
 */
export class MessageLog {
  #slots: (Message | undefined)[] = [];
  /** Position of slot 0. */
  #offset = 0;
  /** Slot of the oldest message. The slots before it are empty and are removed together. */
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get isMostlyHoles(): boolean {
    const holes = this.#slots.length - this.#first - this.#size;
    return holes > FEW_HOLES && holes > this.#size;
  }

  /** Appends a message and returns its position. */
  push(message: Message): number {
    this.#size++;
    // The first `push` of an array allocates 17 slots, and most logs hold one message.
    if (this.#slots.length === 0) this.#slots = [message];
    else this.#slots.push(message);
    return this.#offset + this.#slots.length - 1;
  }

  /** Returns the message at a position, or undefined after it was dropped. */
  at(position: number): Message | undefined {
    const slot = position - this.#offset;
    return slot >= 0 ? this.#slots[slot] : undefined;
  }

  /** Returns the position of the newest message with a key. O(size). */
  newestWith(key: string, keyOf: (message: Message) => string): number | undefined {
    const slot = this.#slots.findLastIndex((message) => message !== undefined && keyOf(message) === key);
    return slot === -1 ? undefined : this.#offset + slot;
  }

  /** Removes the message at a position. */
  drop(position: number): void {
    this.#slots[position - this.#offset] = undefined;
    this.#size--;
    while (this.#slots.length > this.#first && this.#slots[this.#slots.length - 1] === undefined) this.#slots.pop();
    while (this.#first < this.#slots.length && this.#slots[this.#first] === undefined) this.#first++;
    if (this.#first > FEW_HOLES && this.#first * 2 > this.#slots.length) {
      this.#slots = this.#slots.slice(this.#first);
      this.#offset += this.#first;
      this.#first = 0;
    }
  }

  /** Returns the message at a place counted from the oldest, or from the end when negative. O(1) without holes. */
  nth(place: number): Message | undefined {
    if (!Number.isInteger(place) || place >= this.#size || place < -this.#size) return undefined;
    if (this.#isDense) return this.#slots[place < 0 ? this.#slots.length + place : this.#first + place];
    const fromEnd = place < 0 ? -place - 1 : this.#size - place - 1;
    const fromStart = this.#size - fromEnd - 1;
    let left = Math.min(fromStart, fromEnd);
    for (const message of fromStart < fromEnd ? this.oldestFirst() : this.newestFirst()) {
      if (left-- === 0) return message;
    }
    return undefined;
  }

  /** Returns the newest `k` messages in order of arrival. */
  newest(k: number): Message[] {
    const from = k >= this.#size ? this.#first : this.#slots.length - k;
    if (k >= this.#size || this.#isDense) return this.#slots.slice(from).filter((message) => message !== undefined);
    const messages: Message[] = [];
    for (const message of this.newestFirst()) {
      if (messages.length === k) break;
      messages.push(message);
    }
    return messages.reverse();
  }

  forEach(visit: (message: Message, position: number) => void): void {
    this.#slots.forEach((message, slot) => {
      if (message !== undefined) visit(message, this.#offset + slot);
    });
  }

  *oldestFirst(): Generator<Message, void> {
    for (let position = this.#offset + this.#first; position < this.#offset + this.#slots.length; position++) {
      const message = this.at(position);
      if (message !== undefined) yield message;
    }
  }

  *newestFirst(): Generator<Message, void> {
    for (let position = this.#offset + this.#slots.length - 1; position >= this.#offset + this.#first; position--) {
      const message = this.at(position);
      if (message !== undefined) yield message;
    }
  }

  get #isDense(): boolean {
    return this.#slots.length - this.#first === this.#size;
  }
}
