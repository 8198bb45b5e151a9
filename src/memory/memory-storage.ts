import { UsageError } from "../kernel/errors.ts";
import { isMessage, type Message } from "../message/message.ts";
import { embedQuery } from "./embedder.ts";
import { HeldMessages } from "./held-messages.ts";
import { memoryClosed, type MessageToStore, type StoredMessage } from "./message-store.ts";
import { PendingVectors } from "./pending-vectors.ts";
import {
  checkedK,
  checkedThreshold,
  type MemoryStorageOptions,
  partsOf,
  type SearchOptions,
  type SimilarMessage,
  type StorageParts,
  voiceOf,
} from "./storage-options.ts";
import { noLexical, StorageRanking } from "./storage-ranking.ts";

/** Milliseconds between the times of two messages that were given at once. @internal */
export const TICK: number = 1 / 1024;

/** Which run a message was said in, and what ends the wait. */
export interface StorageCall {
  /** Default: the storage's own. */
  readonly runId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The long-term memory of one role: its messages in a store, found again by what they say.
 *
 * Owns what this process knows of the store, and the order of its jobs. The store owns the messages; vectors are only kept to save work.
 *
 * L1 what `add` has resolved is durable; when its embedder fails, `add` rejects, and the messages are kept all the same: `persist` goes on.
 * L2 (run, id) decides identity: adding again changes nothing. L3 a message is never changed. L4 vectors that are lost, damaged, or another
 * embedder's are made again before the next search. L5 what another process has added or removed is known before every answer. L6 an
 * expired message is never found. L7 jobs are done one after another; everybody waits for their own, so the line is as long as its callers.
 */
export class MemoryStorage {
  readonly #parts: StorageParts;
  readonly #held: HeldMessages = new HeldMessages();
  readonly #vectors: PendingVectors;
  readonly #ranking: StorageRanking;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @throws UsageError `OPTION_INVALID` */
  constructor(options: MemoryStorageOptions) {
    this.#parts = partsOf(options);
    this.#vectors = new PendingVectors(this.#parts, this.#held);
    this.#ranking = new StorageRanking(this.#parts, this.#held);
  }

  get roleId(): string {
    return this.#parts.roleId;
  }

  /** The run that messages are added in. */
  get runId(): string {
    return this.#parts.runId;
  }

  /** How many messages are known to be held. */
  get size(): number {
    return this.#held.size;
  }

  /** How many of them wait for their vectors. */
  get pending(): number {
    return this.#vectors.size;
  }

  /** How many messages of the store were damaged and could not be read. */
  get damaged(): number {
    return this.#held.damaged;
  }

  /** The time of a message that is given now. It never goes back, whatever the clock does. @internal */
  get nextTime(): number {
    return Math.max(this.#parts.clock.now(), this.#held.newestAdded + TICK);
  }

  /** Reads what the store holds: all messages in order of arrival, or those of one run. */
  recover({ runId }: { readonly runId?: string | undefined } = {}): Promise<Message[]> {
    return this.#inTurn(async () => {
      await this.#sync();
      await this.#expire();
      const entries = runId === undefined ? this.#held.all() : this.#held.all().filter((entry) => entry.runId === runId);
      return entries.map(({ message }) => message);
    });
  }

  /** Whether a message is known to be held. Asks no store. */
  has(target: Message | string, { runId = this.runId }: StorageCall = {}): boolean {
    return this.#held.placeOf(runId, typeof target === "string" ? target : target.id) !== undefined;
  }

  /** Keeps a message. False when it is held. @throws MemoryError, see L1 */
  async add(message: Message, o?: StorageCall): Promise<boolean> {
    return (await this.addBatch([message], o)) === 1;
  }

