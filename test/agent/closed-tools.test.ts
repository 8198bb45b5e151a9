import { describe, expect, it } from "vitest";
import { defineTool, type Tool } from "../../src/agent/index.ts";
import type { ToolClosing } from "../../src/tool/tool.ts";
import { defineRole } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { agentOf, call, calls, eventsOf } from "./setup.ts";

function holding(close: (o: ToolClosing) => void | Promise<void>, execute: Tool["execute"] = () => "held"): Tool {
  return defineTool({ name: "hold", description: "", effect: "read", execute: (args, ctx) => execute(args, ctx), close });
}

const once = [calls(call("hold", {}, "1")), "done"];

describe("a tool that lets go", () => {
  it("BrainRun.R3 is told once when the run is over, with the session that its calls had", async () => {
    const sessions: unknown[] = [];
    let held: unknown;
    const tool = holding(
      ({ session }) => void sessions.push(session),
      (_args, { session }) => {
        held = session;
        return "held";
      },
    );
    const { agent } = agentOf([calls(call("hold", {}, "1"), call("hold", { again: 1 }, "2")), "done"], { tools: [tool] });
    await agent.run("x").result;
    expect(sessions).toEqual([held]);
    expect(held).toBe(agent.memory);
  });

  it("BrainRun.R3 is told when the run fails and when it is stopped, while its call still hangs", async () => {
    let closed = 0;
    const close = (): void => void closed++;
    const failing = agentOf([calls(call("hold", {}, "1")), () => Promise.reject(new Error("no model"))], { tools: [holding(close)] });
    expect(await failing.agent.run("x").result).toMatchObject({ status: "failed" });
    expect(closed).toBe(1);
    const stop = new AbortController();
    const hanging = holding(close, () => {
      stop.abort();
      return new Promise(() => {});
    });
    const { agent } = agentOf(once, { tools: [hanging] });
    expect(await agent.run("x", { signal: stop.signal }).result).toMatchObject({ status: "stopped" });
    expect(closed).toBe(2);
  });

  it.each<[string, () => void | Promise<void>]>([
    [
      "throws",
      () => {
        throw new Error("stuck");
      },
    ],
    [
      "rejects with an odd value",
      () => ({ then: (_: unknown, reject: (reason: unknown) => void) => reject(null) }) as unknown as Promise<void>,
    ],
  ])("and %s costs a warning, and not the answer", async (_how, close) => {
    const { agent } = agentOf(once, { tools: [holding(close)] });
    const run = agent.run("x");
    expect((await eventsOf(run)).filter(({ type }) => type === "warning")).toMatchObject([{ code: "TOOL_NOT_CLOSED" }]);
    expect(await run.result).toMatchObject({ status: "finished", answer: "done" });
  });

  it("and hangs has 10 seconds", async () => {
    const clock = simulatedClock();
    let signal: AbortSignal | undefined;
    let begun = (): void => {};
    const isClosing = new Promise<void>((resolve) => (begun = resolve));
    const tool = holding((o) => {
      signal = o.signal;
      begun();
      return new Promise(() => {});
    });
    const run = agentOf(once, { tools: [tool], clock }).agent.run("x");
    await isClosing;
    await clock.advance(10_000);
    expect(await run.result).toMatchObject({ status: "finished" });
    expect(signal?.aborted).toBe(true);
  });

  it("behind a mailbox is told where it ran, and not in a replay", async () => {
    let closed = 0;
    const journal = memoryJournal();
    const roles = [defineRole({ name: "Scout", reactMode: "agent", tools: [holding(() => void closed++)] })];
    const team = new Team({ roles, journal, model: scriptedModel(once) });
    await team.run("x", { id: "r" }).result;
    expect(closed).toBe(1);
    expect(await team.replay("r").result).toMatchObject({ status: "finished" });
    expect(closed).toBe(1);
  });
});
