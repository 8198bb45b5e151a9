import { z } from "zod";
import { describe, expect, test } from "vitest";
import { Agent, Brain, ChatMemory, defineTool, MessagesMemory, PlanningFlow, type Tool, type ToolContext } from "../../src/agent/index.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { ChatModel, ChatRequest } from "../../src/model/chat-model.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { Team } from "../../src/team/team.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";
import { call } from "../agent/setup.ts";
import { eventsOf, journalWith } from "./recorded.ts";

/** Micro-dollars of each call, and the most that one may cost. */
const COST = 10_000;
const HOLD = 12_000;
/** Room for all calls of each place. */
const RICH = 1_000_000 as MicroUsd;
/** Room for two calls. */
const POOR = (2 * COST + HOLD - 1) as MicroUsd;

/** The models of a run: that of the team, and one that a program makes besides. Both stand for one server that counts. */
interface Models {
  readonly model: ScriptedModel;
  readonly second: ScriptedModel;
}

/** @param turns of the event loop that the n-th answer takes */
function paid(id: string, turns: (n: number) => number): ScriptedModel {
  return scriptedModel(
    async (request, n) => {
      for (let left = turns(n); left > 0; left -= 1) await nextMacrotask();
      const { content, toolCalls = [] } = replyTo(request);
      return { content, toolCalls, usage: { inputTokens: 1, outputTokens: COST } };
    },
    { id, price: { input: 0, output: 1 }, maxOutputTokens: HOLD },
  );
}

/** A model that calls the tool it has, `delve`, once or as often as its task says, and tells what it got. */
function replyTo({ messages, tools = [] }: ChatRequest): { readonly content: string; readonly toolCalls?: ReturnType<typeof call>[] } {
  const words = messages.map(({ content }) => content ?? "");
  if (words.at(-1)?.includes("Break the goal") === true)
    return { content: JSON.stringify({ steps: ["a", "b", "c"].map((id) => ({ id, instruction: `do ${id}` })) }) };
  const offered = tools.find(({ name }) => name !== "terminate")?.name;
  const done = messages.filter(({ role }) => role === "tool").length;
  const wanted = Number(/(\d) times/.exec(words.join("\n"))?.[1] ?? 1);
  if (offered !== undefined && done < wanted) return { content: "", toolCalls: [call(offered, {}, `c${done}`)] };
  return { content: `heard ${words.at(-1)?.length ?? 0} characters` };
}

const look = defineTool({ name: "look", description: "Looks.", effect: "read", execute: () => "seen" });

function tool(name: string, execute: (ctx: ToolContext) => Promise<string>): Tool {
  return defineTool({ name, description: name, effect: "read", execute: (_args, ctx) => execute(ctx) });
}

function acting(run: (ctx: ActionContext) => Promise<string>): Role {
  return defineRole({ name: "Ann", actions: [defineAction({ name: "Act", run }) as Action] });
}

/** An agent with that tool, as a role. */
function agentRole(execute: (ctx: ToolContext) => Promise<string>): Role {
  return defineRole({ name: "Ann", reactMode: "agent", tools: [tool("delve", execute)] });
}

/** The report of an agent: everything of it that a program could use. */
async function worked(model: ChatModel, task = "look 3 times", tools: readonly Tool[] = [look]): Promise<string> {
  const { status, answer, cost, usage, steps } = await new Agent({ name: "sub", model, tools }).run(task).result;
  return JSON.stringify({ status, answer, cost, usage, steps });
}

async function thought(model: ChatModel): Promise<string> {
  const memory = new MessagesMemory({ messages: new ChatMemory(), tools: [look] });
  await memory.setGoal("look 3 times");
  const pieces: string[] = [];
  for await (const piece of new Brain({ model }).run(memory)) pieces.push(piece);
  return pieces.join("");
}

async function planned(planner: ChatModel, worker: ChatModel): Promise<string> {
  const hand = (): Agent => new Agent({ name: "hand", model: worker });
  const { status, answer, steps } = await new PlanningFlow({ model: planner, executors: { hand } }).run("a goal").result;
  return JSON.stringify({ status, answer, results: steps.map(({ result }) => result) });
}

/** Two roles that work at the same time, then one that hears both, in an agent and by questions. */
function company(model: ChatModel): Team {
  const ask = (name: string, watch?: readonly Action[]): Action =>
    defineAction({ name, ...(watch && {}), run: async (ctx) => ctx.ask(`${name} ${ctx.random()} ${ctx.text}`) }) as Action;
  const [First, Second, Last] = [ask("First"), ask("Second"), ask("Last")];
  return new Team({
    name: "company",
    model,
    roles: [
      defineRole({ name: "One", actions: [First] }),
      defineRole({ name: "Two", actions: [Second] }),
      defineRole({ name: "Zoe", reactMode: "agent", watch: [First, Second], actions: [Last], tools: [look] }),
    ],
  });
}

