import { DELETED, type Slot } from "./arrivals.ts";

/** Layers of a copied index. A deeper copy builds an index of its own when it is first searched. */
const MOST_LAYERS = 4;

/**
 * The slots of a memory by identity. A copy shares what the original had when it was copied, and keeps what comes later to itself.
 *
 * SlotIndex.X1 (`get`) a slot that the original got after it was copied is not in the copy: its order is higher than the last one then.
 * SlotIndex.X2 (`set`) adding to a copy leaves the original as it is.
 */
export class SlotIndex {
  readonly #own = new Map<string, Slot>();
  readonly #before: SlotIndex | undefined;
  /** The order of the last slot that the original had. */
  readonly #upTo: number;
  readonly #layers: number;

  constructor(before?: SlotIndex, upTo: number = 0) {
    this.#before = before;
    this.#upTo = upTo;
    this.#layers = before === undefined ? 0 : before.#layers + 1;
  }

  get(identity: string): Slot | undefined {
    const own = this.#own.get(identity);
    if (own !== undefined || this.#before === undefined) return own;
    const slot = this.#before.get(identity);
    return slot !== undefined && slot.order !== DELETED && slot.order <= this.#upTo ? slot : undefined;
  }

  set(identity: string, slot: Slot): void {
    this.#own.set(identity, slot);
  }

  /** Forgets a slot of its own: a memory that shares slots gets its own ones and a new index before it forgets one. */
  delete(identity: string): void {
    this.#own.delete(identity);
  }

  /** Returns an index of the same slots, up to the one of an order; undefined when it must be built anew. */
  copy(upTo: number): SlotIndex | undefined {
    if (this.#own.size === 0 && this.#before !== undefined) return new SlotIndex(this.#before, Math.min(upTo, this.#upTo));
    return this.#layers < MOST_LAYERS ? new SlotIndex(this, upTo) : undefined;
  }
}
