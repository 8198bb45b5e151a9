import type { Address, PayloadOf } from "../message/address.ts";
import type { Message, serializeMessage } from "../message/message.ts";

/** A memory as plain JSON: every message once, in order of arrival. */
export interface MemoryJson {
  readonly ignoreId?: boolean;
  readonly limit?: number;
  readonly messages: readonly ReturnType<typeof serializeMessage>[];
}

/**
 * What can be asked of a memory.
 *
 * Where a message is named by a string, the string is its id; with `ignoreId` ids do not identify, so the newest message of that id is
 * meant, found by a scan.
 */
export interface ReadableMemory extends Iterable<Message> {
  /** True when the content decides whether two messages are the same, false when the id does. */
  readonly ignoreId: boolean;
  /** How many messages are kept at most; the oldest make room. */
  readonly limit: number | undefined;
  readonly size: number;
  /** Whether it holds this message. O(1). */
  has(target: Message | string): boolean;
  /**
   * The newest `k` messages in order of arrival; all of them when `k` is 0, the default.
   *
   * @throws RangeError when `k` is not a whole number of 0 or more.
   */
  get(k?: number): Message[];
  /** The message at a place in order of arrival; negative places count from the end. `undefined` outside. */
  getByPosition(place: number): Message | undefined;
  /** Messages of a chat role, in order of arrival. O(answer). */
  getByRole(role: Message["role"]): Message[];
  /** Messages whose content contains the text, in order of arrival. Reads every message. */
  getByContent(substring: string): Message[];
  /** The same as {@link ReadableMemory.getByContent}. */
  tryRemember(keyword: string): Message[];
  /** Messages an action caused, in order of arrival. O(answer). */
  getByAction<P>(address: Address<P>): Message<P>[];
  /** Messages any of the actions caused, in order of arrival, each once. */
  getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[];
  /** The newest message an action caused. O(1). */
  newestBy<P>(address: Address<P>): Message<P> | undefined;
  /**
   * Those of `observed` that are not among `get(k)`, each once, in the order given. O(observed + k).
   *
   * @throws RangeError when `k` is not a whole number of 0 or more.
   */
  findNews(observed: Iterable<Message>, k?: number): Message[];
  /** Oldest first. Messages deleted during the walk are not visited any more; one that is added may be. */
  [Symbol.iterator](): Iterator<Message>;
  /** Newest first, under the same rule. */
  newestFirst(): IterableIterator<Message>;
  toJSON(): MemoryJson;
}

/** A memory that can be written. */
export interface MessageMemory extends ReadableMemory {
  /** Remembers a message at the end. False, and nothing changes, when it is held already. */
  add(message: Message): boolean;
  /** Adds in the order given; tells how many were new. */
  addBatch(messages: Iterable<Message>): number;
  /** Forgets one message; false when it is not held. */
  delete(target: Message | string): boolean;
  /** Forgets the newest message and gives it back. */
  deleteNewest(): Message | undefined;
  /**
   * Forgets messages whose timestamp is below the given one, in milliseconds; tells how many.
   *
   * @throws RangeError for NaN.
   */
  deleteOlderThan(timestampMs: number): number;
  clear(): void;
}
