import { describe, expect, it } from "vitest";
import { z } from "zod";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { defineTool } from "../../src/tool/tool.ts";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentMemory } from "../../src/agent/agent-memory.ts";
import { EndableTools } from "../../src/agent/terminate-tool.ts";
import { MessagesMemory } from "../../src/agent/messages-memory.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { agentOf, call, calls, eventsOf } from "./setup.ts";

/** Stops a run at the n-th thing it waits for: before it begins, or so that it never comes. */
class Trap {
  readonly controller = new AbortController();
  readonly #at: number;
  readonly #how: "before" | "never" | "after";
  passed = 0;

  constructor(at: number, how: "before" | "never" | "after") {
    this.#at = at;
    this.#how = how;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.passed++ !== this.#at) return work();
    if (this.#how === "before") this.controller.abort();
    if (this.#how === "never") {
      this.controller.abort();
      return new Promise(() => {});
    }
    const value = await work();
    this.controller.abort();
    return value;
  }
}

const ASYNC_OPS: ReadonlySet<PropertyKey> = new Set(["setGoal", "update", "goal", "dump", "rewrite", "note", "setNote"]);

function trappedMemory(memory: MessagesMemory, trap: { current: Trap | undefined }): AgentMemory {
  return new Proxy(memory, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      const bound = (value as (...args: unknown[]) => Promise<unknown>).bind(target);
      if (!ASYNC_OPS.has(key)) return bound;
      return (...args: unknown[]) => (trap.current === undefined ? bound(...args) : trap.current.pass(() => bound(...args)));
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  });
}

/** An agent every wait of which goes through a trap. Its task takes two calls side by side, then an answer. */
function trapped(trap: { current: Trap | undefined }): { agent: Agent; begun: () => number } {
  let begun = 0;
  const pass = <T>(work: () => Promise<T>): Promise<T> => (trap.current === undefined ? work() : trap.current.pass(work));
  const model = scriptedModel(async (request) => {
    begun++;
    const isAnswered = request.messages.some((message) => message.role === "tool" && message.content?.includes("looked") === true);
    return pass(() => Promise.resolve(isAnswered ? "done" : calls(call("look", {}, "a"), call("write", {}, "b"))));
  });
  const tools = new ToolCollection([
    defineTool({
      name: "look",
      description: "",
      parameters: z.object({}),
      effect: "read",
      execute: () => pass(() => Promise.resolve("looked")),
    }),
    defineTool({ name: "write", description: "", parameters: z.object({}), execute: () => pass(() => Promise.resolve("written")) }),
  ]);
  const memory = trappedMemory(new MessagesMemory({ tools: new EndableTools(tools) }), trap);
  const approve = (): Promise<boolean> => pass(() => Promise.resolve(true));
  return { agent: new Agent({ name: "trapped", model, memory, approve, clock: simulatedClock() }), begun: () => begun };
}

describe("stopping a run", () => {
  it.each(["before", "never", "after"] as const)(
    "ends it at every wait (%s it comes), begins nothing more, and leaves an agent that works",
    async (how) => {
      let waits = 0;
      for (let at = 0; ; at++) {
        const trap: { current: Trap | undefined } = { current: new Trap(at, how) };
        const { agent, begun } = trapped(trap);
        const { controller } = trap.current as Trap;
        const result = await agent.run("the goal", { signal: controller.signal }).result;
        if (!controller.signal.aborted) {
          expect(result).toMatchObject({ status: "finished", answer: "done" });
          waits = at;
          break;
        }
        // Stopped behind the very last wait, it may have its answer already.
        if (result.status === "finished") expect(how).not.toBe("never");
        else expect(result).toMatchObject({ status: "stopped", error: { code: "ABORTED" } });
        expect(agent.state).toBe(result.status === "finished" ? "FINISHED" : "IDLE");
        const calledBefore = begun();
        await nextMacrotask();
        expect(begun()).toBe(calledBefore);
        trap.current = undefined;
        expect(await agent.run("again").result).toMatchObject({ status: "finished", answer: "done" });
      }
      expect(waits).toBeGreaterThan(10);
    },
  );

  it("closes calls that were cut off, and goes on without a new task", async () => {
    const stop = new AbortController();
    const slow = defineTool({
      name: "slow",
      description: "",
      parameters: z.object({}),
      effect: "read",
      execute: () => {
        stop.abort();
        return new Promise(() => {});
      },
    });
    const { agent, model } = agentOf([calls(call("slow", {}, "s")), "went on"], { tools: [slow] });
    expect(await agent.run("the goal", { signal: stop.signal }).result).toMatchObject({ status: "stopped" });
    expect(await agent.run().result).toMatchObject({ status: "finished", answer: "went on" });
    expect(model.calls[1]?.messages).toMatchObject([
      { role: "user", content: "the goal" },
      { role: "assistant" },
      { role: "tool", toolCallId: "s", content: expect.stringContaining("Nobody knows") },
    ]);
  });
});

describe("reading a run", () => {
  it("EventLog.V1 gives every reader all of it, and a late one all but the pieces of text", async () => {
    const { agent } = agentOf(["a text of several pieces"]);
    const run = agent.run("x");
    const [first, second] = await Promise.all([eventsOf(run), eventsOf(run)]);
    expect(second).toEqual(first);
    const late = await eventsOf(run);
    expect(late).toEqual(first.filter((event) => event.type !== "text"));
    expect(first.some((event) => event.type === "text")).toBe(true);
  });

  it("EventLog.V2 does not wait for readers, and joins text that nobody has taken", async () => {
    const { agent } = agentOf(["x".repeat(10_000)]);
    const run = agent.run("x");
    const reader = run[Symbol.asyncIterator]();
    await run.result;
    const events = [];
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) events.push(next.value);
    expect(events.filter((event) => event.type === "text")).toEqual([{ type: "text", step: 1, text: "x".repeat(10_000) }]);
  });

  it("EventLog.V3 can be left in the middle without an effect on the run", async () => {
    const { agent } = agentOf(["done"]);
    const run = agent.run("x");
    for await (const event of run) if (event.type === "step.started") break;
    expect(await run.result).toMatchObject({ status: "finished" });
  });
});
