import { addressOf, type Address } from "../message/address.ts";
import { type Message, serializeMessage } from "../message/message.ts";
import type { MemoryJson, ReadableMemory } from "./message-memory.ts";

/*
 * Queries that every memory answers in the same way.
 */

/** Returns the key by which a memory recognizes a message. */
export function identityIn(memory: ReadableMemory, message: Message): string {
  return memory.ignoreId ? message.content : message.id;
}

/** Resolves an id. Where ids are ignored, an id names the newest message that has it. */
export function resolveTarget(memory: ReadableMemory, target: Message | string): Message | string | undefined {
  if (typeof target !== "string" || !memory.ignoreId) return target;
  for (const message of memory.newestFirst()) {
    if (message.id === target) return message;
  }
  return undefined;
}

export function containing(memory: ReadableMemory, substring: string): Message[] {
  return Array.from(memory).filter((message) => message.content.includes(substring));
}

/** @throws RangeError for NaN */
export function olderThan(memory: ReadableMemory, timestampMs: number): Message[] {
  if (Number.isNaN(timestampMs)) throw new RangeError("Expected a time in milliseconds, got NaN.");
  return Array.from(memory).filter((message) => message.timestamp < timestampMs);
}

/** Returns the newest `k` messages in order of arrival, read from the end. */
export function newestOf(memory: ReadableMemory, k: number): Message[] {
  const messages: Message[] = [];
  for (const message of memory.newestFirst()) {
    if (messages.length === k) break;
    messages.push(message);
  }
  return messages.reverse();
}

/** Returns the observed messages that are not among the newest `k`, each once. */
export function findNewsIn(memory: ReadableMemory, observed: Iterable<Message>, k: number): Message[] {
  const known = new Set(checkedCount(k) === 0 ? [] : memory.get(k).map((message) => identityIn(memory, message)));
  const news: Message[] = [];
  for (const message of observed) {
    const identity = identityIn(memory, message);
    if (known.has(identity) || (k === 0 && memory.has(message))) continue;
    known.add(identity);
    news.push(message);
  }
  return news;
}

/** Returns the names of the addresses, each once. */
export function namesOf(addresses: Iterable<Address>): Set<string> {
  return new Set(Array.from(addresses, addressOf));
}

/** @throws RangeError when `k` is not a whole number of 0 or more. */
export function checkedCount(k: number): number {
  if (Number.isInteger(k) && k >= 0) return k;
  throw new RangeError(`Expected the number of newest messages to be a whole number of 0 or more, got ${k}. 0 means all.`);
}

export function memoryJson(memory: ReadableMemory): MemoryJson {
  return {
    ...(memory.ignoreId ? { ignoreId: true } : {}),
    ...(memory.limit === undefined ? {} : { limit: memory.limit }),
    messages: memory.get().map(serializeMessage),
  };
}
