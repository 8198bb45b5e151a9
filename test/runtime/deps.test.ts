import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent, callTool, defineTool } from "../../src/agent/index.ts";
import { defineAction } from "../../src/role/action.ts";
import type { Deps } from "../../src/kernel/deps.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { call, calls } from "../agent/setup.ts";
import { eventsOf } from "../team/recorded.ts";
import { answering } from "./town.ts";

/** A text that no record may hold. */
const SECRET = "connected to db.internal";

function database(rows: readonly string[]): { readonly deps: Deps; readonly asked: string[] } {
  const asked: string[] = [];
  const ask = (name: string): Promise<string | undefined> => {
    asked.push(name);
    return Promise.resolve(rows.find((row) => row.startsWith(name)));
  };
  return { deps: { db: { ask, address: SECRET, self: () => ask } } as unknown as Deps, asked };
}

interface Db {
  readonly db: { ask(name: string): Promise<string | undefined> };
}

const Look = defineAction({
  name: "Look",
  run: async (ctx) => {
    const { db } = ctx.deps as unknown as Db;
    return (await ctx.step("look", { name: ctx.text }, () => db.ask(ctx.text))) ?? "nothing";
  },
});
const look = defineTool({
  name: "look",
  description: "looks somebody up",
  parameters: z.object({ name: z.string() }),
  effect: "read",
  execute: async ({ name }, { deps }) => (deps === undefined ? "no deps" : ((await (deps as unknown as Db).db.ask(name)) ?? "nothing")),
});
const clerk = (): Role => defineRole({ name: "Cleo", actions: [Look] });

describe("deps", () => {
  test("of a team and of an environment are what actions and roles find", async () => {
    const { deps, asked } = database(["ann: 7"]);
    expect((await new Team({ roles: [clerk()], deps }).run("ann").result).output?.content).toBe("ann: 7");
    let seen: unknown;
    const environment = new Environment({ deps }).addRole(answering("Eve", (rc) => void (seen = rc.deps)));
    environment.publishMessage("go");
    await environment.run();
    expect([seen === deps, asked]).toEqual([true, ["ann"]]);
  });

  test("are never recorded, and make no difference to what a run is", async () => {
    const journal = memoryJournal();
    const lived = async (id: string, rows: readonly string[]): Promise<string> => {
      await new Team({ seed: "s", journal, roles: [clerk()], deps: database(rows).deps }).run("ann", { id }).result;
      expect(JSON.stringify(await eventsOf(journal, id))).not.toContain(SECRET);
      return canonical(await eventsOf(journal, id));
    };
    expect(await lived("a", ["ann: 7", "bob: 1"])).toBe(await lived("b", ["ann: 7"]));
  });

  test("are those that are given when the run goes on, and a replay asks them nothing", async () => {
    const journal = memoryJournal();
    const before = database(["ann: 7"]);
    const after = database(["ann: 8"]);
    await new Team({ journal, roles: [clerk()], deps: before.deps }).run("ann", { id: "r", rounds: 0 }).result;
    const team = new Team({ journal, roles: [clerk()], deps: after.deps });
    expect((await team.resume("r", { rounds: 5 }).result).output?.content).toBe("ann: 8");
    expect((await team.replay("r").result).output?.content).toBe("ann: 8");
    expect([before.asked, after.asked]).toEqual([[], ["ann"]]);
  });

  test("that are missing fail the action that asks for them, by name", async () => {
    const { status, error } = await new Team({ roles: [clerk()] }).run("ann").result;
    expect([status, error?.name, error?.code]).toEqual(["failed", "UsageError", "DEPS_MISSING"]);
    expect(error?.message).toContain("Cleo");
    const calm = defineRole({ name: "Ben", actions: [defineAction({ name: "Wait", run: () => "fine" })] });
    expect((await new Team({ roles: [calm] }).run("go").result).status).toBe("finished");
  });

  test("reach the tools of a role in mode agent, are not recorded, and are asked nothing in a replay", async () => {
    const { deps, asked } = database(["ann: 7"]);
    const journal = memoryJournal();
    const model = scriptedModel([calls(call("look", { name: "ann" })), "She has 7."]);
    const agent = defineRole({ name: "Ada", reactMode: "agent", model, tools: [look] });
    const team = new Team({ journal, roles: [agent], deps });
    expect((await team.run("How many has ann?", { id: "t" }).result).output?.content).toBe("She has 7.");
    expect(asked).toEqual(["ann"]);
    const record = JSON.stringify(await eventsOf(journal, "t"));
    expect(record).toContain("ann: 7");
    expect(record).not.toContain(SECRET);
    expect((await team.replay("t").result).output?.content).toBe("She has 7.");
    expect(asked).toEqual(["ann"]);
  });

  test("that nobody gave are undefined in tools; an agent alone and a call alone take their own", async () => {
    const { deps, asked } = database(["bob: 1"]);
    const answers = async (given: { readonly deps?: Deps }): Promise<unknown> => {
      const { result } = await callTool(call("look", { name: "bob" }), { tools: [look], ...given });
      const model = scriptedModel([calls(call("look", { name: "bob" })), (request) => String(request.messages.at(-1)?.content)]);
      return [result.output, (await new Agent({ name: "A", model, tools: [look], ...given }).run("go").result).answer];
    };
    expect(await answers({})).toEqual(["no deps", "no deps"]);
    expect(await answers({ deps })).toEqual(["bob: 1", "bob: 1"]);
    expect(asked).toEqual(["bob", "bob"]);
    const model = scriptedModel([calls(call("look", { name: "bob" })), (request) => String(request.messages.at(-1)?.content)]);
    const alone = new Team({ roles: [defineRole({ name: "Ada", reactMode: "agent", model, tools: [look] })] });
    expect((await alone.run("go").result).output?.content).toBe("no deps");
  });
});
