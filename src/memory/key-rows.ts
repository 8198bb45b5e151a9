/** Most of the table that is in use. */
const FULL = 3 / 4;
const EMPTY = -1;

/**
 * Keys in rows 0 to size - 1, and the row of a key, in 16 bytes a key, where a Map takes 50: a hash table of rows whose keys stand in one
 * list. A row that is given up is filled by the last one.
 */
export class KeyRows {
  #keys = new Float64Array(64);
  #table = new Int32Array(128).fill(EMPTY);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  keyOf(row: number): number {
    return this.#keys[row] as number;
  }

  rowOf(key: number): number | undefined {
    const row = this.#table[this.#slotOf(key)] as number;
    return row === EMPTY ? undefined : row;
  }

  /** A key that is not there gets the row behind the last one. */
  push(key: number): number {
    const row = this.#size;
    if (row === this.#keys.length) this.#keys = grown(this.#keys);
    this.#keys[row] = key;
    if (row + 1 > this.#table.length * FULL) this.#spread(this.#table.length * 2);
    this.#table[this.#slotOf(key)] = row;
    this.#size = row + 1;
    return row;
  }

  /** A key that is there gives up its row to the last one. */
  remove(key: number): void {
    const slot = this.#slotOf(key);
    const row = this.#table[slot] as number;
    const last = this.#size - 1;
    const moved = this.keyOf(last);
    this.#close(slot);
    if (row < last) {
      this.#table[this.#slotOf(moved)] = row;
      this.#keys[row] = moved;
    }
    this.#size = last;
  }

  clear(): void {
    this.#keys = new Float64Array(64);
    this.#table = new Int32Array(128).fill(EMPTY);
    this.#size = 0;
  }

  /** Where a key stands, or would. */
  #slotOf(key: number): number {
    const last = this.#table.length - 1;
    let slot = homeOf(key) & last;
    for (let row = this.#table[slot] as number; row !== EMPTY && this.#keys[row] !== key; row = this.#table[slot] as number) {
      slot = (slot + 1) & last;
    }
    return slot;
  }

  /** Empties a slot, and moves up what would not be found behind an empty one. */
  #close(emptied: number): void {
    const last = this.#table.length - 1;
    let gap = emptied;
    for (let slot = (gap + 1) & last; this.#table[slot] !== EMPTY; slot = (slot + 1) & last) {
      const home = homeOf(this.keyOf(this.#table[slot] as number)) & last;
      const isBehindGap = ((slot - home) & last) >= ((slot - gap) & last);
      if (!isBehindGap) continue;
      this.#table[gap] = this.#table[slot] as number;
      gap = slot;
    }
    this.#table[gap] = EMPTY;
  }

  #spread(slots: number): void {
    this.#table = new Int32Array(slots).fill(EMPTY);
    for (let row = 0; row < this.#size; row++) this.#table[this.#slotOf(this.keyOf(row))] = row;
  }
}

/** Where a key would like to stand: keys that follow each other lie apart. */
function homeOf(key: number): number {
  const mixed = Math.imul(key ^ (key / 2 ** 32), 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** By an eighth only: what is kept beyond need counts as well. */
function grown(keys: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(keys.length + (keys.length >> 3));
  larger.set(keys);
  return larger;
}
