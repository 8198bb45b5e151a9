import { ContextClosedError } from "../kernel/errors.ts";
import type { Address, PayloadOf } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import { Memory } from "./memory.ts";
import { checkedCount, MessageMemory } from "./message-memory.ts";

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
 * stand beside the base; the first deletion or eviction copies it. MemoryDraft.D3 (`#assertOpen`) after `close` writes throw and reads continue; after
 * `settle` reads show the base.
 */
export class MemoryDraft extends MessageMemory {
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
    super();
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

  /** Adds a message of the runtime, without a check. @internal */
  put(message: Message): boolean {
    if (this.#isClosed) this.#assertOpen("add");
    if (this.#copy === undefined && this.#base.held(this.identityOf(message)) !== undefined) return false;
    if (this.limit !== undefined && this.size >= this.limit) this.#copied();
    // Without options there is nothing to check.
    const target = this.#copy ?? (this.#added ??= this.ignoreId ? new Memory({ ignoreId: true }) : new Memory());
    if (!target.put(message)) return false;
    this.#ops.push(["+", message]);
    return true;
  }

  override addBatch(messages: Iterable<Message>): number {
    this.#assertOpen("addBatch");
    return super.addBatch(messages);
  }

  held(identity: string): Message | undefined {
    return this.#copy === undefined ? (this.#added?.held(identity) ?? this.#base.held(identity)) : this.#copy.held(identity);
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

  override delete(target: Message | string): boolean {
    this.#assertOpen("delete");
    return super.delete(target);
  }

  override deleteNewest(): Message | undefined {
    this.#assertOpen("deleteNewest");
    return super.deleteNewest();
  }

  override deleteOlderThan(timestampMs: number): number {
    this.#assertOpen("deleteOlderThan");
    return super.deleteOlderThan(timestampMs);
  }

  deleteByIdentity(identity: string): boolean {
    this.#ops.push(["-", identity]);
    return this.#copied().deleteByIdentity(identity);
  }

  clear(): void {
    this.#assertOpen("clear");
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

  /** Memories that together have all messages, the oldest first. */
  get #parts(): readonly Memory[] {
    if (this.#copy !== undefined) return [this.#copy];
    return this.#added === undefined ? [this.#base] : [this.#base, this.#added];
  }

  #assertOpen(method: string): void {
    if (this.#isClosed) throw new ContextClosedError(this.#by.act, `memory.${method}`);
  }

  #copied(): Memory {
    if (this.#copy !== undefined) return this.#copy;
    const copy = new Memory({ ignoreId: this.ignoreId, limit: this.limit });
    for (const message of this) copy.put(message, true);
    return (this.#copy = copy);
  }
}
