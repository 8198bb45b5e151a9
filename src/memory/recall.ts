import { addressOf, type Address } from "../message/address.ts";
import { type Message, serializeMessage } from "../message/message.ts";
import type { MemoryJson, ReadableMemory } from "./message-memory.ts";

/**
 * What every memory answers in the same way, told by what it answers in its own. Pure.
 */

/** What makes a message the same as another in this memory. */
export function identityIn(memory: ReadableMemory, message: Message): string {
  return memory.ignoreId ? message.content : message.id;
}

/** The message a caller means: an id does not identify where ids are ignored, so the newest message of that id stands for it. */
export function meantIn(memory: ReadableMemory, target: Message | string): Message | string | undefined {
  if (typeof target !== "string" || !memory.ignoreId) return target;
  for (const message of memory.newestFirst()) {
    if (message.id === target) return message;
  }
  return undefined;
}

/** Messages that contain a text. */
export function containing(memory: ReadableMemory, substring: string): Message[] {
  const found: Message[] = [];
  for (const message of memory) {
    if (message.content.includes(substring)) found.push(message);
  }
  return found;
}

/** Messages older than a time. */
export function olderThan(memory: ReadableMemory, timestampMs: number): Message[] {
  if (Number.isNaN(timestampMs)) throw new RangeError("Expected a time in milliseconds, got NaN.");
  const old: Message[] = [];
  for (const message of memory) {
    if (message.timestamp < timestampMs) old.push(message);
  }
  return old;
}

/** The newest `k` of a memory that is walked from its end, oldest of them first. */
export function newestOf(memory: ReadableMemory, k: number): Message[] {
  const messages: Message[] = [];
  for (const message of memory.newestFirst()) {
    if (messages.length === k) break;
    messages.push(message);
  }
  return messages.reverse();
}

/** Those of `observed` that are not among the newest `k`, each once. */
export function newsIn(memory: ReadableMemory, observed: Iterable<Message>, k: number): Message[] {
  if (k === 0 && Array.isArray(observed) && observed.length < 2) return (observed as Message[]).filter((message) => !memory.has(message));
  const known = new Set<string>();
  if (checkedCount(k) > 0) for (const message of memory.get(k)) known.add(identityIn(memory, message));
  const news: Message[] = [];
  for (const message of observed) {
    const identity = identityIn(memory, message);
    if (known.has(identity) || (k === 0 && memory.has(message))) continue;
    known.add(identity);
    news.push(message);
  }
  return news;
}

/** The names behind some addresses, each once. */
export function namesOf(addresses: Iterable<Address>): Set<string> {
  const names = new Set<string>();
  for (const address of addresses) names.add(addressOf(address));
  return names;
}

/** @throws RangeError when `k` is not a whole number of 0 or more. */
export function checkedCount(k: number): number {
  if (Number.isInteger(k) && k >= 0) return k;
  throw new RangeError(`Expected the number of newest messages to be a whole number of 0 or more, got ${k}. 0 means all.`);
}

/** The memory as plain JSON. */
export function memoryJson(memory: ReadableMemory): MemoryJson {
  return {
    ...(memory.ignoreId ? { ignoreId: true } : {}),
    ...(memory.limit === undefined ? {} : { limit: memory.limit }),
    messages: memory.get().map(serializeMessage),
  };
}
