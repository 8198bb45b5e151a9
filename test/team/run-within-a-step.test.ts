import { describe, expect, test } from "vitest";
import { budgetPool } from "../../src/model/budget-pool.ts";
import type { ChatResponse } from "../../src/model/chat-model.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import type { Role } from "../../src/role/role.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf, journalWith } from "./recorded.ts";

/** Micro-dollars of one call, and the most that one may cost. */
const COST = 10_000;
const HOLD = 15_000;
const micro = (amount: number): MicroUsd => amount as MicroUsd;

function paidModel(answer?: (n: number) => void): ScriptedModel {
  const reply: Partial<ChatResponse> = { content: "yes", usage: { inputTokens: 1, outputTokens: COST } };
  const options = { price: { input: 0, output: 1 }, maxOutputTokens: HOLD };
  return scriptedModel((_request, n) => {
    answer?.(n);
    return reply;
  }, options);
}

/** A role that asks so many questions, one after another. */
function asker(calls: number): Role {
  return answering("Ann", async (rc) => {
    for (let n = 0; n < calls; n += 1) await rc.ask(`question ${n}`);
    return rc.message("done");
  });
}

/** A role that lets another team work inside a step, and tells how that ended. */
function contractor(inner: Team): Role {
  return answering("Eda", async (rc) => {
    const ended = await rc.step("let them work", {}, async ({ budget, signal, key }) => {
      const { status, cost } = await inner.run("go", { id: key, budget, signal }).result;
      return `${status} for ${cost.known}`;
    });
    return rc.message(ended);
  });
}

function outer(inner: Team, options: TeamOptions = {}): Team {
  return new Team({ seed: "s", roles: [contractor(inner)], ...options });
}

function told(result: RunResult): readonly [string | undefined, string, number] {
  return [result.output?.content, result.status, result.cost.known];
}

describe("a run that is started inside a step", () => {
  test("BudgetGate.B4 is bound by the budget of the outer run, and its spending is the step's cost", async () => {
    const model = paidModel();
    const inner = new Team({ roles: [asker(10)], model });
    const result = await outer(inner, { budget: micro(45_000) }).run("go").result;
    expect(told(result)).toEqual(["budget for 40000", "finished", 40_000]);
    expect(model.calls.length).toBe(4);
  });

  test("is paid and counted once when the outer run continues from its record", async () => {
    const model = paidModel();
    const inner = new Team({ roles: [asker(2)], model });
    const journal = memoryJournal();
    const budget = micro(60_000);
    const result = await outer(inner, { journal, budget }).run("go", { id: "outer" }).result;
    expect(told(result)).toEqual(["finished for 20000", "finished", 20_000]);
    const events = await eventsOf(journal, "outer");
    const answered = events.findIndex(({ type }) => type === "step.ended") + 1;
    const again = await outer(inner, { journal: await journalWith("outer", events.slice(0, answered)), budget }).resume("outer").result;
    expect([told(again), model.calls.length]).toEqual([["finished for 20000", "finished", 20_000], 2]);
  });

  test("continues when the outer run was stopped in it, and what it had spent counts once", async () => {
    const journal = memoryJournal();
    let stop = (): void => {};
    const model = paidModel((n) => n === 2 && stop());
    const inner = new Team({ roles: [asker(4)], model, journal });
    const budget = micro(90_000);
    const pool = budgetPool(budget);
    const company = outer(inner, { journal, budget: pool });
    const run = company.run("go", { id: "outer", budget });
    stop = () => run.stop();
    const stopped = await run.result;
    expect([stopped.status, stopped.cost.known]).toEqual(["stopped", 2 * COST + HOLD]);
    const ended = await company.resume("outer").result;
    // The call that was cut off may have been paid: it counts at its hold.
    expect(told(ended)).toEqual([`finished for ${4 * COST + HOLD}`, "finished", 4 * COST + HOLD]);
    expect(pool.spent).toBe(4 * COST + HOLD);
  });

  test("LentBudget.L1 continues when its step happens again, and what the step's record tells is not charged again", async () => {
    const model = paidModel();
    let isBroken = true;
    const fragile = answering("Ann", async (rc) => {
      await rc.ask("question");
      if (isBroken) throw new Error("broken");
    });
    const journal = memoryJournal();
    const inner = new Team({ roles: [fragile], model, journal });
    const repeating = answering("Eda", async (rc) => {
      const work = { again: true };
      await rc.step("let them work", {}, ({ budget, key }) => inner.run("go", { id: key, budget }).result.then((r) => r.status), work);
      if (isBroken) throw new Error("broken");
    });
    const pool = budgetPool(micro(90_000));
    const company = new Team({ roles: [repeating], budget: pool, journal });
    await company.run("go", { id: "outer" }).result;
    expect(pool.spent).toBe(COST);
    isBroken = false;
    const result = await company.resume("outer").result;
    expect([result.status, result.cost.known, pool.spent]).toEqual(["finished", COST, COST]);
  });

  test("Tries.Y4 continues in the next attempt of a step that failed, and what it had spent counts once", async () => {
    const model = paidModel();
    let isBroken = true;
    const fragile = answering("Ann", async (rc) => {
      await rc.ask("question");
      if (isBroken) throw new Error("broken");
    });
    const inner = new Team({ roles: [fragile], model, journal: memoryJournal() });
    const strict = answering("Eda", async (rc) => {
      await rc.step("let them work", {}, async ({ budget, key }) => {
        const { error } = await inner.run("go", { id: key, budget }).result;
        if (error !== undefined) throw error;
      });
    });
    const pool = budgetPool(micro(90_000));
    const company = new Team({ roles: [strict], budget: pool, journal: memoryJournal() });
    expect((await company.run("go", { id: "outer" }).result).status).toBe("failed");
    isBroken = false;
    const result = await company.resume("outer").result;
    expect([result.status, result.cost.known, pool.spent, model.calls.length]).toEqual(["finished", COST, COST, 1]);
  });

  test("LentBudget.L2 may outlive its step no further than the step's budget", async () => {
    const model = paidModel();
    const inner = new Team({ roles: [asker(3)], model });
    let left: Promise<RunResult> | undefined;
    const careless = answering("Eda", async (rc) => {
      await rc.step("start them", {}, async ({ budget }) => {
        left = inner.run("go", { budget }).result;
        return null;
      });
    });
    const result = await new Team({ roles: [careless], budget: micro(80_000) }).run("go").result;
    expect(result.status).toBe("finished");
    expect((await left)?.error?.code).toBe("STEP_OVER");
  });
});
