import { MemoryError } from "../kernel/errors.ts";
import { brainJson, type BrainState, joinedBrain, readBrainState } from "./brain-state.ts";
import { type Cache, type CacheEntry, replaceIn } from "./cache.ts";

/** A state that others have stored. */
export interface FoundBrain {
  /** The state in the cache, joined with the state stored only on this machine. */
  readonly theirs: BrainState;
  readonly isJoined: boolean;
  /** The stored state that was seen last. */
  readonly base: BrainState | undefined;
}

/** The result of {@link BrainMemory.load}. */
export type BrainLoad =
  | { readonly kind: "loaded" }
  | { readonly kind: "nothing" }
  /** The stored entry cannot be read. The memory is unchanged, and `save` refuses to write over it. */
  | { readonly kind: "damaged"; readonly reason: string };

/** Attempts of a write, each after merging the present entry. */
const TRIES = 50;

/**
 * The entry of one brain memory in a cache. Owns its last known state.
 *
 * BrainEntry.P1 (`write`) a write replaces only the last entry seen, and merges a newer one. BrainEntry.P2
 * (`#take`) an entry of a newer version, or one that cannot be read, is never overwritten; `erase` removes it.
 */
export class BrainEntry {
  readonly #cache: Cache;
  readonly #key: string;
  readonly #ttl: number;
  #seen: CacheEntry | undefined;
  #base: BrainState | undefined;

  constructor(cache: Cache, key: string, ttl: number) {
    this.#cache = cache;
    this.#key = key;
    this.#ttl = ttl;
  }

  async read(merge: (found: FoundBrain) => void): Promise<BrainLoad> {
    return this.#take(await this.#cache.get(this.#key), merge);
  }

  /**
   * Stores the state that `make` returns, again after each merge. Returns the stored state, or undefined when `make` returns none.
   *
   * @throws UsageError `BRAIN_NEWER`, MemoryError `MEMORY_CONFLICT`, CacheError
   */
  async write(make: () => BrainState | undefined, merge: (found: FoundBrain) => void): Promise<BrainState | undefined> {
    for (let n = 0; n < TRIES; n++) {
      const state = make();
      if (state === undefined) return undefined;
      const value = JSON.stringify(brainJson(state));
      const entry = await replaceIn(this.#cache, this.#key, value, { expected: this.#seen, ttl: this.#ttl });
      if (entry === undefined) {
        [this.#seen, this.#base] = [{ kind: "hit", value }, state];
        return state;
      }
      const taken = this.#take(entry, merge);
      if (taken.kind === "damaged") throw unreadable(taken.reason);
    }
    throw new MemoryError(
      "MEMORY_CONFLICT",
      "Expected to store a brain memory, but others store it all the time. Nothing was stored and nothing is lost: call save() again.",
    );
  }

  async erase(): Promise<void> {
    await this.#cache.delete(this.#key);
    [this.#seen, this.#base] = [{ kind: "miss" }, undefined];
  }

  /** Merges an entry, which a later write may replace. */
  #take(entry: CacheEntry, merge: (found: FoundBrain) => void): BrainLoad {
    if (entry.kind === "damaged") return entry;
    const stored = entry.kind === "miss" ? undefined : readBrainState(entry.value);
    if (typeof stored === "string") return { kind: "damaged", reason: stored };
    if (stored !== undefined) {
      const local = entry.kind === "hit" && entry.other !== undefined ? readBrainState(entry.other) : undefined;
      const isJoined = typeof local === "object";
      merge({ theirs: isJoined ? joinedBrain({ theirs: stored, mine: local }) : stored, isJoined, base: this.#base });
    }
    [this.#seen, this.#base] = [entry, stored];
    return { kind: stored === undefined ? "nothing" : "loaded" };
  }
}

function unreadable(reason: string): MemoryError {
  return new MemoryError(
    "MEMORY_CONFLICT",
    `Expected a stored brain memory, but it cannot be read: ${reason}. Nothing was stored, and it stays as it is: restore it, or remove it by delete(key) of the cache, then call save().`,
  );
}
