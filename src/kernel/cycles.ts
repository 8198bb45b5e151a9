/**
 * Finds cycles in a list of signatures. It owns the latest ones.
 *
 * Cycles.C1 (`add`) a cycle closes when its signatures came `repeats` times in a row.
 */
export class Cycles {
  readonly #repeats: number;
  readonly #longest: number;
  readonly #seen: string[] = [];

  constructor(repeats: number, longest: number) {
    this.#repeats = repeats;
    this.#longest = longest;
  }

  /** @returns the length of the cycle that the signature closes; 0 for none */
  add(one: string): number {
    this.#seen.push(one);
    if (this.#seen.length > this.#repeats * this.#longest) this.#seen.shift();
    for (let period = 1; period <= this.#longest; period++) if (this.#isCycle(period)) return period;
    return 0;
  }

  clear(): void {
    this.#seen.length = 0;
  }

  #isCycle(period: number): boolean {
    const seen = this.#seen;
    const first = seen.length - period * this.#repeats;
    if (first < 0) return false;
    for (let index = first + period; index < seen.length; index++) if (seen[index] !== seen[index - period]) return false;
    return true;
  }
}
