import { expect, it } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { defineRole } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";

/** A change of the first role, or of its action. */
interface Change {
  readonly role?: object;
  readonly action?: object;
}

/** The status of a run that continues after one round, with the first role changed. */
async function statusAfter({ role = {}, action = {} }: Change): Promise<string> {
  const journal = memoryJournal();
  const teamWith = (change: Change): Team =>
    new Team({
      journal,
      model: scriptedModel(() => "x"),
      roles: [
        defineRole({
          name: "Rosa",
          actions: [defineAction({ name: "Ask", description: "asks", prompt: () => "one", ...change.action })],
          ...change.role,
        }),
        defineRole({ name: "Quin", watch: ["Ask"], actions: [defineAction({ name: "End", run: () => "end" })] }),
      ],
    });
  await teamWith({}).run("go", { id: "r", rounds: 1 }).result;
  const { status, error } = await teamWith({ role, action }).resume("r", { rounds: 9 }).result;
  return error === undefined ? status : ((error as Partial<{ code: string }>).code ?? error.message);
}

it.each<readonly [string, Change]>([
  ["profile", { role: { profile: "Critic" } }],
  ["goal", { role: { goal: "to ask" } }],
  ["constraints", { role: { constraints: "briefly" } }],
  ["description", { role: { description: "You ask." } }],
  ["watch", { role: { watch: ["End"] } }],
  ["addresses", { role: { addresses: ["desk"] } }],
  ["observeAll", { role: { observeAll: true } }],
  ["mode", { role: { reactMode: "by_order" } }],
  ["mailbox", { role: { mailbox: { limit: 3 } } }],
  ["an action's name", { action: { name: "Inquire" } }],
  ["an action's description", { action: { description: "asks anew" } }],
])("another %s is refused", async (_trait, change) => {
  expect(await statusAfter(change)).toBe("TEAM_CHANGED");
});

it.each<readonly [string, Change]>([
  ["nothing", {}],
  ["prompt", { action: { prompt: () => "two" } }],
  ["schema", { action: { output: z.object({ a: z.string() }) } }],
  ["model", { role: { model: scriptedModel(() => "y") } }],
  ["state", { role: { state: z.object({ n: z.number().default(1) }) } }],
  ["bounds", { role: { maxReactLoop: 3, timeout: 5_000, memoryLimit: 3, budgetShare: 0.5 } }],
])("another %s is no other team", async (_what, change) => {
  expect(await statusAfter(change)).toBe("finished");
});
