import { withTimeout } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Message } from "../message/message.ts";
import type { Embedder } from "./embedder.ts";
import type { Scope } from "../kernel/scope.ts";
import { inMemoryStore, type MessageStore } from "./message-store.ts";
import type { MemoryOp } from "./memory-draft.ts";
import { MemoryStorage, type RankedMessage } from "./memory-storage.ts";
import type { RoleMemoryParts } from "./role-memory.ts";
import { repeatsOf, wordsOf } from "./text-terms.ts";
import { WriteBehind } from "./write-behind.ts";

export interface KeptMemoryOptions {
  readonly parts: RoleMemoryParts;
  readonly role: string;
  /** Whose memory of the role it is. Default: one for everybody. */
  readonly scope?: Scope;
  readonly runId: string;
  /** Returns true when this run was forked from another, directly or indirectly. */
  readonly isAncestor: (runId: string) => boolean;
  readonly clock: Clock;
  /** Called when a change could not be stored. The next change or `saved` tries again. */
  readonly onError: (error: unknown) => void;
}

export interface KeptSearch {
  /** The questions: a message that repeats one is no answer. */
  readonly asked: readonly string[];
  readonly besides: ReadonlySet<string>;
  /** Contents to leave out, also when another message repeats them. */
  readonly known: readonly string[];
  /** The stepped embedder of the role; undefined if it has none. */
  readonly embedder: Embedder | undefined;
  readonly signal: AbortSignal;
}

export interface KeptMessage extends RankedMessage {
  /** It belongs to this run, or to one that this was forked from. */
  readonly isOwn: boolean;
}

interface Given {
  readonly message: Message;
  readonly storedBy: string;
}

/** Limit on the changes that wait for a slow or failing store. */
const MAX_UNSAVED = 10_000;
/** The factor by which a search requests more hits, because repeated contents are left out. */
const DEPTH = 25;
/** Limit on the characters that stay in memory between two turns of a run. */
const MAX_HELD = 2_000_000;
/** Timeout of the store in milliseconds. */
const TIMEOUT = 30_000;

/**
 * The messages of one role of one run that are stored beyond the run. Owns the changes that wait, and the messages that the record of the run
 * gave the role; the storage owns the stored ones.
 *
 * KeptMemory.K1 (`learn`) only committed changes arrive, in the order of the record. KeptMemory.K2 (`learn`) a resumed run repeats its whole record,
 * which stores nothing twice, and nothing that was deleted from the store since. KeptMemory.K3 (`#isGiven`) of its own run and the runs it was
 * forked from, a search finds only messages of its own record: a run never finds another future of itself. KeptMemory.K4 (`#takeInherited`) it
 * writes under its own run only; what a fork deletes stays in its parent. KeptMemory.K5 (`WriteBehind.#drain`) a change waits until it is stored.
 * KeptMemory.K6 (`search`) vectors are computed by searches only, through the embedder of the search.
 */
export class KeptMemory {
  #o: KeptMemoryOptions;
  readonly #store: MessageStore;
  readonly #known = new Map<string, Given>();
  readonly #queue: WriteBehind;
  #opened: MemoryStorage | undefined;
  #knowsInherited = false;

