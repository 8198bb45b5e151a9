import { valueText } from "../kernel/value-text.js";
import { aNumber, object, takes } from "../kernel/argument.js";
import { UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/model/money.ts
/**
* Converts dollars to micro-dollars, rounded up to a whole number. All amounts of this package are micro-dollars, so that sums are exact.
*
* @throws UsageError `MONEY_INVALID` for a negative or non-finite amount.
* @example
* import { usd } from "troupe";
*
* console.log(usd(3), usd(0.0000001)); // 3000000 1
*/
function usd(dollars) {globalThis.__t?.("model/money.js#usd@526");
	if (!Number.isFinite(dollars) || dollars < 0) throw new UsageError("MONEY_INVALID", `Expected an amount of dollars of 0 or more, got ${valueText(dollars)}.`);
	return Math.ceil(Number((dollars * 1e6).toFixed(3)));
}
/**
* Returns a cost as text: `$0.0123`; `$?` when nothing is known; `$0.0123 + $?` when a part is. Never `$0` for an unknown price.
*
* @throws UsageError `ARGUMENT_INVALID` for a value that is no cost.
* @example
* import { formatCost, usd } from "troupe";
*
* console.log(formatCost({ known: usd(0.0123), unpriced: 0 })); // $0.0123
* console.log(formatCost({ known: usd(0), unpriced: 2 })); // $?
*/
function formatCost(cost) {globalThis.__t?.("model/money.js#formatCost@1171");
	takes("formatCost", "cost", cost, object("a cost", {
		known: aNumber,
		unpriced: aNumber
	}));
	if (cost.unpriced === 0) return formatUsd(cost.known);
	return cost.known === 0 ? "$?" : `${formatUsd(cost.known)} + $?`;
}
/**
* Returns micro-dollars as text with four decimals, or two for a whole number of cents.
*
* @throws UsageError `ARGUMENT_INVALID` for an amount that is no number.
* @example
* import { formatUsd, usd } from "troupe";
*
* console.log(formatUsd(usd(3)), formatUsd(usd(0.0123))); // $3.00 $0.0123
*/
function formatUsd(amount) {globalThis.__t?.("model/money.js#formatUsd@1723");
	takes("formatUsd", "amount", amount, aNumber);
	return `$${(amount / 1e6).toFixed(amount % 1e4 === 0 ? 2 : 4)}`;
}
export { formatCost, formatUsd, usd };
