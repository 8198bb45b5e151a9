import { MemoryError, UsageError } from "../kernel/errors.ts";
import { brainJson, type BrainState, joinedBrain, readBrainState } from "./brain-state.ts";
import { type Cache, type CacheEntry, replaceIn } from "./cache.ts";

/** What others have stored. */
export interface FoundBrain {
  readonly kind: "found";
  readonly theirs: BrainState;
  /** What was stored here only, where it is not part of `theirs`. */
  readonly isLocalPart: boolean;
  /** What was stored when it was last seen from here. */
  readonly base: BrainState | undefined;
  /** What the place itself has. */
  readonly stored: BrainState;
  readonly entry: CacheEntry;
}

export type BrainRead = FoundBrain | { readonly kind: "nothing" } | { readonly kind: "damaged"; readonly reason: string };

/** How often a write is tried again where an entry has gone or come meanwhile. */
const TRIES = 5;

/**
 * The place of one brain memory in a cache.
 *
 * Owns what is known of the stored entry. What is held belongs to the memory, and so does what becomes of two states.
 *
 * BrainPlace.P1 a write goes only over what was seen: `write` compares and gives back what others have stored. BrainPlace.P2 what a newer version
 * stored is never written over. BrainPlace.P3 what could not be asked for was not seen.
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

  /** What is found is taken for seen when it is {@link accept}ed. @throws UsageError `BRAIN_NEWER`, CacheError */
  async read(): Promise<BrainRead> {
    const entry = await this.#cache.get(this.#key);
    const read = this.#reading(entry);
    if (read.kind !== "found") this.#know(entry, undefined);
    return read;
  }

  /** Stores a state. @returns what others have stored, which is not written over @throws UsageError `BRAIN_NEWER`, MemoryError `MEMORY_CONFLICT`, CacheError */
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
      if (read.kind === "damaged" && entry.kind === "hit") throw conflict(`something is stored there that cannot be read: ${read.reason}`);
      this.#know(entry, undefined);
    }
    throw conflict("others write it all the time");
  }

  /** What was found is part of what is held from now on, so that a write may go over it. */
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
      return readBrainState(text);
    } catch (error) {
      if (error instanceof UsageError) this.#newer = error;
      throw error;
    }
  }
}

/** What a `save` or a `compress` ends with that may not write over what others have stored. */
export function conflict(why: string): MemoryError {
  return new MemoryError(
    "MEMORY_CONFLICT",
    `Expected a brain memory as it was loaded, but ${why}. Nothing was stored and nothing is lost: call load() to have both here, then save().`,
  );
}
