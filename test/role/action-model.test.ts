import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/index.ts";
import { Action, type ActionContext, defineAction, defineRole, Environment, memoryJournal, Team, usd } from "../../src/index.ts";
import type { ChatModel } from "../../src/model/chat-model.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const priced = { price: { input: 1_000, output: 1_000 } };

/** An action with a model of its own, and how often each model has answered. */
interface Door {
  readonly action: (model: ChatModel) => Action;
  readonly mode?: "agent";
}

/** Every way in which an action comes to a model. */
const doors: Readonly<Record<string, Door>> = {
  prompt: { action: (model) => defineAction({ name: "Say", model, prompt: () => "say" }) },
  "prompt with output": { action: (model) => defineAction({ name: "Say", model, output: z.string(), prompt: () => "say" }) },
  "ctx.ask": { action: (model) => defineAction({ name: "Say", model, run: (ctx) => ctx.ask("say") }) },
  "ctx.ask with options": { action: (model) => defineAction({ name: "Say", model, run: (ctx) => ctx.ask("say", { system: "short" }) }) },
  "ctx.model": {
    action: (model) =>
      defineAction({
        name: "Say",
        model,
        run: async (ctx) => (await ctx.model.chat({ messages: [{ role: "user", content: "say" }] }, { signal: ctx.signal })).content,
      }),
  },
  "ctx.step": { action: (model) => defineAction({ name: "Say", model, run: (ctx) => ctx.step("s", {}, (door) => door.ask("say")) }) },
  "an agent of ctx.model": {
    action: (model) =>
      defineAction({ name: "Say", model, run: async (ctx) => (await new Agent({ name: "a", model: ctx.model }).run("say").result).answer }),
  },
  "a class": {
    action: (model) =>
      new (class Say extends Action {
        override readonly model = model;
        override run(ctx: ActionContext): Promise<string> {
          return ctx.ask("say");
        }
      })(),
  },
  "a role that is an agent": { action: (model) => defineAction({ name: "Say", model }), mode: "agent" },
};

describe.each(Object.entries(doors))("the own model of an action, by %s", (_name, { action, mode }) => {
  const reply = JSON.stringify("own");

  function team(o: { readonly own?: ChatModel; readonly others?: ChatModel } = {}) {
    const own = o.own ?? scriptedModel(() => reply, { id: "own", ...priced });
    const others = o.others ?? scriptedModel(() => "others", { id: "others", ...priced });
    const say = action(own);
    const role = defineRole({ name: "Ann", actions: [say], model: others, ...(mode === undefined ? {} : { reactMode: mode }) });
    return { own, others, team: new Team({ journal: memoryJournal(), model: others, roles: [role] }) };
  }

  it("answers in place of the role's and the team's, is recorded and metered, and a replay and a resume call nobody", async () => {
    const [own, others] = [
      scriptedModel(() => reply, { id: "own", ...priced }),
      scriptedModel(() => "others", { id: "others", ...priced }),
    ];
    const { team: one } = team({ own, others });
    const { status, output, cost, byModel } = await one.run("go", { id: "r" }).result;
    expect([status, output?.content.includes("own"), own.calls.length, others.calls.length]).toEqual(["finished", true, 1, 0]);
    expect(cost.known).toBeGreaterThan(0);
    expect(Object.keys(byModel)).toEqual(["own"]);
    expect((await one.replay("r").result).output?.content).toBe(output?.content);
    await one.resume("r").result;
    expect(own.calls.length).toBe(1);
  });

  it("is bound by the budget of the run", async () => {
    const own = scriptedModel(() => reply, { id: "own", ...priced });
    const { team: one } = team({ own });
    const { status } = await one.run("go", { budget: usd(0.000_001) }).result;
    expect([status, own.calls.length]).toEqual(["budget", 0]);
  });
});

describe("the own model of an action", () => {
  const answering = (id: string): ChatModel => scriptedModel(() => id, { id });
  const [own, role, given] = [answering("own"), answering("role"), answering("given")];

  it("gives way to the model of one question, and leaves other actions of the role alone", async () => {
    const One = defineAction({
      name: "One",
      model: own,
      run: async (ctx) => `${await ctx.ask("a")} ${await ctx.ask("b", { model: given })}`,
    });
    const Two = defineAction({ name: "Two", run: async (ctx) => `${ctx.text} ${await ctx.ask("c")}` });
    const ann = defineRole({ name: "Ann", actions: [One, Two], reactMode: "by_order", model: role });
    const { output } = await new Team({ model: given, roles: [ann] }).run("go").result;
    expect(output?.content).toBe("own given role");
  });

  it("stays where the team replaces the model of its role", async () => {
    const One = defineAction({ name: "One", model: own });
    const ann = defineRole({ name: "Ann", actions: [One], model: role });
    const { output } = await new Team({ models: { Ann: given }, roles: [ann] }).run("go").result;
    expect(output?.content).toBe("own");
  });

  it.each([5, {}, "gpt-5"])("that is %j is refused, with the action's name", (model) => {
    const refused = expect.objectContaining({ code: "ACTION_INVALID", message: expect.stringContaining("model of action Say") });
    expect(() => defineAction({ name: "Say", model: model as never })).toThrow(refused);
    class Say extends Action {
      override readonly model = model as never;
    }
    expect(() => new Environment().addRole(defineRole({ name: "Ann", actions: [new Say()] }))).toThrow(refused);
  });
});
