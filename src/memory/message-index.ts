import type { PlacedList } from "../kernel/placed-list.ts";
import type { Message } from "../message/message.ts";

/** Below this many dead entries a list is not worth rewriting. */
const FEW_DEAD = 8;

interface Posting {
  /** Positions in the log, growing; the last one is always held. */
  readonly positions: number[];
  /** How many of them the log dropped meanwhile. */
  dead: number;
}

/**
 * Where in a log the messages of each key stand.
 *
 * Owns the lists of positions; the log owns the messages.
 *
 * I1 a list is in order of arrival and tells exactly the messages the log holds. I2 reading makes no key, and the last message of a key takes
 * the key along. I3 `add`, `remove` and `newest` are O(1) amortised, `positionsOf` O(answer): dead entries never outnumber the living by much.
 */
export class MessageIndex {
  readonly #log: PlacedList<Message>;
  readonly #keyOf: (message: Message) => string;
  readonly #postings = new Map<string, Posting>();

  /** Indexes what the log holds. O(log). */
  constructor(log: PlacedList<Message>, keyOf: (message: Message) => string) {
    this.#log = log;
    this.#keyOf = keyOf;
    log.forEach((message, position) => this.add(message, position));
  }

  /** Takes in a message that the log just got. */
  add(message: Message, position: number): void {
    const key = this.#keyOf(message);
    const posting = this.#postings.get(key);
    if (posting === undefined) this.#postings.set(key, { positions: [position], dead: 0 });
    else posting.positions.push(position);
  }

  /** Lets go of a message that the log just dropped. */
  remove(message: Message): void {
    const key = this.#keyOf(message);
    const posting = this.#postings.get(key);
    if (posting === undefined) return;
    const { positions } = posting;
    posting.dead++;
    if (posting.dead === positions.length) {
      this.#postings.delete(key);
      return;
    }
    while (!this.#isHeld(positions[positions.length - 1])) {
      positions.pop();
      posting.dead--;
    }
    if (posting.dead > FEW_DEAD && posting.dead * 2 > positions.length) {
      this.#postings.set(key, { positions: positions.filter((position) => this.#isHeld(position)), dead: 0 });
    }
  }

  /** Positions of a key's messages in order of arrival: the caller's own array. */
  positionsOf(key: string): number[] {
    const posting = this.#postings.get(key);
    if (posting === undefined) return [];
    return posting.dead === 0 ? [...posting.positions] : posting.positions.filter((position) => this.#isHeld(position));
  }

  /** The newest message of a key. */
  newest(key: string): Message | undefined {
    const position = this.#postings.get(key)?.positions.at(-1);
    return position === undefined ? undefined : this.#log.at(position);
  }

  #isHeld(position: number | undefined): boolean {
    return position !== undefined && this.#log.at(position) !== undefined;
  }
}
