import { ContextClosedError } from "../kernel/errors.ts";
import type { Address, PayloadOf } from "../message/address.ts";
import { assertMessage, meantMessage, type Message } from "../message/message.ts";
import { MemoryChanges } from "./memory-changes.ts";
import type { MemoryOp } from "./memory-op.ts";
import type { MemoryJson, MessageMemory, ReadableMemory } from "./message-memory.ts";
import { checkedCount, containing, meantIn, memoryJson, newestOf, newsIn, olderThan } from "./recall.ts";

/** Who remembers nothing yet, and gets a memory when that is asked for. */
export interface MemoryHolder {
  /** For reading alone. */
  readonly heldMemory: ReadableMemory;
}

/** What a draft stands on. */
export interface MemoryDraftOptions {
  /** Must not change while the draft is open. */
  readonly base: ReadableMemory | MemoryHolder;
  /** The activation that writes. The error that a late write gets asks for its name. */
  readonly by: { readonly act: string };
  /** What was remembered so far, in order: no two the same, and none that the base has or makes room for. */
  readonly remembered?: readonly Message[] | undefined;
}

/**
 * A memory as one activation sees it: its base with what the activation has added and forgotten.
 *
 * Owns the writes of one activation and the view they give. The base is never touched and never copied; whoever ends the activation
 * applies `ops` to it, or drops them.
 *
 * D1 applying `ops` to the base gives a memory that answers every query as the draft did. D2 nothing is made before the first write, and
 * no write or query costs more for a larger base than the same on the base itself, but for messages the draft hides. Where nobody looks at a
 * base that is not there, none is made for a first message. D3 after `close` writes throw and reads go on; after `settle` they show the base
 * as it now is.
 */
export class MemoryDraft implements MessageMemory {
  /** The base, if it is there. */
  #made: ReadableMemory | undefined;
  readonly #holder: MemoryHolder | undefined;
  readonly #by: MemoryDraftOptions["by"];
  /** All that was written, as long as that is a few messages remembered. Most activations write no more. */
  #few: Message[] | undefined;
  #changes: MemoryChanges | undefined;
  #isClosed = false;

  constructor(options: MemoryDraftOptions) {
    const { base } = options;
    this.#made = "heldMemory" in base ? undefined : base;
    this.#holder = "heldMemory" in base ? base : undefined;
    this.#by = options.by;
    const { remembered } = options;
    if (remembered === undefined) return;
    if (remembered.length <= FEW_MESSAGES) this.#few = [...remembered];
    else {
      this.#changes = new MemoryChanges(this.#base, false);
      for (const message of remembered) this.#changes.add(message);
    }
  }

  get ignoreId(): boolean {
    return this.#base.ignoreId;
  }

  get limit(): number | undefined {
    return this.#base.limit;
  }

  /** What was remembered, in order, where nothing else was written and it was not much. */
  get remembered(): readonly Message[] | undefined {
    return this.#few;
  }

