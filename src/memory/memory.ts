import { aNumber, aText, iterable, readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { addressOf, type Address, type PayloadOf } from "../message/address.ts";
import { type Message, MessageSchema } from "../message/message.ts";
import { checkedCount, MessageMemory } from "./message-memory.ts";

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
 * Short-term memory: the messages that a role or an environment has received and sent, in order of arrival. Owns them, their limit and their
 * indexes.
 *
 * Memory.M1 (`identityOf`) the id identifies a message; with `ignoreId` the content does. No two messages have the same identity.
 * Memory.M2 (`SlotList`) messages are shared, never copied or changed, and every query returns a new array in order of arrival.
 * Memory.M3 (`#held`, `#byCause`, `#byRole`) `add` and `delete` are O(1) amortized, `getByAction` O(result), `findNews` O(observed + k).
 * Memory.M4 (`put`) `limit` evicts the oldest message in O(1) amortized.
 * Memory.M5 (`checkedCount`) `get(0)` returns all messages, and a negative `k` is an error.
 *
 * @example
 * import { createMessage, Memory } from "troupe";
 *
 * const memory = new Memory({ limit: 100 });
 * memory.add(createMessage("A bridge needs two banks.", { sentFrom: "Ada", causeBy: "Talk" }));
 * console.log(memory.getByAction("Talk").length, memory.getByContent("river").length); // 1 0
 */
export class Memory extends MessageMemory {
  readonly ignoreId: boolean;
  readonly limit: number | undefined;
  readonly #onEvict: ((message: Message) => void) | undefined;
  /** By identity. */
  readonly #held = new Map<string, Slot>();
  #all = new SlotList();
  #lastOrder = DELETED;
  /** Built at the first query. */
  #byCause: Map<string, SlotList> | undefined;
  #byRole: Map<string, SlotList> | undefined;

  /** @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more. */
  constructor(options?: MemoryOptions) {
    super();
    if (options !== undefined) checkKnownOptions("new Memory", options, memoryOptions);
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
    return this.#all.size;
  }

  /** Adds a message of the runtime, without a check. @internal */
  put(message: Message, isNew = false): boolean {
    const identity = this.identityOf(message);
    if (!isNew && this.#held.has(identity)) return false;
    const slot = { message, order: ++this.#lastOrder };
    this.#all.push(slot);
    this.#held.set(identity, slot);
    if (this.#byCause !== undefined) listOf(this.#byCause, message.causeBy).push(slot);
    if (this.#byRole !== undefined) listOf(this.#byRole, message.role).push(slot);
    if (this.limit !== undefined && this.size > this.limit) {
      const oldest = this.#all.at(0) as Message;
      this.deleteByIdentity(this.identityOf(oldest));
      this.#onEvict?.(oldest);
    }
    return true;
  }

  /** Returns the message of an identity. @internal */
  held(identity: string): Message | undefined {
    return this.#held.get(identity)?.message;
  }

  get(k = 0): Message[] {
    return this.#all.newest(checkedCount(k) || Infinity);
  }

  getByPosition(index: number): Message | undefined {
    takes("getByPosition", "index", index, aNumber);
    return this.#all.at(index);
  }

  getByRole(role: Message["role"]): Message[] {
    takes("getByRole", "role", role, aText);
    this.#byRole ??= this.#all.grouped((message) => message.role);
    return this.#byRole.get(role)?.newest() ?? [];
  }

  getByAction<P>(address: Address<P>): Message<P>[] {
    return (this.#causedBy(address)?.newest() ?? []) as Message<P>[];
  }

  getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[] {
    takes("a memory", "the addresses", addresses, iterable("addresses"));
    const slots = [...new Set(Array.from(addresses, addressOf))].flatMap((name) => this.#causedBy(name)?.slots() ?? []);
    return slots.sort((a, b) => a.order - b.order).map(({ message }) => message as Message<PayloadOf<A>>);
  }

  newestBy<P>(address: Address<P>): Message<P> | undefined {
    return this.#causedBy(address)?.at(-1) as Message<P> | undefined;
  }

  /** Deletes the message of an identity. @internal */
  deleteByIdentity(identity: string): boolean {
    const slot = this.#held.get(identity);
    if (slot === undefined) return false;
    this.#held.delete(identity);
    slot.order = DELETED;
    this.#all.dropped();
    dropFrom(this.#byCause, slot.message.causeBy);
    dropFrom(this.#byRole, slot.message.role);
    return true;
  }

  clear(): void {
    // An open iteration skips these.
    for (const slot of this.#all.slots()) slot.order = DELETED;
    this.#all = new SlotList();
    this.#held.clear();
    this.#byCause = undefined;
    this.#byRole = undefined;
  }

  [Symbol.iterator](): Generator<Message, void> {
    return this.#all.oldestFirst();
  }

  newestFirst(): Generator<Message, void> {
    return this.#all.newestFirst();
  }

  /** Restores a memory from {@link toJSON}. @throws UsageError `MEMORY_INVALID` naming what does not fit. */
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

  #causedBy(address: Address): SlotList | undefined {
    this.#byCause ??= this.#all.grouped((message) => message.causeBy);
    return this.#byCause.get(addressOf(address));
  }
}

const memorySchema = lazily(() =>
  z.object({
    ignoreId: z.boolean().optional(),
    limit: z.int().min(1).optional(),
    messages: z.array(MessageSchema),
  }),
);

interface Slot {
  readonly message: Message;
  /** Grows in order of arrival; `DELETED` after the message was deleted. */
  order: number;
}

const DELETED = 0;
/** A list with fewer deleted slots than this is not compacted. */
const FEW_DELETED = 8;

/**
 * Slots in order of arrival. The memory marks the deleted ones, and calls `dropped` for each.
 *
 * SlotList.A1 (`dropped`) deleted slots never outnumber live ones by more than `FEW_DELETED`, and none is at either end.
 * SlotList.A2 (`slots`) compacting makes a new array, so an open iteration continues over the old one and skips deleted slots.
 */
class SlotList {
  #slots: Slot[] = [];
  /** Index of the oldest slot that is not deleted. */
  #first = 0;
  size = 0;

  push(slot: Slot): void {
    // The first `push` of an array allocates 17 elements, and most memories hold one message.
    if (this.#slots.length === 0) this.#slots = [slot];
    else this.#slots.push(slot);
    this.size++;
  }

  dropped(): void {
    const slots = this.#slots;
    this.size--;
    while (slots.at(-1)?.order === DELETED) slots.pop();
    while (slots[this.#first]?.order === DELETED) this.#first++;
    this.#first = Math.min(this.#first, slots.length);
    const deleted = slots.length - this.size;
    if (deleted <= FEW_DELETED || deleted <= this.size) return;
    this.#slots = this.slots();
    this.#first = 0;
  }

  slots(): Slot[] {
    return this.#slots.filter(({ order }) => order !== DELETED);
  }

  at(index: number): Message | undefined {
    const fromStart = index < 0 ? this.size + index : index;
    if (!Number.isInteger(index) || fromStart < 0 || fromStart >= this.size) return undefined;
    if (fromStart === this.size - 1) return this.#slots.at(-1)?.message;
    const hasHoles = this.#slots.length - this.#first > this.size;
    return hasHoles && fromStart > 0 ? this.slots()[fromStart]?.message : this.#slots[this.#first + fromStart]?.message;
  }

  newest(k = Infinity): Message[] {
    const messages: Message[] = [];
    for (let n = this.#slots.length - 1; n >= this.#first && messages.length < k; n--) {
      const { message, order } = this.#slots[n] as Slot;
      if (order !== DELETED) messages.push(message);
    }
    return messages.reverse();
  }

  *oldestFirst(): Generator<Message, void> {
    const slots = this.#slots;
    for (let n = this.#first; n < slots.length; n++) {
      const { message, order } = slots[n] as Slot;
      if (order !== DELETED) yield message;
    }
  }

  *newestFirst(): Generator<Message, void> {
    const slots = this.#slots;
    for (let n = slots.length - 1; n >= 0; n--) {
      // Slots at the end may be removed meanwhile.
      const slot = slots[n];
      if (slot !== undefined && slot.order !== DELETED) yield slot.message;
    }
  }

  grouped(keyOf: (message: Message) => string): Map<string, SlotList> {
    const groups = new Map<string, SlotList>();
    for (const slot of this.slots()) listOf(groups, keyOf(slot.message)).push(slot);
    return groups;
  }
}

function listOf(lists: Map<string, SlotList>, key: string): SlotList {
  let list = lists.get(key);
  if (list === undefined) lists.set(key, (list = new SlotList()));
  return list;
}

function dropFrom(lists: Map<string, SlotList> | undefined, key: string): void {
  const list = lists?.get(key);
  list?.dropped();
  if (list?.size === 0) lists?.delete(key);
}
