import { MemoryError, UsageError } from "../kernel/errors.ts";
import { brainJson, type BrainState, eachOnce, joinedBrain, readBrainState } from "./brain-state.ts";
import { type Cache, type CacheEntry, replaceIn } from "./cache.ts";

/** A state that others have stored. */
export interface FoundBrain {
  readonly kind: "found";
  readonly theirs: BrainState;
  /** True when `theirs` includes a state that was stored on this machine only. */
  readonly isLocalPart: boolean;
  /** The stored state that was seen last. */
  readonly base: BrainState | undefined;
  /** The state in the cache itself. */
  readonly stored: BrainState;
  readonly entry: CacheEntry;
}

export type BrainRead = FoundBrain | { readonly kind: "nothing" } | { readonly kind: "damaged"; readonly reason: string };

/** Attempts of a write when an entry appears or disappears meanwhile. */
const TRIES = 5;

/**
 * The entry of one brain memory in a cache. Owns its last known state.
 *
 * BrainPlace.P1 (`write`) a write replaces only the entry that was seen last, and returns what others have stored instead. BrainPlace.P2
 * (`#newer`) an entry of a newer version is never overwritten. BrainPlace.P3 (`read`, `write`) nor is one that cannot be read; `erase` removes it.
 */
export class BrainPlace {
  readonly #cache: Cache;
  readonly #key: string;
  readonly #ttl: number;
  #seen: CacheEntry | undefined;
  #base: BrainState | undefined;
  #newer: UsageError | undefined;

  constructor(cache: Cache, key: string, ttl: number) {
    this.#cache = cache;
    this.#key = key;
    this.#ttl = ttl;
  }

  async read(): Promise<BrainRead> {
    const entry = await this.#cache.get(this.#key);
    const read = this.#reading(entry);
    if (read.kind === "nothing") this.#know(entry, undefined);
    return read;
  }

  /** Stores a state. Returns what others have stored instead. @throws UsageError `BRAIN_NEWER`, MemoryError `MEMORY_CONFLICT`, CacheError */
  async write(state: BrainState): Promise<FoundBrain | undefined> {
    if (this.#newer !== undefined) throw this.#newer;
    const value = JSON.stringify(brainJson(state));
    for (let n = 0; n < TRIES; n++) {
      const entry = await replaceIn(this.#cache, this.#key, value, { expected: this.#seen, ttl: this.#ttl });
      if (entry === undefined) {
        this.#know({ kind: "hit", value }, state);
        return undefined;
      }
      const read = this.#reading(entry);
      if (read.kind === "found") return read;
      if (read.kind === "damaged") throw unreadable(read.reason);
      this.#know(entry, undefined);
    }
    throw conflict("others write it all the time");
  }

  async erase(): Promise<void> {
    await this.#cache.delete(this.#key);
    this.#know({ kind: "miss" }, undefined);
  }

  /** Confirms that a found state was merged, so a write may replace it. */
  accept({ entry, stored }: FoundBrain): void {
    this.#know(entry, stored);
  }

  #know(entry: CacheEntry, base: BrainState | undefined): void {
    this.#seen = entry;
    this.#base = base;
  }

  #reading(entry: CacheEntry): BrainRead {
    if (entry.kind !== "hit") return entry.kind === "miss" ? { kind: "nothing" } : entry;
    const [stored, here] = [this.#parsed(entry.value), entry.other === undefined ? undefined : this.#parsed(entry.other)];
    if (typeof stored === "string") return { kind: "damaged", reason: stored };
    const isLocalPart = here !== undefined && typeof here !== "string";
    const theirs = isLocalPart ? joinedBrain({ theirs: stored, mine: here }) : stored;
    return { kind: "found", theirs, isLocalPart, base: this.#base, stored, entry };
  }

  #parsed(text: string): BrainState | string {
    try {
      const state = readBrainState(text);
      return typeof state === "string" ? state : { ...state, history: eachOnce(state.history), knowledge: eachOnce(state.knowledge) };
    } catch (error) {
      if (error instanceof UsageError) this.#newer = error;
      throw error;
    }
  }
}

export function conflict(why: string): MemoryError {
  return new MemoryError(
    "MEMORY_CONFLICT",
    `Expected a brain memory as it was loaded, but ${why}. Nothing was stored and nothing is lost: call load() to have both here, then save().`,
  );
}

function unreadable(reason: string): MemoryError {
  return new MemoryError(
    "MEMORY_CONFLICT",
    `Expected a stored brain memory, but it cannot be read: ${reason}. Nothing was stored, and it stays as it is: restore it, or remove it by delete(key) of the cache, then call save().`,
  );
}
