import { describe, expect, test } from "vitest";
import type { BudgetHold, BudgetPool } from "../../src/kernel/budget.ts";
import { type Cancellation, cancellationOf } from "../../src/kernel/cancellation.ts";
import { BudgetError } from "../../src/kernel/errors.ts";
import { budgetPool } from "../../src/model/budget-pool.ts";
import { Funds } from "../../src/model/funds.ts";
import type { MicroUsd } from "../../src/model/money.ts";

const never: Cancellation = cancellationOf(new AbortController().signal);
const poolOf = (amount: number, parent?: BudgetPool) => budgetPool(amount as MicroUsd, parent === undefined ? {} : { parent });

async function fundsOf(...pools: readonly BudgetPool[]): Promise<Funds> {
  const funds = await Funds.open(pools, { name: "Ann", spent: 0 });
  if (funds === undefined) throw new Error("Expected a pool that binds.");
  return funds;
}

describe("a pool of this process", () => {
  test("LocalPool.P1 LocalPool.P2 holds what fits, lets the next wait while it could fit, and refuses what cannot", async () => {
    const pool = poolOf(100);
    const ann = await pool.open("Ann", { spent: 0 });
    const first = await ann.reserve(60, never);
    const second = ann.reserve(60, never);
    await expect(ann.reserve(101, never)).rejects.toThrow(BudgetError);
    expect(pool.held).toBe(60);
    first.settle(40);
    await second;
    expect([pool.spent, pool.held]).toEqual([40, 60]);
  });

  test("LocalPool.P3 an open hold counts as spent when its account is closed, and settles once", async () => {
    const pool = poolOf(100);
    const ann = await pool.open("Ann", { spent: 0 });
    const hold = await ann.reserve(60, never);
    await ann.close(false);
    hold.settle(10);
    expect([pool.spent, pool.held]).toEqual([60, 0]);
  });

  test("LocalPool.P4 an account is charged up to its record, and once", async () => {
    const pool = poolOf(100);
    await pool.open("Ann", { spent: 30 });
    await pool.open("Ann", { spent: 30 });
    await pool.open("Ann", { spent: 50 });
    expect(pool.spent).toBe(50);
  });
});

describe("the accounts of one spender with all its pools", () => {
  test("Funds.F1 takes from every pool, or from none", async () => {
    const [wide, narrow] = [poolOf(100), poolOf(10)];
    const funds = await fundsOf(wide, narrow);
    await expect(funds.reserve(20, never)).rejects.toThrow(BudgetError);
    expect([wide.spent, wide.held, narrow.held]).toEqual([0, 0, 0]);
    const hold = await funds.reserve(5, never);
    expect([wide.held, narrow.held]).toEqual([5, 5]);
    hold.settle(3);
    expect([wide.spent, wide.held, narrow.spent, narrow.held]).toEqual([3, 0, 3, 0]);
  });

  test("Funds.F2 asks pools in one order, so that spenders that name them in different orders do not block each other", async () => {
    const [one, other] = [poolOf(10), poolOf(10)];
    const [ann, ben] = [await fundsOf(one, other), await fundsOf(other, one)];
    expect(ann.accounts.map(({ pool }) => pool)).toEqual(ben.accounts.map(({ pool }) => pool));
    const spend = async (funds: Funds): Promise<void> => {
      const hold: BudgetHold = await funds.reserve(6, never);
      hold.settle(1);
    };
    await Promise.all([spend(ann), spend(ben), spend(ann), spend(ben)]);
    expect([one.spent, other.spent]).toEqual([4, 4]);
  });

  test("Funds.F3 asks a pool once that it reaches in two ways", async () => {
    const account = poolOf(100);
    const funds = await fundsOf(poolOf(50, account), poolOf(50, account), account);
    const hold = await funds.reserve(20, never);
    expect(account.held).toBe(20);
    hold.settle(20);
    expect([account.spent, funds.accounts.length]).toEqual([20, 3]);
  });
});
