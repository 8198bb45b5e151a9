import { ContextClosedError } from "../kernel/errors.ts";
import type { Address, PayloadOf } from "../message/address.ts";
import { assertMessage, createMessage, meantMessage, type Message } from "../message/message.ts";
import { Memory } from "./memory.ts";
import { checkedCount, containing, findNewsIn, identityIn, memoryJson, newestOf, olderThan, resolveTarget } from "./memory-queries.ts";
import type { MemoryJson, MessageMemory, ReadableMemory } from "./message-memory.ts";

/** One write to a memory: a message added, a message deleted by its identity (the id, or with `ignoreId` the content), or all deleted. */
export type MemoryOp = readonly ["+", Message] | readonly ["-", string] | readonly ["0"];

/** Applies the operations of a draft to its base. */
export function applyMemoryOps(memory: MessageMemory, ops: readonly MemoryOp[]): void {
  for (const op of ops) applyMemoryOp(memory, op);
}

export function applyMemoryOp(memory: MessageMemory, op: MemoryOp): void {
  if (op[0] === "+") memory.add(op[1]);
  else if (op[0] === "0") memory.clear();
  else memory.delete(memory.ignoreId ? createMessage(op[1], { id: "forgotten", timestamp: 0 }) : op[1]);
}

/** Options of a {@link MemoryDraft}. */
export interface MemoryDraftOptions {
  /** Must not change while the draft is open. */
  readonly base: ReadableMemory;
  /** The activation that writes. Its name is read for the error of a late write. */
  readonly by: { readonly act: string };
}

/**
 * The view that one activation has of a memory: the base with the messages that the activation has added and deleted.
 *
 * Owns the uncommitted changes. The base is never changed or copied; the end of the activation applies `ops` to it or drops them.
 *
 * MemoryDraft.D1 (`ops`) applying `ops` to the base gives a memory that answers every query as the draft did. MemoryDraft.D2 (`#changes`) nothing is
 * made before the first write, and a write or query costs no more than on the base, except for deleted messages it passes. MemoryDraft.D3
 * (`#assertOpen`) after `close` writes throw and reads go on; after `settle` reads show the base.
 */
export class MemoryDraft implements MessageMemory {
  readonly #base: ReadableMemory;
  readonly #by: MemoryDraftOptions["by"];
  #changes: MemoryChanges | undefined;
  #isClosed = false;

  constructor({ base, by }: MemoryDraftOptions) {
    this.#base = base;
    this.#by = by;
  }

  get ignoreId(): boolean {
    return this.#base.ignoreId;
  }

  get limit(): number | undefined {
    return this.#base.limit;
  }

  /** The operations so far, in a new array. */
  get ops(): readonly MemoryOp[] {
    return this.#changes === undefined ? [] : [...this.#changes.ops];
  }

  /** Ends writing, because the activation is over. */
  close(): void {
    this.#isClosed = true;
  }

  /** Ends the draft after its operations were applied or dropped. */
  settle(): void {
    this.#isClosed = true;
    this.#changes = undefined;
  }

  get size(): number {
    const changes = this.#changes;
    return changes === undefined ? this.#base.size : changes.baseSize + changes.added.size;
  }

  add(message: Message): boolean {
    this.#assertOpen("add");
    assertMessage(message);
    if (this.has(message)) return false;
    const changes = this.#write("add");
    changes.add(message);
    if (this.limit !== undefined && this.size > this.limit) changes.evictOldest();
    return true;
  }

  addBatch(messages: Iterable<Message>): number {
    this.#assertOpen("addBatch");
    let added = 0;
    for (const message of messages) if (this.add(message)) added++;
    return added;
  }

  has(target: Message | string): boolean {
    if (typeof target !== "string") assertMessage(target);
    const changes = this.#changes;
    if (changes === undefined) return this.#base.has(target);
    const known = resolveTarget(this, target);
    return known !== undefined && changes.has(known);
  }

