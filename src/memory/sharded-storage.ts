import { having, listOf, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { UsageError } from "../kernel/errors.ts";
import { assertMessage, type Message } from "../message/message.ts";
import { type MemoryStorage, type StorageCall, TICK } from "./memory-storage.ts";
import { identityOf, type MessageToStore, type StoredMessage } from "./message-store.ts";
import { mergeSorted } from "./rank-merge.ts";
import { stableHash } from "./stable-hash.ts";
import type { SearchOptions, SimilarMessage } from "./storage-options.ts";

/** Messages moved at once. */
const MOVED = 500;

/** What a sharded storage is made of. */
export interface ShardedStorageOptions {
  /** In an order that never changes; more may be added at the end. */
  readonly shards: readonly MemoryStorage[];
  /** Former shards. Their messages move when the storage recovers. */
  readonly retired?: readonly MemoryStorage[] | undefined;
}

const shardedStorageOptions: Known<ShardedStorageOptions> = { shards: true, retired: true };

/** The shard of `count` that a message belongs to: the same in every process, for ever. */
export function shardOf(runId: string, id: string, count: number): number {
  return stableHash(identityOf(runId, id)) % count;
}

/**
 * One long-term memory over several storages: a message lives in the shard that a stable hash of its (run, id) names, and a search asks
 * all and merges what they find by score.
 *
 * H1 resharding is `recover` with another list of shards: what lies in the wrong one is stored in the right one, then removed. H2 cut off
 * anywhere, it loses nothing, and the next `recover` ends it; what stands in two shards meanwhile is told once. H3 messages come
 * back in the order in which they were given. Vectors do not move: what has moved is embedded again before the next search.
 *
 * @example
 * import { createMessage, MemoryStorage } from "troupe";
 * import { ShardedStorage } from "troupe/sqlite";
 *
 * const shards = [new MemoryStorage({ roleId: "Ada" }), new MemoryStorage({ roleId: "Ada" })];
 * const storage = new ShardedStorage({ shards });
 * await storage.addBatch([createMessage("The bridge is of stone."), createMessage("The ferry is of wood.")]);
 * console.log((await storage.searchSimilar("ferry", { k: 1 }))[0]?.message.content); // The ferry is of wood.
 */
export class ShardedStorage {
  readonly #shards: readonly MemoryStorage[];
  /** The shards, and those that are retired. */
  readonly #everywhere: readonly MemoryStorage[];
  #newest = 0;

  /** @throws UsageError `OPTION_INVALID` for no shards, or one that is named twice */
  constructor(options: ShardedStorageOptions) {
    checkGivenOptions("new ShardedStorage", options, shardedStorageOptions);
    const { shards, retired = [] } = options;
    takes("new ShardedStorage", "shards", shards, listOf(having("a MemoryStorage", "add", "recover")));
    takes("new ShardedStorage", "retired", retired, listOf(having("a MemoryStorage", "add", "recover")));
    if (shards.length === 0 || new Set([...shards, ...retired]).size < shards.length + retired.length) {
      throw new UsageError(
        "OPTION_INVALID",
        `Expected one or more different storages as shards, got ${shards.length}, or one of them twice.`,
      );
    }
    this.#shards = shards;
    this.#everywhere = [...shards, ...retired];
  }

  /** How many messages are known to be held. What stands in two shards counts twice, until it was recovered. */
  get size(): number {
    return this.#everywhere.reduce((sum, shard) => sum + shard.size, 0);
  }

  /** Moves what lies in the wrong shard, then gives all messages in order of arrival. */
  async recover(): Promise<Message[]> {
    for (const [which, shard] of this.#everywhere.entries()) await this.#moveFrom(shard, which);
    const lists = await Promise.all(this.#shards.map((shard) => shard.entries()));
    return lists
      .flat()
      .sort((a, b) => a.addedAt - b.addedAt)
      .map(({ message }) => message);
  }

  has(target: Message | string, o: StorageCall = {}): boolean {
    return this.#everywhere.some((shard) => shard.has(target, { runId: this.#runId, ...o }));
  }

  async add(message: Message, o?: StorageCall): Promise<boolean> {
    return (await this.addBatch([message], o)) === 1;
  }

  /** Each shard keeps all of its part, or none. @throws MemoryError of the first shard that failed; the others have kept theirs */
  async addBatch(messages: Iterable<Message>, o?: StorageCall): Promise<number> {
    const parts = new Map<MemoryStorage, MessageToStore[]>();
    const runId = o?.runId ?? this.#runId;
    for (const message of messages) {
      assertMessage(message);
      const shard = this.#shardOf(message.id, runId);
      const part = parts.get(shard) ?? [];
      part.push({ runId, addedAt: this.#nextTime(), message });
      parts.set(shard, part);
    }
    const ended = await Promise.allSettled(
      [...parts].map(async ([shard, part]) => {
        const count = await shard.adopt(part);
        await shard.persist(o);
        return count;
      }),
    );
    let added = 0;
    for (const one of ended) {
      if (one.status === "rejected") throw one.reason;
      added += one.value;
    }
    return added;
  }

  /** The best of all shards, best first; see {@link MemoryStorage.searchSimilar}. Shards do not merge rankings, so there is no `hybrid`. */
  async searchSimilar(target: Message | string, { k = 4, ...o }: Omit<SearchOptions, "hybrid"> = {}): Promise<SimilarMessage[]> {
    const lists = await Promise.all(this.#everywhere.map((shard) => shard.searchSimilar(target, { ...o, k })));
    const merged = mergeSorted(lists, k * 2, (a, b) => b.score - a.score);
    const told = new Set<string>();
    const once = merged.filter(({ runId, message }) => {
      const identity = identityOf(runId, message.id);
      return !told.has(identity) && told.add(identity);
    });
    return once.slice(0, k);
  }

  async delete(target: Message | string, o?: StorageCall): Promise<boolean> {
    const gone = await Promise.all(this.#everywhere.map((shard) => shard.delete(target, o)));
    return gone.includes(true);
  }

  /** Forgets what was said before a time, in every shard; tells how many messages that were. */
  async deleteOlderThan(timestampMs: number): Promise<number> {
    const gone = await Promise.all(this.#everywhere.map((shard) => shard.forgetOlderThan(timestampMs)));
    return new Set(gone.flat()).size;
  }

  async persist(o?: StorageCall): Promise<void> {
    await Promise.all(this.#everywhere.map((shard) => shard.persist(o)));
  }

  async close(): Promise<void> {
    await Promise.all(this.#everywhere.map((shard) => shard.close()));
  }

  /** Grows over all shards, so that what lies in different ones keeps its order. */
  #nextTime(): number {
    this.#newest = Math.max(this.#newest + TICK, ...this.#everywhere.map((shard) => shard.nextTime));
    return this.#newest;
  }

  get #runId(): string {
    return this.#shards[0]?.runId ?? "";
  }

  #shardOf(id: string, runId: string): MemoryStorage {
    return this.#shards[shardOf(runId, id, this.#shards.length)] as MemoryStorage;
  }

  async #moveFrom(shard: MemoryStorage, which: number): Promise<void> {
    const misplaced = (await shard.entries()).filter((entry) => shardOf(entry.runId, entry.message.id, this.#shards.length) !== which);
    for (let from = 0; from < misplaced.length; from += MOVED) await this.#move(shard, misplaced.slice(from, from + MOVED));
  }

  async #move(shard: MemoryStorage, entries: readonly StoredMessage[]): Promise<void> {
    for (const [which, target] of this.#shards.entries()) {
      const theirs = entries.filter((entry) => shardOf(entry.runId, entry.message.id, this.#shards.length) === which);
      if (theirs.length === 0) continue;
      await target.adopt(theirs);
      // Only now: what is in both is told once, what is in neither is lost.
      await shard.discard(theirs.map(({ place }) => place));
    }
  }
}
