import type { Message } from "../message/message.ts";
import { Memory } from "./memory.ts";
import type { MemoryOp } from "./memory-op.ts";
import type { ReadableMemory } from "./message-memory.ts";
import { identityIn } from "./recall.ts";

/**
 * What one activation did to a memory: what it added, and what it hides of the base, which is never touched.
 *
 * Owns its operations and the walks over the base that look for what to hide next. D2 a walk never goes back, for what it passed is hidden.
 */
export class MemoryChanges {
  readonly ops: MemoryOp[];
  /** The base is forgotten altogether. */
  readonly isCleared: boolean;
  /** What was added and is still remembered. */
  readonly added: Memory;
  readonly #base: ReadableMemory;
  /** Identities of messages of the base that are forgotten one by one or made room. */
  readonly #hidden = new Set<string>();
  #oldest: Iterator<Message> | undefined;
  #newest: Iterator<Message> | undefined;

  /** Nothing yet, or that the base is forgotten. */
  constructor(base: ReadableMemory, isCleared: boolean) {
    this.#base = base;
    this.isCleared = isCleared;
    this.ops = isCleared ? [["0"]] : [];
    this.added = new Memory({ ignoreId: base.ignoreId });
  }

  /** How many are left of the base. */
  get baseSize(): number {
    return this.isCleared ? 0 : this.#base.size - this.#hidden.size;
  }

  /** Whether messages of the base are hidden one by one. */
  get hides(): boolean {
    return this.#hidden.size > 0;
  }

  /** Whether a message of the base is left. */
  sees(message: Message): boolean {
    return !this.#hidden.has(identityIn(this.#base, message));
  }

  has(meant: Message | string): boolean {
    return this.added.has(meant) || this.#baseHas(meant, this.#identityOf(meant));
  }

  /** Adds a message that neither the base nor this has. */
  add(message: Message): void {
    this.added.add(message);
    this.ops.push(["+", message]);
  }

  /** False, and nothing changes, when it is not there. */
  forget(meant: Message | string): boolean {
    const identity = this.#identityOf(meant);
    if (!this.added.delete(meant)) {
      if (!this.#baseHas(meant, identity)) return false;
      this.#hidden.add(identity);
    }
    this.ops.push(["-", identity]);
    return true;
  }

  /** What the limit does to the base when the ops are applied, so it is no op of its own. */
  makeRoom(): void {
    const oldest = this.#next((this.#oldest ??= this.#base[Symbol.iterator]()));
    if (oldest === undefined) this.added.delete(this.added.getByPosition(0) as Message);
    else this.#hidden.add(identityIn(this.#base, oldest));
  }

  forgetNewest(): Message | undefined {
    const newest = this.added.getByPosition(-1) ?? this.#next((this.#newest ??= this.#base.newestFirst()));
    if (newest !== undefined) this.forget(newest);
    return newest;
  }

  /** What a question finds in the base, as far as it is left, and in what was added. */
  both<P>(query: (memory: ReadableMemory) => Message<P>[]): Message<P>[] {
    const added = query(this.added);
    if (this.isCleared) return added;
    const before = query(this.#base);
    return [...(this.hides ? before.filter((message) => this.sees(message)) : before), ...added];
  }

  #identityOf(meant: Message | string): string {
    return typeof meant === "string" ? meant : identityIn(this.#base, meant);
  }

  #baseHas(meant: Message | string, identity: string): boolean {
    return !this.isCleared && !this.#hidden.has(identity) && this.#base.has(meant);
  }

  /** The next message of the base that is left. The caller hides it. */
  #next(walk: Iterator<Message>): Message | undefined {
    if (this.baseSize === 0) return undefined;
    for (let step = walk.next(); step.done !== true; step = walk.next()) if (this.sees(step.value)) return step.value;
    return undefined;
  }
}