async function teamed(model: ChatModel): Promise<string> {
  const { status, cost, output, rounds, messages } = await company(model).run("an idea").result;
  return JSON.stringify({ status, cost, output: output?.content, rounds, said: messages.map(({ content }) => content) });
}

async function lived(model: ChatModel): Promise<string> {
  const say = defineAction({ name: "Say", run: async (ctx) => `${await ctx.ask(`once ${ctx.random()}`)} ${await ctx.ask("twice")}` });
  const place = new Environment({ model }).addRoles(["Uma", "Vic"].map((name) => defineRole({ name, actions: [say] })));
  place.publishMessage("go");
  const { status, messages } = await place.run();
  return JSON.stringify({ status, said: messages.map(({ content }) => content) });
}

const question = (content: string): ChatRequest => ({ messages: [{ role: "user", content }] });

async function chatted(model: ChatModel, signal: AbortSignal): Promise<string> {
  const said: string[] = [];
  for (const n of [1, 2, 3]) said.push((await model.chat(question(`question ${n}`), { signal })).content);
  for await (const { content } of model.stream(question("the last one"), { signal })) said.push(content ?? "");
  return said.join();
}

/** A tool that is an agent with a tool that is an agent. */
function twoDeep(model: (ctx: ToolContext) => ChatModel): Role {
  const inner = tool("inner", (ctx) => worked(model(ctx)));
  return agentRole((ctx) => worked(model(ctx), "delve 2 times", [inner]));
}

const ownOf = ({ model }: ToolContext): ChatModel => {
  if (model === undefined) throw new Error("no model");
  return model;
};

const PLACES: Readonly<Record<string, (models: Models) => Role>> = {
  "an agent with ctx.model in a tool": () => agentRole((ctx) => worked(ownOf(ctx))),
  "an agent with ctx.model in an action": () => acting((ctx) => worked(ctx.model)),
  "an agent with ctx.model after a wait": () =>
    acting(async ({ model }) => {
      await nextMacrotask();
      return worked(model);
    }),
  "an agent in a react of the role": () => defineRole({ name: "Ann", react: async (rc) => rc.message(await worked(rc.model)) }),
  "a brain with ctx.model in an action": () => acting((ctx) => thought(ctx.model)),
  "a brain with a second model in a tool": ({ second }) => agentRole(() => thought(second)),
  "a flow with ctx.model in an action": ({ second }) => acting((ctx) => planned(ctx.model, second)),
  "a flow in a tool": ({ second }) => agentRole((ctx) => planned(ownOf(ctx), second)),
  "a team in a step": ({ second }) => acting((ctx) => ctx.step("team", {}, () => teamed(second))),
  "a team with ctx.model in a step": () => acting((ctx) => ctx.step("team", {}, () => teamed(ctx.model))),
  "a team in an action": ({ second }) => acting(() => teamed(second)),
  "a team in a tool": ({ second }) => agentRole(() => teamed(second)),
  "an environment in an action": ({ second }) => acting(() => lived(second)),
  "a second model in an agent in a tool": ({ second }) => agentRole(() => worked(second)),
  "a second model asked by a tool": ({ second }) =>
    agentRole(async (ctx) => {
      const { word } = await ctx.ask("say", { model: jsonModel(second), schema: z.object({ word: z.string() }) });
      return `${word} ${await ctx.ask("one", { model: second })} ${await ctx.ask("two", { model: second })} ${await ctx.ask("three")}`;
    }),
  "a second model called by a tool": ({ second }) => agentRole((ctx) => chatted(second, ctx.signal)),
  "a second model called in a step of a tool": ({ second }) =>
    agentRole((ctx) => ctx.step("chat", {}, ({ signal }) => chatted(second, signal))),
  "a second model in an agent in an action": ({ second }) => acting(() => worked(second)),
  "a second model in an action that is no async function": ({ second }) =>
    acting((ctx) => nextMacrotask().then(() => chatted(second, ctx.signal))),
  "a second model asked by an action": ({ second }) =>
    acting(async (ctx) => {
      for (const n of [1, 2, 3]) await ctx.ask(`question ${n}`, { model: second });
      return ctx.ask("the last one", { model: ctx.model });
    }),
  "a second model called in a step": ({ second }) => acting((ctx) => ctx.step("chat", {}, ({ signal }) => chatted(second, signal))),
  "an agent in a step": ({ second }) => acting((ctx) => ctx.step("agent", {}, () => worked(second))),
  "an agent as a tool, two levels deep": () => twoDeep(ownOf),
  "a second model two levels deep": ({ second }) => twoDeep(() => second),
  "two agents at the same time in an action": ({ second }) =>
    acting(async (ctx) => (await Promise.all([worked(ctx.model), worked(second), worked(ctx.model)])).join()),
  "two agents at the same time in a tool": ({ second }) =>
    agentRole(async (ctx) => (await Promise.all([worked(ownOf(ctx)), worked(ownOf(ctx)), worked(second)])).join()),
  "two teams at the same time in an action": ({ second }) =>
    acting(async () => (await Promise.all([teamed(second), teamed(second)])).join()),
};

