import { expect, test } from "vitest";
import { defineTool } from "../../src/agent/index.ts";
import { type Action, defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { call, calls } from "../agent/setup.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

const model = () => scriptedModel(({ messages }) => (messages.some(({ role }) => role === "tool") ? "done" : calls(call("pay"))));

test("a call that is made again after somebody has looked has the key it had: the service behind it knows it", async () => {
  const keys: string[] = [];
  const pay = defineTool({
    name: "pay",
    description: "pays",
    permission: "allow",
    execute: (_args, { key }) => {
      keys.push(key);
      return "paid";
    },
  });
  const roles = [defineRole({ name: "Clerk", reactMode: "agent", tools: [pay] })];
  const journal = memoryJournal();
  await new Team({ journal, model: model(), roles, seed: "s" }).run("x", { id: "r" }).result;
  const events = await eventsOf(journal, "r");
  const cut = events.findIndex((event) => event.type === "step.started" && event.kind === "tool") + 1;
  const copy = await journalWith("r", events.slice(0, cut));
  const resumed = () => new Team({ journal: copy, model: model(), roles, seed: "s" }).resume("r").result;
  expect(await resumed()).toMatchObject({ status: "failed", error: { code: "STEP_UNCERTAIN" } });
  expect(await resumed()).toMatchObject({ status: "finished" });
  expect(keys).toHaveLength(2);
  expect(keys[1]).toBe(keys[0]);
});

test("effects have keys of their own: of one activation, of two, and of two runs", async () => {
  const keys: string[] = [];
  const noting = (name: string): Action =>
    defineAction({
      name,
      run: async (ctx) => {
        for (let n = 0; n < 2; n++) await ctx.step("note", { same: "request" }, ({ key }) => Promise.resolve(void keys.push(key)));
        return "noted";
      },
    });
  const Note = noting("Note");
  const roles: Role[] = [defineRole({ name: "A", actions: [Note] }), defineRole({ name: "B", watch: [Note], actions: [noting("Again")] })];
  for (const id of ["r1", "r2"]) await new Team({ journal: memoryJournal(), roles }).run("x", { id }).result;
  expect(keys).toHaveLength(8);
  expect(new Set(keys).size).toBe(8);
});
