import { having, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import type { Address, PayloadOf } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import { Memory } from "./memory.ts";
import type { MemoryStorage } from "./memory-storage.ts";
import type { MemoryJson, MessageMemory } from "./message-memory.ts";
import { identityOf } from "./message-store.ts";
import { WriteBehindQueue } from "./write-behind-queue.ts";
import { checkedK, type SearchOptions, type SimilarMessage } from "./storage-options.ts";

/** What a long-term memory is made of. */
export interface LongTermMemoryOptions {
  readonly storage: MemoryStorage;
  /** Messages kept at hand at most; older ones stay in the storage. Default: all. */
  readonly limit?: number | undefined;
  /** Changes that may wait for the storage. Default 10,000. */
  readonly maxUnsaved?: number | undefined;
  /** Told when storing in the background has failed. `persist` throws the same error if it fails again. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const longTermMemoryOptions: Known<LongTermMemoryOptions> = { storage: true, limit: true, maxUnsaved: true, onError: true };

/** A message that a search has found, at hand or in the storage. */
export interface FoundMessage {
  readonly message: Message;
  /** The run it was said in; empty outside runs. */
  readonly runId: string;
  /** Cosine similarity from -1 to 1; undefined for one at hand that has the words and is not similar enough. */
  readonly score: number | undefined;
}

type Change =
  | { readonly type: "add"; readonly message: Message }
  | { readonly type: "delete"; readonly id: string }
  | { readonly type: "older"; readonly than: number }
  | { readonly type: "clear" };

const MAX_UNSAVED = 10_000;
/** Additions of one commit. */
const MAX_BATCH = 1_000;
/** What one part of a search gives at most, unless said otherwise. */
const FOUND = 5;

/**
 * A {@link Memory} that outlives its process: what is added is at hand at once, goes to the storage in the background, and comes back with
 * `recover`. With a `limit` it is a hybrid memory: the newest messages at hand, all of them in the storage.
 *
 * Owns what waits for the storage. What is at hand is the inner memory's, what is kept the storage's.
 *
 * P1 what `persist` has resolved is durable; what was only added is not yet. P2 a change leaves the line when it is stored, never before:
 * a failure keeps it, and the next change or `persist` tries again. P3 changes are stored in the order they were made. P4 the messages of
 * its own run come back; those of others are found by `searchSimilar`, because ids say who is who within one run only. P5 what makes room
 * for newer messages stays in the storage; what is deleted is deleted there too. P6 a message is known by its id and is never marked.
 *
 * @example
 * import { createMessage, LongTermMemory, MemoryStorage } from "troupe";
 *
 * const memory = new LongTermMemory({ storage: new MemoryStorage({ roleId: "Ada", runId: "today" }), limit: 100 });
 * memory.add(createMessage("The ferry leaves at nine."));
 * await memory.persist(); // now it is in the storage
 * for (const { message } of await memory.search("ferry")) console.log(message.content); // The ferry leaves at nine.
 * await memory.close();
 */
export class LongTermMemory implements MessageMemory {
  readonly ignoreId: boolean = false;
  readonly storage: MemoryStorage;
  readonly #memory: Memory;
  readonly #queue: WriteBehindQueue<Change>;

  /** @throws UsageError `LIMIT_INVALID` */
  constructor(options: LongTermMemoryOptions) {
    checkGivenOptions("new LongTermMemory", options, longTermMemoryOptions);
    const { storage, limit, maxUnsaved = MAX_UNSAVED, onError } = options;
    takes("new LongTermMemory", "storage", storage, having("a MemoryStorage or a ShardedStorage", "add", "recover"));
    this.storage = storage;
    this.#memory = new Memory({ limit });
    this.#queue = new WriteBehindQueue({
      limit: maxUnsaved,
      maxBatch: MAX_BATCH,
      store: (changes) => this.#store(changes),
      // A storage keeps messages even when their embedder fails.
      isStored: (changes) => changes.every((change) => change.type === "add" && storage.has(change.message)),
      onError,
    });
  }

  get limit(): number | undefined {
    return this.#memory.limit;
  }

  get size(): number {
    return this.#memory.size;
  }

  /** Changes that are not in the storage yet. */
  get unsaved(): number {
    return this.#queue.size;
  }

  /** Brings back what this run has stored, before what was added meanwhile. Gives all that is at hand then. */
  async recover(): Promise<Message[]> {
    await this.#queue.flush();
    const stored = await this.storage.recover({ runId: this.storage.runId });
    const held = this.#memory.get();
    const deleted = new Set(this.#queue.changes.flatMap((change) => (change.type === "delete" ? [change.id] : [])));
    this.#memory.clear();
    this.#memory.addBatch(stored.filter((message) => !deleted.has(message.id)));
    this.#memory.addBatch(held);
    return this.#memory.get();
  }

  /** Resolves when every change made before is durable. @throws MemoryError, and what waits goes on waiting */
  async persist(): Promise<void> {
    await this.#queue.flush();
    await this.storage.persist();
  }

  /** The messages most like a text or a message, of all runs, best first; see {@link MemoryStorage.searchSimilar}. */
  async searchSimilar(target: Message | string, o?: SearchOptions): Promise<SimilarMessage[]> {
    await this.#queue.flush();
    return this.storage.searchSimilar(target, o);
  }

  /**
   * Looks at hand first, then in the storage: messages of this run that contain the text, newest first, then the ones most like it, of all
   * runs, best first. Each is told once, and each part gives at most `k` (default 5). A blank text finds nothing.
   *
   * @throws MemoryError, UsageError `OPTION_INVALID`, ControlError
   */
  async search(text: string, o: SearchOptions = {}): Promise<FoundMessage[]> {
    if (text.trim() === "") return [];
    const { runId } = this.storage;
    const { k = FOUND, filter = (): boolean => true } = o;
    const worded = this.getByContent(text).filter((message) => filter(message, runId));
    const atHand = k === 0 ? [] : worded.slice(-k).reverse();
    const similar = await this.searchSimilar(text, { ...o, k: checkedK(k) + atHand.length });
    const scores = new Map(similar.map((found) => [identityOf(found.runId, found.message.id), found.score]));
    const known = new Set(atHand.map(({ id }) => identityOf(runId, id)));
    const others = similar.filter((found) => !known.has(identityOf(found.runId, found.message.id)));
    return [...atHand.map((message) => ({ message, runId, score: scores.get(identityOf(runId, message.id)) })), ...others.slice(0, k)];
  }

  /** Stores what waits and lets go of the storage. @throws MemoryError when it could not be stored; nothing is closed then */
  async close(): Promise<void> {
    await this.persist();
    await this.storage.close();
  }

  /** @throws QueueFullError when too much waits for the storage; nothing changes then */
  add(message: Message): boolean {
    if (this.#memory.has(message)) return false;
    this.#queue.assertRoom();
    const isKept = this.storage.has(message);
    this.#memory.add(message);
    if (!isKept || this.#queue.changes.some((change) => change.type !== "add")) this.#queue.push({ type: "add", message });
    return true;
  }

  addBatch(messages: Iterable<Message>): number {
    let added = 0;
    for (const message of messages) if (this.add(message)) added++;
    return added;
  }

  /**
   * Forgets a message at hand, and in the storage, also one that was not read from there yet.
   *
   * @returns true when it was at hand, or among what was read from the storage
   */
  delete(target: Message | string): boolean {
    const id = typeof target === "string" ? target : target.id;
    const isKnown = this.#memory.has(id) || this.storage.has(id);
    this.#queue.assertRoom();
    this.#memory.delete(id);
    this.#queue.push({ type: "delete", id });
    return isKnown;
  }

  deleteNewest(): Message | undefined {
    const newest = this.#memory.getByPosition(-1);
    if (newest !== undefined) this.delete(newest);
    return newest;
  }

  /** Forgets what is older at hand, and in the storage. Tells how many were at hand. */
  deleteOlderThan(timestampMs: number): number {
    this.#queue.assertRoom();
    const count = this.#memory.deleteOlderThan(timestampMs);
    this.#queue.push({ type: "older", than: timestampMs });
    return count;
  }

  /** Forgets everything at hand, and in the storage, of all runs. */
  clear(): void {
    this.#memory.clear();
    this.#queue.push({ type: "clear" });
  }

  has(target: Message | string): boolean {
    return this.#memory.has(target);
  }

  get(k?: number): Message[] {
    return this.#memory.get(k);
  }

  getByPosition(place: number): Message | undefined {
    return this.#memory.getByPosition(place);
  }

  getByRole(role: Message["role"]): Message[] {
    return this.#memory.getByRole(role);
  }

  getByContent(substring: string): Message[] {
    return this.#memory.getByContent(substring);
  }

  tryRemember(keyword: string): Message[] {
    return this.#memory.tryRemember(keyword);
  }

  getByAction<P>(address: Address<P>): Message<P>[] {
    return this.#memory.getByAction(address);
  }

  getByActions<A extends Address>(addresses: Iterable<A>): Message<PayloadOf<A>>[] {
    return this.#memory.getByActions(addresses);
  }

  newestBy<P>(address: Address<P>): Message<P> | undefined {
    return this.#memory.newestBy(address);
  }

  findNews(observed: Iterable<Message>, k?: number): Message[] {
    return this.#memory.findNews(observed, k);
  }

  [Symbol.iterator](): Iterator<Message> {
    return this.#memory[Symbol.iterator]();
  }

  newestFirst(): IterableIterator<Message> {
    return this.#memory.newestFirst();
  }

  toJSON(): MemoryJson {
    return this.#memory.toJSON();
  }

  async #store(changes: readonly Change[]): Promise<void> {
    const [first] = changes;
    switch (first?.type) {
      case "delete":
        await this.storage.delete(first.id);
        return;
      case "older":
        await this.storage.deleteOlderThan(first.than);
        return;
      case "clear":
        return this.storage.clear();
      default:
        await this.storage.addBatch(changes.flatMap((change) => (change.type === "add" ? [change.message] : [])));
    }
  }
}
