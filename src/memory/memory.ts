import { aNumber, aText, iterable, readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { addressOf, type Address, type PayloadOf } from "../message/address.ts";
import { assertMessage, checkedTarget, type Message, MessageSchema } from "../message/message.ts";
import { Arrivals, DELETED, dropFrom, listOf, type Slot } from "./arrivals.ts";
import {
  checkedBatch,
  checkedCount,
  containing,
  type MemoryJson,
  memoryJson,
  type MessageMemory,
  namesOf,
  olderThan,
  type ReadableMemory,
} from "./message-memory.ts";

/** Options of a {@link Memory}. */
export interface MemoryOptions {
  /** Recognize messages by content instead of id: equal contents are remembered once. Default false. */
  readonly ignoreId?: boolean | undefined;
  /** Limit on the messages, 1 or more; the oldest ones are evicted. Default: no limit. */
  readonly limit?: number | undefined;
  /** Called with every evicted message. */
  readonly onEvict?: ((message: Message) => void) | undefined;
}

const memoryOptions: Known<MemoryOptions> = { ignoreId: kinds.boolean, limit: kinds.count, onEvict: kinds.function };

/**
 * Short-term memory: the messages that a role or an environment has received and sent, in order of arrival.
 *
 * Owns the messages by identity and in order, the limit and the indexes. Uncommitted changes of an activation belong to its draft.
 *
 * Memory.M1 (`identityIn`) the id identifies a message; with `ignoreId` the content does. No two messages have the same identity.
 * Memory.M2 (`Arrivals`) messages are shared, never copied or changed, and every query returns a new array in order of arrival.
 * Memory.M3 (`#held`, `#byCause`, `#byRole`) `add` and `delete` are O(1) amortised, `getByAction` O(result), `findNews` O(observed + k).
 * Memory.M4 (`#evictOldest`) `limit` evicts the oldest message in O(1) amortised. Memory.M5 (`checkedCount`) `get(0)` returns all messages, and
 * a negative `k` is an error.
 *
 * @example
 * import { createMessage, Memory } from "troupe";
 *
 * const memory = new Memory({ limit: 100 });
 * memory.add(createMessage("A bridge needs two banks.", { sentFrom: "Ada", causeBy: "Talk" }));
 * console.log(memory.getByAction("Talk").length, memory.getByContent("river").length); // 1 0
 */
export class Memory implements MessageMemory {
  readonly ignoreId: boolean;
  readonly limit: number | undefined;
  readonly #onEvict: ((message: Message) => void) | undefined;
  /** By identity; made when it is first searched. */
  #held: Map<string, Slot> | undefined;
  #arrivals = new Arrivals();
  /** Built at the first query. */
  #byCause: Map<string, Arrivals> | undefined;
  #byRole: Map<string, Arrivals> | undefined;

  /** @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more. */
  constructor(options?: MemoryOptions) {
    checkKnownOptions("new Memory", options, memoryOptions);
    const limit = options?.limit;
    if (limit !== undefined && (!Number.isInteger(limit) || limit < 1)) {
      throw new UsageError(
        "LIMIT_INVALID",
        `Expected the limit of a memory to be a whole number of 1 or more, got ${limit}. Leave it out for no limit.`,
      );
    }
    this.ignoreId = options?.ignoreId ?? false;
    this.limit = limit;
    this.#onEvict = options?.onEvict;
  }

  get size(): number {
    return this.#arrivals.size;
  }

  /** @throws UsageError `MESSAGE_INVALID` for a value that is not a message */
  add(message: Message): boolean {
    assertMessage(message);
    return this.put(message);
  }

  /** Adds a message of the runtime, which is not checked again. @internal */
  put(message: Message): boolean {
    const identity = this.ignoreId ? message.content : message.id;
    const held = (this.#held ??= this.#index());
    if (held.get(identity) !== undefined) return false;
    const slot = this.#arrivals.add(message);
    held.set(identity, slot);
    if (this.#byCause !== undefined) listOf(this.#byCause, message.causeBy).push(slot);
    if (this.#byRole !== undefined) listOf(this.#byRole, message.role).push(slot);
    if (this.limit !== undefined && this.size > this.limit) this.#evictOldest();
    return true;
  }

  /** Adds a message that is known to be new. */
  append(message: Message): void {
    this.add(message);
  }

  addBatch(messages: Iterable<Message>): number {
    let added = 0;
    for (const message of checkedBatch(messages)) if (this.add(message)) added++;
    return added;
  }

  has(target: Message | string): boolean {
    return this.find(target) !== undefined;
  }

  /** True when it has a message of this identity. @internal */
  holds(identity: string): boolean {
    return (this.#held ??= this.#index()).get(identity) !== undefined;
  }

  /** Returns the held message that equals a message or has an id: the newest one of that id where ids are ignored. O(1) where the id identifies. */
  find(target: Message | string): Message | undefined {
    const known = typeof target === "string" ? resolveTarget(this, target) : checkedTarget(target);
    if (known === undefined) return undefined;
    return this.#slotOf(typeof known === "string" ? known : identityIn(this, known))?.message;
  }

  get(k = 0): Message[] {
    return this.#arrivals.newest(k === 0 ? Infinity : checkedCount(k));
  }

  getByPosition(place: number): Message | undefined {
    takes("getByPosition", "place", place, aNumber);
    return this.#arrivals.nth(place);
  }

  getByRole(role: Message["role"]): Message[] {
    takes("getByRole", "role", role, aText);
    this.#byRole ??= this.#arrivals.grouped((message) => message.role);
    return this.#byRole.get(role)?.newest(Infinity) ?? [];
  }

  getByContent(substring: string): Message[] {
    return containing(this, substring);
  }

  tryRemember(keyword: string): Message[] {
    return containing(this, keyword);
  }

  getByAction<P>(address: Address<P>): Message<P>[] {
    return (this.#causedBy(address)?.newest(Infinity) ?? []) as Message<P>[];
  }

  getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[] {
    const slots = [...namesOf(addresses)].flatMap((name) => this.#causedBy(name)?.slots() ?? []);
    return slots.sort((a, b) => a.order - b.order).map(({ message }) => message as Message<PayloadOf<A>>);
  }

  newestBy<P>(address: Address<P>): Message<P> | undefined {
    return this.#causedBy(address)?.nth(-1) as Message<P> | undefined;
  }

  findNews(observed: Iterable<Message>, k = 0): Message[] {
    return findNewsIn(this, observed, k);
  }

  delete(target: Message | string): boolean {
    const message = this.find(target);
    this.#forget(message);
    return message !== undefined;
  }

  deleteNewest(): Message | undefined {
    const newest = this.#arrivals.nth(-1);
    this.#forget(newest);
    return newest;
  }

  deleteOlderThan(timestampMs: number): number {
    const old = olderThan(this, timestampMs);
    for (const message of old) this.#forget(message);
    return old.length;
  }

  clear(): void {
    // An open iteration skips these.
    for (const slot of this.#arrivals.slots()) slot.order = DELETED;
    this.#arrivals = new Arrivals();
    this.#held = undefined;
    this.#byCause = undefined;
    this.#byRole = undefined;
  }

  [Symbol.iterator](): Generator<Message, void> {
    return this.#arrivals.oldestFirst();
  }

  newestFirst(): Generator<Message, void> {
    return this.#arrivals.newestFirst();
  }

  /** Returns a memory of the same messages that changes apart from this one, without `onEvict`. @internal */
  copy(): Memory {
    const copy = new Memory({ ignoreId: this.ignoreId, limit: this.limit });
    for (const message of this) copy.#arrivals.add(message);
    return copy;
  }

  toJSON(): MemoryJson {
    return memoryJson(this);
  }

  /**
   * Restores a memory from {@link toJSON}. Each message is read by `MessageSchema`.
   *
   * @throws UsageError `MEMORY_INVALID` naming what does not fit.
   */
  static fromJSON(json: unknown): Memory {
    takes("Memory.fromJSON", "json", json, readable);
    const parsed = memorySchema().safeParse(json);
    if (!parsed.success) {
      throw new UsageError("MEMORY_INVALID", `Expected a memory as JSON, got something else: ${z.prettifyError(parsed.error)}`);
    }
    const { messages, ...options } = parsed.data;
    const memory = new Memory(options);
    memory.addBatch(messages);
    return memory;
  }

  #causedBy(address: Address): Arrivals | undefined {
    this.#byCause ??= this.#arrivals.grouped((message) => message.causeBy);
    return this.#byCause.get(addressOf(address));
  }

  #slotOf(identity: string): Slot | undefined {
    return (this.#held ??= this.#index()).get(identity);
  }

  #index(): Map<string, Slot> {
    return new Map(this.#arrivals.slots().map((slot) => [identityIn(this, slot.message), slot]));
  }

  #evictOldest(): void {
    const oldest = this.#arrivals.nth(0);
    this.#forget(oldest);
    if (oldest !== undefined) this.#onEvict?.(oldest);
  }

  #forget(message: Message | undefined): void {
    if (message === undefined) return;
    const identity = identityIn(this, message);
    const slot = this.#slotOf(identity);
    if (slot === undefined) return;
    this.#held?.delete(identity);
    slot.order = DELETED;
    this.#arrivals.drop();
    dropFrom(this.#byCause, message.causeBy);
    dropFrom(this.#byRole, message.role);
  }
}

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

/** Returns the observed messages that are not among the newest `k`, each once. */
export function findNewsIn(memory: ReadableMemory, observed: Iterable<Message>, k: number): Message[] {
  takes("findNews", "observed", observed, iterable("messages"));
  const known = new Set(checkedCount(k) === 0 ? [] : memory.get(k).map((message) => identityIn(memory, message)));
  const news: Message[] = [];
  for (const message of observed) {
    assertMessage(message);
    const identity = identityIn(memory, message);
    if (known.has(identity) || (k === 0 && memory.has(message))) continue;
    known.add(identity);
    news.push(message);
  }
  return news;
}

const memorySchema = lazily(() =>
  z.object({
    ignoreId: z.boolean().optional(),
    limit: z.int().min(1).optional(),
    messages: z.array(MessageSchema),
  }),
);
