import { throwIfAborted } from "../kernel/abort.ts";
import { aTime, takes } from "../kernel/argument.ts";
import { assertMessage, type Message } from "../message/message.ts";
import { embedQuery } from "./embedder.ts";
import type { MemoryScope } from "./memory-scope.ts";
import { checkedBatch, idOf, textOf } from "./message-memory.ts";
import { identityOf, memoryClosed, type MessageIdentity, type MessageToStore, type StoredMessage } from "./message-store.ts";
import { PendingVectors } from "./pending-vectors.ts";
import {
  callOf,
  checkSearch,
  embedderOf,
  FOUND,
  type MemoryStorageOptions,
  partsOf,
  type SearchOptions,
  type SimilarMessage,
  type StorageCall,
  type StorageParts,
  type VectorParts,
} from "./storage-options.ts";
import { type RankedMessage, type Search, StorageRanking } from "./storage-ranking.ts";
import { StoredMessages } from "./stored-messages.ts";

/** Milliseconds between the times of two messages that were added together. @internal */
export const TICK: number = 1 / 1024;

/** How messages are stored. @internal */
export interface StoreCall extends StorageCall {
  /** Compute the vectors too. Default false. */
  readonly embeds?: boolean;
  /** The messages come from the record of a run, so one that was deleted here stays deleted. Default false. */
  readonly isRecorded?: boolean;
}

