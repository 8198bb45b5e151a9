import { aText, having, takes } from "../kernel/argument.ts";
import { checkGivenOptions, checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Message } from "../message/message.ts";
import { Memory } from "./memory.ts";
import type { MemoryStorage } from "./memory-storage.ts";
import { idOf } from "./message-memory.ts";
import { identityOf } from "./message-store.ts";
import { type SearchOptions, searchOptions, type SimilarMessage } from "./storage-options.ts";
import { WriteBehind } from "./write-behind.ts";

/** Options of a {@link LongTermMemory}. */
export interface LongTermMemoryOptions {
  readonly storage: MemoryStorage;
  /** Limit on the messages in memory; older ones stay in the storage. Default: no limit. */
  readonly limit?: number | undefined;
  /** Limit on the changes that wait for the storage. Default 10,000. */
  readonly maxUnsaved?: number | undefined;
  /** Called when storing in the background has failed. `persist` tries again. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const longTermMemoryOptions: Known<LongTermMemoryOptions> = {
  storage: kinds.having("a MemoryStorage", "change", "recover"),
  limit: kinds.count,
  maxUnsaved: kinds.count,
  onError: kinds.function,
};

/** A message found in memory or in the storage. */
export interface FoundMessage {
  readonly message: Message;
  /** The run of the message; empty outside runs. */
  readonly runId: string;
  /** Cosine similarity from -1 to 1; undefined for a message in memory that contains the string and is not similar enough. */
  readonly score: number | undefined;
}

const MAX_UNSAVED = 10_000;
/** Default number of results of each part of a search. */
const FOUND = 5;

/**
 * A {@link Memory} that outlives its process: added messages are in memory at once, are stored in the background, and are loaded by `recover`.
 * With a `limit` the newest messages are in memory, and all of them in the storage.
 *
 * LongTermMemory.P1 (`persist`) changes are durable when `persist` has resolved, not before. LongTermMemory.P4 (`recover`) `recover` loads the
 * messages of its own run, because ids are unique only within a run; `searchSimilar` finds those of other runs. LongTermMemory.P5 (`delete`) evicted
 * messages stay in the storage, and deleted ones are deleted there.
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
export class LongTermMemory extends Memory {
  readonly storage: MemoryStorage;
  readonly #queue: WriteBehind;

  /** @throws UsageError `LIMIT_INVALID` */
  constructor(options: LongTermMemoryOptions) {
    checkGivenOptions("new LongTermMemory", options, longTermMemoryOptions);
    takes("new LongTermMemory", "storage", options.storage, having("a MemoryStorage", "change", "recover"));
    const { storage, limit, maxUnsaved = MAX_UNSAVED, onError = () => {} } = options;
    super({ limit });
    this.storage = storage;
    this.#queue = new WriteBehind((changes) => storage.change(changes), maxUnsaved, onError);
  }

  /** Number of changes that are not stored yet. */
  get unsaved(): number {
    return this.#queue.size;
  }

  /** Loads the stored messages of this run before those added meanwhile. Returns all messages in memory. */
  async recover(): Promise<Message[]> {
    await this.#queue.flush();
    const stored = await this.storage.recover({ runId: this.storage.runId });
    // A message that was stored and is no longer there was deleted elsewhere.
    const added = new Set(this.#queue.changes.map((change) => (change.type === "add" ? change.message.id : "")));
    const deleted = new Set(this.#queue.changes.map((change) => (change.type === "delete" ? change.id : "")));
    const held = this.get().filter(({ id }) => added.has(id));
    super.clear();
    for (const message of [...stored.filter(({ id }) => !deleted.has(id)), ...held]) super.add(message);
    return this.get();
  }

  /** Resolves when all earlier changes are durable. @throws MemoryError; the changes stay in the queue */
  async persist(): Promise<void> {
    await this.#queue.flush();
    await this.storage.persist();
  }

  /** Returns the messages of all runs that are most similar to a string or a message, best first; see {@link MemoryStorage.searchSimilar}. */
  async searchSimilar(target: Message | string, o?: SearchOptions): Promise<SimilarMessage[]> {
    await this.#queue.flush();
    return this.storage.searchSimilar(target, o);
  }

  /**
   * Searches in memory and in the storage. Returns messages of this run that contain the string, newest first, then the most similar messages of
   * all runs, best first. Each message comes once, and each part has at most `k` (default 5). A blank string finds nothing.
   *
   * @throws MemoryError, UsageError `OPTION_INVALID`, ControlError
   */
  async search(text: string, o: SearchOptions = {}): Promise<FoundMessage[]> {
    takes("LongTermMemory.search", "text", text, aText);
    checkKnownOptions("search", o, searchOptions);
    if (text.trim() === "") return [];
    const { runId } = this.storage;
    const { k = FOUND, filter = (): boolean => true } = o;
    const worded = this.getByContent(text).filter((message) => filter(message, runId));
    const atHand = k === 0 ? [] : worded.slice(-k).reverse();
    const similar = await this.searchSimilar(text, { ...o, k: k + atHand.length });
    const scores = new Map(similar.map((found) => [identityOf(found.runId, found.message.id), found.score]));
    const known = new Set(atHand.map(({ id }) => identityOf(runId, id)));
    const others = similar.filter((found) => !known.has(identityOf(found.runId, found.message.id)));
    return [...atHand.map((message) => ({ message, runId, score: scores.get(identityOf(runId, message.id)) })), ...others.slice(0, k)];
  }

  /** Stores all changes and closes the storage. @throws MemoryError when a change could not be stored; nothing is closed then */
  async close(): Promise<void> {
    await this.persist();
    await this.storage.close();
  }

  /** @throws QueueFullError when too many changes wait for the storage; nothing changes then */
  override add(message: Message): boolean {
    if (this.has(message)) return false;
    this.#queue.assertRoom();
    const isKept = this.storage.has(message);
    super.add(message);
    if (!isKept || this.#queue.changes.some((change) => change.type !== "add")) this.#queue.push({ type: "add", message });
    return true;
  }

  /** Deletes a message in memory and in the storage. Returns whether it was known. */
  override delete(target: Message | string): boolean {
    const id = idOf(target);
    const isKnown = this.has(id) || this.storage.has(id);
    this.#queue.assertRoom();
    super.delete(id);
    this.#queue.push({ type: "delete", id });
    return isKnown;
  }

  override deleteNewest(): Message | undefined {
    const newest = this.getByPosition(-1);
    if (newest !== undefined) this.delete(newest);
    return newest;
  }

  /** Deletes older messages in memory and in the storage. Returns the number in memory. */
  override deleteOlderThan(timestampMs: number): number {
    takes("deleteOlderThan", "timestampMs", timestampMs, kinds.number);
    this.#queue.assertRoom();
    const count = super.deleteOlderThan(timestampMs);
    this.#queue.push({ type: "older", than: timestampMs });
    return count;
  }

  /** Deletes all messages in memory, and those of all runs in the storage. */
  override clear(): void {
    super.clear();
    this.#queue.push({ type: "clear" });
  }
}
