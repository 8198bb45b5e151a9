import { readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { PlacedIds } from "../kernel/placed-ids.ts";
import { PlacedList } from "../kernel/placed-list.ts";
import { addressOf, type Address, type PayloadOf } from "../message/address.ts";
import { assertMessage, meantMessage, type Message, MessageSchema } from "../message/message.ts";
import { MessageIndex } from "./message-index.ts";
import type { MemoryJson, MessageMemory } from "./message-memory.ts";
import { checkedCount, containing, identityIn, meantIn, memoryJson, namesOf, newsIn, olderThan } from "./recall.ts";

const causeOf = (message: Message): string => message.causeBy;
const roleOf = (message: Message): string => message.role;
const idOf = (message: Message): string => message.id;
const contentOf = (message: Message): string => message.content;

/** So many are looked through one by one. */
const FEW_MESSAGES = 4;

/** The log and the index of every empty memory. Nothing is ever put into them. */
const nothing = new PlacedList<Message>();
const nothingIndexed = new MessageIndex(nothing, causeOf);

/** How a memory tells messages apart, and how many it keeps. */
export interface MemoryOptions {
  /** Let the content decide identity, and not the id: the same words are remembered once. Default false. */
  readonly ignoreId?: boolean | undefined;
  /** Messages kept at most, 1 or more; the oldest make room. Without it nothing is forgotten. */
  readonly limit?: number | undefined;
  /** Told of every message that made room for a newer one. */
  readonly onEvict?: ((message: Message) => void) | undefined;
}

const memoryOptions: Known<MemoryOptions> = { ignoreId: true, limit: true, onEvict: true };

/**
 * Short-term memory: what a role (or an environment) has heard and said, in order of arrival.
 *
 * Owns identity, the limit, and that log, places and indexes agree. The log owns order, an index its lists, and what an
 * activation has written but not yet committed is its draft's.
 *
 * R1 `add` is O(1) amortised, `getByAction` O(answer) and creates nothing, `findNews` O(observed + k), `delete` keeps every index true
 * in O(1) amortised. R2 what a query returns is the caller's own array, in order of arrival. R3 `get(0)` is all, a negative `k` is
 * a RangeError. R4 `limit` forgets the oldest, in O(1) amortised. M1 messages are shared, never copied and never changed.
 * M2 the id decides identity; with `ignoreId`, the content does.
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
  #log: PlacedList<Message> = nothing;
  /** The positions of exactly the messages held, by identity. Made once they are more than a few. */
  #places: PlacedIds<Message> | undefined;
  /** An index is made when it is first asked and kept true from then on. */
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

  /** @throws UsageError `MESSAGE_INVALID` for what is no message */
  add(message: Message): boolean {
    assertMessage(message);
    const identity = this.ignoreId ? message.content : message.id;
    const places = this.#places;
    const position = places === undefined ? this.#addToFew(identity, message) : places.add(identity, message);
    if (position === undefined) return false;
    this.#byCause?.add(message, position);
    this.#byRole?.add(message, position);
    if (this.limit !== undefined && this.size > this.limit) this.#evictOldest();
    return true;
  }

  /**
   * Adds a message where it is known that none of its identity is held: the caller answers for that. As long as nobody asks for an identity, none
   * is noted.
   */
  append(message: Message): void {
    if (this.#places !== undefined || this.limit !== undefined || this.#log === nothing) return void this.add(message);
    const position = this.#log.push(message);
    this.#byCause?.add(message, position);
    this.#byRole?.add(message, position);
  }

  addBatch(messages: Iterable<Message>): number {
    let added = 0;
    for (const message of messages) if (this.add(message)) added++;
    return added;
  }

  has(target: Message | string): boolean {
    if (typeof target === "string") return this.#find(target) !== undefined;
    assertMessage(target);
    const identity = this.ignoreId ? target.content : target.id;
    return this.#places === undefined ? this.#placeOf(identity) !== undefined : this.#places.has(identity);
  }

  /** The message of an id, or the newest of them where ids are ignored. O(1) where the id identifies. */
  find(id: string): Message | undefined {
    return this.#find(id);
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
    return newsIn(this, observed, k);
  }

  delete(target: Message | string): boolean {
    const message = this.#find(meantMessage(target));
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
    this.#log = nothing;
    this.#places = undefined;
    this.#byCause = undefined;
    this.#byRole = undefined;
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
   * A memory from {@link toJSON}. Messages pass `MessageSchema`, so older wire forms are filled up and newer ones refused.
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
    return this.#log === nothing ? nothingIndexed : (this.#byCause ??= new MessageIndex(this.#log, causeOf));
  }

  get #roles(): MessageIndex {
    return this.#log === nothing ? nothingIndexed : (this.#byRole ??= new MessageIndex(this.#log, roleOf));
  }

  #find(target: Message | string): Message | undefined {
    const meant = meantIn(this, target);
    if (meant === undefined) return undefined;
    const position = this.#placeOf(typeof meant === "string" ? meant : identityIn(this, meant));
    return position === undefined ? undefined : this.#log.at(position);
  }

  #placeOf(identity: string): number | undefined {
    if (this.#places === undefined && this.#log.size <= FEW_MESSAGES) return this.#log.newestWith(identity, this.#identityOf);
    return this.#noted().find(identity);
  }

  /** Those of more than a few, once somebody asks. */
  #noted(): PlacedIds<Message> {
    return (this.#places ??= new PlacedIds(this.#log, this.#identityOf));
  }

  get #identityOf(): (message: Message) => string {
    return this.ignoreId ? contentOf : idOf;
  }

  /** What {@link PlacedIds.add} does where there are no places yet. */
  #addToFew(identity: string, message: Message): number | undefined {
    if (this.#log === nothing) this.#log = new PlacedList<Message>();
    else if (this.#log.size >= FEW_MESSAGES) return this.#noted().add(identity, message);
    else if (this.#placeOf(identity) !== undefined) return undefined;
    return this.#log.push(message);
  }

  #evictOldest(): void {
    const oldest = this.#log.nth(0);
    this.#forget(oldest);
    if (oldest !== undefined) this.#onEvict?.(oldest);
  }

  /** Takes a message that is held out of log, places and indexes. */
  #forget(message: Message | undefined): void {
    if (message === undefined) return;
    const identity = identityIn(this, message);
    const isFew = this.#places === undefined && this.#log.size <= FEW_MESSAGES;
    const position = isFew ? this.#placeOf(identity) : this.#noted().delete(identity);
    this.#log.drop(position as number);
    this.#byCause?.remove(message);
    this.#byRole?.remove(message);
    if (this.#log.isMostlyHoles) this.#rewrite();
  }

  /** Closes the holes. The deletions that made them have paid for it. */
  #rewrite(): void {
    const held = this.get();
    this.clear();
    const log = new PlacedList<Message>();
    for (const message of held) log.push(message);
    this.#log = log;
    if (log.size > FEW_MESSAGES) this.#places = new PlacedIds(log, this.#identityOf);
  }

  /** A walk goes on over the log it began with; a rewritten one tells by its places what is gone. */
  *#walk(start: (log: PlacedList<Message>) => Iterable<Message>): Generator<Message, void> {
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