/**
 * The long-term memory of one role: its messages in a store, and the search for them.
 *
 * Owns this process's knowledge of the store, and the order of its jobs. The store owns the messages; vectors are stored only to save work.
 *
 * MemoryStorage.L1 (`addBatch`) messages are durable when `add` has resolved; when the embedder fails, `add` rejects, the messages are stored
 * anyway, and `persist` computes their vectors. MemoryStorage.L2 (`StoredMessages.add`) (run, id) identifies a message: adding it again changes
 * nothing. MemoryStorage.L4 (`PendingVectors`) lost or changed vectors, and those of another embedder, are computed again before the next search.
 * MemoryStorage.L5 (`StoredMessages`) every answer includes the changes of other processes. MemoryStorage.L6 (`#expire`) an expired message is
 * never found. MemoryStorage.L7 (`#inTurn`) jobs run one after another, and each caller waits for its own.
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
  /** Undefined without an embedder. */
  readonly #vectors: PendingVectors | undefined;
  readonly #ranking: StorageRanking;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @throws UsageError `OPTION_INVALID` */
  constructor(options: MemoryStorageOptions) {
    this.#parts = partsOf(options);
    const { vectors } = this.#parts;
    this.#known = new StoredMessages(this.#parts, {
      added: (place) => {
        this.#vectors?.add(place);
        this.#ranking.add(place);
      },
      removed: async (place) => {
        await this.#vectors?.forget(place);
        await this.#ranking.forget(place);
      },
    });
    this.#vectors = vectors === undefined ? undefined : new PendingVectors(this.#parts, vectors, this.#known);
    this.#ranking = new StorageRanking(this.#parts, this.#known);
  }

  get roleId(): string {
    return this.#parts.scope.role;
  }

  /** The role, and whose memory of it this is. */
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
    return this.#vectors?.size ?? 0;
  }

  /** About how many characters are in memory. @internal */
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

  /** Deletes messages that may be stored here again: they were moved, or a record has deleted them. @internal */
  discard(places: readonly number[]): Promise<number> {
    return this.#inTurn(() => this.#known.remove(places, { mayReturn: true }));
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

  /** Returns the neighbours of a place in its run: nearest first, `count` on each side. @internal */
  around(place: number, count: number): Promise<readonly StoredMessage[]> {
    return this.#inTurn(() => this.#known.around(place, count));
  }

  /**
   * Returns the messages that are most similar to a text or a message, best first: by words, or with an embedder by vectors. A stored message
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
    const { vectors } = this.#parts;
    const pending = this.#vectors;
    if (vectors !== undefined && pending !== undefined) return this.#searchVectors(text, vectors, pending, o);
    throwIfAborted(o.signal);
    return this.#inTurn(async () => {
      const lookup = await this.#known.readNew();
      if (lookup !== undefined) return this.#ranking.byCandidates(text, o, lookup);
      await this.#expire();
      throwIfAborted(o.signal);
      return this.#known.size === 0 ? [] : this.#ranking.byWords(text, o);
    });
  }

  async #searchVectors(text: string, vectors: VectorParts, pending: PendingVectors, o: Search): Promise<RankedMessage[]> {
    const isEmpty = await this.#inTurn(async () => {
      await this.#sync();
      return this.size === 0;
    });
    const { embedder, timeout } = embedderOf(vectors, o.embedder);
    const limits = { clock: this.#parts.clock, timeout, signal: o.signal, dimensions: pending.dimensions };
    const query = isEmpty ? undefined : await embedQuery(embedder, text, limits);
    return this.#inTurn(async () => {
      await this.#sync();
      await this.#expire();
      await pending.embed(o.signal, o.embedder);
      return this.#ranking.bySimilarity(text, query, pending.index, { ...o, threshold: o.threshold ?? vectors.threshold });
    });
  }

  /** Deletes a message. Returns false when it is not stored. */
  async delete(target: Message | string, o: StorageCall = {}): Promise<boolean> {
    const { runId = this.runId } = callOf("delete", o);
    const id = idOf(target);
    return this.#inTurn(async () => {
      const [found] = await this.#known.find([{ runId, id }]);
      return found !== undefined && (await this.#known.remove([found.place])) === 1;
    });
  }

  /** Deletes messages before a time in milliseconds, and returns their number. A message without a date has the time it was added. */
  deleteOlderThan(timestampMs: number): Promise<number> {
    return this.forgetOlderThan(timestampMs).then(({ length }) => length);
  }

  /** Deletes messages before a time, and returns their identities. @internal */
  forgetOlderThan(timestampMs: number): Promise<readonly string[]> {
    takes("deleteOlderThan", "timestampMs", timestampMs, aTime);
    return this.#inTurn(async () => {
      await this.#sync();
      const old = this.#known.olderThan(timestampMs);
      await this.#known.remove(old.map(({ place }) => place));
      return old.map(({ runId, message }) => identityOf(runId, message.id));
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
      await this.#known.remove(this.#known.all().map(({ place }) => place));
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

  /** Closes the store after all jobs. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#turn;
    await this.#parts.store.close();
  }

  #inTurn<T>(job: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(memoryClosed());
    const done = this.#turn.then(job);
    // A failure is the caller's; the next job runs anyway.
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Works with the vectors of all messages. Nothing is read without an embedder. */
  #withVectors(work: (vectors: PendingVectors) => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#vectors === undefined) return;
      await this.#sync();
      await work(this.#vectors);
    });
  }

  async #nextTime(): Promise<number> {
    return Math.max(this.#parts.clock.now(), (await this.#known.newestAdded()) + TICK);
  }

  /** The store knows which messages it has, so nothing is read before. */
  async #store(entries: readonly MessageToStore[], { embeds = false, isRecorded = false, signal }: StoreCall): Promise<number> {
    if (embeds) await this.#vectors?.measure();
    const removed = isRecorded ? await this.#known.removed(entries.map(({ runId, message: { id } }) => ({ runId, id }))) : [];
    const added = await this.#known.add(entries.filter((_entry, n) => removed[n] !== true));
    if (embeds) await this.#vectors?.embed(signal);
    return added;
  }

  /** Reads the changes of the store since the last read. */
  async #sync(): Promise<void> {
    await this.#known.readAll();
    await this.#vectors?.load();
  }

  async #expire(): Promise<number> {
    const { ttl, clock } = this.#parts;
    return ttl === undefined ? 0 : this.#known.remove(this.#known.olderThan(clock.now() - ttl).map(({ place }) => place));
  }
}