  /** Keeps messages, all or none; tells how many were new. @throws MemoryError, see L1 */
  addBatch(messages: Iterable<Message>, { runId = this.runId, signal }: StorageCall = {}): Promise<number> {
    const given = [...messages];
    return this.#inTurn(async () => {
      await this.#sync();
      const first = this.nextTime;
      const added = await this.#store(given.map((message, n) => ({ runId, addedAt: first + n * TICK, message })));
      await this.#vectors.embed(signal);
      return added;
    });
  }

  /** Keeps messages of any runs, with the times they had in another store. Tells how many were new. @internal */
  adopt(entries: readonly MessageToStore[]): Promise<number> {
    return this.#inTurn(async () => {
      await this.#sync();
      return this.#store(entries);
    });
  }

  /** Forgets what another store has taken over. @internal */
  discard(places: readonly number[]): Promise<number> {
    return this.#inTurn(() => this.#remove(places));
  }

  /** Everything that is held, in order of arrival, with its run and time. @internal */
  entries(): Promise<StoredMessage[]> {
    return this.#inTurn(async () => {
      await this.#sync();
      return this.#held.all();
    });
  }

  /**
   * The messages that are most like a text or a message, best first. A message that is held finds itself too.
   *
   * @throws UsageError `OPTION_INVALID`, MemoryError, ControlError when the signal aborts
   */
  async searchSimilar(target: Message | string, o: SearchOptions = {}): Promise<SimilarMessage[]> {
    this.#assertOpen();
    const k = checkedK(o.k ?? 4);
    const threshold = checkedThreshold(o.threshold ?? this.#parts.threshold);
    const text = typeof target === "string" ? target : target.content;
    if (o.hybrid === true && this.#parts.lexical === undefined) throw noLexical();
    await this.#inTurn(() => this.#sync());
    const { clock } = this.#parts;
    const { embedder, timeout } = voiceOf(this.#parts, o.embedder);
    const { dimensions } = this.#vectors;
    const query = this.size === 0 ? undefined : await embedQuery(embedder, text, { clock, timeout, signal: o.signal, dimensions });
    return this.#inTurn(async () => {
      await this.#sync();
      await this.#expire();
      await this.#vectors.embed(o.signal, o.embedder);
      return this.#ranking.of(text, query, { ...o, k, threshold });
    });
  }

  /** Forgets a message; false when it is not held. */
  delete(target: Message | string, { runId = this.runId }: StorageCall = {}): Promise<boolean> {
    const id = typeof target === "string" ? target : target.id;
    return this.#inTurn(async () => {
      await this.#sync();
      const place = this.#held.placeOf(runId, id);
      return place !== undefined && (await this.#remove([place])) === 1;
    });
  }

  /** Forgets what was said before a time, in milliseconds; tells how many. What has no date is as old as its place in the store. */
  deleteOlderThan(timestampMs: number): Promise<number> {
    if (Number.isNaN(timestampMs)) throw new RangeError("Expected a time in milliseconds, got NaN.");
    return this.#inTurn(async () => {
      await this.#sync();
      return this.#remove(this.#held.olderThan(timestampMs));
    });
  }

  /** Forgets what has outlived `ttl`; tells how many. */
  cleanUp(): Promise<number> {
    return this.#inTurn(async () => {
      await this.#sync();
      return this.#expire();
    });
  }

  /** Forgets every message. */
  clear(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#sync();
      await this.#remove(this.#held.places());
    });
  }

  /** Makes the vectors that are missing. Messages are durable before: see L1. @throws MemoryError */
  persist({ signal }: StorageCall = {}): Promise<void> {
    return this.#inTurn(async () => {
      await this.#sync();
      await this.#vectors.embed(signal);
    });
  }

  /** Makes all vectors again, from the messages. Cut off, it goes on with the next search or `persist`. @throws MemoryError */
  rebuild({ signal }: StorageCall = {}): Promise<void> {
    return this.#inTurn(async () => {
      await this.#sync();
      await this.#vectors.restart();
      await this.#vectors.embed(signal);
    });
  }

  /** Lets go of the store when all jobs are done. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#turn;
    await this.#parts.store.close();
  }

  #inTurn<T>(job: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(memoryClosed());
    const done = this.#turn.then(job);
    // Who asked is told; the next one begins all the same.
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Learns what the store has got and lost since it was last read. */
  async #sync(): Promise<void> {
    const { store, roleId } = this.#parts;
    const { last, removals } = await store.state(roleId);
    if (removals !== this.#held.state.removals) {
      const there = new Set(await store.places(roleId));
      for (const place of this.#held.places()) if (!there.has(place)) await this.#forget(place);
    }
    let seen = this.#held.state.last;
    let lost = 0;
    if (last > seen) {
      for await (const { messages, damaged } of store.read(roleId, seen)) {
        lost += damaged;
        for (const entry of messages) {
          this.#learn(entry);
          seen = Math.max(seen, entry.place);
        }
      }
    }
    this.#held.damaged += lost;
    this.#held.state = { last: Math.max(seen, last), removals };
    await this.#vectors.load();
  }

  #learn(entry: StoredMessage): void {
    if (!this.#held.add(entry)) return;
    this.#vectors.add(entry.place);
    this.#ranking.learn(entry.place);
  }

  async #store(entries: readonly MessageToStore[]): Promise<number> {
    const fresh = entries.filter(({ runId, message }) => {
      if (!isMessage(message)) throw noMessage(message);
      return this.#held.placeOf(runId, message.id) === undefined;
    });
    if (fresh.length === 0) return 0;
    const stored = await this.#parts.store.add(this.roleId, fresh);
    const made = stored.flatMap(({ place, isNew }, n) => (isNew ? [{ ...(fresh[n] as MessageToStore), place }] : []));
    for (const entry of made) this.#learn(entry);
    this.#held.sawPlaces(made.map(({ place }) => place));
    return made.length;
  }

  async #remove(places: readonly number[]): Promise<number> {
    if (places.length === 0) return 0;
    const removed = await this.#parts.store.remove(this.roleId, places);
    for (const place of places) await this.#forget(place);
    const { state } = this.#held;
    this.#held.state = { ...state, removals: state.removals + removed };
    return removed;
  }

  async #forget(place: number): Promise<void> {
    if (!this.#held.forget(place)) return;
    await this.#vectors.forget(place);
    await this.#ranking.forget(place);
  }

  async #expire(): Promise<number> {
    const { ttl, clock } = this.#parts;
    return ttl === undefined ? 0 : this.#remove(this.#held.olderThan(clock.now() - ttl));
  }

  #assertOpen(): void {
    if (this.#isClosed) throw memoryClosed();
  }
}

function noMessage(came: unknown): UsageError {
  return new UsageError("MESSAGE_INVALID", `Expected a message to remember, got ${typeof came}. Make one with createMessage.`);
}
