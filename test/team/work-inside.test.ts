import { describe, expect, test } from "vitest";
import { Agent, defineTool, type Tool, type ToolContext } from "../../src/agent/index.ts";
import { startWorker } from "../../src/fleet/index.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { budgetPool } from "../../src/model/budget-pool.ts";
import { presentMeter } from "../../src/model/meter.ts";
import { type MicroUsd, usd } from "../../src/model/money.ts";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { memoryRunDriver } from "../../src/testing/memory-run-driver.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";
import { call } from "../agent/setup.ts";
import { unhandledIn } from "../unhandled.ts";

/** Micro-dollars of each call. */
const COST = 10_000;
const RICH = usd(1);

/** A model that calls the tool it has once, and then repeats what the tool said. */
function paid(): ScriptedModel {
  const reply = { usage: { inputTokens: 1, outputTokens: COST } };
  return scriptedModel(
    ({ messages, tools = [] }) => {
      const wanted = tools.find(({ name }) => name !== "terminate")?.name;
      const last = messages.at(-1);
      if (wanted !== undefined && last?.role !== "tool") return { ...reply, toolCalls: [call(wanted, {})] };
      return { ...reply, content: `heard ${last?.content ?? ""}` };
    },
    { price: { input: 0, output: 1 }, maxOutputTokens: COST },
  );
}

function tool(execute: (ctx: ToolContext) => unknown): Tool {
  return defineTool({
    name: "delve",
    description: "Delves.",
    effect: "read",
    execute: async (_args, ctx) => JSON.stringify(await execute(ctx)),
  });
}

function acting(run: (ctx: ActionContext) => Promise<string>): Role {
  return defineRole({ name: "Ann", actions: [defineAction({ name: "Act", run }) as Action] });
}

const agentWith = (execute: (ctx: ToolContext) => unknown): Role => defineRole({ name: "Ann", reactMode: "agent", tools: [tool(execute)] });

