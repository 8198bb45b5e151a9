/** Limits and budgets that many runs, teams and agents share. Published as `troupe/limits`. */

export { budgetPool, type BudgetPoolOptions, type LocalBudgetPool } from "./budget-pool.ts";
export { modelLimits, type Lease, type LimitOptions, type LimitRequest, type ModelLimits } from "./limits.ts";
export { type MicroUsd, usd } from "./money.ts";

// For programs that keep pools or limits elsewhere, such as in a database.
export type { AccountOptions, BudgetAccount, BudgetHold, BudgetPool } from "../kernel/budget.ts";
export type { Cancellation } from "../kernel/cancellation.ts";
export type { Clock } from "../kernel/clock.ts";
