import { addUsageTo, NO_USAGE_SUM, type Settlement, type UsageSum } from "./ledger.ts";
import type { Cost, MicroUsd } from "./money.ts";

/** What one of several spent: a role, or a model. */
export interface Spending {
  readonly usage: UsageSum;
  readonly cost: Cost;
}

/** What each of several spent, by name. */
export type Spendings = Readonly<Record<string, Spending>>;

const NOTHING: Spending = Object.freeze({
  usage: NO_USAGE_SUM,
  cost: Object.freeze({ known: 0 as MicroUsd, unpriced: 0 }),
});

/** Sums of what was settled, by name. It owns the sums; each is replaced and never changed, so that whoever has one keeps it. */
export class SpendingTable {
  readonly #sums = new Map<string, Spending>();

  /** Adds what was settled. What cost nothing and used nothing makes no entry. */
  add(name: string, { cost, basis, usage }: Settlement): void {
    const isUnpriced = cost === undefined && basis !== "none";
    if (usage === undefined && !isUnpriced && (cost ?? 0) === 0) return;
    const sum = this.#sums.get(name) ?? NOTHING;
    this.#sums.set(name, {
      usage: usage === undefined ? sum.usage : addUsageTo(sum.usage, usage),
      cost: { known: (sum.cost.known + (cost ?? 0)) as MicroUsd, unpriced: sum.cost.unpriced + (isUnpriced ? 1 : 0) },
    });
  }

  /** The sums as they are now, in the order in which names first came. */
  record(): Spendings {
    return Object.fromEntries(this.#sums);
  }
}
