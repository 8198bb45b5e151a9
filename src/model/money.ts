import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";
import { object, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";

declare const microUsd: unique symbol;

/** Millionths of a US dollar, whole, so that sums are exact. */
export type MicroUsd = number & { readonly [microUsd]: true };

/**
 * Converts dollars to micro-dollars, rounded up. All amounts of this package are micro-dollars.
 *
 * @throws UsageError `MONEY_INVALID` for a negative or non-finite amount
 * @example
 * import { usd } from "troupe";
 *
 * console.log(usd(3), usd(0.0000001)); // 3000000 1
 */
export function usd(dollars: number): MicroUsd {
  if (!Number.isFinite(dollars) || dollars < 0) {
    throw new UsageError("MONEY_INVALID", `Expected an amount of dollars of 0 or more, got ${valueText(dollars)}.`);
  }
  return Math.ceil(Number((dollars * 1_000_000).toFixed(3))) as MicroUsd;
}

/** The sum of known prices, and how many calls had no known price. */
export interface Cost {
  readonly known: MicroUsd;
  readonly unpriced: number;
}

/**
 * Returns `$0.0123`; `$?` when nothing is known; `$0.0123 + $?` when a part is.
 *
 * @throws UsageError `ARGUMENT_INVALID`
 * @example
 * import { formatCost, usd } from "troupe";
 *
 * console.log(formatCost({ known: usd(0.0123), unpriced: 0 })); // $0.0123
 * console.log(formatCost({ known: usd(0), unpriced: 2 })); // $?
 */
export function formatCost(cost: Cost): string {
  takes("formatCost", "cost", cost, object("a cost", { known: kinds.amount, unpriced: kinds.count }));
  if (cost.unpriced === 0) return formatUsd(cost.known);
  return cost.known === 0 ? "$?" : `${formatUsd(cost.known)} + $?`;
}

/**
 * Returns dollars with four decimals, or two for whole cents.
 *
 * @throws UsageError `ARGUMENT_INVALID`
 * @example
 * import { formatUsd, usd } from "troupe";
 *
 * console.log(formatUsd(usd(3)), formatUsd(usd(0.0123))); // $3.00 $0.0123
 */
export function formatUsd(amount: number): string {
  takes("formatUsd", "amount", amount, kinds.number);
  return `$${(amount / 1_000_000).toFixed(amount % 10_000 === 0 ? 2 : 4)}`;
}
