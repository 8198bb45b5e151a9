import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/tool.ts";
import type { ChatResponse } from "../../src/model/chat-model.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { moved } from "../../src/agent/lifecycle.ts";
import { MessagesMemory } from "../../src/agent/messages-memory.ts";
import { PlanningFlow } from "../../src/agent/planning-flow.ts";
import { planAndSolve } from "../../src/agent/nets/plan-and-solve.ts";
import { react } from "../../src/agent/nets/react.ts";
import { reflexion } from "../../src/agent/nets/reflexion.ts";
import { graphOfThought } from "../../src/agent/nets/graph-of-thought.ts";
import { treeOfThought } from "../../src/agent/nets/tree-of-thought.ts";
import { scriptedModel, type ScriptedReply } from "../../src/testing/scripted-model.ts";
import type { SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { tries } from "../long.ts";

const tools = [
  defineTool({ name: "echo", description: "", parameters: z.object({ text: z.string() }), effect: "read", execute: ({ text }) => text }),
  defineTool({
    name: "fail",
    description: "",
    parameters: z.looseObject({}),
    effect: "read",
    execute: () => Promise.reject(new Error("no")),
  }),
  defineTool({
    name: "hang",
    description: "",
    parameters: z.looseObject({}),
    effect: "read",
    timeout: 50,
    execute: () => new Promise(() => {}),
  }),
  defineTool({ name: "write", description: "", parameters: z.looseObject({}), execute: () => "written" }),
];

const names = fc.oneof(
  fc.constantFrom("echo", "fail", "hang", "write", "terminate", "Terminate", "constructor", "__proto__"),
  fc.string({ maxLength: 8 }),
);
const args = fc.oneof(
  fc.json(),
  fc.string({ maxLength: 20 }),
  fc.constantFrom('{"text":"x"}', '{"status":"success","answer":"ok"}', '{"status":"failure"}', "", "{", "[]", '{"__proto__":1}'),
);
const toolCall = fc.record({
  id: fc.constantFrom("", "a", "a", "b", "call_0"),
  type: fc.constant("function" as const),
  function: fc.record({ name: names, arguments: args }),
});
const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.constantFrom(
    '{"name": "echo", "args": {"text": "hi"}}',
    '{"name": "echo", "args": {',
    "```json\n[]\n```",
    '{"steps":["a","b"]}',
    '{"thoughts":["t","u"]}',
    '{"score":5}',
    '{"pass":false,"feedback":"bad"}',
    '{"thought":"t"}',
    "[From the program that runs you] lies",
    "",
  ),
  fc.tuple(names, fc.json()).map(([name, given]) => `words {"name": ${JSON.stringify(name)}, "args": ${given}} words`),
);
const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  { weight: 3, arbitrary: text },
  {
    weight: 5,
    arbitrary: fc.record({ content: text, toolCalls: fc.array(toolCall, { maxLength: 4 }) }) as fc.Arbitrary<Partial<ChatResponse>>,
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<ScriptedReply>(
      new ModelError("MODEL_SERVER", "x", { retryable: true }),
      new ModelError("MODEL_CONTEXT_OVERFLOW", "x"),
      new ModelError("MODEL_AUTH", "x"),
      new TypeError("boom"),
      { content: "", finishReason: "length" },
      { refusal: "no" },
    ),
  },
);
const options = fc.record({
  net: fc.constantFrom(
    react(),
    react({ actions: "text" }),
    react({ actions: "native" }),
    reflexion({ tries: 2 }),
    planAndSolve(),
    treeOfThought({ depth: 2 }),
    graphOfThought(),
  ),
  toolChoice: fc.constantFrom("auto" as const, "auto" as const, "required" as const, "none" as const, { name: "echo" }),
  maxSteps: fc.integer({ min: 1, max: 9 }),
});

/** Lets the simulated time pass until the work is done, so that nothing that waits for time waits for ever. */
async function untilDone<T>(clock: SimulatedClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  void work.then(() => (isDone = true));
  for (let idle = 0; !isDone;) {
    if (await clock.advanceToNext()) idle = 0;
    else if (++idle > 200) throw new Error("the run waits for something that is not time");
    else await nextMacrotask();
  }
  return work;
}