describe("work inside an activation", () => {
  test("has a bound of its own besides that of the run, which continues after it", async () => {
    const model = paid();
    const journal = memoryJournal();
    const team = (): Team =>
      new Team({
        model,
        journal,
        budget: RICH,
        roles: [
          acting(async (ctx) => {
            const agent = new Agent({ name: "sub", model: ctx.model, budget: (2 * COST) as MicroUsd, tools: [tool(() => "seen")] });
            const first = await agent.run("once").result;
            const second = await agent.run("again").result;
            return JSON.stringify([first, second].map(({ status, cost }) => [status, cost.known]));
          }),
        ],
      });
    const result = await team().run("go", { id: "r" }).result;
    expect([result.status, result.output?.content, result.cost.known, model.calls.length]).toEqual([
      "finished",
      JSON.stringify([
        ["finished", 2 * COST],
        ["budget", 0],
      ]),
      2 * COST,
      2,
    ]);
    const replayed = await team().replay("r").result;
    expect([replayed.output?.content, model.calls.length]).toEqual([result.output?.content, 2]);
  });

  test("is charged once to a pool that both runs share, with or without the budget of the tool", async () => {
    for (const lends of [true, false]) {
      const model = paid();
      const account = budgetPool(RICH);
      const others = new Team({ model, budget: account, roles: [acting((ctx) => ctx.ask("hello"))] });
      const lent = (ctx: ToolContext): unknown => others.run("go", lends ? { budget: ctx.budget } : {}).result.then(({ cost }) => cost);
      const result = await new Team({ model, budget: account, roles: [agentWith(lent)] }).run("go").result;
      expect([result.status, result.cost.known, account.spent]).toEqual(["finished", 3 * COST, 3 * COST]);
      expect(model.calls).toHaveLength(3);
    }
  });

  test("asks the person of the run around it, which waits, and continues with the answer", async () => {
    const model = paid();
    const journal: Journal = memoryJournal();
    const inner = (): Team =>
      new Team({
        model,
        roles: [acting(async (ctx) => `${await ctx.ask("first")}, ${await ctx.human.ask("Well?")}, ${await ctx.ask("last")}`)],
      });
    const outer = (): Team =>
      new Team({
        model,
        journal,
        budget: RICH,
        roles: [acting(async () => (await inner().run("go").result).output?.content ?? "nothing")],
      });
    const waiting = await outer().run("go", { id: "r" }).result;
    expect([waiting.status, waiting.questions.map(({ text }) => text), model.calls.length]).toEqual(["waiting", ["Well?"], 1]);
    const [question] = waiting.questions;
    const answered = await outer().answer("r", question?.id ?? "", "yes");
    const result = await answered.result;
    expect([result.status, result.output?.content, result.cost.known]).toEqual(["finished", "heard first, yes, heard last", 2 * COST]);
    expect(model.calls).toHaveLength(2);
  });

  test("that nothing awaits is waited for and booked, and no failure of it is an unhandled rejection", async () => {
    const floating: readonly ((model: ScriptedModel) => unknown)[] = [
      (model) => void new Agent({ name: "sub", model }).run("go").result,
      (model) => void new Team({ model, roles: [acting((ctx) => ctx.ask("hello"))] }).run("go").result,
      (model) => {
        const world = new Environment({ model }).addRole(acting((ctx) => ctx.ask("hello")));
        world.publishMessage("go");
        void world.run();
      },
    ];
    const unhandled = await unhandledIn(async () => {
      for (const start of floating) {
        const model = paid();
        const broken = scriptedModel(() => Promise.reject(new Error("down")));
        const role = acting((ctx) => {
          start(broken);
          start(model);
          return ctx.ask("hello");
        });
        const result = await new Team({ model, budget: RICH, roles: [role] }).run("go").result;
        expect([result.status, result.cost.known, model.calls.length]).toEqual(["finished", 2 * COST, 2]);
      }
    });
    expect(unhandled).toEqual([]);
  });

  test("a call of a second model that a tool does not await, and that fails, is the failure of the tool", async () => {
    const second = scriptedModel(() => Promise.reject(new Error("down")));
    const model = paid();
    const role = agentWith(() => {
      void second.chat({ messages: [{ role: "user", content: "hello" }] });
      return "done";
    });
    const unhandled = await unhandledIn(async () => {
      const { status, output } = await new Team({ model, roles: [role] }).run("go").result;
      expect([status, output?.content]).toEqual(["finished", expect.stringContaining("model.chat")]);
    });
    expect(unhandled).toEqual([]);
  });

  test("a replay and a run that a worker drives are no part of it", async () => {
    const [inner, driver, model] = [memoryJournal(), memoryRunDriver(), paid()];
    const writers = new Team({ name: "writers", model, journal: inner, driver, roles: [acting((ctx) => ctx.ask("hello"))] });
    await writers.run("go", { id: "r" }).result;
    const outer = acting(async () => {
      const { status } = await writers.replay("r").result;
      const worker = await startWorker({ driver, journal: inner, teams: [writers] });
      await writers.submit("go", { id: "driven" });
      while ((await driver.list({ limit: 1 })).length > 0) await nextMacrotask();
      await worker.drain();
      return status;
    });
    const journal = memoryJournal();
    const { output, cost } = await new Team({ model, journal, roles: [outer] }).run("go", { id: "outer" }).result;
    const steps: RunEvent[] = [];
    for await (const event of journal.read("outer", 0)) if (event.type === "step.started") steps.push(event);
    expect([output?.content, cost.known, steps, model.calls.length]).toEqual(["finished", 0, [], 2]);
  });

  test("is found by code of activations and tools, and by no step role", async () => {
    const found: Record<string, boolean> = {};
    const note = (where: string): string => {
      found[where] = presentMeter() !== undefined;
      return where;
    };
    const roles = [
      defineRole({ name: "Una", step: () => void note("step") }),
      defineRole({ name: "Ann", actions: [defineAction({ name: "Act", run: async () => note("action") }) as Action] }),
      defineRole({ name: "Tom", reactMode: "agent", tools: [tool(() => note("tool"))] }),
      defineRole({ name: "Rea", react: (rc) => rc.message(note("react")) }),
    ];
    for (const role of roles) {
      const { status } = await new Team({ model: paid(), roles: [role] }).run("go").result;
      expect([role.name, status]).toEqual([role.name, "finished"]);
    }
    expect(found).toEqual({ step: false, action: true, tool: true, react: true });
    expect(presentMeter()).toBeUndefined();
  });
});

describe("the context of a tool", () => {
  test("asks, takes steps and shows its budget, all of it recorded", async () => {
    const model = paid();
    const journal = memoryJournal();
    let effects = 0;
    const role = (): Role =>
      agentWith(async (ctx) => {
        const n = await ctx.step("count", {}, async () => (effects += 1));
        return [n, await ctx.ask("hello"), ctx.budget.isBinding !== false];
      });
    const team = (): Team => new Team({ model, journal, budget: RICH, roles: [role()] });
    const result = await team().run("go", { id: "r" }).result;
    expect([result.status, result.output?.content]).toEqual(["finished", 'heard [1,"heard hello",true]']);
    const replayed = await team().replay("r").result;
    expect([replayed.output?.content, effects, model.calls.length]).toEqual([result.output?.content, 1, 3]);
  });
});
