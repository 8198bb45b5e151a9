import { throwIfAborted } from "../kernel/abort.ts";
import { aTime, takes } from "../kernel/argument.ts";
import { assertMessage, type Message } from "../message/message.ts";
import { KeyTurns } from "./cache.ts";
import type { MemoryScope } from "./memory-scope.ts";
import { checkedBatch, idOf, textOf } from "./message-memory.ts";
import { memoryClosed, type MessageIdentity, type MessageToStore, type StoredMessage } from "./message-store.ts";
import {
  callOf,
  checkSearch,
  FOUND,
  type MemoryStorageOptions,
  partsOf,
  type Search,
  type SearchOptions,
  type SimilarMessage,
  type StorageCall,
  type StorageParts,
} from "./storage-options.ts";
import { StoredMessages, type StoreWatch } from "./stored-messages.ts";
import { VectorSearch } from "./vector-search.ts";
import { WordSearch } from "./word-search.ts";
import { minisearch } from "./word-index.ts";
import type { StoreChange } from "./write-behind.ts";

/** Milliseconds between the times of two messages that were added together. @internal */
export const TICK: number = 1 / 1024;

/** Options of the storage of messages. @internal */
export interface StoreCall extends StorageCall {
  /** Compute the vectors too. Default false. */
  readonly embeds?: boolean;
  /** The messages come from the record of a run, so one that was deleted here stays deleted. Default false. */
  readonly isRecorded?: boolean;
}

/** A found message. */
export interface RankedMessage extends StoredMessage {
  /** Larger is closer; see {@link SimilarMessage}. */
  readonly score: number;
}

/**
 * The long-term memory of one role: its messages in a store, and the search for them.
 *
 * Owns this process's cached view of the store, and the order of its operations.
 * MemoryStorage.L1 (`addBatch`) `add` resolves once the messages are durable. If the embedder fails it rejects, but the messages are stored.
 * MemoryStorage.L2 (`StoredMessages.add`) (run, id) identifies a message: adding it again changes nothing.
 * MemoryStorage.L3 (`VectorSearch`) missing, damaged and foreign vectors are computed again before the next search.
 * MemoryStorage.L4 (`StoredMessages`) every answer includes the changes of other processes.
 * MemoryStorage.L5 (`#expire`) searches never find an expired message.
 * MemoryStorage.L6 (`#inTurn`) jobs run one after another, and each caller waits for its own.
 *
 * @example
 * import { createMessage, MemoryStorage } from "troupe";
 *
 * const storage = new MemoryStorage({ roleId: "Ada" }); // in memory; store: sqliteStore({ path }) of troupe/sqlite keeps it on disk
 * await storage.addBatch([createMessage("The old bridge is of stone."), createMessage("The ferry is of wood.")]);
 * const [best] = await storage.searchSimilar("old bridge", { k: 1 });
 * console.log(best?.message.content); // The old bridge is of stone.
 */
export class MemoryStorage {
  readonly #parts: StorageParts;
  readonly #known: StoredMessages;
  readonly #search: VectorSearch | WordSearch;
  readonly #turns = new KeyTurns();
  #isClosed = false;

  /** @throws UsageError `OPTION_INVALID` */
  constructor(options: MemoryStorageOptions) {
    this.#parts = partsOf(options);
    const { vectors, lexical = minisearch(), roleId } = this.#parts;
    const watch: StoreWatch = { added: (place) => this.#search.added(place), removed: (place) => this.#search.removed(place) };
    this.#known = new StoredMessages(this.#parts, watch);
    this.#search =
      vectors === undefined ? new WordSearch(lexical, roleId, this.#known) : new VectorSearch(this.#parts, vectors, this.#known);
  }

  get roleId(): string {
    return this.#parts.scope.role;
  }

  /** The role, and the scope of its memory. */
  get scope(): MemoryScope {
    return this.#parts.scope;
  }

  /** The run of added messages. */
  get runId(): string {
    return this.#parts.runId;
  }

  /** Number of known messages. */
  get size(): number {
    return this.#known.size;
  }

  /** Number of messages without a vector. */
  get pending(): number {
    return this.#vectors?.pending ?? 0;
  }

  /** Estimated characters in memory. @internal */
  get held(): number {
    return this.#known.held(this.#vectors?.dimensions);
  }

  /** Reads the store. Returns all messages in order of arrival, or those of one run. */
  async recover(o: { readonly runId?: string | undefined } = {}): Promise<Message[]> {
    const { runId } = callOf("recover", o);
    return this.#inTurn(async () => {
      await this.#sync();
      await this.#expire();
      return this.#known.all().flatMap((entry) => (runId === undefined || entry.runId === runId ? entry.message : []));
    });
  }

