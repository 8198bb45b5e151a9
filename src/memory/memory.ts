import { readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { MessageLog } from "./message-log.ts";
import { addressOf, type Address, type PayloadOf } from "../message/address.ts";
import { assertMessage, meantMessage, type Message, MessageSchema } from "../message/message.ts";
import { MessageIndex } from "./message-index.ts";
import type { MemoryJson, MessageMemory } from "./message-memory.ts";
import { checkedCount, containing, findNewsIn, memoryJson, namesOf, olderThan, resolveTarget } from "./memory-queries.ts";

const causeOf = (message: Message): string => message.causeBy;
const roleOf = (message: Message): string => message.role;
const idOf = (message: Message): string => message.id;
const contentOf = (message: Message): string => message.content;

/** A memory of so few messages is searched one by one: with a `Map` of its own, a memory of one message takes 545 bytes instead of 300. */
const FEW_MESSAGES = 4;

/** Options of a {@link Memory}. */
export interface MemoryOptions {
  /** Recognize messages by content instead of id: equal contents are remembered once. Default false. */
  readonly ignoreId?: boolean | undefined;
  /** Most messages kept, 1 or more; the oldest ones are evicted. Default: no limit. */
  readonly limit?: number | undefined;
  /** Called with every evicted message. */
  readonly onEvict?: ((message: Message) => void) | undefined;
}

const memoryOptions: Known<MemoryOptions> = { ignoreId: true, limit: true, onEvict: true };

/**
 * Short-term memory: the messages that a role or an environment has received and sent, in order of arrival.
 *
 * Owns the log of messages, their positions by identity, the limit and the indexes. Uncommitted changes of an activation belong to its draft.
 *
 * Memory.M1 (`#identityOf`) the id identifies a message; with `ignoreId` the content does. No two messages have the same identity.
 * Memory.M2 (`#log`) messages are shared, never copied or changed, and every query returns a new array in order of arrival.
 * Memory.M3 (`#positions`, `#byCause`, `#byRole`) `add` and `delete` are O(1) amortised, `getByAction` O(result), `findNews` O(observed + k).
 * Memory.M4 (`#evictOldest`) `limit` evicts the oldest message in O(1) amortised. Memory.M5 (`checkedCount`) `get(0)` returns all messages, and
 * a negative `k` is a RangeError.
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
  #log = new MessageLog();
  /** Positions in the log by identity; undefined while there are only a few messages. */
  #positions: Map<string, number> | undefined;
  /** Built at the first query. */
  #byCause: MessageIndex | undefined;
  #byRole: MessageIndex | undefined;

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
    return this.#log.size;
  }

  /** @throws UsageError `MESSAGE_INVALID` for a value that is not a message */
  add(message: Message): boolean {
    assertMessage(message);
    const identity = this.#identityOf(message);
    if (this.#positionOf(identity) !== undefined) return false;
    const position = this.#log.push(message);
    this.#positions?.set(identity, position);
    this.#byCause?.add(message, position);
    this.#byRole?.add(message, position);
    if (this.limit !== undefined && this.size > this.limit) this.#evictOldest();
    return true;
  }

  /** Adds a message that is known to be new. */
  append(message: Message): void {
    this.add(message);
  }

  addBatch(messages: Iterable<Message>): number {
    let added = 0;
    for (const message of messages) if (this.add(message)) added++;
    return added;
  }

  has(target: Message | string): boolean {
    if (typeof target === "string") return this.find(target) !== undefined;
    assertMessage(target);
    return this.#positionOf(this.#identityOf(target)) !== undefined;
  }

  /** Returns the held message that equals a message or has an id: the newest one of that id where ids are ignored. O(1) where the id identifies. */
  find(target: Message | string): Message | undefined {
    const known = resolveTarget(this, target);
    if (known === undefined) return undefined;
    const position = this.#positionOf(typeof known === "string" ? known : this.#identityOf(known));
    return position === undefined ? undefined : this.#log.at(position);
  }

  get(k = 0): Message[] {
    return this.#log.newest(checkedCount(k) === 0 ? Infinity : k);
  }

  getByPosition(place: number): Message | undefined {
    return this.#log.nth(place);
  }

  getByRole(role: Message["role"]): Message[] {
    return this.#at(this.#roles.positionsOf(role));
  }

  getByContent(substring: string): Message[] {
    return containing(this, substring);
  }

  tryRemember(keyword: string): Message[] {
    return containing(this, keyword);
  }

  getByAction<P>(address: Address<P>): Message<P>[] {
    return this.#at(this.#causes.positionsOf(addressOf(address))) as Message<P>[];
  }

  getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[] {
    const positions: number[] = [];
    for (const name of namesOf(addresses)) for (const position of this.#causes.positionsOf(name)) positions.push(position);
    return this.#at(positions.sort((a, b) => a - b)) as Message<PayloadOf<A>>[];
  }

  newestBy<P>(address: Address<P>): Message<P> | undefined {
    return this.#causes.newest(addressOf(address)) as Message<P> | undefined;
  }

  findNews(observed: Iterable<Message>, k = 0): Message[] {
    return findNewsIn(this, observed, k);
  }

  delete(target: Message | string): boolean {
    const message = this.find(meantMessage(target));
    this.#forget(message);
    return message !== undefined;
  }

  deleteNewest(): Message | undefined {
    const newest = this.#log.nth(-1);
    this.#forget(newest);
    return newest;
  }

  deleteOlderThan(timestampMs: number): number {
    const old = olderThan(this, timestampMs);
    for (const message of old) this.#forget(message);
    return old.length;
  }

  clear(): void {
    this.#reset();
  }

  *[Symbol.iterator](): Generator<Message, void> {
    yield* this.#walk((log) => log.oldestFirst());
  }

  *newestFirst(): Generator<Message, void> {
    yield* this.#walk((log) => log.newestFirst());
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

  get #causes(): MessageIndex {
    return (this.#byCause ??= new MessageIndex(this.#log, causeOf));
  }

  get #roles(): MessageIndex {
    return (this.#byRole ??= new MessageIndex(this.#log, roleOf));
  }

  get #identityOf(): (message: Message) => string {
    return this.ignoreId ? contentOf : idOf;
  }

  #positionOf(identity: string): number | undefined {
    if (this.#positions === undefined) {
      if (this.#log.size <= FEW_MESSAGES) return this.#log.newestWith(identity, this.#identityOf);
      this.#indexPositions();
    }
    return this.#positions?.get(identity);
  }

  #indexPositions(): void {
    this.#positions = new Map();
    this.#log.forEach((message, position) => this.#positions?.set(this.#identityOf(message), position));
  }

  #evictOldest(): void {
    const oldest = this.#log.nth(0);
    this.#forget(oldest);
    if (oldest !== undefined) this.#onEvict?.(oldest);
  }

  /** Removes a message from the log, the positions and the indexes. */
  #forget(message: Message | undefined): void {
    if (message === undefined) return;
    const identity = this.#identityOf(message);
    this.#log.drop(this.#positionOf(identity) as number);
    this.#positions?.delete(identity);
    this.#byCause?.remove(message);
    this.#byRole?.remove(message);
    if (this.#log.isMostlyHoles) this.#compact();
  }

  #reset(): void {
    this.#log = new MessageLog();
    this.#positions = undefined;
    this.#byCause = undefined;
    this.#byRole = undefined;
  }

  #compact(): void {
    const held = this.#log.newest(Infinity);
    this.#reset();
    for (const message of held) this.#log.push(message);
  }

  /** An iteration continues over the log it began with. After a compaction it skips messages that were deleted since. */
  *#walk(start: (log: MessageLog) => Iterable<Message>): Generator<Message, void> {
    const log = this.#log;
    for (const message of start(log)) {
      if (log === this.#log || this.has(message)) yield message;
    }
  }

  #at(positions: readonly number[]): Message[] {
    return positions.map((position) => this.#log.at(position) as Message);
  }
}

const memorySchema = lazily(() =>
  z.object({
    ignoreId: z.boolean().optional(),
    limit: z.int().min(1).optional(),
    messages: z.array(MessageSchema),
  }),
);
