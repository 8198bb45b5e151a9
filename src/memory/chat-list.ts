import type { ChatMessage } from "../model/chat-message.ts";

/** What a message weighs. It never changes for a message. */
export type ChatMeasure = (message: ChatMessage) => number;

/** A longer list is put together anew when its oldest messages leave, so that what leaving costs is bounded. */
const LONGEST_MOVED = 4_096;

/**
 * The messages of a conversation as one list that is kept up as messages come and go. It owns the list, which may have to be put together
 * anew before it is read, and the sum of one measure over it.
 *
 * CL1 coming and leaving cost no more in a long list than in a short one. CL2 the sum is that of the list, whatever came and left. CL3 what comes
 * and leaves does so whatever the measure says.
 */
export class ChatList {
  readonly #anew: () => readonly ChatMessage[];
  #messages: ChatMessage[] | undefined = [];
  #weighed: { readonly measure: ChatMeasure; sum: number } | undefined;

  /** @param anew puts the list together from what its owner keeps */
  constructor(anew: () => readonly ChatMessage[]) {
    this.#anew = anew;
  }

  push(messages: readonly ChatMessage[]): void {
    const list = this.#messages;
    if (list === undefined) return;
    for (const message of messages) list.push(message);
    this.#reweigh(messages, 1);
  }

  /** Takes messages out; how many stand before them is asked only where it is needed. */
  remove(count: number, before: () => number): void {
    if (this.#messages === undefined) return;
    if (this.#messages.length > LONGEST_MOVED) return this.change();
    this.#reweigh(this.#messages.splice(before(), count), -1);
  }

  /** It is no longer what it was, in another way than these. */
  change(): void {
    this.#messages = undefined;
    this.#weighed = undefined;
  }

  clear(): void {
    this.#messages = [];
    this.#weighed = undefined;
  }

  /** All of them and some more: the caller's own array. */
  with(more: readonly ChatMessage[]): ChatMessage[] {
    return this.#list().concat(more);
  }

  weigh(measure: ChatMeasure): number {
    if (this.#weighed?.measure !== measure) this.#weighed = { measure, sum: weightOf(this.#list(), measure) };
    return this.#weighed.sum;
  }

  /** A measure that throws is heard by whoever weighs the list, not by whoever changes it. */
  #reweigh(messages: readonly ChatMessage[], sign: 1 | -1): void {
    if (this.#weighed === undefined) return;
    try {
      this.#weighed.sum += sign * weightOf(messages, this.#weighed.measure);
    } catch {
      this.#weighed = undefined;
    }
  }

  #list(): ChatMessage[] {
    this.#messages ??= [...this.#anew()];
    return this.#messages;
  }
}

/** The sum of a measure. */
export function weightOf(messages: readonly ChatMessage[], measure: ChatMeasure): number {
  let sum = 0;
  for (const message of messages) sum += measure(message);
  return sum;
}
