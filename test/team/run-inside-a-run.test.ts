import { describe, expect, test } from "vitest";
import { Agent, defineTool } from "../../src/agent/index.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { type MicroUsd, usd } from "../../src/model/money.ts";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { call } from "../agent/setup.ts";
import { eventsOf, journalWith } from "./recorded.ts";

/** Micro-dollars of each call. */
const COST = 10_000;
const POOR = (COST / 2) as MicroUsd;
const clock = simulatedClock();

/** A model that calls the tool it has once, and then repeats what the tool said. It never answers "wait". */
const model = scriptedModel(
  ({ messages, tools = [] }) => {
    const wanted = tools.find(({ name }) => name !== "terminate")?.name;
    const last = messages.at(-1);
    if (last?.content === "wait") return new Promise<never>(() => {});
    const toolCalls = wanted !== undefined && last?.role !== "tool" ? [call(wanted, {})] : [];
    return { content: `heard ${last?.content ?? ""}`, toolCalls, usage: { inputTokens: 1, outputTokens: COST } };
  },
  { price: { input: 0, output: 1 }, maxOutputTokens: COST },
);

function acting(run: (ctx: ActionContext) => Promise<string>, timeout?: number): Role {
  return defineRole({ name: "Ann", ...(timeout && { timeout }), actions: [defineAction({ name: "Act", run }) as Action] });
}

const asks = acting((ctx) => ctx.ask("hello"));
const asksInStep = acting((ctx) => ctx.step("s", {}, (door) => door.ask("hello")));
const delve = defineTool({ name: "delve", description: "Delves.", effect: "read", execute: (_args, ctx) => ctx.ask("within") });
const asksInTool = defineRole({ name: "Zoe", reactMode: "agent", tools: [delve] });
const lends = acting((ctx) =>
  ctx.step("s", {}, async (door) => (await new Agent({ name: "x", model, budget: door.budget }).run("hi").result).status),
);

/** Runs a team within an activation, and returns what its program could tell of it. */
async function inner(
  role: Role,
  options: Partial<TeamOptions> = {},
  during?: (run: ReturnType<Team["run"]>) => Promise<void>,
): Promise<string> {
  const run = new Team({ model, clock, roles: [role], ...options }).run("b");
  await during?.(run);
  const { status, output, error, cost, failures } = await run.result;
  return JSON.stringify({ status, output: output?.content, code: error?.code, cost, failures: failures.map(({ code }) => code) });
}

async function stopped(run: ReturnType<Team["run"]>): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await nextMacrotask();
  run.stop();
}

async function late(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await nextMacrotask();
  await clock.advance(1_000);
}

const hung = acting((ctx) => ctx.step("hung", {}, () => new Promise<string>(() => {})), 500);
const poorAgent = acting(async (ctx) => (await new Agent({ name: "x", model: ctx.model, budget: POOR }).run("hi").result).status);

/** The ends of a run, or of a part of it, inside a run, each with the answer that the program around it gets. */
const ENDS: readonly (readonly [string, () => Promise<string>, object])[] = [
  ["its budget, at a question", () => inner(asks, { budget: POOR }), { status: "budget", code: "BUDGET" }],
  ["its budget, at a question in a step", () => inner(asksInStep, { budget: POOR }), { status: "budget", code: "BUDGET" }],
  [
    "its budget, at a question of a tool",
    () => inner(asksInTool, { budget: (COST + POOR) as MicroUsd }),
    { status: "budget", code: "BUDGET" },
  ],
  ["its budget, lent to an agent in a step", () => inner(lends, { budget: POOR }), { status: "finished", output: "budget" }],
  ["the budget of an agent in it", () => inner(poorAgent), { status: "finished", output: "budget" }],
  [
    "the budget of a third run in it",
    () => inner(acting(() => inner(asksInStep, { budget: POOR }))),
    { status: "finished", output: expect.stringContaining('"status":"budget"') as string },
  ],
  [
    "a stop",
    () =>
      inner(
        acting((ctx) => ctx.ask("wait")),
        {},
        stopped,
      ),
    { status: "stopped", code: "ABORTED" },
  ],
  [
    "a stop, at a question in a step",
    () =>
      inner(
        acting((ctx) => ctx.step("s", {}, (door) => door.ask("wait"))),
        {},
        stopped,
      ),
    { status: "stopped", code: "ABORTED" },
  ],
  [
    "the time of a role whose step hears of nothing",
    () => inner(hung, { onFailure: "skip" }, late),
    { status: "finished", failures: ["TIMEOUT"] },
  ],
];

function told({ status, output, error }: RunResult): readonly unknown[] {
  return [status, output?.content, error?.message];
}

describe("stepAround.A1 stepAround.A2 a run inside an activation", () => {
  test.each(ENDS)("ended by %s ends alone, and a replay sees the same", async (_name, run, end) => {
    const journal = memoryJournal();
    const outer = (): Team => new Team({ model, clock, journal, budget: usd(1), roles: [acting(run)] });
    const result = await outer().run("a", { id: "r" }).result;
    expect([result.status, result.error]).toEqual(["finished", undefined]);
    expect(JSON.parse(result.output?.content ?? "")).toMatchObject(end);
    const { length } = model.calls;
    expect(told(await outer().replay("r").result)).toEqual(told(result));
    expect(model.calls).toHaveLength(length);
  });
});

