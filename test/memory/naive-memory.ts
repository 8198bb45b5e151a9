import fc from "fast-check";
import { expect } from "vitest";
import { addressOf, type Address } from "../../src/message/address.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import type { MessageMemory, ReadableMemory } from "../../src/memory/message-memory.ts";

/** A memory told in the plainest words: one list and loops over it. What the real ones answer is held against it. */
export class NaiveMemory {
  held: Message[] = [];
  readonly ignoreId: boolean;
  readonly limit: number | undefined;

  constructor(options: { readonly ignoreId?: boolean; readonly limit?: number | undefined } = {}) {
    this.ignoreId = options.ignoreId ?? false;
    this.limit = options.limit;
  }

  same(a: Message, b: Message): boolean {
    return this.ignoreId ? a.content === b.content : a.id === b.id;
  }

  find(target: Message | string): Message | undefined {
    return this.held.findLast((message) => (typeof target === "string" ? message.id === target : this.same(message, target)));
  }

  add(message: Message): boolean {
    if (this.find(message) !== undefined) return false;
    this.held.push(message);
    if (this.limit !== undefined && this.held.length > this.limit) this.held.shift();
    return true;
  }

  delete(target: Message | string): boolean {
    const found = this.find(target);
    this.held = this.held.filter((message) => message !== found);
    return found !== undefined;
  }

  deleteOlderThan(time: number): number {
    const before = this.held.length;
    this.held = this.held.filter((message) => message.timestamp >= time);
    return before - this.held.length;
  }

  get(k = 0): Message[] {
    return k === 0 ? [...this.held] : this.held.slice(Math.max(0, this.held.length - k));
  }

  byActions(addresses: readonly Address[]): Message[] {
    return this.held.filter((message) => addresses.some((address) => addressOf(address) === message.causeBy));
  }

  findNews(observed: readonly Message[], k = 0): Message[] {
    const news: Message[] = [];
    for (const message of observed) {
      const isOld = [...this.get(k), ...news].some((other) => this.same(message, other));
      if (!isOld) news.push(message);
    }
    return news;
  }
}

const roles = ["system", "user", "assistant", "tool"] as const;
const actions = ["WriteCode", "WriteTest", "Review", "UserRequirement"] as const;

/** Messages that share ids, contents, causes and times in every way. */
const pool: readonly Message[] = Array.from({ length: 40 }, (_, n) =>
  createMessage(`say ${n % 17} ${n % 2 === 0 ? "even" : "odd"}`, {
    id: `m${n % 23}`,
    role: roles[n % 3]!,
    causeBy: actions[(n * 7) % 4]!,
    timestamp: ((n * 13) % 9) * 10,
  }),
);

/** A write to a memory, told by places in the pool. */
export type Write =
  | { readonly add: number }
  | { readonly batch: readonly number[] }
  | { readonly delete: number; readonly by: "message" | "id" }
  | { readonly olderThan: number }
  | "deleteNewest"
  | "clear";

const place = fc.nat(pool.length - 1);

export const anyWrite: fc.Arbitrary<Write> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ add: place }) },
  { weight: 3, arbitrary: fc.record({ batch: fc.array(place, { maxLength: 12 }) }) },
  { weight: 6, arbitrary: fc.record({ delete: place, by: fc.constantFrom("message" as const, "id" as const) }) },
  { weight: 1, arbitrary: fc.record({ olderThan: fc.nat(60) }) },
  { weight: 2, arbitrary: fc.constant("deleteNewest" as const) },
  { weight: 1, arbitrary: fc.constant("clear" as const) },
);

/** Writes to both and holds what they answer against each other. */
export function writeBoth(memory: MessageMemory, naive: NaiveMemory, write: Write): void {
  if (write === "deleteNewest") expect(memory.deleteNewest()).toBe(naive.held.pop());
  else if (write === "clear") {
    memory.clear();
    naive.held = [];
  } else if ("add" in write) expect(memory.add(pool[write.add]!)).toBe(naive.add(pool[write.add]!));
  else if ("batch" in write) {
    const messages = write.batch.map((n) => pool[n]!);
    expect(memory.addBatch(messages)).toBe(messages.filter((message) => naive.add(message)).length);
  } else if ("olderThan" in write) expect(memory.deleteOlderThan(write.olderThan)).toBe(naive.deleteOlderThan(write.olderThan));
  else {
    const target = write.by === "id" ? pool[write.delete]!.id : pool[write.delete]!;
    expect(memory.delete(target)).toBe(naive.delete(target));
  }
}

/** Asks everything there is to ask and holds each answer against the plain one. */
export function expectSameAnswers(memory: ReadableMemory, naive: NaiveMemory): void {
  const { held } = naive;
  expect(memory.size).toBe(held.length);
  expect([...memory]).toEqual(held);
  expect([...memory.newestFirst()]).toEqual(held.toReversed());
  expect(memory.toJSON().messages.map(({ v: _v, ...message }) => message)).toEqual(held);
  for (const k of [0, 1, 2, 5, held.length, held.length + 3]) {
    expect(memory.get(k)).toEqual(naive.get(k));
    expect(memory.findNews(pool, k)).toEqual(naive.findNews(pool, k));
  }
  for (const n of [0, 1, 3, held.length - 1, held.length, -1, -2, -4, -held.length, -held.length - 1]) {
    expect(memory.getByPosition(n)).toBe(held.at(n));
  }
  for (const message of pool) {
    expect(memory.has(message)).toBe(naive.find(message) !== undefined);
    expect(memory.has(message.id)).toBe(naive.find(message.id) !== undefined);
  }
  for (const role of roles) expect(memory.getByRole(role)).toEqual(held.filter((message) => message.role === role));
  for (const text of ["even", "say 1", "", "nowhere"]) {
    const expected = held.filter((message) => message.content.includes(text));
    expect(memory.getByContent(text)).toEqual(expected);
    expect(memory.tryRemember(text)).toEqual(expected);
  }
  for (const action of [...actions, "Nobody"]) {
    expect(memory.getByAction(action)).toEqual(naive.byActions([action]));
    expect(memory.newestBy(action)).toBe(naive.byActions([action]).at(-1));
  }
  for (const some of [[], ["Review", "WriteCode"], [...actions, "Nobody", "Review"]]) {
    expect(memory.getByActions(some)).toEqual(naive.byActions(some));
  }
}