  get(k = 0): Message[] {
    if (this.#changes === undefined) return this.#base.get(k);
    if (checkedCount(k) > 0) return newestOf(this, k);
    return this.#query((memory) => memory.get());
  }

  getByPosition(place: number): Message | undefined {
    const changes = this.#changes;
    if (changes === undefined) return this.#base.getByPosition(place);
    const fromStart = place < 0 ? this.size + place : place;
    if (!Number.isInteger(place) || fromStart < 0) return undefined;
    const { baseSize } = changes;
    if (fromStart >= baseSize) return changes.added.getByPosition(fromStart - baseSize);
    if (!changes.hasHidden) return this.#base.getByPosition(fromStart);
    if (place < 0) return newestOf(this, -place)[0];
    let left = fromStart;
    for (const message of this) if (left-- === 0) return message;
    return undefined;
  }

  getByRole(role: Message["role"]): Message[] {
    return this.#query((memory) => memory.getByRole(role));
  }

  getByContent(substring: string): Message[] {
    return containing(this, substring);
  }

  tryRemember(keyword: string): Message[] {
    return containing(this, keyword);
  }

  getByAction<P>(address: Address<P>): Message<P>[] {
    return this.#query((memory) => memory.getByAction(address));
  }

  getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[] {
    const all = [...addresses];
    return this.#query((memory) => memory.getByActions(all));
  }

  newestBy<P>(address: Address<P>): Message<P> | undefined {
    const changes = this.#changes;
    if (changes === undefined) return this.#base.newestBy(address);
    const added = changes.added.newestBy(address);
    if (added !== undefined || changes.isCleared) return added;
    const newest = this.#base.newestBy(address);
    if (newest === undefined || !changes.isHidden(newest)) return newest;
    return this.#base.getByAction(address).findLast((message) => !changes.isHidden(message));
  }

  findNews(observed: Iterable<Message>, k = 0): Message[] {
    return findNewsIn(this, observed, k);
  }

  delete(target: Message | string): boolean {
    const changes = this.#write("delete");
    const known = resolveTarget(this, meantMessage(target));
    return known !== undefined && changes.delete(known);
  }

  deleteNewest(): Message | undefined {
    return this.#write("deleteNewest").deleteNewest();
  }

  deleteOlderThan(timestampMs: number): number {
    const changes = this.#write("deleteOlderThan");
    const old = olderThan(this, timestampMs);
    for (const message of old) changes.delete(message);
    return old.length;
  }

  clear(): void {
    this.#write("clear");
    if (this.size > 0) this.#changes = new MemoryChanges(this.#base, true);
  }

  *[Symbol.iterator](): Generator<Message, void> {
    const changes = this.#changes;
    if (changes?.isCleared !== true) {
      for (const message of this.#base) if (changes?.isHidden(message) !== true) yield message;
    }
    if (changes !== undefined) yield* changes.added;
  }

  *newestFirst(): Generator<Message, void> {
    const changes = this.#changes;
    if (changes !== undefined) yield* changes.added.newestFirst();
    if (changes?.isCleared === true) return;
    for (const message of this.#base.newestFirst()) if (changes?.isHidden(message) !== true) yield message;
  }

  toJSON(): MemoryJson {
    return memoryJson(this);
  }

  #assertOpen(method: string): void {
    if (this.#isClosed) throw new ContextClosedError(this.#by.act, `memory.${method}`);
  }

  #write(method: string): MemoryChanges {
    this.#assertOpen(method);
    return (this.#changes ??= new MemoryChanges(this.#base, false));
  }

  #query<P>(query: (memory: ReadableMemory) => Message<P>[]): Message<P>[] {
    return this.#changes === undefined ? query(this.#base) : this.#changes.query(query);
  }
}

/** The changes of a draft: the operations, the added messages, and the messages of the base that are hidden. */
class MemoryChanges {
  readonly ops: MemoryOp[];
  /** All messages of the base are deleted. */
  readonly isCleared: boolean;
  /** Added and not deleted. */
  readonly added: Memory;
  readonly #base: ReadableMemory;
  /** Identities of messages of the base that were deleted one by one or evicted. */
  readonly #hidden = new Set<string>();
  /** Iterators that find the next message to hide. They never go back, because the messages they passed are hidden. */
  #oldest: Iterator<Message> | undefined;
  #newest: Iterator<Message> | undefined;

  constructor(base: ReadableMemory, isCleared: boolean) {
    this.#base = base;
    this.isCleared = isCleared;
    this.ops = isCleared ? [["0"]] : [];
    this.added = new Memory({ ignoreId: base.ignoreId });
  }

  get baseSize(): number {
    return this.isCleared ? 0 : this.#base.size - this.#hidden.size;
  }

  get hasHidden(): boolean {
    return this.#hidden.size > 0;
  }

  isHidden(message: Message): boolean {
    return this.#hidden.has(identityIn(this.#base, message));
  }

  has(target: Message | string): boolean {
    return this.added.has(target) || this.#baseHas(target);
  }

  /** Adds a message that neither the base nor this holds. */
  add(message: Message): void {
    this.added.add(message);
    this.ops.push(["+", message]);
  }

  delete(target: Message | string): boolean {
    const isOfBase = !this.added.delete(target);
    if (isOfBase && !this.#baseHas(target)) return false;
    const identity = this.#identityOf(target);
    if (isOfBase) this.#hidden.add(identity);
    this.ops.push(["-", identity]);
    return true;
  }

  /** The base evicts the message too when the operations are applied, so this is no operation. */
  evictOldest(): void {
    const oldest = this.#nextOfBase((this.#oldest ??= this.#base[Symbol.iterator]()));
    if (oldest === undefined) this.added.delete(this.added.getByPosition(0) as Message);
    else this.#hidden.add(identityIn(this.#base, oldest));
  }

  deleteNewest(): Message | undefined {
    const newest = this.added.getByPosition(-1) ?? this.#nextOfBase((this.#newest ??= this.#base.newestFirst()));
    if (newest !== undefined) this.delete(newest);
    return newest;
  }

  /** Joins the answers of the base and of the added messages. */
  query<P>(query: (memory: ReadableMemory) => Message<P>[]): Message<P>[] {
    const added = query(this.added);
    if (this.isCleared) return added;
    return [...query(this.#base).filter((message) => !this.isHidden(message)), ...added];
  }

  #identityOf(target: Message | string): string {
    return typeof target === "string" ? target : identityIn(this.#base, target);
  }

  #baseHas(target: Message | string): boolean {
    return !this.isCleared && !this.#hidden.has(this.#identityOf(target)) && this.#base.has(target);
  }

  /** The next message of the base that is not hidden. The caller hides it. */
  #nextOfBase(iterator: Iterator<Message>): Message | undefined {
    if (this.baseSize === 0) return undefined;
    for (let step = iterator.next(); step.done !== true; step = iterator.next()) if (!this.isHidden(step.value)) return step.value;
    return undefined;
  }
}