/** A model with answers in JSON that costs the same. */
function jsonModel(second: ScriptedModel): ChatModel {
  const { id, price } = second;
  return {
    id: `${id} as json`,
    ...(price === undefined ? {} : { price }),
    maxOutputTokens: HOLD,
    streams: false,
    chat: async (request, o) => ({ ...(await second.chat(request, o)), content: '{"word":"json"}' }),
    stream: (request, o) => second.stream(request, o),
  };
}

interface World extends Models {
  team(journal: ReturnType<typeof memoryJournal>, budget?: MicroUsd): Team;
  /** Calls that the server got. */
  readonly asked: () => number;
}

/** Limit on the cuts of one record. */
const CUTS = 8;

/** The next world is as slow as the last one at other calls. */
let worlds = 0;

function world(place: (models: Models) => Role): World {
  const nth = (worlds += 1);
  const turns = (n: number): number => ((n + 1) * (nth + 3) * 5) % 11;
  const models = { model: paid("first", turns), second: paid("second", turns) };
  const team = (journal: ReturnType<typeof memoryJournal>, budget: MicroUsd = RICH): Team =>
    new Team({ seed: "s", roles: [place(models)], model: models.model, budget, journal });
  return { ...models, team, asked: () => models.model.calls.length + models.second.calls.length };
}

interface Recorded {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  readonly asked: number;
}

async function recorded(place: (models: Models) => Role): Promise<Recorded> {
  const journal = memoryJournal();
  const made = world(place);
  const result = await made.team(journal).run("delve", { id: "r" }).result;
  return { result, events: await eventsOf(journal, "r"), asked: made.asked() };
}

function told({ status, output, error }: RunResult): readonly unknown[] {
  return [status, output?.content, error?.message];
}

describe.each(Object.entries(PLACES))("%s", (_name, place) => {
  test("is booked: the ledger has what the server was asked", async () => {
    const { result, asked } = await recorded(place);
    expect([result.status, result.error]).toEqual(["finished", undefined]);
    expect(asked).toBeGreaterThanOrEqual(4);
    expect(result.cost).toEqual({ known: asked * COST, unpriced: 0 });
  });

  test("is bounded by the budget", async () => {
    const made = world(place);
    const result = await made.team(memoryJournal(), POOR).run("delve").result;
    expect([result.status, result.cost.known]).toEqual(["budget", made.asked() * COST]);
    expect(made.asked()).toBe(2);
  });

  test("is replayed without a call", async () => {
    const { result, events } = await recorded(place);
    const again = world(place);
    const replayed = await again.team(await journalWith("r", events)).replay("r").result;
    expect([told(replayed), again.asked()]).toEqual([told(result), 0]);
  });

  test("InnerRun.I1 resumes after a cut anywhere, and pays nothing twice", async () => {
    const { result, events, asked } = await recorded(place);
    // Each row has other cuts; a short record has all of them.
    const step = Math.ceil(events.length / CUTS);
    for (let cut = 2 + (worlds % step); cut < events.length; cut += step) {
      const before = events.slice(0, cut);
      const answered = before.filter((event) => event.type === "step.ended" && (event.cost ?? 0) > 0).length;
      const again = world(place);
      const resumed = await again.team(await journalWith("r", before)).resume("r").result;
      expect([cut, told(resumed), again.asked()]).toEqual([cut, told(result), asked - answered]);
    }
  });

  test("InnerRun.I2 is bounded, then resumes with a larger budget", async () => {
    const { result, asked } = await recorded(place);
    const journal = memoryJournal();
    const made = world(place);
    await made.team(journal, POOR).run("delve", { id: "r" }).result;
    const richer = await made.team(journal).resume("r", { budget: RICH }).result;
    expect([told(richer), made.asked(), richer.cost.known]).toEqual([told(result), asked, asked * COST]);
  });
});
