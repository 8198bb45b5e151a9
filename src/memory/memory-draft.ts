import { ContextClosedError } from "../kernel/errors.ts";
import type { Address, PayloadOf } from "../message/address.ts";
import { assertMessage, type Message } from "../message/message.ts";
import { findNewsIn, identityIn, Memory, targetIn } from "./memory.ts";
import { checkedCount, containing, type MemoryJson, memoryJson, type MessageMemory, olderThan } from "./message-memory.ts";

/** One write to a memory: a message added, a message deleted by its identity (the id, or with `ignoreId` the content), or all deleted. */
export type MemoryOp = readonly ["+", Message] | readonly ["-", string] | readonly ["0"];

export function applyMemoryOp(memory: Memory, op: MemoryOp): void {
  if (op[0] === "+") memory.put(op[1]);
  else if (op[0] === "0") memory.clear();
  else memory.deleteByIdentity(op[1]);
}

/** Options of a {@link MemoryDraft}. */
export interface MemoryDraftOptions {
  /** Must not change after the first write of the draft. */
  readonly base: Memory;
  /** The activation that writes. An error of a late write names it. */
  readonly by: { readonly act: string };
}

/**
 * The view that one activation has of a memory: the base with the activation's own changes.
 *
 * Owns the uncommitted changes. The base is never changed here; the end of the activation applies `ops` to it or drops them.
 *
 * MemoryDraft.D1 (`ops`) applying `ops` to the base gives a memory that answers every query as the draft did. MemoryDraft.D2 (`#parts`) additions
 * stand beside the base; the first deletion or eviction copies it. MemoryDraft.D3 (`#late`) after `close` writes throw and reads continue; after
 * `settle` reads show the base.
 */
export class MemoryDraft implements MessageMemory {
  readonly ignoreId: boolean;
  readonly limit: number | undefined;
  readonly #base: Memory;
  readonly #by: MemoryDraftOptions["by"];
  #ops: MemoryOp[] = [];
  #added: Memory | undefined;
  /** All messages, after the first deletion. */
  #copy: Memory | undefined;
  #isClosed = false;

  constructor({ base, by }: MemoryDraftOptions) {
    this.#base = base;
    this.#by = by;
    this.ignoreId = base.ignoreId;
    this.limit = base.limit;
  }

  /** The operations so far, in a new array. */
  get ops(): readonly MemoryOp[] {
    return [...this.#ops];
  }

  /** Ends writing, because the activation is over. */
  close(): void {
    this.#isClosed = true;
  }

  /** Ends the draft after its operations were applied or dropped. */
  settle(): void {
    this.#isClosed = true;
    this.#ops = [];
    this.#added = undefined;
    this.#copy = undefined;
  }

  get size(): number {
    return this.#copy?.size ?? this.#base.size + (this.#added?.size ?? 0);
  }

  add(message: Message): boolean {
    if (!this.#isClosed) assertMessage(message);
    return this.put(message);
  }

  /** Adds a message of the runtime, without a check. @internal */
  put(message: Message): boolean {
    if (this.#isClosed) throw this.#late("add");
    if (this.#copy === undefined && this.#base.holds(message)) return false;
    if (this.limit !== undefined && this.size >= this.limit) this.#copied();
    // Without options there is nothing to check.
    const target = this.#copy ?? (this.#added ??= this.ignoreId ? new Memory({ ignoreId: true }) : new Memory());
    if (!target.put(message)) return false;
    this.#ops.push(["+", message]);
    return true;
  }

  addBatch(messages: Iterable<Message>): number {
    if (this.#isClosed) throw this.#late("addBatch");
    let added = 0;
    for (const message of messages) if (this.add(message)) added++;
    return added;
  }

  has(target: Message | string): boolean {
    const identity = targetIn(this, target);
    return identity !== undefined && this.#held(identity) !== undefined;
  }

  get(k = 0): Message[] {
    if (checkedCount(k) === 0) return this.#parts.flatMap((part) => part.get());
    const newest = this.#parts.at(-1)?.get(k) ?? [];
    const left = k - newest.length;
    return left > 0 && this.#parts.length > 1 ? [...this.#base.get(left), ...newest] : newest;
  }

  getByPosition(index: number): Message | undefined {
    const fromStart = index < 0 ? this.size + index : index;
    const [first = this.#base, second] = this.#parts;
    if (fromStart < 0) return undefined;
    return second !== undefined && fromStart >= first.size ? second.getByPosition(fromStart - first.size) : first.getByPosition(fromStart);
  }

  getByRole(role: Message["role"]): Message[] {
    return this.#parts.flatMap((part) => part.getByRole(role));
  }

  getByContent(substring: string): Message[] {
    return containing(this, substring);
  }

  tryRemember(keyword: string): Message[] {
    return containing(this, keyword);
  }

  getByAction<P>(address: Address<P>): Message<P>[] {
    return this.#parts.flatMap((part) => part.getByAction(address));
  }

  getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[] {
    const all = [...addresses];
    return this.#parts.flatMap((part) => part.getByActions(all));
  }

  newestBy<P>(address: Address<P>): Message<P> | undefined {
    return (this.#copy ?? this.#added)?.newestBy(address) ?? (this.#copy === undefined ? this.#base.newestBy(address) : undefined);
  }

  findNews(observed: Iterable<Message>, k = 0): Message[] {
    return findNewsIn(this, observed, k);
  }

  delete(target: Message | string): boolean {
    if (this.#isClosed) throw this.#late("delete");
    const identity = targetIn(this, target);
    const message = identity === undefined ? undefined : this.#held(identity);
    if (message !== undefined) this.#delete(message);
    return message !== undefined;
  }

  deleteNewest(): Message | undefined {
    if (this.#isClosed) throw this.#late("deleteNewest");
    const newest = this.getByPosition(-1);
    if (newest !== undefined) this.#delete(newest);
    return newest;
  }

  deleteOlderThan(timestampMs: number): number {
    if (this.#isClosed) throw this.#late("deleteOlderThan");
    const old = olderThan(this, timestampMs);
    for (const message of old) this.#delete(message);
    return old.length;
  }

  clear(): void {
    if (this.#isClosed) throw this.#late("clear");
    if (this.size === 0) return;
    this.#ops = [["0"]];
    this.#copy = new Memory({ ignoreId: this.ignoreId, limit: this.limit });
  }

  *[Symbol.iterator](): Generator<Message, void> {
    for (const part of this.#parts) yield* part;
  }

  *newestFirst(): Generator<Message, void> {
    for (const part of this.#parts.toReversed()) yield* part.newestFirst();
  }

  toJSON(): MemoryJson {
    return memoryJson(this);
  }

  /** Memories that together have all messages, the oldest first. */
  get #parts(): readonly Memory[] {
    if (this.#copy !== undefined) return [this.#copy];
    return this.#added === undefined ? [this.#base] : [this.#base, this.#added];
  }

  #late(method: string): ContextClosedError {
    return new ContextClosedError(this.#by.act, `memory.${method}`);
  }

  #held(identity: string): Message | undefined {
    return this.#copy === undefined ? (this.#added?.held(identity) ?? this.#base.held(identity)) : this.#copy.held(identity);
  }

  #copied(): Memory {
    if (this.#copy !== undefined) return this.#copy;
    const copy = new Memory({ ignoreId: this.ignoreId, limit: this.limit });
    for (const message of this) copy.put(message, true);
    return (this.#copy = copy);
  }

  #delete(message: Message): void {
    const identity = identityIn(this.#base, message);
    this.#copied().deleteByIdentity(identity);
    this.#ops.push(["-", identity]);
  }
}
