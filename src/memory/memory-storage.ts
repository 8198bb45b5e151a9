import { aTime, takes } from "../kernel/argument.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { assertMessage, type Message } from "../message/message.ts";
import { checkedBatch, idOf, textOf } from "./message-memory.ts";
import { embedQuery } from "./embedder.ts";
import type { MemoryScope } from "./memory-scope.ts";
import {
  identityOf,
  memoryClosed,
  type MessageIdentity,
  type MessageLookup,
  type MessageToStore,
  type StoredMessage,
} from "./message-store.ts";
import { PendingVectors } from "./pending-vectors.ts";
import {
  callOf,
  checkSearch,
  embedderOf,
  type MemoryStorageOptions,
  partsOf,
  type SearchOptions,
  type SimilarMessage,
  type StorageCall,
  type StorageParts,
  type VectorParts,
} from "./storage-options.ts";
import { type FewMessages, type RankedMessage, type Search, StorageRanking } from "./storage-ranking.ts";
import { StoredMessages } from "./stored-messages.ts";

/** Milliseconds between the times of two messages that were added together. @internal */
export const TICK: number = 1 / 1024;
/** Default number of found messages. */
const FOUND = 4;

/**
 * The long-term memory of one role: its messages in a store, and the search for them.
 *
 * Owns this process's knowledge of the store, and the order of its jobs. The store owns the messages; vectors are stored only to save work.
 *
 * MemoryStorage.L1 (`addBatch`) messages are durable when `add` has resolved; when the embedder fails, `add` rejects, the messages are stored
 * anyway, and `persist` computes their vectors. MemoryStorage.L2 (`StoredMessages.add`) (run, id) identifies a message: adding it again changes
 * nothing.
 * MemoryStorage.L3 (`StoredMessages`) a message is never changed. MemoryStorage.L4 (`PendingVectors`) lost or damaged vectors, and those of
 * another embedder, are computed again before the next search. MemoryStorage.L5 (`StoredMessages`) every answer includes the changes of other
 * processes.
 * MemoryStorage.L6 (`#expire`) an expired message is never found. MemoryStorage.L7 (`#inTurn`) jobs run one after another, and each caller waits for
 * its own.
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
      kept: (places) => this.#vectors?.keepOnly(places),
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

  /** Number of messages of the store that are damaged and could not be read. */
  get damaged(): number {
    return this.#known.damaged;
  }

  /** The time of a message that is added now. It never decreases. @internal */
  nextTime(): Promise<number> {
    return this.#inTurn(() => this.#nextTime());
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
    return (await this.addBatch([message], callOf("add", o))) === 1;
  }

  /** Stores all messages or none, and returns the number of new ones. @throws MemoryError, see MemoryStorage.L1 */
  async addBatch(messages: Iterable<Message>, o: StorageCall = {}): Promise<number> {
    const { runId = this.runId, signal } = callOf("addBatch", o);
    const given = [...checkedBatch(messages)];
    for (const message of given) assertMessage(message);
    return this.#inTurn(async () => {
      const first = await this.#nextTime();
      return this.#add(
        given.map((message, n) => ({ runId, addedAt: first + n * TICK, message })),
        signal,
      );
    });
  }

  /** Stores messages of any runs with their times, and computes their vectors. Returns the number of new ones. @internal */
  addEntries(entries: readonly MessageToStore[], { signal }: StorageCall = {}): Promise<number> {
    return this.#inTurn(() => this.#add(entries, signal));
  }

  /**
   * Stores messages of any runs with their times in another store, without vectors. Returns the number of new ones.
   *
   * @param o `isRecorded`: they come from the record of a run, so one that was deleted here stays deleted
   * @internal
   */
  adopt(entries: readonly MessageToStore[], o: { readonly isRecorded?: boolean } = {}): Promise<number> {
    return this.#inTurn(async () => {
      if (o.isRecorded !== true) return this.#known.add(entries);
      const removed = await this.#known.removed(entries.map(({ runId, message: { id } }) => ({ runId, id })));
      return this.#known.add(entries.filter((_entry, n) => removed[n] !== true));
    });
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

  /**
   * Returns the messages that are most similar to a text or a message, best first: by words, or with an embedder by vectors. A stored message
   * finds itself too.
   *
   * @throws UsageError `OPTION_INVALID`, MemoryError, ControlError when the signal aborts
   */
  async searchSimilar(target: Message | string, o: SearchOptions = {}): Promise<SimilarMessage[]> {
    checkSearch(this.#parts, o);
    if (this.#isClosed) throw memoryClosed();
    const found = await this.search(textOf(target), {
      ...o,
      k: o.k ?? FOUND,
    });
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
      if (lookup !== undefined) {
        const found = await this.#ranking.byCandidates(text, o, this.#fewOf(lookup, o.signal).likeliest);
        if (found !== undefined) return found;
        await this.#known.readAll();
      }
      await this.#expire();
      throwIfAborted(o.signal);
      return this.#known.size === 0 ? [] : this.#ranking.byWords(text, o);
    });
  }

  async #searchVectors(text: string, vectors: VectorParts, pending: PendingVectors, o: Search): Promise<RankedMessage[]> {
    const isEmpty = await this.#inTurn(async () => {
      await this.#syncVectors(pending);
      return this.size === 0 && (await pending.index()).size === 0;
    });
    const { clock } = this.#parts;
    const { embedder, timeout } = embedderOf(vectors, o.embedder);
    const { dimensions } = pending;
    const query = isEmpty ? undefined : await embedQuery(embedder, text, { clock, timeout, signal: o.signal, dimensions });
    return this.#inTurn(async () => {
      const lookup = await this.#syncVectors(pending);
      await this.#expire();
      await pending.embed(o.signal, o.embedder);
      const search = { ...o, threshold: o.threshold ?? vectors.threshold };
      const index = await pending.index();
      if (lookup !== undefined) {
        const found = await this.#ranking.byFew(text, query, index, search, this.#fewOf(lookup, o.signal));
        if (found !== undefined) return found;
        await this.#known.readAll();
      }
      return this.#ranking.bySimilarity(text, query, index, search);
    });
  }

  /** Reads only the messages that a search needs. */
  #fewOf(lookup: MessageLookup, signal: AbortSignal | undefined): FewMessages {
    return {
      read: (places) => this.#known.readAt(lookup, places),
      likeliest: async (words, most) => {
        throwIfAborted(signal);
        const places = await lookup.likeliest(this.#parts.roleId, words, most);
        if (places !== undefined) await this.#known.readAt(lookup, places);
        return places;
      },
    };
  }

  /** Returns the neighbours of a place in its run: nearest first, `count` on each side. @internal */
  around(place: number, count: number): Promise<readonly StoredMessage[]> {
    return this.#inTurn(() => this.#known.around(place, count));
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
      await this.#known.readAll();
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
      await this.#syncVectors(this.#vectors);
      await work(this.#vectors);
    });
  }

  async #nextTime(): Promise<number> {
    return Math.max(this.#parts.clock.now(), (await this.#known.newestAdded()) + TICK);
  }

  /** The store knows which messages it has, so nothing is read before. */
  async #add(entries: readonly MessageToStore[], signal: AbortSignal | undefined): Promise<number> {
    await this.#vectors?.measure();
    const added = await this.#known.add(entries);
    await this.#vectors?.embed(signal);
    return added;
  }

  /** Reads the changes of the store since the last read. */
  async #sync(): Promise<void> {
    if (this.#vectors !== undefined) await this.#syncVectors(this.#vectors);
    await this.#known.readAll();
  }

  /** Reads the changes of vectors, and of all messages unless they are read as they are needed. @returns the lookup then */
  async #syncVectors(vectors: PendingVectors): Promise<MessageLookup | undefined> {
    const { lookup } = this.#parts.store;
    if (lookup === undefined || !(await vectors.isSketched())) {
      await this.#known.readAll();
      await vectors.load();
      return undefined;
    }
    this.#known.readLazily();
    await this.#known.readNew();
    await vectors.loadSketches((places) => this.#known.readAt(lookup, places));
    return lookup;
  }

  async #expire(): Promise<number> {
    const { ttl, clock } = this.#parts;
    return ttl === undefined ? 0 : this.#known.remove(this.#known.olderThan(clock.now() - ttl).map(({ place }) => place));
  }
}
