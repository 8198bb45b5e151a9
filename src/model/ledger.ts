import { UsageError } from "../kernel/errors.ts";
import type { Usage } from "./chat-model.ts";
import type { Cost, MicroUsd } from "./money.ts";

export interface Settlement {
  readonly cost: MicroUsd | undefined;
  /** See {@link AttemptOutcome}. */
  readonly basis: "usage" | "hold" | "none";
  readonly usage?: Usage;
}

export interface UsageSum {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** At least one of the numbers is an estimate. */
  readonly estimated: boolean;
}

export interface LedgerRecord {
  readonly spent: number;
  readonly unpriced: number;
  readonly usage: UsageSum;
  readonly open: readonly HoldRecord[];
  /** Lost holds. Left out without any. */
  readonly lost?: readonly HoldRecord[];
}

type HoldRecord = readonly [string, number] | readonly [string, number, "unpriced"];

const NO_USAGE_SUM: UsageSum = Object.freeze({ inputTokens: 0, outputTokens: 0, cachedTokens: 0, estimated: false });

interface OpenHold {
  readonly amount: MicroUsd;
  readonly isUnpriced: boolean;
  readonly isLost: boolean;
}

/**
 * The sums of settled costs and open holds, in whole micro-dollars. It owns the open holds; lost ones are of calls whose end is unknown.
 *
 * Ledger.L1 (`open`, `lose`, `settle`) spent is the sum of settled costs and lost holds, and held the sum of all other open holds.
 * Ledger.L2 (`open`, `settle`) a key has one open hold at a time; settling closes it, and settling a key without an open hold is an error.
 * Ledger.L3 (`whole`) amounts are whole and never negative.
 * Ledger.L4 (`settle`) an unknown cost adds one to `unpriced` and nothing to `spent`, also while its hold is open; a settlement at the hold
 * has a known cost.
 * Ledger.L5 (`fits`) a hold fits when spent + held + hold stays within the budget.
 * Ledger.L6 (`fromJSON`) a ledger read back from its JSON is the same ledger.
 */
export class Ledger {
  readonly #holds = new Map<string, OpenHold>();
  #settled = 0;
  #unpriced = 0;
  #usage: UsageSum = NO_USAGE_SUM;

  /** @throws UsageError `LEDGER_KEY` or `LEDGER_AMOUNT` when it is none */
  static fromJSON({ spent, unpriced, usage, open, lost = [] }: LedgerRecord): Ledger {
    const ledger = new Ledger();
    ledger.#settled = whole(spent, "spent");
    ledger.#unpriced = whole(unpriced, "unpriced");
    ledger.#usage = { ...usage };
    for (const [key, hold, mark] of [...lost, ...open]) ledger.open(key, hold as MicroUsd, mark !== undefined);
    for (const [key] of lost) ledger.lose(key);
    return ledger;
  }

