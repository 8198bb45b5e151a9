import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AbortedError, BudgetError, StepError } from "../../../src/kernel/errors.ts";
import { type CancellationScope, CancellationScopes } from "../../../src/kernel/cancellation.ts";
import type { MicroUsd } from "../../../src/model/money.ts";
import { BudgetGate } from "../../../src/runtime/steps/budget-gate.ts";
import { RunState } from "../../../src/runtime/record/run-state.ts";
import { tries } from "../../long.ts";

interface Gate {
  readonly state: RunState;
  readonly log: string[];
  enter(name: string, hold: number, o?: { readonly scope?: CancellationScope; readonly share?: number }): Promise<void>;
  settle(name: string, cost: number): void;
}

/** A gate before a budget, and what went through it. */
function gateBefore(budget: number | undefined): Gate {
  const state = new RunState("r");
  state.budget = budget;
  const gate = new BudgetGate(state);
  const log: string[] = [];
  return {
    state,
    log,
    enter: (name, hold, { scope = span(), share } = {}) =>
      gate
        .enter(
          hold,
          () => {
            state.ledger.open(name, hold as MicroUsd);
            log.push(name);
          },
          scope,
          share,
        )
        .catch((error: unknown) => {
          log.push(
            error instanceof BudgetError ? `${name} refused` : error instanceof StepError ? `${name} over its share` : `${name} aborted`,
          );
          throw error;
        }),
    settle: (name, cost) => {
      state.ledger.settle(name, { cost: cost as MicroUsd, basis: "usage" });
      gate.settled();
    },
  };
}

function span(): CancellationScope {
  return new CancellationScopes(new AbortController().signal).begin();
}

async function turns(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
}

describe("BudgetGate", () => {
  test("BudgetGate.B1 BudgetGate.B2 what does not fit waits while something is open, and comes in when enough was left", async () => {
    const gate = gateBefore(100);
    await gate.enter("a", 60);
    const b = gate.enter("b", 60);
    await turns();
    expect(gate.log).toEqual(["a"]);
    gate.settle("a", 30);
    await b;
    expect(gate.log).toEqual(["a", "b"]);
    expect(gate.state.ledger.spent + gate.state.ledger.held).toBe(90);
  });

  test("BudgetGate.B2 a smaller one behind it may pass", async () => {
    const gate = gateBefore(100);
    await gate.enter("a", 60);
    const large = gate.enter("large", 90);
    await gate.enter("small", 10);
    expect(gate.log).toEqual(["a", "small"]);
    gate.settle("a", 0);
    gate.settle("small", 5);
    await large;
    expect(gate.log).toEqual(["a", "small", "large"]);
  });

  test("BudgetGate.B3 when nothing is open and none fits, all that wait are refused, each with its own numbers", async () => {
    const gate = gateBefore(100);
    await gate.enter("a", 60);
    const waiting = [gate.enter("b", 70), gate.enter("c", 80)].map((entered) => entered.catch((error: unknown) => error));
    gate.settle("a", 60);
    expect(await Promise.all(waiting)).toMatchObject([
      { data: { needed: 70, left: 40, budget: 100 } },
      { data: { needed: 80, left: 40, budget: 100 } },
    ]);
    expect(gate.log).toEqual(["a", "b refused", "c refused"]);
  });

  test("BudgetGate.B3 once it is reached nothing that may cost comes in any more, though it would fit; what costs nothing does", async () => {
    const gate = gateBefore(100);
    await expect(gate.enter("a", 101)).rejects.toThrow(BudgetError);
    await expect(gate.enter("b", 1)).rejects.toThrow(BudgetError);
    await gate.enter("free", 0);
    expect(gate.log).toEqual(["a refused", "b refused", "free"]);
  });

  test("a call that is aborted while it waits leaves the queue, and no money is held for it", async () => {
    const gate = gateBefore(100);
    await gate.enter("a", 60);
    const scope = span();
    const gone = gate.enter("gone", 60, { scope });
    scope.end(new AbortedError());
    // In the same turn: its place is still in the line.
    gate.settle("a", 10);
    await expect(gone).rejects.toThrow(AbortedError);
    expect(gate.log).toEqual(["a", "gone aborted"]);
    expect(gate.state.ledger.held).toBe(0);
    await gate.enter("b", 90);
    expect(gate.log.at(-1)).toBe("b");
  });

  test("BudgetGate.B5 a call beyond its share is refused alone, and the rest is there for others", async () => {
    const gate = gateBefore(100);
    await gate.enter("a", 80, { share: 0.85 });
    gate.settle("a", 70);
    await expect(gate.enter("b", 16, { share: 0.85 })).rejects.toMatchObject({
      code: "BUDGET_SHARE",
      data: { needed: 16, left: 15, share: 0.85, budget: 100 },
    });
    await gate.enter("c", 15, { share: 0.85 });
    await gate.enter("d", 15);
    expect(gate.log).toEqual(["a", "b over its share", "c", "d"]);
  });

  test("BudgetGate.B5 a call waits while an open one may leave it room within its share", async () => {
    const gate = gateBefore(100);
    await gate.enter("a", 80, { share: 0.85 });
    const b = gate.enter("b", 20, { share: 0.85 });
    await turns();
    expect(gate.log).toEqual(["a"]);
    gate.settle("a", 60);
    await b;
    expect(gate.log).toEqual(["a", "b"]);
  });

  test(
    "BudgetGate.B5 whatever is asked and paid, calls with a share stay within it, and those without within the budget",
    { tags: "numbers" },
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({ hold: fc.integer({ min: 1, max: 60 }), paid: fc.double({ min: 0, max: 1, noNaN: true }), hasShare: fc.boolean() }),
          ),
          async (asked) => {
            const gate = gateBefore(100);
            for (const [n, { hold, paid, hasShare }] of asked.entries()) {
              const name = String(n);
              const before = gate.state.ledger.spent;
              const entered = await gate.enter(name, hold, hasShare ? { share: 0.85 } : {}).then(
                () => true,
                (error: unknown) => (error instanceof BudgetError ? undefined : false),
              );
              if (entered === undefined) return;
              expect(entered).toBe(before + hold <= (hasShare ? 85 : 100));
              if (entered) gate.settle(name, Math.floor(hold * paid));
            }
          },
        ),
        { numRuns: tries(100, 1_000) },
      ),
  );
});
