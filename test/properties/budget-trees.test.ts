import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BudgetHold } from "../../src/kernel/budget.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { AbortedError, BudgetError } from "../../src/kernel/errors.ts";
import { type CancellationScope, CancellationScopes } from "../../src/kernel/cancellation.ts";
import { budgetPool, type LocalBudgetPool } from "../../src/model/budget-pool.ts";
import { Funds } from "../../src/model/funds.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import { BudgetGate } from "../../src/runtime/steps/budget-gate.ts";
import { RunState } from "../../src/runtime/record/run-state.ts";
import { tries } from "../long.ts";

/** A pool: its amount, and its place among the pools before it, which is its parent's unless it is a root. */
const poolOf = fc.record({ amount: fc.integer({ min: 0, max: 300 }), parent: fc.option(fc.nat(9), { nil: undefined }) });
/** A run: its own budget, the pools it is given, and whether another run lends it its budget. */
const runOf = fc.record({
  budget: fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined }),
  pools: fc.array(fc.nat(9), { maxLength: 2 }),
  within: fc.option(fc.nat(9), { nil: undefined }),
});
const callOf = fc.record({ run: fc.nat(9), hold: fc.nat(60), cost: fc.nat(100), isAborted: fc.boolean(), over: fc.nat(19) });
const worldOf = fc.record({
  pools: fc.array(poolOf, { minLength: 1, maxLength: 6 }),
  runs: fc.array(runOf, { minLength: 1, maxLength: 6 }),
  calls: fc.array(callOf, { maxLength: 40 }),
  order: fc.array(fc.nat(1_000), { minLength: 40, maxLength: 40 }),
});
type World = typeof worldOf extends fc.Arbitrary<infer W> ? W : never;

interface Run {
  readonly state: RunState;
  readonly gate: BudgetGate;
  /** All that bind it besides its own budget, those of the runs that lend it theirs included. */
  readonly pools: ReadonlySet<LocalBudgetPool>;
  readonly outer: Run | undefined;
}

/** The fate of a call. */
interface Call {
  readonly scope: CancellationScope;
  state: "asked" | "open" | "over";
  settle: () => void;
}

/** Asserts that the amount spent and held of a bound passes it at most by the amount that servers billed above their holds. */
function assertWithin(pools: readonly LocalBudgetPool[], runs: readonly Run[], overBilled: number): void {
  for (const pool of pools) expect(pool.spent + pool.held).toBeLessThanOrEqual(pool.amount + overBilled);
  for (const run of runs) {
    const { budget = Infinity } = run.state;
    const all = runs.filter((other) => isWithin(other, run)).reduce((sum, { state: { ledger } }) => sum + ledger.spent + ledger.held, 0);
    expect(all).toBeLessThanOrEqual(budget + overBilled);
  }
}

/** Returns whether a run is another, or was lent its budget by it or by one within it. */
function isWithin(run: Run | undefined, other: Run): boolean {
  return run !== undefined && (run === other || isWithin(run.outer, other));
}

/** A pool with all above it. */
function withAbove(pool: LocalBudgetPool | undefined): readonly LocalBudgetPool[] {
  return pool === undefined ? [] : [pool, ...withAbove(pool.parent as LocalBudgetPool | undefined)];
}

function poolsOf(world: World): readonly LocalBudgetPool[] {
  const made: LocalBudgetPool[] = [];
  for (const { amount, parent } of world.pools) {
    const above = parent === undefined ? undefined : made[parent % Math.max(1, made.length)];
    made.push(budgetPool(amount as MicroUsd, above === undefined ? {} : { parent: above }));
  }
  return made;
}

async function runsOf(world: World, pools: readonly LocalBudgetPool[]): Promise<readonly Run[]> {
  const made: Run[] = [];
  for (const [n, { budget, pools: given, within }] of world.runs.entries()) {
    const state = new RunState(`run ${n}`);
    state.budget = budget;
    const own = given.flatMap((place) => pools[place % pools.length] ?? []);
    const outer = within === undefined ? undefined : made[within % Math.max(1, made.length)];
    const funds = await Funds.open([outer?.gate.lend(0), ...own], { name: state.runId, spent: 0 });
    const binding = new Set([...(outer?.pools ?? []), ...own.flatMap(withAbove)]);
    made.push({ state, gate: new BudgetGate(state, funds), pools: binding, outer });
  }
  return made;
}

describe("budgets that nest", () => {
  test("are never overspent, leave nobody waiting for ever, and get back all that was held", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(worldOf, async (world) => {
        const pools = poolsOf(world);
        const runs = await runsOf(world, pools);
        let overBilled = 0;
        const calls = world.calls.map((asked, n): Call => {
          const run = runs[asked.run % runs.length] as Run;
          const scope = new CancellationScopes(undefined).begin();
          const call: Call = { scope, state: "asked", settle: () => {} };
          const start = (taken: BudgetHold | undefined): void => {
            run.state.ledger.open(String(n), asked.hold as MicroUsd);
            call.state = "open";
            call.settle = () => {
              const cost = Math.min(asked.cost, asked.hold + (asked.over === 0 ? 10 : 0));
              overBilled += Math.max(0, cost - asked.hold);
              call.state = "over";
              run.state.ledger.settle(String(n), { cost: cost as MicroUsd, basis: "usage" });
              if (taken === undefined) run.gate.charge(cost);
              else taken.settle(cost);
              run.gate.settled();
            };
          };
          void run.gate.enter(asked.hold, start, scope).catch((error: unknown) => {
            expect(error instanceof BudgetError || error instanceof AbortedError).toBe(true);
            call.state = "over";
          });
          return call;
        });
        await live(calls, world, () => assertWithin(pools, runs, overBilled));
        expect(calls.map(({ state }) => state)).toEqual(calls.map(() => "over"));
        expect(pools.map(({ held }) => held)).toEqual(pools.map(() => 0));
        expect(runs.map(({ state }) => state.ledger.held)).toEqual(runs.map(() => 0));
        const spentIn = (pool: LocalBudgetPool): number =>
          runs.filter((run) => run.pools.has(pool)).reduce((sum, { state }) => sum + state.ledger.spent, 0);
        expect(pools.map(({ spent }) => spent)).toEqual(pools.map(spentIn));
      }),
      { numRuns: tries(30, 600) },
    );
  });
});

/** Ends calls that are open, and aborts some that wait, in a random order, until none is open. */
async function live(calls: readonly Call[], world: World, check: () => void): Promise<void> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    await nextMacrotask();
    check();
    const pick = world.order[turn % world.order.length] ?? 0;
    const impatient = calls.filter(({ state }, n) => state === "asked" && world.calls[n]?.isAborted === true);
    if (impatient.length > 0 && pick % 3 === 0) impatient[pick % impatient.length]?.scope.end(new AbortedError());
    const open = calls.filter(({ state }) => state === "open");
    if (open.length === 0) return;
    open[pick % open.length]?.settle();
  }
}