  get spent(): MicroUsd {
    return (this.#settled + this.#sum(true)) as MicroUsd;
  }

  get settled(): MicroUsd {
    return this.#settled as MicroUsd;
  }

  get holds(): readonly (readonly [key: string, amount: number])[] {
    return [...this.#records(true), ...this.#records(false)].filter(([, amount]) => amount > 0).map(([key, amount]) => [key, amount]);
  }

  get held(): MicroUsd {
    return this.#sum(false) as MicroUsd;
  }

  /** Calls without a known price, open ones included. */
  get unpriced(): number {
    return [...this.#holds.values()].filter(({ isUnpriced }) => isUnpriced).length + this.#unpriced;
  }

  get usage(): UsageSum {
    return this.#usage;
  }

  get openHolds(): number {
    return this.#records(false).length;
  }

  /** @throws UsageError `LEDGER_KEY` when the key is open already, `LEDGER_AMOUNT` */
  open(key: string, hold: MicroUsd, isUnpriced: boolean = false): void {
    if (this.#holds.has(key))
      throw new UsageError("LEDGER_KEY", `Expected a key without an open hold, but ${key} has one. Settle it first.`);
    this.#holds.set(key, { amount: whole(hold, "a hold"), isUnpriced, isLost: false });
  }

  /** It counts as spent until it is settled. @throws UsageError `LEDGER_KEY` when there is none */
  lose(key: string): void {
    const open = this.#holds.get(key);
    if (open === undefined || open.isLost) throw noHold(key);
    // At the end of the map, as lost ones are listed in the order in which they were lost.
    this.#holds.delete(key);
    this.#holds.set(key, { ...open, isLost: true });
  }

  /**
   * Closes a hold, a lost one too.
   *
   * @throws UsageError `LEDGER_KEY` when the key has no open hold, `LEDGER_AMOUNT` for a wrong cost, or none although it settles at its
   * hold
   */
  settle(key: string, { cost, basis, usage }: Settlement): void {
    const open = this.#holds.get(key);
    if (open === undefined) throw noHold(key);
    if (cost === undefined && basis === "hold") {
      throw new UsageError(
        "LEDGER_AMOUNT",
        `Expected a cost for ${key}, which settles at its hold of ${open.amount} micro-dollars, but it has none.`,
      );
    }
    const known = cost === undefined ? undefined : whole(cost, "a cost");
    this.#holds.delete(key);
    if (known !== undefined) this.#settled += known;
    else if (basis !== "none") this.#unpriced += 1;
    if (usage !== undefined) this.#usage = addUsageTo(this.#usage, usage);
  }

  fits(hold: MicroUsd, budget: MicroUsd): boolean {
    return this.spent + this.held + hold <= budget;
  }

  cost(): Cost {
    return { known: this.spent, unpriced: this.unpriced };
  }

  toJSON(): LedgerRecord {
    const lost = this.#records(true);
    const record = { spent: this.#settled, unpriced: this.#unpriced, usage: { ...this.#usage }, open: this.#records(false) };
    return lost.length === 0 ? record : { ...record, lost };
  }

  #sum(isLost: boolean): number {
    return this.#records(isLost).reduce((sum, [, amount]) => sum + amount, 0);
  }

  #records(isLost: boolean): readonly HoldRecord[] {
    return [...this.#holds].flatMap(([key, hold]): HoldRecord[] => {
      if (hold.isLost !== isLost) return [];
      return [hold.isUnpriced ? [key, hold.amount, "unpriced"] : [key, hold.amount]];
    });
  }
}

function noHold(key: string): UsageError {
  return new UsageError("LEDGER_KEY", `Expected a key with an open hold, but ${key} has none. Open it first.`);
}

function addUsageTo(sum: UsageSum, usage: Usage): UsageSum {
  return {
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    cachedTokens: sum.cachedTokens + (usage.cachedTokens ?? 0),
    estimated: sum.estimated || usage.estimated === true,
  };
}

function whole<N extends number>(amount: N, what: string): N {
  if (Number.isSafeInteger(amount) && amount >= 0) return amount;
  throw new UsageError("LEDGER_AMOUNT", `Expected ${what} to be a whole number of micro-dollars of 0 or more, got ${amount}.`);
}

/** The spending of a role or a model. */
export interface Spending {
  readonly usage: UsageSum;
  readonly cost: Cost;
}

/** Spendings by name. */
export type Spendings = Readonly<Record<string, Spending>>;

const NOTHING: Spending = Object.freeze({
  usage: NO_USAGE_SUM,
  cost: Object.freeze({ known: 0 as MicroUsd, unpriced: 0 }),
});

/** Sums of settlements by name. A returned sum never changes. */
export class SpendingTable {
  readonly #sums = new Map<string, Spending>();

  /** A settlement without cost and usage makes no entry. */
  add(name: string, { cost, basis, usage }: Settlement): void {
    const isUnpriced = cost === undefined && basis !== "none";
    if (usage === undefined && !isUnpriced && (cost ?? 0) === 0) return;
    const sum = this.#sums.get(name) ?? NOTHING;
    this.#sums.set(name, {
      usage: usage === undefined ? sum.usage : addUsageTo(sum.usage, usage),
      cost: { known: (sum.cost.known + (cost ?? 0)) as MicroUsd, unpriced: sum.cost.unpriced + (isUnpriced ? 1 : 0) },
    });
  }

  /** An undefined cost is unknown. */
  correct(name: string, before: number | undefined, after: number | undefined): void {
    const { usage, cost } = this.#sums.get(name) ?? NOTHING;
    const unpriced = cost.unpriced + (after === undefined ? 1 : 0) - (before === undefined ? 1 : 0);
    this.#sums.set(name, { usage, cost: { known: (cost.known + (after ?? 0) - (before ?? 0)) as MicroUsd, unpriced } });
  }

  static of(entries: Iterable<readonly [string, Spending]>): SpendingTable {
    const table = new SpendingTable();
    for (const [name, sum] of entries) table.#sums.set(name, sum);
    return table;
  }

  copy(): SpendingTable {
    return SpendingTable.of(this.#sums);
  }

  entries(): readonly (readonly [string, Spending])[] {
    return [...this.#sums];
  }

  record(): Spendings {
    return Object.fromEntries(this.#sums);
  }
}