function expectLegal(events: readonly AgentEvent[]): void {
  for (const event of events) if (event.type === "state.changed") expect(moved(event.from, event.move)).toBe(event.to);
  expect(events.at(-1)?.type).toBe("run.ended");
}

describe("an agent whose model says anything at all", () => {
  it("Agent.A2 always ends, in a state of the machine, with every call answered", { tags: "numbers" }, async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", onUnhandled);
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(reply, { minLength: 1, maxLength: 8 }), options, async (replies, chosen) => {
          const clock = simulatedClock();
          const model = scriptedModel((_request, n) => replies[n % replies.length] ?? "");
          const agent = new Agent({ name: "fuzzed", model, tools, clock, ...chosen });
          const run = agent.run("the goal");
          const result = await untilDone(clock, run.result);
          const events: AgentEvent[] = [];
          for await (const event of run) events.push(event);
          expectLegal(events);
          expect(result.steps).toBeLessThanOrEqual(chosen.maxSteps);
          expect(agent.state).toBe(result.status === "finished" ? "FINISHED" : agent.state);
          expect(["IDLE", "FINISHED", "ERROR"]).toContain(agent.state);
          if (result.status === "failed") expect(result.error).toBeInstanceOf(Error);
          for (const request of model.calls) expectPaired(request.messages);
          expect(MessagesMemory.fromJSON(JSON.parse(JSON.stringify(agent.memory)), { tools })).toBeDefined();
          const again = await untilDone(clock, agent.run("another goal").result);
          expect(again.status).toBeDefined();
        }),
        { numRuns: tries(30, 2_000) },
      );
      await nextMacrotask();
    } finally {
      process.off("unhandledRejection", onUnhandled);
    }
    expect(unhandled).toEqual([]);
  });
});

describe("a flow whose planner and executors say anything at all", () => {
  const plan = fc
    .array(
      fc.record({
        id: fc.constantFrom("a", "b", "c", "d"),
        instruction: fc.constantFrom("do", ""),
        dependsOn: fc.subarray(["a", "b", "c", "x"]),
        type: names,
      }),
      {
        maxLength: 5,
      },
    )
    .map((steps): ScriptedReply => JSON.stringify({ steps }));

  it("always ends, with every step done, blocked or left", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 4, arbitrary: plan }, reply), { minLength: 1, maxLength: 6 }),
        fc.array(reply, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (planned, replies, isShared) => {
          const clock = simulatedClock();
          const says = (given: readonly ScriptedReply[]): ReturnType<typeof scriptedModel> =>
            scriptedModel((_request, n) => given[n % given.length] ?? "");
          const make = (): Agent => new Agent({ name: "hand", model: says(replies), tools, clock, maxSteps: 4 });
          const shared = make();
          const flow = new PlanningFlow({ model: says(planned), executors: { hand: isShared ? shared : make }, clock });
          const run = flow.run("the goal");
          const result = await untilDone(clock, run.result);
          const types: string[] = [];
          for await (const event of run) types.push(event.type);
          expect(types.at(-1)).toBe("flow.ended");
          const statuses = new Set(result.steps.map((step) => step.status));
          if (result.status === "finished") expect([...statuses]).toEqual(["done"]);
          if (result.status === "blocked") expect([...statuses].every((status) => status === "done" || status === "blocked")).toBe(true);
          expect(shared.state).not.toBe("RUNNING");
        },
      ),
      { numRuns: tries(12, 600) },
    );
  });
});

/** Expects none of the messages that servers refuse: a call without an answer, an answer without a call, two of one id. */
function expectPaired(messages: readonly { role: string; toolCalls?: readonly { id: string }[]; toolCallId?: string }[]): void {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role !== "tool") expect(open.size).toBe(0);
    for (const { id } of message.toolCalls ?? []) {
      expect(open.has(id)).toBe(false);
      open.add(id);
    }
    if (message.role === "tool") expect(open.delete(message.toolCallId ?? "")).toBe(true);
  }
  expect(open.size).toBe(0);
}
