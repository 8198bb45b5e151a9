import type { Message } from "../message/message.ts";

/** Below this many holes a log is not worth rewriting. */
const FEW_HOLES = 32;

/**
 * Messages in order of arrival, each at a position that stays its own while it is held.
 *
 * Owns order and positions. Who is the same as whom and which index knows a position is the memory's business.
 *
 * G1 positions grow in order of arrival. G2 `push`, `at` and `drop` are O(1) amortised: holes at the ends are trimmed, and those between
 * never outnumber the messages by much, because the owner rewrites a log that `isMostlyHoles`.
 * G3 a position may be used again only after it and all after it were dropped.
 */
export class MessageLog {
  #slots: (Message | undefined)[] = [];
  /** Position of slot 0. */
  #offset = 0;
  /** Slot of the oldest message. The slots before it are empty and wait to be cut off together. */
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get isMostlyHoles(): boolean {
    const holes = this.#slots.length - this.#first - this.#size;
    return holes > FEW_HOLES && holes > this.#size;
  }

  /** Appends a message and gives its position. */
  push(message: Message): number {
    this.#size++;
    return this.#offset + this.#slots.push(message) - 1;
  }

  /** The message at a position; `undefined` when it was dropped or never was. */
  at(position: number): Message | undefined {
    const slot = position - this.#offset;
    return slot >= 0 ? this.#slots[slot] : undefined;
  }

  /** Empties a position that holds a message. */
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

  /** The message at a place counted from the oldest, or from the end when negative. O(1) without holes. */
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

  /** The newest `k`, oldest of them first. */
  newest(k: number): Message[] {
    const from = k >= this.#size ? this.#first : this.#slots.length - k;
    if (this.#isDense) return this.#slots.slice(from) as Message[];
    if (k >= this.#size) return this.#slots.slice(from).filter((message) => message !== undefined);
    const messages: Message[] = [];
    for (const message of this.newestFirst()) {
      if (messages.length === k) break;
      messages.push(message);
    }
    return messages.reverse();
  }

  /** Visits every message with its position, oldest first. */
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
