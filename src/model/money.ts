import { valueText } from "../kernel/value-text.ts";
import { aNumber, object, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";

declare const microUsd: unique symbol;

/** Money as a whole number of millionths of a US dollar, so that sums are exact. */
export type MicroUsd = number & { readonly [microUsd]: true };

/**
 * Dollars as micro-dollars, rounded up.
 *
 * @throws UsageError `MONEY_INVALID` for a negative or non-finite amount.
 */
export function usd(dollars: number): MicroUsd {
  if (!Number.isFinite(dollars) || dollars < 0) {
    throw new UsageError("MONEY_INVALID", `Expected an amount of dollars of 0 or more, got ${valueText(dollars)}.`);
  }
  return Math.ceil(Number((dollars * 1_000_000).toFixed(3))) as MicroUsd;
}

/** What something cost: the sum of what is known, and how many calls had no known price. */
export interface Cost {
  readonly known: MicroUsd;
  readonly unpriced: number;
}

/** `$0.0123`, `$?` when nothing is known, `$0.0123 + $?` when part is. Never `$0` for an unknown price. */
export function formatCost(cost: Cost): string {
  takes("formatCost", "cost", cost, object("a cost", { known: aNumber, unpriced: aNumber }));
  if (cost.unpriced === 0) return formatUsd(cost.known);
  return cost.known === 0 ? "$?" : `${formatUsd(cost.known)} + $?`;
}

/** Micro-dollars as text with four decimals, two when it is a whole number of cents. */
export function formatUsd(amount: number): string {
  takes("formatUsd", "amount", amount, aNumber);
  return `$${(amount / 1_000_000).toFixed(amount % 10_000 === 0 ? 2 : 4)}`;
}
