import { describe, expect, test } from "vitest";
import { budgetPool } from "../../src/model/budget-pool.ts";
import { type MicroUsd, usd } from "../../src/model/money.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf, journalWith } from "./recorded.ts";

/** Micro-dollars of one call. */
const COST = 100;
const micro = (amount: number): MicroUsd => amount as MicroUsd;

/** A team of one role that asks for ever. */
function teamOf(journal: Journal, options: TeamOptions): Team {
  const model = scriptedModel(() => ({ content: "yes", usage: { inputTokens: 1, outputTokens: COST } }), {
    price: { input: 0, output: 1 },
    maxOutputTokens: COST,
  });
  const ann = answering("Ann", async (rc) => {
    for (let n = 0; ; n += 1) await rc.ask(`question ${n}`);
  });
  return new Team({ seed: "s", journal, roles: [ann], model, ...options });
}

/** A run that was given a budget of its own, as a process leaves it that is killed after its second call. */
async function killed(budget: MicroUsd, options: TeamOptions): Promise<Journal> {
  const journal = memoryJournal();
  await teamOf(journal, options).run("go", { id: "r", budget }).result;
  const events = await eventsOf(journal, "r");
  const calls = events.flatMap((event, place) => (event.type === "step.ended" ? [place] : []));
  return journalWith("r", events.slice(0, (calls[1] ?? 0) + 1));
}

describe("the budget that a run was given for itself", () => {
  const own = micro(5 * COST);
  const teams: readonly [string, () => TeamOptions][] = [
    ["of a larger amount", () => ({ budget: usd(0.002) })],
    ["of a pool", () => ({ budget: budgetPool(usd(0.002)) })],
  ];

  test.each(teams)("holds beside the team's budget %s when the run continues", async (_what, options) => {
    const journal = await killed(own, options());
    expect(await teamOf(journal, options()).resume("r").result).toMatchObject({ status: "budget", cost: { known: own } });
    expect(await teamOf(journal, options()).run("go", { id: "r" }).result).toMatchObject({ status: "budget", cost: { known: own } });
  });

  test.each(teams)("holds beside the team's budget %s in a fork", async (_what, options) => {
    const journal = await killed(own, options());
    expect(await teamOf(journal, options()).fork("r", { at: 1 }).result).toMatchObject({ status: "budget", cost: { known: own } });
  });

  test("is raised where that is said, and that holds from then on, also in a fork", async () => {
    const raised = micro(8 * COST);
    const journal = await killed(own, { budget: usd(0.002) });
    const team = (): Team => teamOf(journal, { budget: usd(0.002) });
    expect((await team().resume("r", { budget: raised }).result).cost.known).toBe(raised);
    expect((await team().resume("r").result).cost.known).toBe(raised);
    expect((await team().fork("r", { reuse: "none" }).result).cost.known).toBe(raised);
  });
});