  /** What was written so far, in order: the caller's own array. */
  get ops(): readonly MemoryOp[] {
    if (this.#few !== undefined) return this.#few.map((message) => ["+", message]);
    return this.#changes === undefined ? noOps : [...this.#changes.ops];
  }

  /** Ends writing: the activation is over. Reads go on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Ends the draft once its ops are applied or dropped: it shows the base from now on, and no write twice. */
  settle(): void {
    this.#isClosed = true;
    this.#few = undefined;
    this.#changes = undefined;
  }

  get size(): number {
    const changes = this.#changes;
    if (this.#few !== undefined) return this.#base.size + this.#few.length;
    return changes === undefined ? this.#base.size : changes.baseSize + changes.added.size;
  }

  add(message: Message): boolean {
    if (this.#isClosed) throw this.#late("add");
    assertMessage(message);
    const few = this.#few;
    // Nothing is below it, and nothing was written.
    if (this.#made === undefined && few === undefined && this.#changes === undefined && isNamed(message)) {
      this.#few = [message];
      return true;
    }
    const base = this.#made ?? this.#base;
    const count = few === undefined ? 0 : few.length;
    const isFull = base.limit !== undefined && base.size + count >= base.limit;
    if (this.#changes !== undefined || count >= FEW_MESSAGES || isFull) return this.#addToMany(message);
    if ((few !== undefined && isAmong(few, message, base.ignoreId)) || base.has(message)) return false;
    // A list that grows has room for many; most activations remember one or two.
    if (few === undefined) this.#few = [message];
    else if (count === 1) this.#few = [few[0] as Message, message];
    else few.push(message);
    return true;
  }

  #addToMany(message: Message): boolean {
    const changes = this.#write("add");
    if (this.has(message)) return false;
    changes.add(message);
    if (this.limit !== undefined && this.size > this.limit) changes.makeRoom();
    return true;
  }

  addBatch(messages: Iterable<Message>): number {
    if (this.#isClosed) throw this.#late("addBatch");
    let added = 0;
    for (const message of messages) if (this.add(message)) added++;
    return added;
  }

  has(target: Message | string): boolean {
    if (!isNamed(target)) assertMessage(target);
    if (this.#few === undefined && this.#changes === undefined)
      return (this.#made !== undefined || this.#isClosed || !isNamed(target)) && this.#base.has(target);
    if (this.#few !== undefined && typeof target !== "string") return isAmong(this.#few, target, this.ignoreId) || this.#base.has(target);
    const changes = this.#all;
    if (changes === undefined) return this.#base.has(target);
    const meant = meantIn(this, target);
    return meant !== undefined && changes.has(meant);
  }

  get(k = 0): Message[] {
    const changes = this.#all;
    if (changes === undefined) return this.#base.get(k);
    if (checkedCount(k) > 0) return newestOf(this, k);
    return this.#both((memory) => memory.get());
  }

  getByPosition(place: number): Message | undefined {
    const changes = this.#all;
    if (changes === undefined) return this.#base.getByPosition(place);
    const fromStart = place < 0 ? this.size + place : place;
    if (!Number.isInteger(place) || fromStart < 0) return undefined;
    const { baseSize } = changes;
    if (fromStart >= baseSize) return changes.added.getByPosition(fromStart - baseSize);
    if (!changes.hides) return this.#base.getByPosition(fromStart);
    if (place < 0) return newestOf(this, -place)[0];
    let left = fromStart;
    for (const message of this) if (left-- === 0) return message;
    return undefined;
  }

  getByRole(role: Message["role"]): Message[] {
    return this.#both((memory) => memory.getByRole(role));
  }

  getByContent(substring: string): Message[] {
    return containing(this, substring);
  }

  tryRemember(keyword: string): Message[] {
    return containing(this, keyword);
  }

  getByAction<P>(address: Address<P>): Message<P>[] {
    return this.#both((memory) => memory.getByAction(address));
  }

  getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[] {
    const all = [...addresses];
    return this.#both((memory) => memory.getByActions(all));
  }

  newestBy<P>(address: Address<P>): Message<P> | undefined {
    const changes = this.#all;
    if (changes === undefined) return this.#base.newestBy(address);
    const added = changes.added.newestBy(address);
    if (added !== undefined || changes.isCleared) return added;
    const newest = this.#base.newestBy(address);
    if (newest === undefined || changes.sees(newest)) return newest;
    return this.#base.getByAction(address).findLast((message) => changes.sees(message));
  }

  findNews(observed: Iterable<Message>, k = 0): Message[] {
    return newsIn(this, observed, k);
  }

  delete(target: Message | string): boolean {
    const changes = this.#write("delete");
    const meant = meantIn(this, meantMessage(target));
    return meant !== undefined && changes.forget(meant);
  }

  deleteNewest(): Message | undefined {
    return this.#write("deleteNewest").forgetNewest();
  }

  deleteOlderThan(timestampMs: number): number {
    const changes = this.#write("deleteOlderThan");
    const old = olderThan(this, timestampMs);
    for (const message of old) changes.forget(message);
    return old.length;
  }

  clear(): void {
    this.#write("clear");
    if (this.size > 0) this.#changes = new MemoryChanges(this.#base, true);
  }

  *[Symbol.iterator](): Generator<Message, void> {
    const changes = this.#all;
    if (changes?.isCleared !== true) {
      for (const message of this.#base) if (changes === undefined || changes.sees(message)) yield message;
    }
    if (changes !== undefined) yield* changes.added;
  }

  *newestFirst(): Generator<Message, void> {
    const changes = this.#all;
    if (changes !== undefined) yield* changes.added.newestFirst();
    if (changes?.isCleared === true) return;
    for (const message of this.#base.newestFirst()) if (changes === undefined || changes.sees(message)) yield message;
  }

  toJSON(): MemoryJson {
    return memoryJson(this);
  }

  get #base(): ReadableMemory {
    return (this.#made ??= (this.#holder as MemoryHolder).heldMemory);
  }

  #write(what: string): MemoryChanges {
    if (this.#isClosed) throw this.#late(what);
    return this.#all ?? (this.#changes = new MemoryChanges(this.#base, false));
  }

  #late(what: string): ContextClosedError {
    return new ContextClosedError(this.#by.act, `memory.${what}`);
  }

  /** What was written, to be asked for more than a few messages can tell. */
  get #all(): MemoryChanges | undefined {
    if (this.#few === undefined) return this.#changes;
    const changes = new MemoryChanges(this.#base, false);
    for (const message of this.#few) changes.add(message);
    this.#few = undefined;
    this.#changes = changes;
    return changes;
  }

  #both<P>(query: (memory: ReadableMemory) => Message<P>[]): Message<P>[] {
    const changes = this.#all;
    return changes === undefined ? query(this.#base) : changes.both(query);
  }
}

/** Most messages that are looked through one by one, while none of them makes room. */
const FEW_MESSAGES = 8;

/** Whether it can be remembered at all. What cannot is refused by the memory itself, whether anybody had asked for that before or not. */
function isNamed(target: Message | string): boolean {
  return typeof target === "string" || typeof (target as Message | null | undefined)?.id === "string";
}

function isAmong(few: readonly Message[], { id, content }: Message, ignoreId: boolean): boolean {
  for (let place = 0; place < few.length; place += 1) {
    const one = few[place] as Message;
    if (ignoreId ? one.content === content : one.id === id) return true;
  }
  return false;
}

const noOps: readonly MemoryOp[] = Object.freeze([]);
