import { expect, test } from "vitest";
import { defineTool } from "../../src/agent/index.ts";
import { type Action, defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { ChatModel } from "../../src/model/chat-model.ts";
import { modelError } from "../../src/model/failure.ts";
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

test("Tries.Y5 a model call has one key through cut connections and deaths of the process, another after an answered failure", async () => {
  const failures = [modelError("MODEL_CUT", "cut"), modelError("MODEL_SERVER", "failed"), modelError("MODEL_UNREACHABLE", "away")];
  const asked = (left: Error[]): { readonly keys: (string | undefined)[]; readonly team: (journal: Journal) => Team } => {
    const keys: (string | undefined)[] = [];
    const chat: ChatModel["chat"] = async (_request, { key }) => {
      keys.push(key);
      const failure = left.shift();
      if (failure !== undefined) throw failure;
      return { content: "done", toolCalls: [], finishReason: "stop" };
    };
    const keyed: ChatModel = { ...scriptedModel([]), id: "keyed", streams: false, chat };
    const roles = [defineRole({ name: "A", actions: [defineAction({ name: "Ask", prompt: (ctx) => ctx.text })] })];
    const patience = { retry: { baseDelay: 1, maxDelay: 1 } };
    return { keys, team: (journal) => new Team({ journal, model: keyed, roles, seed: "s", calls: patience }) };
  };
  const journal = memoryJournal();
  const whole = asked([...failures]);
  expect((await whole.team(journal).run("x", { id: "r" }).result).status).toBe("finished");
  const [first] = whole.keys;
  const later = first?.replace(/-0$/, "-2");
  expect(whole.keys).toEqual([first, first, later, later]);
  expect(later).not.toBe(first);
  const events = await eventsOf(journal, "r");
  const starts = [...events.keys()].filter((n) => events[n]?.type === "step.started");
  expect(JSON.stringify(events)).not.toContain(first);
  for (const [n, at] of starts.entries()) {
    const resumed = asked([]);
    await resumed.team(await journalWith("r", events.slice(0, at + 1))).resume("r").result;
    expect(resumed.keys).toEqual([whole.keys[n]]);
  }
});