  /** Returns true for a known message, without reading the store. All messages of a large store are known after `recover`. */
  has(target: Message | string, o: StorageCall = {}): boolean {
    const { runId = this.runId } = callOf("has", o);
    return this.#known.placeOf(runId, idOf(target)) !== undefined;
  }

  /** Stores a message. Returns false when it is stored already. @throws MemoryError, see MemoryStorage.L1 */
  async add(message: Message, o: StorageCall = {}): Promise<boolean> {
    return (await this.addBatch([message], o)) === 1;
  }

  /** Stores all messages or none, and returns the number of new ones. @throws MemoryError, see MemoryStorage.L1 */
  async addBatch(messages: Iterable<Message>, o: StorageCall = {}): Promise<number> {
    callOf("addBatch", o);
    const given = [...checkedBatch(messages)];
    for (const message of given) assertMessage(message);
    return this.store(given, { ...o, embeds: true });
  }

  /** Stores messages of one run with the present time. Returns the number of new ones. @internal */
  store(messages: readonly Message[], { runId = this.runId, ...o }: StoreCall): Promise<number> {
    return this.#inTurn(async () => {
      const time = await this.#nextTime();
      return this.#store(
        messages.map((message, n) => ({ runId, addedAt: time + n * TICK, message })),
        o,
      );
    });
  }

  /** Stores messages of any runs with their times. Returns the number of new ones. @internal */
  adopt(entries: readonly MessageToStore[], o: StoreCall = {}): Promise<number> {
    return this.#inTurn(() => this.#store(entries, o));
  }

  /** The time of a message that is added now. It never decreases. @internal */
  nextTime(): Promise<number> {
    return this.#inTurn(() => this.#nextTime());
  }

  /** Returns for each identity whether its message was deleted here. @internal */
  removed(identities: readonly MessageIdentity[]): Promise<readonly boolean[]> {
    return this.#inTurn(() => this.#known.removed(identities));
  }

  /** Deletes messages that were moved elsewhere and may return. @internal */
  discard(entries: readonly StoredMessage[]): Promise<number> {
    return this.#inTurn(() => this.#known.remove(entries, { mayReturn: true }));
  }

  /** Makes changes of the storage's run: additions, or one other change. Vectors are left to `persist` and searches. @internal */
  change(changes: readonly StoreChange[], o: Pick<StoreCall, "isRecorded"> = {}): Promise<unknown> {
    const [first] = changes;
    if (first?.type === "older") return this.deleteOlderThan(first.than);
    if (first?.type === "clear") return this.clear();
    // A record has the deletion, and may add the message again.
    if (first?.type === "delete") return this.#delete({ runId: this.runId, id: first.id }, o.isRecorded);
    return this.store(
      changes.flatMap((change) => (change.type === "add" ? [change.message] : [])),
      o,
    );
  }

  /** Returns all messages in order of arrival, with their runs and times. @internal */
  entries(): Promise<StoredMessage[]> {
    return this.#inTurn(async () => {
      await this.#sync();
      return this.#known.all();
    });
  }

  /** Returns the stored message of each identity; undefined for none. @internal */
  find(identities: readonly MessageIdentity[]): Promise<readonly (StoredMessage | undefined)[]> {
    return this.#inTurn(() => this.#known.find(identities));
  }

  /** Returns the neighbors of a place in its run: nearest first, `count` on each side. @internal */
  around(place: number, count: number): Promise<readonly StoredMessage[]> {
    return this.#inTurn(() => this.#known.around(place, count));
  }

  /**
   * Returns the messages that are most similar to a string or a message, best first: by words, or with an embedder by vectors. A stored message
   * finds itself too.
   *
   * @throws UsageError `OPTION_INVALID`, MemoryError, ControlError when the signal aborts
   */
  async searchSimilar(target: Message | string, o: SearchOptions = {}): Promise<SimilarMessage[]> {
    checkSearch(this.#parts, o);
    if (this.#isClosed) throw memoryClosed();
    const found = await this.search(textOf(target), { ...o, k: o.k ?? FOUND });
    return found.map(({ message, score, runId }) => ({ message, score, runId }));
  }

  /** Searches with options that are valid. @internal */
  async search(text: string, o: Search): Promise<RankedMessage[]> {
    throwIfAborted(o.signal);
    const query = await this.#queryOf(text, o);
    return this.#inTurn(async () => {
      const lookup = await this.#known.readNew();
      if (lookup === undefined) {
        await this.#vectors?.load();
        await this.#expire();
        if (this.size === 0) return [];
      }
      throwIfAborted(o.signal);
      const hits = await (this.#search instanceof VectorSearch ? this.#search.search(query, o) : this.#search.search(text, o, lookup));
      return hits.flatMap(({ key, score }) => {
        const entry = this.#known.at(key);
        return entry === undefined ? [] : [{ ...entry, score }];
      });
    });
  }

  /** Embeds the question between two turns, so that no other job waits for the embedder. */
  async #queryOf(text: string, o: Search): Promise<Float32Array | undefined> {
    const vectors = this.#vectors;
    if (vectors === undefined || o.k === 0) return undefined;
    const isEmpty = await this.#inTurn(async () => {
      await this.#sync();
      return this.size === 0;
    });
    return isEmpty ? undefined : vectors.queryOf(text, o);
  }

  /** Deletes a message. Returns false when it is not stored. */
  async delete(target: Message | string, o: StorageCall = {}): Promise<boolean> {
    const { runId = this.runId } = callOf("delete", o);
    return this.#delete({ runId, id: idOf(target) });
  }

  #delete(identity: MessageIdentity, mayReturn = false): Promise<boolean> {
    return this.#inTurn(async () => {
      const [found] = await this.#known.find([identity]);
      return found !== undefined && (await this.#known.remove([found], { mayReturn })) === 1;
    });
  }

  /** Deletes messages before a time in milliseconds, and returns their number. A message without a date has the time it was added. */
  deleteOlderThan(timestampMs: number): Promise<number> {
    takes("deleteOlderThan", "timestampMs", timestampMs, aTime);
    return this.#inTurn(async () => {
      await this.#sync();
      return this.#known.remove(this.#known.olderThan(timestampMs));
    });
  }

  /** Deletes expired messages, and returns their number. */
  cleanUp(): Promise<number> {
    return this.#inTurn(async () => {
      if (this.#parts.ttl === undefined) return 0;
      await this.#sync();
      return this.#expire();
    });
  }

  /** Deletes every message. */
  clear(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#sync();
      await this.#known.remove(this.#known.all());
    });
  }

  /** Computes missing vectors, if there is an embedder. Messages are durable already: see MemoryStorage.L1. @throws MemoryError */
  async persist(o: StorageCall = {}): Promise<void> {
    const { signal } = callOf("persist", o);
    return this.#withVectors((vectors) => vectors.embed(signal));
  }

  /** Computes all vectors again. After an interruption, the next search or `persist` continues. @throws MemoryError */
  async rebuild(o: StorageCall = {}): Promise<void> {
    const { signal } = callOf("rebuild", o);
    return this.#withVectors(async (vectors) => {
      await vectors.restart();
      await vectors.embed(signal);
    });
  }

  /** Closes the store after the pending jobs. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#turns.settled();
    await this.#parts.store.close();
  }

  #inTurn<T>(job: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(memoryClosed());
    return this.#turns.take("", job);
  }

  get #vectors(): VectorSearch | undefined {
    return this.#search instanceof VectorSearch ? this.#search : undefined;
  }

  /** Without an embedder it reads nothing. */
  #withVectors(work: (vectors: VectorSearch) => Promise<void>): Promise<void> {
    const vectors = this.#vectors;
    return this.#inTurn(async () => {
      if (vectors === undefined) return;
      await this.#sync();
      await work(vectors);
    });
  }

  async #nextTime(): Promise<number> {
    return Math.max(this.#parts.clock.now(), (await this.#known.newestAdded()) + TICK);
  }

  /** The store ignores messages it already has, so nothing is read first. */
  async #store(entries: readonly MessageToStore[], { embeds = false, isRecorded = false, signal }: StoreCall): Promise<number> {
    if (embeds) await this.#vectors?.measure();
    const removed = isRecorded ? await this.#known.removed(entries.map(({ runId, message: { id } }) => ({ runId, id }))) : [];
    const added = await this.#known.add(entries.filter((_entry, n) => removed[n] !== true));
    if (embeds) await this.#vectors?.embed(signal);
    return added;
  }

  async #sync(): Promise<void> {
    await this.#known.readAll();
    await this.#vectors?.load();
  }

  async #expire(): Promise<number> {
    const { ttl, clock } = this.#parts;
    return ttl === undefined ? 0 : this.#known.remove(this.#known.olderThan(clock.now() - ttl));
  }
}
