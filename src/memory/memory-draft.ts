import { ContextClosedError } from "../kernel/errors.ts";
import type { Address, PayloadOf } from "../message/address.ts";
import { assertMessage, isMessage, createMessage, checkedTarget, type Message } from "../message/message.ts";
import { findNewsIn, identityIn, Memory, resolveTarget } from "./memory.ts";
import {
  checkedCount,
  containing,
  type MemoryJson,
  memoryJson,
  type MessageMemory,
  newestOf,
  olderThan,
  type ReadableMemory,
} from "./message-memory.ts";

/** One write to a memory: a message added, a message deleted by its identity (the id, or with `ignoreId` the content), or all deleted. */
export type MemoryOp = readonly ["+", Message] | readonly ["-", string] | readonly ["0"];

/** Applies the operations of a draft to its base. */
export function applyMemoryOps(memory: Memory, ops: readonly MemoryOp[]): void {
  for (const op of ops) applyMemoryOp(memory, op);
}

export function applyMemoryOp(memory: Memory, op: MemoryOp): void {
  if (op[0] === "+") memory.put(op[1]);
  else if (op[0] === "0") memory.clear();
  else memory.delete(memory.ignoreId ? createMessage(op[1], { id: "forgotten", timestamp: 0 }) : op[1]);
}

/** Options of a {@link MemoryDraft}. */
export interface MemoryDraftOptions {
  /** Must not change while the draft is open. */
  readonly base: Memory;
  /** The activation that writes. Its name is read for the error of a late write. */
  readonly by: { readonly act: string };
}

interface DraftChanges {
  readonly ops: MemoryOp[];
  /** All messages of the base are deleted. */
  readonly isCleared: boolean;
  /** Added and not deleted. */
  readonly added: Memory;
  /** Identities of messages of the base that were deleted one by one or evicted. */
  hidden: Set<string> | undefined;
  /** Iterators that find the next message of the base to hide. They never go back, because the messages they passed are hidden. */
  oldest?: Iterator<Message>;
  newest?: Iterator<Message>;
}

/**
 * The view that one activation has of a memory: the base with the messages that the activation has added and deleted.
 *
 * Owns the uncommitted changes. The base is never changed or copied; the end of the activation applies `ops` to it or drops them.
 *
 * MemoryDraft.D1 (`ops`) applying `ops` to the base gives a memory that answers every query as the draft did. MemoryDraft.D2 (`#changes`) nothing is
 * made before the first write, and a write or query costs no more than on the base, except for deleted messages it passes. MemoryDraft.D3
 * (`#write`) after `close` writes throw and reads go on; after `settle` reads show the base.
 */
