import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { Agent, defineTool, MessagesMemory, type Tool } from "../../src/agent/index.ts";
import { asTool, defineAction, defineRole, guard, memoryJournal, ModelError, type RunContext, Team, usd } from "../../src/index.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";
import { call, calls } from "../agent/setup.ts";

const priced = { price: { input: 0, output: 1 } } as const;
const ask = (name: string, args: object, n = 0): object => calls(call(name, args, `call_${n}`));

describe("a tool of a worker", () => {
  const Write = defineAction({ name: "Write", prompt: (ctx) => `A line about ${ctx.text}` });
  const workers = {
    agent: () => new Agent({ name: "poet", model: scriptedModel(["The sea is wide."], { id: "poet", ...priced }) }),
    team: () =>
      new Team({
        name: "poet",
        roles: [defineRole({ name: "Po", actions: [Write] })],
        model: scriptedModel(["The sea is wide."], { id: "poet", ...priced }),
      }),
    role: () =>
      defineRole({
        name: "poet",
        goal: "write",
        watch: [],
        actions: [Write],
        model: scriptedModel(["The sea is wide."], { id: "poet", ...priced }),
      }),
  } as const;

  it.each(Object.entries(workers))("is one call of the outer run, with its cost and its record: %s", async (_name, make) => {
    const journal = memoryJournal();
    const team = (model = scriptedModel([ask("poet", { task: "the sea" }), "Here it is."], { id: "host", ...priced })): Team =>
      new Team({ roles: [defineRole({ name: "Hedy", tools: [asTool(make())] })], model, journal, budget: usd(1) });
    const { status, output, byModel, messages } = await team().run("Write.", { id: "a" }).result;
    expect([status, output?.content, messages.length]).toEqual(["finished", "Here it is.", 2]);
    expect(Object.keys(byModel)).toContain("host");
    const silent = scriptedModel([], { id: "host", ...priced });
    expect((await team(silent).replay("a").result).error).toBeUndefined();
  });

  const makers = {
    agent: (model: ScriptedModel, tools: Tool[]) => new Agent({ name: "poet", model, tools }),
    role: (model: ScriptedModel, tools: Tool[]) => defineRole({ name: "poet", goal: "write", model, tools }),
    team: (model: ScriptedModel, tools: Tool[]) => new Team({ name: "poet", roles: [defineRole({ name: "Po", tools })], model }),
  } as const;

  it.each(Object.entries(makers))("continues after a stop, and only a person may repeat a call: %s", async (_name, make) => {
    let sent = 0;
    const mail = defineTool({
      name: "mail",
      description: "Mails.",
      parameters: z.object({}),
      execute: () => {
        sent += 1;
        if (sent > 1) return "mailed";
        run.stop();
        return new Promise<never>(() => undefined);
      },
    });
    const inner = scriptedModel([ask("mail", {}), "mailed it"], { id: "poet" });
    const model = scriptedModel([ask("poet", { task: "a" }), "done"], { id: "host" });
    const team = new Team({ roles: [defineRole({ name: "Hedy", tools: [asTool(make(inner, [mail]))] })], model });
    const run = team.run("go", { id: "a" });
    expect((await run.result).status).toBe("stopped");
    expect((await team.resume("a").result).error?.code).toBe("STEP_UNCERTAIN");
    expect([(await team.resume("a").result).output?.content, sent, inner.calls.length, model.calls.length]).toEqual(["done", 2, 2, 2]);
  });

  it("begins each task anew", async () => {
    const model = scriptedModel(["one", "two"]);
    const tool = asTool(new Agent({ name: "poet", model }));
    const host = new Agent({
      name: "host",
      tools: [tool],
      model: scriptedModel([ask("poet", { task: "a" }, 1), ask("poet", { task: "b" }, 2), "done"]),
    });
    await host.run("go").result;
    expect(model.calls.map(({ messages }) => messages.map(({ content }) => content))).toEqual([["a"], ["b"]]);
  });

  it("takes the input and gives the output of its schemas", async () => {
    const output = z.object({ line: z.string() });
    const worker = new Agent({ name: "poet", model: scriptedModel(['{"line":"wide"}']), output });
    const tool = asTool(worker, { name: "write", description: "Writes.", input: z.object({ about: z.string(), words: z.number() }) });
    const host = new Agent({ name: "host", tools: [tool], model: scriptedModel([ask("write", { about: "sea", words: 1 }), "done"]) });
    const run = host.run("go");
    const results: unknown[] = [];
    for await (const event of run) if (event.type === "call.ended") results.push(event.result);
    expect(results).toEqual([{ output: '{"line":"wide"}', data: { line: "wide" } }]);
  });

  it.each([
    ["a guard", { guards: [guard({ name: "careful", on: "call", then: "ask", check: () => "It mails." })] }],
    ["a permission", { permissions: { default: "ask" } }],
  ] as const)("asks the person of the run for %s, over a wait", async (_what, rules) => {
    let mailed = 0;
    const mail = defineTool({ name: "mail", description: "Mails.", parameters: z.object({}), execute: () => `mailed ${(mailed += 1)}` });
    const journal = memoryJournal();
    const replies = scriptedModel([ask("mail", {}), ({ messages }) => `It was ${messages.at(-1)?.content}.`], { id: "poet" });
    const poet = new Agent({ name: "poet", model: replies, tools: [mail], ...rules });
    const host = scriptedModel([ask("poet", { task: "mail it" }), ({ messages }) => messages.at(-1)?.content ?? ""], { id: "host" });
    const team = new Team({ roles: [defineRole({ name: "Hedy", tools: [asTool(poet)] })], model: host, journal });
    const { status, questions } = await team.run("Mail it.", { id: "a" }).result;
    expect([status, questions.length, mailed]).toEqual(["waiting", 1, 0]);
    const { output } = await (await team.answer("a", questions[0]?.id ?? "", "yes")).result;
    expect([output?.content, mailed]).toEqual(["It was mailed 1.", 1]);
  });

  it("tells the model why the worker did not finish", async () => {
    const failing = scriptedModel(() => {
      throw new ModelError("MODEL_AUTH", "bad key");
    });
    const model = scriptedModel([ask("poet", { task: "a" }), "I could not."]);
    const host = new Agent({ name: "host", tools: [asTool(new Agent({ name: "poet", model: failing }))], model });
    expect((await host.run("go").result).answer).toBe("I could not.");
    expect(model.calls[1]?.messages.at(-1)?.content).toMatch(/poet has not finished \(failed\).*bad key/);
  });

  it("gives the worker the model and the context of the caller", async () => {
    const Who = defineAction({ name: "Who", run: (ctx) => ctx.ask(`Greet ${(ctx.context as unknown as { readonly user: string }).user}`) });
    const model = scriptedModel([ask("Gil", { task: "greet" }), "Hello Ann", "Done."]);
    const team = new Team({ roles: [defineRole({ name: "Hedy", tools: [asTool(defineRole({ name: "Gil", actions: [Who] }))] })], model });
    expect((await team.run("go", { context: { user: "Ann" } as unknown as RunContext }).result).output?.content).toBe("Done.");
    expect(model.calls[1]?.messages.at(-1)?.content).toBe("Greet Ann");
  });

  test.each([
    ["nothing", undefined, {}, "OPTION_INVALID"],
    ["an unknown option", workers.agent(), { nam: "x" }, "OPTION_UNKNOWN"],
    [
      "an agent with a memory that brings its tools",
      new Agent({ name: "a", model: scriptedModel([]), memory: new MessagesMemory() }),
      {},
      "AGENT_INVALID",
    ],
  ])("is not made of %s", (_what, worker, o, code) => {
    expect(() => asTool(worker as never, o as never)).toThrow(expect.objectContaining({ code }));
  });
});
