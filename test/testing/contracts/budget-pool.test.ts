import { describe, expect, it } from "vitest";
import type { BudgetPool } from "../../../src/kernel/budget.ts";
import { budgetPool } from "../../../src/model/budget-pool.ts";
import { Funds } from "../../../src/model/funds.ts";
import type { MicroUsd } from "../../../src/model/money.ts";
import { BudgetGate } from "../../../src/runtime/steps/budget-gate.ts";
import { RunState } from "../../../src/runtime/record/run-state.ts";
import { budgetPoolContract } from "../../../src/testing/contracts/budget-pool.ts";

const kit = { describe, it, expect };

budgetPoolContract(kit, "budgetPool", (amount) => budgetPool(amount as MicroUsd));
budgetPoolContract(kit, "the budget of a run as a step lends it", (amount) => {
  const state = new RunState("r");
  state.budget = amount;
  return new BudgetGate(state).lend(0);
});
budgetPoolContract(kit, "a pool and its parent together, of which the parent has the amount", (amount) => {
  const parent = budgetPool(amount as MicroUsd);
  return together(budgetPool(1_000_000 as MicroUsd, { parent }));
});

/** A pool whose accounts are accounts with all pools above it. */
function together(pool: BudgetPool): BudgetPool {
  return {
    id: `all of ${pool.id}`,
    rank: pool.rank + 1,
    open: async (name, { spent, lost = [] }) => {
      const named = lost.map((amount, nth): [string, number] => [String(nth), amount]);
      const funds = await Funds.open([pool], { name, spent, lost: named });
      if (funds === undefined) throw new Error("Expected a pool that binds.");
      const holds = named.map(([call]) => ({ settle: (cost: number) => funds.settleLost(call, cost) }));
      return {
        lost: holds,
        lose: (amount) => funds.lose(amount),
        reserve: (amount, ending, repeats = []) =>
          funds.reserve(
            amount,
            ending,
            repeats.map((hold) => String(holds.indexOf(hold))),
          ),
        charge: (amount) => funds.charge(amount),
        close: (isDone) => funds.close(isDone),
      };
    },
  };
}