export class MemoryDraft implements MessageMemory {
  readonly #base: Memory;
  readonly #by: MemoryDraftOptions["by"];
  #changes: DraftChanges | undefined;
  /** The identity that the base was last found not to have: what is new is asked for twice. */
  #absent: string | undefined;
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
    this.#absent = undefined;
  }

  get size(): number {
    return this.#baseSize + (this.#changes?.added.size ?? 0);
  }

  add(message: Message): boolean {
    if (!this.#isClosed && !isMessage(message)) assertMessage(message);
    return this.put(message);
  }

  /** Adds a message of the runtime, which is not checked again. @internal */
  put(message: Message): boolean {
    const changes = this.#changes === undefined || this.#isClosed ? this.#write("add") : this.#changes;
    if (this.#isOfBase(this.#base.ignoreId ? message.content : message.id) || !changes.added.put(message)) return false;
    changes.ops.push(["+", message]);
    if (this.#base.limit !== undefined && this.size > this.#base.limit) this.#evictOldest(changes);
    return true;
  }

  addBatch(messages: Iterable<Message>): number {
    this.#write("addBatch");
    let added = 0;
    for (const message of messages) if (this.add(message)) added++;
    return added;
  }

  has(target: Message | string): boolean {
    if (typeof target !== "string" && !isMessage(target)) assertMessage(target);
    const known = typeof target === "string" ? resolveTarget(this, target) : target;
    if (known === undefined) return false;
    const identity = typeof known === "string" ? known : this.#base.ignoreId ? known.content : known.id;
    return this.#changes?.added.holds(identity) === true || this.#isOfBase(identity);
  }

  get(k = 0): Message[] {
    if (this.#changes === undefined) return this.#base.get(k);
    return k === 0 ? [...this] : newestOf(this, checkedCount(k));
  }

  getByPosition(place: number): Message | undefined {
    const changes = this.#changes;
    if (changes === undefined) return this.#base.getByPosition(place);
    const fromStart = place < 0 ? this.size + place : place;
    if (!Number.isInteger(place) || fromStart < 0) return undefined;
    if (fromStart >= this.#baseSize) return changes.added.getByPosition(fromStart - this.#baseSize);
    if (changes.hidden === undefined) return this.#base.getByPosition(fromStart);
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
    const added = this.#changes?.added.newestBy(address);
    if (added !== undefined || this.#changes?.isCleared === true) return added;
    const newest = this.#base.newestBy(address);
    if (newest === undefined || !this.#isHidden(newest)) return newest;
    return this.#base.getByAction(address).findLast((message) => !this.#isHidden(message));
  }

  findNews(observed: Iterable<Message>, k = 0): Message[] {
    return findNewsIn(this, observed, k);
  }

  delete(target: Message | string): boolean {
    const changes = this.#write("delete");
    const known = resolveTarget(this, checkedTarget(target));
    return known !== undefined && this.#delete(changes, known);
  }

  deleteNewest(): Message | undefined {
    const changes = this.#write("deleteNewest");
    const newest = changes.added.getByPosition(-1) ?? this.#nextOfBase((changes.newest ??= this.#base.newestFirst()));
    if (newest !== undefined) this.#delete(changes, newest);
    return newest;
  }

  deleteOlderThan(timestampMs: number): number {
    const changes = this.#write("deleteOlderThan");
    const old = olderThan(this, timestampMs);
    for (const message of old) this.#delete(changes, message);
    return old.length;
  }

  clear(): void {
    this.#write("clear");
    if (this.size > 0)
      this.#changes = { ops: [["0"]], isCleared: true, added: new Memory({ ignoreId: this.#base.ignoreId }), hidden: undefined };
  }

  *[Symbol.iterator](): Generator<Message, void> {
    const changes = this.#changes;
    if (changes?.isCleared !== true) {
      for (const message of this.#base) if (!this.#isHidden(message)) yield message;
    }
    if (changes !== undefined) yield* changes.added;
  }

  *newestFirst(): Generator<Message, void> {
    const changes = this.#changes;
    if (changes !== undefined) yield* changes.added.newestFirst();
    if (changes?.isCleared === true) return;
    for (const message of this.#base.newestFirst()) if (!this.#isHidden(message)) yield message;
  }

  toJSON(): MemoryJson {
    return memoryJson(this);
  }

  /** Returns the changes, and makes them if there are none. @throws ContextClosedError after `close` */
  #write(method: string): DraftChanges {
    if (this.#isClosed) throw new ContextClosedError(this.#by.act, `memory.${method}`);
    const added = this.#base.ignoreId ? new Memory({ ignoreId: true }) : new Memory();
    return (this.#changes ??= { ops: [], isCleared: false, added, hidden: undefined });
  }

  /** Number of messages of the base that are not deleted. */
  get #baseSize(): number {
    return this.#changes?.isCleared === true ? 0 : this.#base.size - (this.#changes?.hidden?.size ?? 0);
  }

  #isHidden(message: Message): boolean {
    return this.#changes?.hidden?.has(identityIn(this.#base, message)) === true;
  }

  #isOfBase(identity: string): boolean {
    if (identity === this.#absent) return false;
    if (this.#base.holds(identity)) return this.#changes?.isCleared !== true && this.#changes?.hidden?.has(identity) !== true;
    this.#absent = identity;
    return false;
  }

  #identityOf(target: Message | string): string {
    return typeof target === "string" ? target : this.#base.ignoreId ? target.content : target.id;
  }

  /** Joins the answers of the base and of the added messages. */
  #query<P>(query: (memory: ReadableMemory) => Message<P>[]): Message<P>[] {
    if (this.#changes === undefined) return query(this.#base);
    const { added, isCleared } = this.#changes;
    return isCleared ? query(added) : [...query(this.#base).filter((message) => !this.#isHidden(message)), ...query(added)];
  }

  #delete(changes: DraftChanges, target: Message | string): boolean {
    const { added, ops } = changes;
    const identity = this.#identityOf(target);
    if (!added.delete(target)) {
      if (!this.#isOfBase(identity)) return false;
      (changes.hidden ??= new Set()).add(identity);
    }
    ops.push(["-", identity]);
    return true;
  }

  /** The base evicts the message too when the operations are applied, so this is no operation. */
  #evictOldest(changes: DraftChanges): void {
    const oldest = this.#nextOfBase((changes.oldest ??= this.#base[Symbol.iterator]()));
    if (oldest === undefined) changes.added.delete(changes.added.getByPosition(0) as Message);
    else (changes.hidden ??= new Set()).add(identityIn(this.#base, oldest));
  }

  /** Returns the next message of the base that is not hidden. The caller hides it. */
  #nextOfBase(iterator: Iterator<Message>): Message | undefined {
    if (this.#baseSize === 0) return undefined;
    for (let step = iterator.next(); step.done !== true; step = iterator.next()) if (!this.#isHidden(step.value)) return step.value;
    return undefined;
  }
}