  constructor(o: KeptMemoryOptions) {
    this.#o = o;
    this.#store = o.parts.store ?? inMemoryStore();
    this.#queue = new WriteBehind(
      (changes) => this.#withinLimit("to be stored", () => this.#storage.change(changes, { isRecorded: true })),
      MAX_UNSAVED,
      (error) => this.#o.onError(error),
    );
  }

  get unsaved(): number {
    return this.#queue.size;
  }

  /** Adds recorded changes. `livedBy`: this run, or the one it was forked from, which stores its own changes. */
  learn(ops: readonly MemoryOp[], livedBy: string): void {
    for (const op of ops) {
      if (op[0] === "+") this.#add(op[1], livedBy);
      else for (const id of op[0] === "-" ? [op[1]] : [...this.#known.keys()]) this.#forget(id, livedBy);
    }
  }

  async ready(): Promise<void> {
    // A counter may load its data with the first text. That must not change the order of an activation's questions.
    await this.#o.parts.tokens.count("");
    if (this.#queue.isFull) await this.saved();
    this.#queue.assertRoom();
  }

  /** Resolves when all earlier changes are stored. @throws the error of the store, TimeoutError; the changes stay in the queue */
  async saved(): Promise<void> {
    try {
      await this.#queue.flush();
    } catch (error) {
      this.#o.onError(error);
      throw error;
    }
  }

  /**
   * Returns the messages that answer a question best, best first, then the neighbours of each. Messages that repeat the question are left out; of
   * messages with the same words the newest is returned.
   *
   * @throws MemoryError, ControlError, any error of the store
   */
  async search(question: string, { asked, besides, known, embedder, signal }: KeptSearch): Promise<KeptMessage[]> {
    await this.#takeInherited();
    await this.saved();
    const { k } = this.#o.parts;
    const repeats = repeatsOf(asked);
    const filter = (message: Message, runId: string): boolean =>
      (!this.#isOwn(runId) || (this.#isGiven(message, runId) && !besides.has(message.id))) && !repeats(message.content);
    const found = await this.#storage.search(question, { filter, embedder, signal, k: k * DEPTH });
    const seen = new Set(known.map(wordsOf));
    return this.#withNeighbours(this.#withoutRepeats(found, seen).slice(0, k), seen, filter);
  }

  /** Continues in another environment of the same run. */
  continue(o: Pick<KeptMemoryOptions, "isAncestor" | "onError">): void {
    this.#o = { ...this.#o, ...o };
  }

  /** Closes the store until it is needed again. What was read of it stays, as far as that is not much. @throws TimeoutError */
  async close(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    const isSmall = opened.held <= MAX_HELD;
    if (!isSmall) this.#opened = undefined;
    await this.#withinLimit("to be released", () => (isSmall ? this.#store.close() : opened.close()));
  }

  get held(): number {
    return this.#opened?.held ?? 0;
  }

  #isOwn(runId: string): boolean {
    return runId === this.#o.runId || this.#o.isAncestor(runId);
  }

  /** Keeps the newest of messages with the same words, at the rank of the best, and leaves out those in `seen`. */
  #withoutRepeats(found: readonly RankedMessage[], seen: ReadonlySet<string>): KeptMessage[] {
    const newest = new Map<string, KeptMessage>();
    for (const each of found) {
      const kept = { ...each, isOwn: this.#isOwn(each.runId) };
      const words = wordsOf(each.message.content);
      const other = newest.get(words);
      if (!seen.has(words) && (other === undefined || isNewer(kept, other))) newest.set(words, kept);
    }
    return [...newest.values()];
  }

  /** Each neighbour comes once, and is no hit itself. */
  async #withNeighbours(
    hits: readonly KeptMessage[],
    seen: Set<string>,
    isMeant: (message: Message, runId: string) => boolean,
  ): Promise<KeptMessage[]> {
    for (const { message } of hits) seen.add(wordsOf(message.content));
    const all = [...hits];
    for (const hit of hits) {
      const around = await this.#storage.around(hit.place, this.#o.parts.neighbours);
      const meant = around.filter(({ message, runId }) => isMeant(message, runId) && message.content.trim() !== "");
      const neighbours = this.#withoutRepeats(
        meant.map((each) => ({ ...each, score: 0 })),
        seen,
      );
      for (const { message } of neighbours) seen.add(wordsOf(message.content));
      all.push(...neighbours);
    }
    return all;
  }

  get #storage(): MemoryStorage {
    const { role: roleId, scope, runId, clock, parts } = this.#o;
    const { embedder, index, lexical, ttl, threshold } = parts;
    if (this.#opened !== undefined) return this.#opened;
    const own = { roleId, scope, runId, store: this.#store, embedder, index: index?.(), lexical: lexical?.(), ttl, threshold, clock };
    return (this.#opened = new MemoryStorage(own));
  }

  #add(message: Message, livedBy: string): void {
    // A store that ends with the run has no messages of the parent run.
    const storedBy = this.#o.parts.store === undefined ? this.#o.runId : livedBy;
    this.#known.set(message.id, { message, storedBy });
    if (storedBy === this.#o.runId) this.#queue.push({ type: "add", message });
  }

  #forget(id: string, livedBy: string): void {
    const given = this.#known.get(id);
    if (!this.#known.delete(id)) return;
    const { runId } = this.#o;
    if (livedBy === runId || given?.storedBy === runId) this.#queue.push({ type: "delete", id });
  }

  async #takeInherited(): Promise<void> {
    if (this.#knowsInherited) return;
    const { runId } = this.#o;
    const inherited = [...this.#known].filter(([, { storedBy }]) => storedBy !== runId);
    if (inherited.length === 0) return;
    const identities = inherited.map(([id, { storedBy }]) => ({ runId: storedBy, id }));
    const stored = await this.#storage.find(identities);
    const removed = await this.#storage.removed(identities);
    for (const [n, [id, { message }]] of inherited.entries()) {
      if (removed[n] === true || stored[n]?.message.content === message.content) continue;
      this.#known.set(id, { message, storedBy: runId });
      this.#queue.push({ type: "add", message });
    }
    this.#knowsInherited = true;
  }

  /** A fork may have changed the message of an id of its parent. */
  #isGiven({ id, content }: Message, runId: string): boolean {
    const given = this.#known.get(id);
    return given?.storedBy === runId && given.message.content === content;
  }

  #withinLimit<T>(what: string, work: () => Promise<T>): Promise<T> {
    const never = new AbortController().signal;
    return withTimeout(this.#o.clock, TIMEOUT, `the memory of ${this.#o.role} ${what}`, never, work);
  }
}

/** Messages of this run are newer than those of others, and are ordered by their record instead of the clock. */
export function isNewer(a: KeptMessage, b: KeptMessage): boolean {
  if (a.isOwn !== b.isOwn) return a.isOwn;
  const apart = a.isOwn ? 0 : a.message.timestamp - b.message.timestamp;
  return apart === 0 ? a.place > b.place : apart > 0;
}