/** The cost of answers of models inside steps and tools, for the run that they are part of. */
const SPENT: readonly (readonly [string, Role, number])[] = [
  ["a question", asks, 1],
  ["a question in a step", asksInStep, 1],
  ["a question of a tool", asksInTool, 3],
  ["an agent whose tool asks", acting(async (ctx) => worked(ctx.model)), 3],
  ["an agent in a step, with the budget that it lends", lends, 1],
];

async function worked(given: ActionContext["model"], budget = usd(1)): Promise<string> {
  const { status, usage, cost } = await new Agent({ name: "x", model: given, budget, tools: [delve] }).run("hi").result;
  return JSON.stringify({ status, usage, cost });
}

describe("what a run inside an activation has spent", () => {
  const attempts = SPENT.flatMap(([name, ...rest]) => [1, 2].map((tries) => [name, tries, ...rest] as const));
  test.each(attempts)("is the same when %s is answered from the record, after %i attempts", async (_name, tries, role, asked) => {
    let isFlaky = tries > 1;
    const flaky = (): Promise<number> => (isFlaky ? Promise.reject(new Error("flaky")) : Promise.resolve(1));
    const run = acting(async (ctx) => {
      const { cost, usage, byRole } = await new Team({ model, roles: [role] }).run("b").result;
      await ctx.step("flaky", {}, flaky).catch((error: unknown) => {
        isFlaky = false;
        throw error;
      });
      return JSON.stringify({ cost, usage, byRole });
    });
    const journal = memoryJournal();
    const outer = (): Team => new Team({ model, journal, seed: "s", budget: usd(1), onFailure: retry(1), roles: [run] });
    const { length } = model.calls;
    const result = await outer().run("a", { id: "r" }).result;
    expect(JSON.parse(result.output?.content ?? "")).toMatchObject({ cost: { known: asked * COST, unpriced: 0 } });
    expect(told(await outer().replay("r").result)).toEqual(told(result));
    expect(told(await outer().fork("r", { id: "f", at: 1 }).result)).toEqual(told(result));
    expect([result.cost.known, model.calls.length - length]).toEqual([asked * COST, asked]);
  });

  test("counts against the budget of an agent, wherever the process died", async () => {
    const role = acting((ctx) => worked(ctx.model, (2 * COST + POOR) as MicroUsd));
    const outer = (journal = memoryJournal()): Team => new Team({ model, journal, seed: "s", budget: usd(1), roles: [role] });
    const journal = memoryJournal();
    const result = await outer(journal).run("a", { id: "r" }).result;
    expect(JSON.parse(result.output?.content ?? "")).toMatchObject({ status: "budget" });
    const events = await eventsOf(journal, "r");
    for (let cut = 2; cut < events.length; cut += 1) {
      const resumed = await outer(await journalWith("r", events.slice(0, cut))).resume("r").result;
      expect([cut, resumed.output?.content]).toEqual([cut, result.output?.content]);
    }
  });
});

describe("a run inside an activation that has a record of its own", () => {
  test("continues with the answers to its own questions, also where it asks the same again", async () => {
    let asked = 0;
    const voter = scriptedModel(() => `vote ${(asked += 1)}`);
    const votes = acting(async (ctx) => `${await ctx.ask("vote")}, ${await ctx.ask("vote")}, ${await ctx.ask("vote")}`);
    const outer = (journal: Journal, own: Journal): Team => {
      const team = new Team({ model: voter, journal: own, seed: "t", roles: [votes] });
      const begin = async (): Promise<string> => (await team.run("b", { id: "own" }).result).output?.content ?? "nothing";
      return new Team({ model: voter, journal, seed: "s", roles: [acting(begin)] });
    };
    const [journal, own] = [memoryJournal(), memoryJournal()];
    await outer(journal, own).run("a", { id: "r" }).result;
    const [events, ownEvents] = [await eventsOf(journal, "r"), await eventsOf(own, "own")];
    for (const answers of [1, 2]) {
      asked = answers;
      const [rest, ownRest] = [await journalWith("r", until(events, answers)), await journalWith("own", until(ownEvents, answers))];
      const resumed = await outer(rest, ownRest).resume("r").result;
      expect(resumed.output?.content).toBe("vote 1, vote 2, vote 3");
    }
  });
});

/** The events until the n-th answer of a model. */
function until(events: readonly RunEvent[], answers: number): readonly RunEvent[] {
  const models = new Set(events.flatMap((event) => (event.type === "step.started" && event.kind === "model" ? [event.key] : [])));
  const ends = events.filter((event) => event.type === "step.ended" && models.has(event.key));
  return events.slice(0, events.indexOf(ends[answers - 1] as RunEvent) + 1);
}
