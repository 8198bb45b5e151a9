import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/agent/index.ts";
import { drop } from "../../src/edges/index.ts";
import { defineAction, defineRole, type Role, Team } from "../../src/index.ts";
import { scriptedModel, type ScriptedReply } from "../../src/testing/index.ts";
import { command, expectEnd, linesIn, storeWith } from "./kept-run.ts";

/** A folder whose store has the runs of some teams. */
async function folderWith(
  teams: Readonly<Record<string, { readonly roles: readonly Role[]; readonly replies: readonly ScriptedReply[] }>>,
): Promise<string> {
  return storeWith(async (journal) => {
    for (const [id, { roles, replies }] of Object.entries(teams)) {
      const model = scriptedModel([...replies], { price: { input: 1, output: 1 } });
      await new Team({ roles, model, journal }).run("go", { id }).result;
    }
  });
}

function call(id: string, query: string): ScriptedReply {
  return { toolCalls: [{ id, type: "function", function: { name: "archive", arguments: JSON.stringify({ query }) } }] };
}

describe("troupe runs show", () => {
  it("CallCount.C1 CallCount.C2 names the tools that each role called: how often, how many failed, and the cost inside them", async () => {
    const archive = defineTool({
      name: "archive",
      description: "Searches.",
      parameters: z.object({ query: z.string() }),
      effect: "read",
      execute: async ({ query }, { model, signal }) => {
        if (query === "bad") throw new Error("no such shelf");
        await model?.chat({ messages: [{ role: "user", content: "what is there?" }] }, { signal });
        return query;
      },
    });
    const Research = defineAction({ name: "Research", run: () => undefined });
    const roles = [defineRole({ name: "Rita", actions: [Research], reactMode: "agent", tools: [archive], maxReactLoop: 9 })];
    const replies = [call("a", "good"), "a shelf", call("b", "bad"), "done"];
    const cwd = await folderWith({ one: { roles, replies } });
    const { stdout, stderr } = await command(cwd, ["runs", "show", "one"]);
    expect(stdout, stderr).toMatch(/\nROLE +TOOL +CALLS +FAILED +COST\nRita +archive +2 +1 +\$0\.\d{4}\n/);
    const [shown] = linesIn((await command(cwd, ["runs", "show", "one", "--json"])).stdout);
    expect(shown).toMatchObject({ tools: [{ role: "Rita", tool: "archive", calls: 2, failed: 1, cost: { unpriced: 0 } }] });
    expect(shown).toMatchObject({ roles: [{ name: "Rita", calls: replies.length, failedTries: 0 }] });
  });
});

describe("troupe runs show of a simulation", () => {
  it("names the scheduler, the simulated time, what is delayed, the edges and what they did", async () => {
    const ann = defineRole({
      name: "Ann",
      watch: ["UserRequirement"],
      step: (_state, _message, out) => {
        out.say("hello", { sendTo: "Bob" });
        out.after(2.5, "later", { sendTo: "<self>" });
        out.after(9, "much later", { sendTo: "<self>" });
      },
    });
    const bob = defineRole({ name: "Bob", watch: [], step: () => undefined });
    const cwd = await storeWith((journal) => {
      const team = new Team({ roles: [ann, bob], scheduler: "events", edges: [drop(1).on("*->Bob")], journal });
      return team.run("go", { id: "one", rounds: 2 }).result;
    });
    const { stdout } = await command(cwd, ["runs", "show", "one"]);
    for (const fact of [
      "Order    events",
      "Time     2.5",
      "Edges    drop, rate 1, on *->Bob",
      "Faults   2 lost",
      "Delayed  3 messages not due yet",
    ])
      expect(stdout).toContain(`\n${fact}`);
    expect(stdout).toMatch(/, 2 activations\n/);
    expect(stdout).toContain("Ann to Bob (lost), Ann: hello");
    expect(stdout).toContain("Ann to Ann at 2.5, Ann: later");
    const [shown] = linesIn((await command(cwd, ["runs", "show", "one", "--json"])).stdout);
    expect(shown).toMatchObject({ scheduler: "events", clock: "time", tick: 2.5, faults: { lost: 2 }, edges: [{ name: "drop" }] });
  });
});

describe("troupe runs diff", () => {
  const Draft = defineAction({ name: "Draft", prompt: () => "Draft it." });
  const Again = defineAction({ name: "Again", run: ({ text }) => text });
  const Tell = defineAction({ name: "Tell", run: ({ text }) => `told: ${text}` });
  const teamOf = (isLonger: boolean) => ({
    roles: [
      defineRole({ name: "Ann", actions: [Draft] }),
      ...(isLonger ? [defineRole({ name: "Bob", watch: [Draft], actions: [Again] })] : []),
      defineRole({ name: "Cleo", watch: isLonger ? [Again] : [Draft], actions: [Tell] }),
    ],
    replies: ["a \u001b[2Jtext"],
  });

  it("shows an activation that only one run has as one row, and escapes what models said", async () => {
    const cwd = await folderWith({ short: teamOf(false), long: teamOf(true) });
    const { stdout } = await expectEnd(cwd, ["runs", "diff", "short", "long"], 1);
    expect(stdout).toMatch(/^The runs differ at line 1 of their canonical logs/);
    expect(stdout).toMatch(/\n\d of 3 activations the same\.\nACTIVATION +DIFFERENCE +LEFT +RIGHT\n/);
    expect(stdout).toMatch(/\nBob#0 +only right +Again to /);
    expect(stdout).not.toContain("\u001b");
    const [line] = linesIn((await command(cwd, ["runs", "diff", "long", "short", "--json"])).stdout);
    expect(line).toMatchObject({ type: "diff", equal: false, difference: { line: 1 } });
    const { pairs } = line as { readonly pairs: readonly { readonly name: string; readonly difference: string }[] };
    expect(pairs.filter(({ difference }) => difference === "only left").map(({ name }) => name)).toEqual(["Bob#0"]);
  });
});

describe("troupe runs check", () => {
  const to = (name: string, sendTo: string): Role =>
    defineRole({ name, actions: [defineAction({ name: `Tell${name}`, prompt: () => "Say it.", sendTo: () => [sendTo] })] });

  it("finds what went wrong between the roles of a run, and ends with 1", async () => {
    const cwd = await folderWith({
      lost: { roles: [to("Ada", "Tess")], replies: ["Test it."] },
      good: { roles: [to("Ada", "Ben"), defineRole({ name: "Ben", react: () => undefined })], replies: ["Done."] },
    });
    const found = /^1 finding\.\nEVENT +FAILURE +MODE +FOUND\n\d+ +lost-request +FM-2\.5 +Ada wrote \S+ to Tess/;
    await expectEnd(cwd, ["runs", "check", "lost"], 1, found);
    await expectEnd(cwd, ["runs", "check", "good"], 0, /^No failure of coordination was found\.\n$/);
    const json = await expectEnd(cwd, ["runs", "check", "lost", "--json"], 1);
    expect(linesIn(json.stdout)).toMatchObject([
      { type: "checked", runId: "lost", exitCode: 1, findings: [{ failure: "lost-request", roles: ["Ada"] }] },
    ]);
    expect((await command(cwd, ["runs", "check", "nothing"])).code).toBe(2);
  });
});
