import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { createClient } from "../../src/client/index.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { ToolCall } from "../../src/model/chat-message.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Observed, ObservedOf } from "../../src/runtime/record/event.ts";
import { toolProgress } from "../../src/runtime/steps/tool-progress.ts";
import { createServer } from "../../src/server/index.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { callTools } from "../../src/tool/call-tools.ts";
import { defineTool } from "../../src/tool/tool.ts";
import { eventsOf } from "../team/recorded.ts";

type Told = ObservedOf<"tool.progress">;

const called: ToolCall = { id: "c", type: "function", function: { name: "dig", arguments: "{}" } };
const digs = (): ReturnType<typeof scriptedModel> =>
  scriptedModel([{ content: "", toolCalls: [called], finishReason: "tool_calls" }, "done"]);
const dig = defineTool({
  name: "dig",
  description: "Digs.",
  parameters: z.object({}),
  effect: "read",
  execute: (_, { progress }) => (progress("half of key-0123456789"), "dug"),
});

/** Every way in which a tool runs inside a team. */
const WAYS: readonly (readonly [way: string, role: () => Role])[] = [
  ["a role that is an agent", () => defineRole({ name: "Ann", reactMode: "agent", tools: [dig] })],
  [
    "an agent inside an action",
    () => {
      const work = defineAction({
        name: "Work",
        run: async ({ model }) => (await new Agent({ name: "inner", model, tools: [dig] }).run("go").result).answer ?? "",
      });
      return defineRole({ name: "Ann", actions: [work] });
    },
  ],
  [
    "calls of tools in an action",
    () => {
      const work = defineAction({ name: "Work", run: async () => (await callTools([called], { tools: [dig] })).length.toString() });
      return defineRole({ name: "Ann", actions: [work] });
    },
  ],
  [
    "an agent of a team inside a team",
    () => {
      const inner = defineRole({ name: "Ann", reactMode: "agent", tools: [dig] });
      const work = defineAction({
        name: "Work",
        run: async ({ model }) => (await new Team({ roles: [inner], model }).run("go").result).status,
      });
      return defineRole({ name: "Ann", actions: [work] });
    },
  ],
];

describe.each(WAYS)("the progress of a tool: %s", (_way, role) => {
  it("reaches the observers of the run with its place, masked; it is not recorded, and a replay tells none", async () => {
    const journal = memoryJournal();
    const team = new Team({ seed: "s", journal, model: digs(), roles: [role()], secrets: ["key-0123456789"] });
    const run = team.run("go", { id: "r" });
    const told: Told[] = [];
    run.on("tool.progress", (notice) => told.push(notice));
    await run.result;
    expect(told).toEqual([
      {
        type: "tool.progress",
        role: "Ann",
        act: expect.stringMatching(/^Ann#/) as string,
        step: expect.any(String) as string,
        tool: "dig",
        text: "half of [secret]",
      },
    ]);
    const events = await eventsOf(journal, "r");
    expect(events.some((event) => event.type === "step.started" && event.key === told[0]?.step && event.name === "dig")).toBe(true);
    expect(JSON.stringify(events)).not.toContain("half of");
    const again = team.replay("r");
    again.on("tool.progress", (notice) => told.push(notice));
    await again.result;
    expect(told).toHaveLength(1);
  });
});

describe("the observers of progress", () => {
  it("are those of a server too, and a client hears it", async () => {
    const heard: string[] = [];
    // A client hears what comes while it waits for more.
    const says = defineTool({
      ...{ name: "dig", description: "Digs.", parameters: z.object({}), effect: "read" as const },
      execute: async (_, { progress, signal }) => {
        for (; heard.length === 0 && !signal.aborted; await setImmediate()) progress("half");
        return "dug";
      },
    });
    const clock = { now: () => systemClock.now(), timer: (ms: number, work: () => void) => systemClock.timer(ms === 100 ? 0 : ms, work) };
    const role = defineRole({ name: "Ann", reactMode: "agent", tools: [says] });
    const server = createServer({ team: new Team({ model: digs(), roles: [role], clock }) });
    const client = createClient({ url: "http://localhost", fetch: server.fetch });
    const { id } = await client.start({ idea: "go" });
    const onNotice = (notice: Observed): void => void (notice.type === "tool.progress" && heard.push(notice.text));
    for await (const _ of client.events(id, { onNotice }));
    expect(heard[0]).toBe("half");
    await server.close();
  });
});

describe("the rate of progress", () => {
  it("ToolProgress.P1 ToolProgress.P2 is ten a second: of more the newest, and the last before the end", async () => {
    const clock = simulatedClock();
    const told: string[] = [];
    const progress = toolProgress(clock, () => (text) => told.push(text));
    for (let n = 0; n < 50; n += 1) progress.say(`${n}`);
    expect(told).toEqual(["0"]);
    await clock.advance(100);
    expect(told).toEqual(["0", "49"]);
    await clock.advance(100);
    progress.say("50");
    progress.say("51");
    progress.end();
    progress.say("52");
    expect([told, clock.pending]).toEqual([["0", "49", "50", "51"], 0]);
  });

  it("sets no timer while nobody listens", () => {
    const clock = simulatedClock();
    toolProgress(clock, () => undefined).say("half");
    expect(clock.pending).toBe(0);
  });
});
