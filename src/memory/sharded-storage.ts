import { having, listOf, takes } from "../kernel/argument.ts";
import { checkGivenOptions, checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { UsageError } from "../kernel/errors.ts";
import { assertMessage, type Message } from "../message/message.ts";
import { type MemoryStorage, TICK } from "./memory-storage.ts";
import { checkedBatch } from "./message-memory.ts";
import { scopeKey } from "./memory-scope.ts";
import { identityOf, type MessageToStore } from "./message-store.ts";
import { stableHash } from "./text-terms.ts";
import { FOUND, type SearchOptions, searchOptions, type SimilarMessage, type StorageCall, callOf } from "./storage-options.ts";

/** Options of a {@link ShardedStorage}. */
export interface ShardedStorageOptions {
  /** The shards in a fixed order. More may be added at the end. */
  readonly shards: readonly MemoryStorage[];
}

const shardedStorageOptions: Known<ShardedStorageOptions> = {
  shards: kinds.list(kinds.having("a MemoryStorage", "add", "recover")),
};

/** Returns the shard of a message. It is the same in every process and version. */
export function shardOf(runId: string, id: string, count: number): number {
  return stableHash(identityOf(runId, id)) % count;
}

/**
 * One long-term memory over several storages. A stable hash of (run, id) names the shard of a message. A search asks all shards.
 *
 * ShardedStorage.H1 (`#moveFrom`) `recover` with another list of shards stores messages in the right shard, then removes them from the wrong one.
 * ShardedStorage.H2 (`#moveFrom`) an interrupted `recover` loses no message, and the next one completes it; a message in two shards is found once.
 * ShardedStorage.H3 (`#nextTime`) messages keep the order in which they were added. Moved messages are embedded again.
 *
 * @example
 * import { createMessage, MemoryStorage } from "troupe";
 * import { ShardedStorage } from "troupe/memory";
 *
 * const shards = [new MemoryStorage({ roleId: "Ada" }), new MemoryStorage({ roleId: "Ada" })];
 * const storage = new ShardedStorage({ shards });
 * await storage.addBatch([createMessage("The bridge is of stone."), createMessage("The ferry is of wood.")]);
 * console.log((await storage.searchSimilar("ferry", { k: 1 }))[0]?.message.content); // The ferry is of wood.
 */
export class ShardedStorage {
  readonly #shards: readonly MemoryStorage[];
  #newest = 0;

  /** @throws UsageError `OPTION_INVALID` for no shards, or one that is named twice */
  constructor(options: ShardedStorageOptions) {
    checkGivenOptions("new ShardedStorage", options, shardedStorageOptions);
    const { shards } = options;
    takes("new ShardedStorage", "shards", shards, listOf(having("a MemoryStorage", "add", "recover")));
    if (shards.length === 0 || new Set(shards).size < shards.length) {
      throw new UsageError(
        "OPTION_INVALID",
        `Expected one or more different storages as shards, got ${shards.length}, or one of them twice.`,
      );
    }
    const scopes = shards.map(({ scope }) => scopeKey({ ...scope, role: "" }));
    const other = scopes.find((scope) => scope !== scopes[0]);
    if (other !== undefined) {
      throw new UsageError(
        "OPTION_INVALID",
        `Expected shards of one scope, got shards of ${scopes[0]} and of ${other}. Give each scope its own.`,
      );
    }
    this.#shards = shards;
  }

  /** Number of known messages. A message in two shards counts twice until `recover`. */
  get size(): number {
    return this.#shards.reduce((sum, shard) => sum + shard.size, 0);
  }

  /** Moves messages to their shards, then returns all messages in order of arrival. */
  async recover(): Promise<Message[]> {
    for (const [which, shard] of this.#shards.entries()) await this.#moveFrom(shard, which);
    const lists = await Promise.all(this.#shards.map((shard) => shard.entries()));
    return lists
      .flat()
      .sort((a, b) => a.addedAt - b.addedAt)
      .map(({ message }) => message);
  }

  has(target: Message | string, o: StorageCall = {}): boolean {
    callOf("has", o);
    return this.#shards.some((shard) => shard.has(target, { runId: this.#runId, ...o }));
  }

  async add(message: Message, o: StorageCall = {}): Promise<boolean> {
    return (await this.addBatch([message], callOf("add", o))) === 1;
  }

  /** Each shard stores all of its messages, or none. @throws MemoryError of the first shard that failed; the others have stored theirs */
  async addBatch(messages: Iterable<Message>, o: StorageCall = {}): Promise<number> {
    callOf("addBatch", o);
    const given = [...checkedBatch(messages)];
    const newest = Math.max(...(await Promise.all(this.#shards.map((shard) => shard.nextTime()))));
    const parts = new Map<MemoryStorage, MessageToStore[]>();
    const { runId = this.#runId } = o;
    for (const message of given) {
      assertMessage(message);
      const shard = this.#shardOf(message.id, runId);
      const part = parts.get(shard) ?? [];
      part.push({ runId, addedAt: this.#nextTime(newest), message });
      parts.set(shard, part);
    }
    const ended = await Promise.allSettled([...parts].map(([shard, part]) => shard.adopt(part, { ...o, embeds: true })));
    let added = 0;
    for (const one of ended) {
      if (one.status === "rejected") throw one.reason;
      added += one.value;
    }
    return added;
  }

  /** Returns the best messages of all shards, best first; see {@link MemoryStorage.searchSimilar}. */
  async searchSimilar(target: Message | string, given: SearchOptions = {}): Promise<SimilarMessage[]> {
    checkKnownOptions("searchSimilar", given, searchOptions);
    const { k = FOUND, ...o } = given;
    const lists = await Promise.all(this.#shards.map((shard) => shard.searchSimilar(target, { ...o, k })));
    const merged = lists.flat().sort((a, b) => b.score - a.score);
    const seen = new Set<string>();
    const once = merged.filter(({ runId, message }) => {
      const identity = identityOf(runId, message.id);
      return !seen.has(identity) && seen.add(identity);
    });
    return once.slice(0, k);
  }

  async delete(target: Message | string, o?: StorageCall): Promise<boolean> {
    const gone = await Promise.all(this.#shards.map((shard) => shard.delete(target, o)));
    return gone.includes(true);
  }

  /** Deletes messages before a time in every shard, and returns their number. */
  async deleteOlderThan(timestampMs: number): Promise<number> {
    const deleted = await Promise.all(this.#shards.map((shard) => shard.deleteOlderThan(timestampMs)));
    return deleted.reduce((sum, count) => sum + count, 0);
  }

  async persist(o?: StorageCall): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.persist(o)));
  }

  async close(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.close()));
  }

  /** Times grow over all shards, so that messages of different shards keep their order. */
  #nextTime(newest: number): number {
    this.#newest = Math.max(this.#newest + TICK, newest);
    return this.#newest;
  }

  get #runId(): string {
    return this.#shards[0]?.runId ?? "";
  }

  #shardOf(id: string, runId: string): MemoryStorage {
    return this.#shards[shardOf(runId, id, this.#shards.length)] as MemoryStorage;
  }

  async #moveFrom(shard: MemoryStorage, which: number): Promise<void> {
    const count = this.#shards.length;
    const misplaced = (await shard.entries()).filter((entry) => shardOf(entry.runId, entry.message.id, count) !== which);
    for (const [n, target] of this.#shards.entries()) {
      const entries = misplaced.filter((entry) => shardOf(entry.runId, entry.message.id, count) === n);
      if (entries.length === 0) continue;
      await target.adopt(entries);
      // Removed last: a message in two shards is found once, a message in none would be lost.
      await shard.discard(entries);
    }
  }
}
