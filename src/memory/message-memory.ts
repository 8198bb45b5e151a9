import { aText, iterable, takes, aCount, aTime } from "../kernel/argument.ts";
import { addressOf, type Address, type PayloadOf } from "../message/address.ts";
import { assertMessage, type Message, serializeMessage } from "../message/message.ts";

/** A memory as plain JSON: every message once, in order of arrival. */
export interface MemoryJson {
  readonly ignoreId?: boolean;
  readonly limit?: number;
  readonly messages: readonly ReturnType<typeof serializeMessage>[];
}

/** The queries of a memory. A string instead of a message is its id; with `ignoreId` it means the newest message of that id. */
export interface ReadableMemory extends Iterable<Message> {
  /** True when the content decides whether two messages are the same, false when the id does. */
  readonly ignoreId: boolean;
  /** Limit on the messages kept; the oldest ones are evicted. */
  readonly limit: number | undefined;
  readonly size: number;
  /** Returns true when the memory holds the message. O(1). */
  has(target: Message | string): boolean;
  /**
   * Returns the newest `k` messages in order of arrival; all of them when `k` is 0, the default.
   *
   * @throws UsageError `ARGUMENT_INVALID` when `k` is not a whole number of 0 or more.
   */
  get(k?: number): Message[];
  /** Returns the message at an index in order of arrival; negative indexes count from the end. */
  getByPosition(index: number): Message | undefined;
  /** Returns the messages of a chat role in order of arrival. O(result). */
  getByRole(role: Message["role"]): Message[];
  /** Returns the messages whose content contains the string, in order of arrival. Reads every message. */
  getByContent(substring: string): Message[];
  /** The same as {@link ReadableMemory.getByContent}. */
  tryRemember(keyword: string): Message[];
  /** Returns the messages caused by an action, in order of arrival. O(result). */
  getByAction<P>(address: Address<P>): Message<P>[];
  /** Returns the messages caused by any of the actions, in order of arrival, each once. */
  getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[];
  /** Returns the newest message caused by an action. O(1). */
  newestBy<P>(address: Address<P>): Message<P> | undefined;
  /** Returns the observed messages that are not among `get(k)`, each once, in the given order. O(observed + k). @throws as `get` */
  findNews(observed: Iterable<Message>, k?: number): Message[];
  /** Iterates oldest first. A message deleted meanwhile is skipped; a message added meanwhile may be visited. */
  [Symbol.iterator](): Iterator<Message>;
  /** Iterates newest first, under the same rule. */
  newestFirst(): IterableIterator<Message>;
  toJSON(): MemoryJson;
}

/** A memory that can be written. */
export interface MessageMemory extends ReadableMemory {
  /** Appends a message. Returns false when it is held already. */
  add(message: Message): boolean;
  /** Appends messages and returns the number of new ones. */
  addBatch(messages: Iterable<Message>): number;
  /** Deletes a message. Returns false when it is not held. */
  delete(target: Message | string): boolean;
  /** Deletes and returns the newest message. */
  deleteNewest(): Message | undefined;
  /** Deletes messages with a lower timestamp, in milliseconds, and returns their number. @throws UsageError `ARGUMENT_INVALID` for NaN */
  deleteOlderThan(timestampMs: number): number;
  clear(): void;
}

export function containing(memory: ReadableMemory, substring: string): Message[] {
  takes("a memory", "the text", substring, aText);
  return Array.from(memory).filter((message) => message.content.includes(substring));
}

export function olderThan(memory: ReadableMemory, timestampMs: number): Message[] {
  takes("deleteOlderThan", "timestampMs", timestampMs, aTime);
  return Array.from(memory).filter((message) => message.timestamp < timestampMs);
}

export function namesOf(addresses: Iterable<Address>): Set<string> {
  takes("a memory", "the addresses", addresses, iterable("addresses"));
  return new Set(Array.from(addresses, addressOf));
}

export function checkedCount(k: number): number {
  takes("a memory", "the number of newest messages (0 means all)", k, aCount);
  return k;
}

export function checkedBatch(messages: Iterable<Message>): Iterable<Message> {
  takes("addBatch", "messages", messages, iterable("messages"));
  return messages;
}

export function memoryJson(memory: ReadableMemory): MemoryJson {
  return {
    ...(memory.ignoreId ? { ignoreId: true } : {}),
    ...(memory.limit === undefined ? {} : { limit: memory.limit }),
    messages: memory.get().map(serializeMessage),
  };
}

export function idOf(target: Message | string): string {
  if (typeof target === "string") return target;
  assertMessage(target);
  return target.id;
}

export function textOf(target: Message | string): string {
  if (typeof target === "string") return target;
  assertMessage(target);
  return target.content;
}
