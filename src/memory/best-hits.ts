import type { VectorHit } from "./vector-index.ts";

/**
 * The best few of very many, kept in a heap whose root is the worst of them. Equal scores are told apart by key, the smaller one first,
 * so that what is found depends on nothing but what is there.
 */
export class BestHits {
  readonly #limit: number;
  readonly #scores: number[] = [];
  readonly #keys: number[] = [];
  /** What a score must reach to be looked at. */
  floor: number = -Infinity;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Whether it would be kept. */
  wants(score: number, key: number): boolean {
    if (this.size < this.#limit) return true;
    return score > this.floor || (score === this.floor && key < (this.#keys[0] as number));
  }

  /** Keeps one that it wants. */
  keep(score: number, key: number): void {
    if (this.size < this.#limit) {
      this.#scores.push(score);
      this.#keys.push(key);
      this.#rise(this.size - 1);
    } else {
      this.#scores[0] = score;
      this.#keys[0] = key;
      this.#sink();
    }
    if (this.size === this.#limit) this.floor = this.#scores[0] as number;
  }

  /** All that were kept, best first. */
  hits(): VectorHit[] {
    const hits = this.#keys.map((key, n): VectorHit => ({ key, score: Math.max(-1, Math.min(1, this.#scores[n] as number)) }));
    return hits.sort((a, b) => b.score - a.score || a.key - b.key);
  }

  #isWorse(a: number, b: number): boolean {
    const [first, second] = [this.#scores[a] as number, this.#scores[b] as number];
    return first < second || (first === second && (this.#keys[a] as number) > (this.#keys[b] as number));
  }

  #swap(a: number, b: number): void {
    [this.#scores[a], this.#scores[b]] = [this.#scores[b] as number, this.#scores[a] as number];
    [this.#keys[a], this.#keys[b]] = [this.#keys[b] as number, this.#keys[a] as number];
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#isWorse(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let worst = at;
      if (left < this.size && this.#isWorse(left, worst)) worst = left;
      if (right < this.size && this.#isWorse(right, worst)) worst = right;
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }
}
