import { describe, expect, test } from "vitest";
import { budgetPool } from "../../src/model/budget-pool.ts";
import type { ChatResponse } from "../../src/model/chat-model.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import { createMessage } from "../../src/message/message.ts";
import type { Role } from "../../src/role/role.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "../runtime/town.ts";
import { tries } from "../long.ts";

/** Micro-dollars of one call, and the most that one may cost. */
const COST = 10_000;
const HOLD = 15_000;

/** A role that asks so many questions, one after another. */
function asker(calls: number): Role {
  return answering("Ann", async (rc) => {
    for (let n = 0; n < calls; n += 1) await rc.ask(`question ${n}`);
  });
}

/** A role that asks one question and hands the answer to Ben. */
function asking(name: string): Role {
  return answering(name, async (rc) => rc.message(await rc.ask("yes?"), { sendTo: name === "Ben" ? [] : ["Ben"] }));
}

const reply: Partial<ChatResponse> = { content: "yes", usage: { inputTokens: 1, outputTokens: COST } };

/** A model that counts how many of its calls are in flight at once. */
function watchedModel(): { readonly model: ScriptedModel; most(): number } {
  let inFlight = 0;
  let most = 0;
  const model = scriptedModel(
    async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await nextMacrotask();
      inFlight -= 1;
      return reply;
    },
    { price: { input: 0, output: 1 }, maxOutputTokens: HOLD },
  );
  return { model, most: () => most };
}

function runs(team: Team, count: number): Promise<RunResult[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => team.run("go", { id: `run ${n}` }).result));
}

function spentBy(results: readonly RunResult[]): number {
  return results.reduce((sum, { cost }) => sum + cost.known, 0);
}

describe("plain options of a team hold for all its runs together", () => {
  test.each([10, tries(200, 1_000)])("never more than two calls of %i runs at once are in flight", { tags: "numbers" }, async (count) => {
    const { model, most } = watchedModel();
    const team = new Team({ roles: [asker(1)], model, limits: { concurrency: 2 }, journal: memoryJournal() });
    const results = await runs(team, count);
    expect(results.map(({ status }) => status)).toEqual(results.map(() => "finished"));
    expect(most()).toBe(2);
  });

  test.each([10, tries(200, 1_000)])("%i runs at once spend no more than the team's budget", { tags: "numbers" }, async (count) => {
    const { model } = watchedModel();
    const budget = 150_000 as MicroUsd;
    const team = new Team({ roles: [asker(10)], model, budget, journal: memoryJournal() });
    const results = await runs(team, count);
    expect(spentBy(results)).toBe(model.calls.length * COST);
    expect(spentBy(results)).toBeLessThanOrEqual(budget);
    // A refused run could not have been let in: less than one more call is left.
    expect(spentBy(results) + HOLD).toBeGreaterThan(budget);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["budget"]));
  });
});

describe("a pool and the runs that were recorded before", () => {
  const two = [asker(2)];

  test("a run that continues in the same process is charged once", async () => {
    const { model } = watchedModel();
    const pool = budgetPool(45_000 as MicroUsd);
    const team = new Team({ roles: [asker(6)], model, budget: pool });
    const first = await team.run("go", { id: "r" }).result;
    expect([first.status, first.cost.known, pool.spent]).toEqual(["budget", 40_000, 40_000]);
    pool.invest(1_000_000);
    const second = await team.resume("r").result;
    expect([second.status, second.cost.known, pool.spent]).toEqual(["finished", 60_000, 60_000]);
  });

  test("a run that had finished without a role, and continues with it, is charged once", async () => {
    const pool = budgetPool(1_000_000 as MicroUsd);
    const journal = memoryJournal();
    const { model } = watchedModel();
    const [first, second] = [asking("Ann"), asking("Ben")];
    const teamOf = (...roles: readonly Role[]): Team => new Team({ seed: "s", roles, model, journal, budget: pool });
    const idea = createMessage("go", { sendTo: ["Ann"] });
    await teamOf(first, second).run(idea, { id: "r", rounds: 1 }).result;
    expect((await teamOf(first).resume("r", { onTeamChange: "continue", rounds: 5 }).result).status).toBe("finished");
    expect(pool.spent).toBe(COST);
    const whole = await teamOf(first, second).resume("r", { onTeamChange: "continue" }).result;
    expect([whole.status, whole.cost.known, pool.spent]).toEqual(["finished", 2 * COST, 2 * COST]);
  });

  test("Team.T1 invest raises what all runs may spend together, for those that wait as well", async () => {
    const { model } = watchedModel();
    const team = new Team({ roles: two, model, budget: 20_000 as MicroUsd });
    expect((await team.run("go", { id: "r" }).result).status).toBe("budget");
    team.invest(60_000 as MicroUsd);
    const ended = await Promise.all([team.resume("r").result, team.run("go").result]);
    expect(ended.map(({ status }) => status)).toEqual(["finished", "finished"]);
    expect((await team.run("go").result).error?.message).toMatch(/\$0\.01 of \$0\.06 is left in the budget of team/);
  });
});
