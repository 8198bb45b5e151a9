import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent, PlanningFlow } from "../../src/agent/index.ts";
import type { AgentOptions } from "../../src/agent/agent.ts";
import { AbortedError } from "../../src/kernel/errors.ts";
import { defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { defineRole } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { defineTool } from "../../src/tool/tool.ts";
import { call, calls } from "./setup.ts";

const look = defineTool({ name: "look", description: "", parameters: z.object({}), effect: "read", execute: () => "seen" });

/** A model whose first call never answers; `asked` resolves when it is made. */
function hanging() {
  let tell = (): void => {};
  const asked = new Promise<void>((resolve) => (tell = resolve));
  let made = 0;
  const model = scriptedModel(async () => {
    if (++made > 1) return "done";
    tell();
    return new Promise<string>(() => {});
  });
  return { model, asked };
}

type Handle = Pick<ReturnType<Agent["run"]>, "stop"> & { readonly result: Promise<{ readonly status: string; readonly error?: Error }> };

const DOORS: Record<string, (model: ReturnType<typeof scriptedModel>) => Handle> = {
  agent: (model) => new Agent({ name: "a", model }).run("go"),
  "agent with an outer signal": (model) => new Agent({ name: "a", model }).run("go", { signal: new AbortController().signal }),
  flow: (model) => new PlanningFlow({ model, executors: { a: new Agent({ name: "a", model: scriptedModel(["x"]) }) } }).run("go"),
  "flow at a step": (model) =>
    new PlanningFlow({ model, tasks: [{ id: "1", instruction: "go" }], executors: { a: new Agent({ name: "a", model }) } }).run("go"),
  team: (model) =>
    new Team({ model, roles: [defineRole({ name: "R", actions: [defineAction({ name: "Do", prompt: () => "go" })] })] }).run("go"),
};

describe.each(Object.entries(DOORS))("stop() of a run: %s", (_name, begin) => {
  it("ends it with status stopped while a model is answering, and says why", async () => {
    const { model, asked } = hanging();
    const run = begin(model);
    await asked;
    run.stop("enough");
    const { status, error } = await run.result;
    expect([status, error?.message]).toEqual(["stopped", "Stopped: enough."]);
    expect(error).toBeInstanceOf(AbortedError);
  });
});

describe("an agent that was stopped by its handle", () => {
  it("goes on without a task", async () => {
    const { model, asked } = hanging();
    const agent = new Agent({ name: "a", model });
    const run = agent.run("the goal");
    await asked;
    run.stop();
    expect([(await run.result).status, agent.state]).toEqual(["stopped", "IDLE"]);
    expect(await agent.run().result).toMatchObject({ status: "finished", answer: "done" });
    expect(model.calls[1]?.messages.map(({ content }) => content)).toContain("the goal");
  });

  /** Stops its helper at the helper's second step. */
  const Work = (more: (ctx: ActionContext) => Partial<AgentOptions>) =>
    defineAction({
      name: "Work",
      run: async (ctx) => {
        const run = new Agent({ name: "helper", model: ctx.model, tools: [look], ...more(ctx) }).run("go");
        for await (const event of run) if (event.type === "step.started" && event.step === 2) run.stop("too slow");
        return `the helper ${(await run.result).status}`;
      },
    });

  it("in an action, is stopped alone: the activation goes on, and a replay repeats it without a call", async () => {
    const model = scriptedModel([calls(call("look", {})), "never"]);
    const team = new Team({ journal: memoryJournal(), model, roles: [defineRole({ name: "R", actions: [Work(() => ({}))] })] });
    const { status, output } = await team.run("x", { id: "r" }).result;
    expect([status, output?.content]).toEqual(["finished", "the helper stopped"]);
    const asked = model.calls.length;
    expect(await team.replay("r").result).toMatchObject({ status: "finished", output: { content: "the helper stopped" } });
    expect(model.calls).toHaveLength(asked);
  });

  it("with the steps of the role, suspends the activation where a call is in flight, as another signal does; a resume goes on", async () => {
    const { model, asked } = hanging();
    let first = true;
    const Ask = defineAction({
      name: "Ask",
      run: async (ctx) => {
        const run = new Agent({ name: "helper", model: ctx.model, steps: ctx.steps }).run("go");
        if (first) void asked.then(() => run.stop("too slow"));
        return (await run.result).answer;
      },
    });
    const team = new Team({ journal: memoryJournal(), model, roles: [defineRole({ name: "R", actions: [Ask] })] });
    expect(await team.run("x", { id: "r" }).result).toMatchObject({ status: "stopped" });
    first = false;
    expect(await team.resume("r").result).toMatchObject({ status: "finished", output: { content: "done" } });
  });
});
