import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { usd } from "../../src/model/money.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { Agent, defineTool, type Net, react, reflexion, treeOfThought } from "../../src/agent/index.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { call, calls } from "./setup.ts";

interface World {
  readonly roles: Role[];
  readonly model: ScriptedModel;
  /** The work that the tools did. */
  readonly done: string[];
}

/** A role that is an agent: two tools side by side, one that writes, then the answer. */
function world(net: Net): World {
  const done: string[] = [];
  const noting = (name: string, idempotent: boolean): ReturnType<typeof defineTool> =>
    defineTool({
      name,
      description: name,
      parameters: z.object({ q: z.string() }),
      effect: idempotent ? "read" : "write",
      permission: "allow",
      idempotent,
      execute: (args) => {
        done.push(`${name} ${(args as { q: string }).q}`);
        return `${name} says ${(args as { q: string }).q}`;
      },
    }) as ReturnType<typeof defineTool>;
  const tools = [noting("look", true), noting("write", false)];
  const model = scriptedModel((request) => {
    const words = request.messages.map((message) => message.content ?? "").join("\n");
    if (words.includes("Propose")) return '{"thoughts": ["a", "b"]}';
    if (words.includes("likely this way")) return '{"score": 5}';
    if (words.includes("Judge strictly")) return '{"pass": true, "feedback": ""}';
    const results = request.messages.filter((message) => message.role === "tool").length;
    if (results === 0 && !words.includes("Following")) return calls(call("look", { q: "1" }, "a"), call("look", { q: "2" }, "b"));
    return results === 2 ? calls(call("write", { q: "3" }, "c")) : "all done";
  });
  const work = defineAction({
    name: "Work",
    run: async (ctx) => {
      const agent = new Agent({ name: ctx.name, model: ctx.model, steps: ctx.steps, tools, net });
      const { error, answer, status, steps } = await agent.run(ctx.text, { signal: ctx.signal }).result;
      if (error !== undefined) throw error;
      return `${status} in ${steps}: ${answer}`;
    },
  });
  return { roles: [defineRole({ name: "Worker", actions: [work] })], model, done };
}

async function recorded(net: Net): Promise<{ readonly events: RunEvent[]; readonly world: World; readonly output: string }> {
  const made = world(net);
  const journal = memoryJournal();
  const result = await new Team({ seed: "s", journal, roles: made.roles, model: made.model }).run("the task", { id: "r" }).result;
  expect(result.error).toBeUndefined();
  return { events: await eventsOf(journal, "r"), world: made, output: result.output?.content ?? "" };
}

const NETS: readonly (readonly [string, () => Net])[] = [
  ["react", () => react()],
  ["reflexion", () => reflexion()],
  ["tree of thoughts", () => treeOfThought({ depth: 2 })],
];

describe.each(NETS)("an agent in a role that thinks by %s", (_name, net) => {
  it("replays without a call", async () => {
    const { events, output } = await recorded(net());
    const again = world(net());
    const result = await new Team({ journal: await journalWith("r", events), roles: again.roles, model: again.model }).replay("r").result;
    expect(result).toMatchObject({ status: "finished", output: { content: output } });
    expect(again.model.calls).toHaveLength(0);
    expect(again.done).toEqual([]);
  });

  it("goes on from every point of its record, and repeats nothing that was answered", async () => {
    const { events, world: first, output } = await recorded(net());
    expect(events.filter((event) => event.type === "step.ended").length).toBeGreaterThan(3);
    // Shorter records have no idea yet.
    for (let cut = 2; cut < events.length; cut++) {
      const before = events.slice(0, cut);
      const answered = before.filter((event) => event.type === "step.ended").length;
      const again = world(net());
      const result = await new Team({ journal: await journalWith("r", before), roles: again.roles, model: again.model }).resume("r").result;
      const last = before.at(-1);
      const isUncertain = last?.type === "step.started" && last.kind === "tool" && last.name === "write";
      if (isUncertain) expect(result).toMatchObject({ status: "failed", error: { message: expect.stringContaining("write") } });
      else expect(result, `cut after ${cut} events`).toMatchObject({ status: "finished", output: { content: output } });
      const ran = again.model.calls.length + again.done.length;
      expect(ran).toBeLessThanOrEqual(first.model.calls.length + first.done.length - answered);
    }
  });
});

describe("an agent in a role", () => {
  it("cannot spend more than the run's budget, and suspends its role", async () => {
    const priced = scriptedModel((_request, n) => calls(call("look", { q: `${n}` }, `c${n}`)), { price: { input: 100, output: 100 } });
    const made = world(react());
    const result = await new Team({ roles: made.roles, model: priced, budget: usd(2) }).run("x").result;
    expect(result.status).toBe("budget");
    expect(result.cost.known).toBeLessThanOrEqual(2_000_000);
    expect(priced.calls.length).toBeGreaterThan(1);
  });
});
