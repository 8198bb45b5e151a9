import { describe, expect, it } from "vitest";
import { ControlError } from "../../src/kernel/errors.ts";
import type { BudgetPool } from "../../src/kernel/budget.ts";
import { budgetPool } from "../../src/model/budget-pool.ts";
import { usd } from "../../src/model/money.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";

describe("a run whose budget is kept elsewhere", () => {
  it("fails when that cannot be reached, pays nothing, and continues when it can", async () => {
    const known = budgetPool(usd(1));
    let isAway = true;
    const pool: BudgetPool = {
      id: "elsewhere",
      rank: 0,
      open: async (name, o) => {
        const account = await known.open(name, o);
        const away = (): Promise<never> => Promise.reject(new ControlError("BUDGET_UNREACHABLE", "Expected an answer, got none."));
        return {
          ...account,
          charge: () => {},
          close: (isDone) => account.close(isDone),
          reserve: (n, e) => (isAway ? away() : account.reserve(n, e)),
        };
      },
    };
    const Draft = defineAction({ name: "Draft", prompt: () => "Write a line." });
    const model = scriptedModel(["A line."], { price: { input: 1, output: 1 } });
    const team = new Team({ roles: [defineRole({ name: "Dora", actions: [Draft] })], model, budget: pool, journal: memoryJournal() });
    const first = await team.run("go", { id: "one" }).result;
    expect([first.status, first.error?.code, first.cost.known]).toEqual(["failed", "BUDGET_UNREACHABLE", 0]);
    isAway = false;
    const second = await team.resume("one").result;
    expect([second.status, second.output?.content]).toEqual(["finished", "A line."]);
  });
});
