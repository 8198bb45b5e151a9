import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/agent/index.ts";
import { usd } from "../../src/model/money.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { Tool } from "../../src/tool/tool.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { call, calls } from "./setup.ts";

function roleWith(...tools: readonly Tool[]): Role {
  return defineRole({ name: "Worker", reactMode: "agent", tools });
}

/** A tool that must not happen twice, and notes that it did. */
function writing(done: string[], name = "write", parameters: z.ZodType = z.object({ q: z.string() })): Tool {
  return defineTool({
    name,
    description: name,
    parameters,
    permission: "allow",
    execute: (args) => {
      done.push(`${name} ${JSON.stringify(args)}`);
      return "written";
    },
  }) as Tool;
}

/** Writes first, then tells what came of it. */
const writer = () =>
  scriptedModel((request) => {
    const results = request.messages.filter((message) => message.role === "tool");
    return results.length === 0 ? calls(call("write", { q: "1" })) : `it said: ${results[0]?.content ?? ""}`;
  });

describe("an agent in a role that goes on after its tools have changed", () => {
  it.each<[string, (done: string[]) => readonly Tool[], RegExp]>([
    ["its tool is gone", (done) => [writing(done, "other")], /there is no tool "write"/],
    ["it has none", () => [], /There are no tools|there is no tool/],
    ["other arguments are wanted", (done) => [writing(done, "write", z.object({ n: z.number() }))], /do not fit/],
  ])("%s: it says so to the model, and does nothing twice", async (_what, changed, told) => {
    const done: string[] = [];
    const journal = memoryJournal();
    await new Team({ seed: "s", journal, roles: [roleWith(writing(done))], model: writer() }).run("the task", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    expect(done).toEqual(['write {"q":"1"}']);
    const ends = events.flatMap((event, place) => (event.type === "step.ended" ? [place + 1] : []));
    for (const cut of ends.slice(0, 2)) {
      const resumed = await new Team({
        journal: await journalWith("r", events.slice(0, cut)),
        roles: [roleWith(...changed(done))],
        model: writer(),
      }).resume("r").result;
      expect(resumed).toMatchObject({ status: "finished", output: { content: expect.stringMatching(told) as string } });
    }
    expect(done).toEqual(['write {"q":"1"}']);
  });
});

describe("a budget that ends while calls run side by side", () => {
  it("stops the run when they have ended; with more money it goes on and does nothing twice", async () => {
    const done: string[] = [];
    const asking = defineTool({
      name: "ask_model",
      description: "",
      parameters: z.object({ q: z.string() }),
      permission: "allow",
      idempotent: true,
      execute: async ({ q }, ctx) => {
        const { content = "" } =
          (await ctx.model?.chat({ messages: [{ role: "user", content: q }], maxTokens: q === "b" ? 100_000 : 10 }, ctx)) ?? {};
        return content;
      },
    }) as Tool;
    const wishes = [call("ask_model", { q: "a" }, "1"), call("write", { q: "1" }, "2"), call("ask_model", { q: "b" }, "3")];
    const model = scriptedModel(
      (request) => {
        const [first] = request.messages;
        if (first?.content === "a" || first?.content === "b") return `about ${first.content}`;
        return request.messages.some((message) => message.role === "tool") ? "all done" : calls(...wishes);
      },
      { price: { input: 1, output: 1 } },
    );
    const journal = memoryJournal();
    const roles = [roleWith(asking, writing(done))];
    const team = (budget: number) => new Team({ seed: "s", journal, roles, model, budget: usd(budget) });
    const poor = await team(0.017_5).run("the task", { id: "r" }).result;
    expect(poor.status).toBe("budget");
    const underWay = (await eventsOf(journal, "r")).filter((event) => event.type === "step.started" && event.kind === "tool");
    expect(underWay).toHaveLength(3);
    expect(done).toEqual(['write {"q":"1"}']);
    const rich = await team(1).resume("r").result;
    expect(rich).toMatchObject({ status: "finished", output: { content: "all done" } });
    expect(done).toEqual(['write {"q":"1"}']);
  });
});
