import { aText, iterable, takes, aCount, aTime } from "../kernel/argument.ts";
import type { Address, PayloadOf } from "../message/address.ts";
import { assertMessage, type Message, serializeMessage } from "../message/message.ts";

/** A memory as plain JSON: every message once, in order of arrival. */
export interface MemoryJson {
  readonly ignoreId?: boolean;
  readonly limit?: number;
  readonly messages: readonly ReturnType<typeof serializeMessage>[];
}

/**
 * A memory that can be read and written. A string instead of a message is its id; with `ignoreId` it means the newest message of that id. Here
 * are the queries that follow from the others.
 */
export abstract class MessageMemory {
  /** True when the content decides whether two messages are the same, false when the id does. */
  abstract readonly ignoreId: boolean;
  /** Limit on the messages kept; the oldest ones are evicted. */
  abstract readonly limit: number | undefined;
  abstract readonly size: number;
  /** Returns the newest `k` messages in order of arrival; all of them for 0, the default. @throws UsageError `ARGUMENT_INVALID` for another `k` */
  abstract get(k?: number): Message[];
  /** Returns the message at an index in order of arrival; negative indexes count from the end. */
  abstract getByPosition(index: number): Message | undefined;
  /** Returns the messages of a chat role in order of arrival. O(result). */
  abstract getByRole(role: Message["role"]): Message[];
  /** Returns the messages caused by an action, in order of arrival. O(result). */
  abstract getByAction<P>(address: Address<P>): Message<P>[];
  /** Returns the messages caused by any of the actions, in order of arrival, each once. */
  abstract getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[];
  /** Returns the newest message caused by an action. O(1). */
  abstract newestBy<P>(address: Address<P>): Message<P> | undefined;
  /** Iterates oldest first. A message deleted meanwhile is skipped; a message added meanwhile may be visited. */
  abstract [Symbol.iterator](): Iterator<Message>;
  /** Iterates newest first, under the same rule. */
  abstract newestFirst(): IterableIterator<Message>;
  /** Returns the message of an identity. @internal */
  abstract held(identity: string): Message | undefined;
  /** Adds a message of the runtime, without a check. @internal */
  abstract put(message: Message): boolean;
  /** Deletes the message of an identity. @internal */
  abstract deleteByIdentity(identity: string): boolean;
  abstract clear(): void;

  /** Returns true when the memory holds the message. O(1). */
  has(target: Message | string): boolean {
    return this.find(target) !== undefined;
  }

  /** Returns the held message for a message or an id. With `ignoreId`, an id finds the newest match and costs O(n); otherwise O(1). */
  find(target: Message | string): Message | undefined {
    if (typeof target !== "string") {
      assertMessage(target);
      return this.held(this.identityOf(target));
    }
    if (!this.ignoreId) return this.held(target);
    for (const message of this.newestFirst()) if (message.id === target) return message;
    return undefined;
  }

  /** Returns the messages whose content contains the string, in order of arrival. Reads every message. */
  getByContent(substring: string): Message[] {
    takes("a memory", "the text", substring, aText);
    return Array.from(this).filter((message) => message.content.includes(substring));
  }

  /** The same as {@link MessageMemory.getByContent}. */
  tryRemember(keyword: string): Message[] {
    return this.getByContent(keyword);
  }

  /** Returns the observed messages that are not among `get(k)`, each once, in the given order. O(observed + k). @throws as `get` */
  findNews(observed: Iterable<Message>, k = 0): Message[] {
    takes("findNews", "observed", observed, iterable("messages"));
    const known = new Set(checkedCount(k) === 0 ? [] : this.get(k).map((message) => this.identityOf(message)));
    const news: Message[] = [];
    for (const message of observed) {
      assertMessage(message);
      const identity = this.identityOf(message);
      if (known.has(identity) || (k === 0 && this.held(identity) !== undefined)) continue;
      known.add(identity);
      news.push(message);
    }
    return news;
  }

  /** Appends a message. Returns false when it is held already. @throws UsageError `MESSAGE_INVALID` for a value that is not a message */
  add(message: Message): boolean {
    assertMessage(message);
    return this.put(message);
  }

  /** Appends messages and returns the number of new ones. */
  addBatch(messages: Iterable<Message>): number {
    let added = 0;
    for (const message of checkedBatch(messages)) if (this.add(message)) added++;
    return added;
  }

  /** Deletes a message. Returns false when it is not held. */
  delete(target: Message | string): boolean {
    const message = this.find(target);
    return message !== undefined && this.deleteByIdentity(this.identityOf(message));
  }

  deleteNewest(): Message | undefined {
    const newest = this.getByPosition(-1);
    if (newest !== undefined) this.deleteByIdentity(this.identityOf(newest));
    return newest;
  }

  /** Deletes messages with a lower timestamp, in milliseconds, and returns their number. @throws UsageError `ARGUMENT_INVALID` for NaN */
  deleteOlderThan(timestampMs: number): number {
    takes("deleteOlderThan", "timestampMs", timestampMs, aTime);
    const old = Array.from(this).filter((message) => message.timestamp < timestampMs);
    for (const message of old) this.deleteByIdentity(this.identityOf(message));
    return old.length;
  }

  toJSON(): MemoryJson {
    return {
      ...(this.ignoreId ? { ignoreId: true } : {}),
      ...(this.limit === undefined ? {} : { limit: this.limit }),
      messages: this.get().map(serializeMessage),
    };
  }

  /** Returns the key by which the memory recognizes a message. @internal */
  identityOf(message: Message): string {
    return this.ignoreId ? message.content : message.id;
  }
}

/** The queries of a memory. */
export type ReadableMemory = Omit<
  MessageMemory,
  "put" | "deleteByIdentity" | "add" | "addBatch" | "delete" | "deleteNewest" | "deleteOlderThan" | "clear"
>;

export function checkedCount(k: number): number {
  takes("a memory", "the number of newest messages (0 means all)", k, aCount);
  return k;
}

export function checkedBatch(messages: Iterable<Message>): Iterable<Message> {
  takes("addBatch", "messages", messages, iterable("messages"));
  return messages;
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
