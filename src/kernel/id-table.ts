import { keyedHash, quickHash, type TextHash } from "./text-hash.ts";

/**
 * The quick hash puts no honest id so far behind its home, in slots, nor gives so many ids one hash. How far the farthest stands is a matter
 * of the seed: of a million ids that count up at 230 in the middle of forty processes and at 322 in the worst, and each doubling adds some 20;
 * of a million random numbers of 32 bits no four are equal.
 */
const REACH = 512;
const MOST_ALIKE = 8;
const SMALLEST = 32;

/** The place of an id that is not there. */
const ABSENT = -1;

/** What a table is made with. */
export interface IdTableOptions {
  /** The id of what stands at a position, which is given modulo 2^32. */
  readonly idAt: (position: number) => string;
  /** How many ids are to be expected. */
  readonly expected: number;
  /** Used until it puts too many ids into one place. */
  readonly quick?: TextHash;
  /** Used from then on. */
  readonly keyed?: TextHash;
  /** How far behind its home an id may stand under the quick hash. */
  readonly reach?: number;
}

/**
 * Positions by id, for very many: a hash table with open addressing, which keeps hashes and positions and reads the ids themselves where
 * they stand.
 *
 * Owns which slot is whose; what stands at a position is its owner's business, and it does not change while it is in the table.
 *
 * IT1 exactly the ids that were added and not deleted are found, whatever they hash to. IT2 while the quick hash is used, every entry stands
 * within `REACH` slots of its home, and at most `MOST_ALIKE` share a hash; the add that cannot keep that changes to the keyed one, once for
 * all. So `find`, `add` and `delete` are O(1) amortised, and no choice of ids makes them more. IT3 no more than half of the slots are taken.
 * IT4 no entry is behind an empty slot between it and its home.
 */
export class IdTable {
  readonly #idAt: (position: number) => string;
  readonly #keyed: TextHash;
  #hash: TextHash;
  #isKeyed = false;
  /** For each slot a hash, 0 in an empty one, and a position modulo 2^32. */
  #slots: Int32Array;
  /** How many slots are looked at for one id. */
  #reach: number;
  #size = 0;

  constructor({ idAt, expected, quick = quickHash, keyed = keyedHash, reach = REACH }: IdTableOptions) {
    this.#idAt = idAt;
    this.#hash = quick;
    this.#keyed = keyed;
    this.#reach = reach;
    let slots = SMALLEST;
    while (slots < expected * 2) slots *= 2;
    this.#slots = new Int32Array(slots * 2);
  }

  get size(): number {
    return this.#size;
  }

  /** The position of an id, modulo 2^32. */
  find(id: string): number | undefined {
    const at = this.#placeOf(id);
    return at === ABSENT ? undefined : (this.#slots[at + 1] as number) >>> 0;
  }

  has(id: string): boolean {
    return this.#placeOf(id) !== ABSENT;
  }

  /** Takes an id in. False, and nothing changes, when it is there. */
  add(id: string, position: number): boolean {
    if (this.#size * 4 >= this.#slots.length) this.#grow();
    const hash = this.#hashOf(id);
    const slots = this.#slots;
    const mask = slots.length - 2;
    let alike = 0;
    let at = (hash << 1) & mask;
    for (let left = this.#reach; left > 0; left -= 1) {
      const held = slots[at];
      if (held === 0) {
        slots[at] = hash;
        slots[at + 1] = position;
        this.#size += 1;
        return true;
      }
      if (held === hash) {
        if (this.#idAt((slots[at + 1] as number) >>> 0) === id) return false;
        alike += 1;
        if (alike === MOST_ALIKE && !this.#isKeyed) break;
      }
      at = (at + 2) & mask;
    }
    this.#distrust();
    return this.add(id, position);
  }

  /** Lets an id go; gives the position it had, modulo 2^32. */
  delete(id: string): number | undefined {
    const at = this.#placeOf(id);
    if (at === ABSENT) return undefined;
    const position = (this.#slots[at + 1] as number) >>> 0;
    this.#size -= 1;
    this.#close(at);
    return position;
  }

  #placeOf(id: string): number {
    const hash = this.#hashOf(id);
    const slots = this.#slots;
    const mask = slots.length - 2;
    let at = (hash << 1) & mask;
    for (let left = this.#reach; left > 0; left -= 1) {
      const held = slots[at];
      if (held === 0) return ABSENT;
      if (held === hash && this.#idAt((slots[at + 1] as number) >>> 0) === id) return at;
      at = (at + 2) & mask;
    }
    return ABSENT;
  }

  #hashOf(id: string): number {
    const hash = this.#hash(id) | 0;
    return hash === 0 ? 1 : hash;
  }

  /** Twice the slots. In the order of the slots, from the start of a row on, nobody comes to stand farther from home than before. */
  #grow(): void {
    const old = this.#slots;
    const mask = old.length - 2;
    let start = 0;
    while (old[start] !== 0) start += 2;
    this.#useSlots(old.length * 2);
    for (let step = 2; step < old.length; step += 2) {
      const at = (start + step) & mask;
      const hash = old[at] as number;
      if (hash !== 0) this.#put(hash, old[at + 1] as number);
    }
  }

  /** From now on by the hash nobody can choose ids against. */
  #distrust(): void {
    const old = this.#slots;
    this.#isKeyed = true;
    this.#hash = this.#keyed;
    this.#useSlots(old.length);
    for (let at = 0; at < old.length; at += 2) {
      const position = old[at + 1] as number;
      if (old[at] !== 0) this.#put(this.#hashOf(this.#idAt(position >>> 0)), position);
    }
  }

  #useSlots(length: number): void {
    this.#slots = new Int32Array(length);
    if (this.#isKeyed) this.#reach = length;
  }

  #put(hash: number, position: number): void {
    const slots = this.#slots;
    const mask = slots.length - 2;
    let at = (hash << 1) & mask;
    while (slots[at] !== 0) at = (at + 2) & mask;
    slots[at] = hash;
    slots[at + 1] = position;
  }

  /** Closes a gap by what stands behind it and may stand there, and so on until a row ends. */
  #close(gapAt: number): void {
    const slots = this.#slots;
    const mask = slots.length - 2;
    let gap = gapAt;
    let at = gapAt;
    for (let left = this.#reach; left > 0; left -= 1) {
      at = (at + 2) & mask;
      const hash = slots[at] as number;
      if (hash === 0) break;
      const fromHome = (at - (hash << 1)) & mask;
      if (fromHome < ((at - gap) & mask)) continue;
      slots[gap] = hash;
      slots[gap + 1] = slots[at + 1] as number;
      gap = at;
    }
    const isRowEnded = slots[at] === 0;
    slots[gap] = 0;
    if (!isRowEnded) this.#distrust();
  }
}
