import { contentHash } from "../kernel/json.ts";
import type { Message } from "../message/message.ts";

/** Hexadecimal digits of one message's hash, and of the digest. */
const DIGITS = 32;

/** Tells memories apart by who said what in them, whatever the ids and times. Each message is hashed once: it never changes. */
export class MemoryDigest {
  readonly #hashes = new WeakMap<Message, string>();

  of(memory: Iterable<Message>): string {
    return contentHash(Array.from(memory, (message) => this.#hashOf(message))).slice(0, DIGITS);
  }

  #hashOf(message: Message): string {
    const known = this.#hashes.get(message);
    if (known !== undefined) return known;
    const hash = contentHash([message.sentFrom, message.content]).slice(0, DIGITS);
    this.#hashes.set(message, hash);
    return hash;
  }
}
