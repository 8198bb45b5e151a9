import type { Message } from "../message/message.ts";
import type { MessageLog } from "./message-log.ts";

/** A list with fewer positions of dropped messages than this is not compacted. */
const FEW_DROPPED = 8;

interface Postings {
  /** Ascending positions in the log. The last one is always held. */
  readonly positions: number[];
  /** How many of them the log has dropped. */
  dropped: number;
}

/**
 * The positions in a log of the messages of each key.
 *
 * Owns the lists of positions; the log owns the messages.
 *
 * MessageIndex.I1 (`positionsOf`) a list is in order of arrival and holds exactly the messages that the log holds. MessageIndex.I2 (`remove`) a
 * query adds no key, and a key is removed with its last message. MessageIndex.I3 (`FEW_DROPPED`) `add`, `remove` and `newest` are O(1)
 * amortised, and `positionsOf` is O(result).
 */
export class MessageIndex {
  readonly #log: MessageLog;
  readonly #keyOf: (message: Message) => string;
  readonly #postings = new Map<string, Postings>();

  /** Indexes the messages of the log. O(log). */
  constructor(log: MessageLog, keyOf: (message: Message) => string) {
    this.#log = log;
    this.#keyOf = keyOf;
    log.forEach((message, position) => this.add(message, position));
  }

  /** Indexes a message that was just added to the log. */
  add(message: Message, position: number): void {
    const key = this.#keyOf(message);
    const postings = this.#postings.get(key);
    if (postings === undefined) this.#postings.set(key, { positions: [position], dropped: 0 });
    else postings.positions.push(position);
  }

  /** Removes a message that the log just dropped. */
  remove(message: Message): void {
    const key = this.#keyOf(message);
    const postings = this.#postings.get(key);
    if (postings === undefined) return;
    const { positions } = postings;
    postings.dropped++;
    if (postings.dropped === positions.length) {
      this.#postings.delete(key);
      return;
    }
    while (!this.#isHeld(positions[positions.length - 1])) {
      positions.pop();
      postings.dropped--;
    }
    if (postings.dropped > FEW_DROPPED && postings.dropped * 2 > positions.length) {
      this.#postings.set(key, { positions: positions.filter((position) => this.#isHeld(position)), dropped: 0 });
    }
  }

  /** Returns the positions of a key in order of arrival, in a new array. */
  positionsOf(key: string): number[] {
    return (this.#postings.get(key)?.positions ?? []).filter((position) => this.#isHeld(position));
  }

  newest(key: string): Message | undefined {
    const position = this.#postings.get(key)?.positions.at(-1);
    return position === undefined ? undefined : this.#log.at(position);
  }

  #isHeld(position: number | undefined): boolean {
    return position !== undefined && this.#log.at(position) !== undefined;
  }
}
