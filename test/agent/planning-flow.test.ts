import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ModelError } from "../../src/kernel/errors.ts";
import { Agent, defineTool, PlanningFlow } from "../../src/agent/index.ts";
import type { FlowEvent } from "../../src/agent/flow-plan.ts";
import type { FlowRun, PlanningFlowOptions } from "../../src/agent/planning-flow.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { scriptedModel, type ScriptedAnswer, type ScriptedReply } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { call, calls, noting } from "./setup.ts";

const told = (request: ChatRequest): string => request.messages.map((message) => message.content ?? "").join("\n");
const task = (request: ChatRequest): string => /Your step, and nothing else: (.*)/.exec(told(request))?.[1] ?? "";

/** An agent that does what a test tells it. */
function hand(
  reply: readonly ScriptedReply[] | ScriptedAnswer,
  name = "hand",
  more: Partial<ConstructorParameters<typeof Agent>[0]> = {},
): Agent {
  return new Agent({ name, model: scriptedModel(reply), clock: simulatedClock(), ...more });
}

function plan(...steps: readonly { id: string; instruction?: string; dependsOn?: string[]; type?: string }[]): string {
  return JSON.stringify({ steps: steps.map((step) => ({ instruction: `do ${step.id}`, ...step })) });
}

function flowOf(
  planner: readonly (ScriptedReply | ScriptedAnswer)[],
  options: Partial<PlanningFlowOptions> & Pick<PlanningFlowOptions, "executors">,
) {
  const model = scriptedModel(planner);
  return { model, flow: new PlanningFlow({ model, clock: simulatedClock(), ...options }) };
}

async function eventsOf(run: FlowRun): Promise<FlowEvent[]> {
  const events: FlowEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

describe("a planning flow", () => {
  it("plans, gives each step to its type, passes results on, and sums up", async () => {
    const prompts: string[] = [];
    const doing = (name: string) => () =>
      hand((request) => {
        prompts.push(`${name}: ${told(request)}`);
        return `result of ${task(request)}`;
      }, name);
    const { flow, model } = flowOf(
      [plan({ id: "a", type: "research" }, { id: "b", type: "WRITE", dependsOn: ["a"] }, { id: "c", type: "nobody" }), "the summary"],
      { executors: { Research: doing("research"), write: doing("write") } },
    );
    const result = await flow.run("a report").result;
    expect(result).toMatchObject({ status: "finished", answer: "the summary" });
    expect(result.steps.map((step) => `${step.task.id} ${step.status} ${step.result}`)).toEqual([
      "a done result of do a",
      "b done result of do b",
      "c done result of do c",
    ]);
    const [forB] = prompts.filter((prompt) => prompt.startsWith("write"));
    expect(forB).toContain("result of do a");
    expect(forB).not.toContain("do c");
    expect(prompts.filter((prompt) => prompt.startsWith("research"))).toHaveLength(2);
    expect(told(model.calls[1] as ChatRequest)).toContain("result of do b");
  });

  it("FlowPlan.F1 does independent steps side by side, and those of one agent one after another", async () => {
    let underWay = 0;
    let most = 0;
    const slow = defineTool({
      name: "slow",
      description: "",
      parameters: z.object({}),
      effect: "read",
      execute: async () => {
        most = Math.max(most, ++underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay--;
        return "ok";
      },
    });
    const worker = (): Agent =>
      hand((request) => (request.messages.at(-1)?.role === "tool" ? "done" : calls(call("slow"))), "w", { tools: [slow] });
    const steps = plan({ id: "a" }, { id: "b" }, { id: "c" });
    expect((await flowOf([steps, "end"], { executors: { w: worker } }).flow.run("x").result).status).toBe("finished");
    expect(most).toBe(3);
    most = 0;
    expect((await flowOf([steps, "end"], { executors: { w: worker }, concurrency: 2 }).flow.run("x").result).status).toBe("finished");
    expect(most).toBe(2);
    most = 0;
    expect((await flowOf([steps, "end"], { executors: { w: worker() } }).flow.run("x").result).status).toBe("finished");
    expect(most).toBe(1);
  });

  it("FlowPlan.F3 does not try a step that fails for ever: again, then another plan, then it is blocked", async () => {
    const tried: string[] = [];
    const worker = (): Agent =>
      hand((request) => {
        tried.push(task(request));
        return task(request).startsWith("bad") ? new ModelError("MODEL_BAD_REQUEST", "cannot") : `result of ${task(request)}`;
      });
    const { flow, model } = flowOf(
      [
        plan({ id: "a", instruction: "good" }, { id: "b", instruction: "bad 1", dependsOn: ["a"] }),
        plan({ id: "c", instruction: "bad 2", dependsOn: ["a"] }),
        "the end",
      ],
      { executors: { w: worker }, tries: 2, replans: 1 },
    );
    const events = await eventsOf(flow.run("x"));
    expect(tried).toEqual(["good", "bad 1", "bad 1", "bad 2", "bad 2"]);
    expect(events.flatMap((event) => (event.type === "step.failed" ? [event.then] : []))).toEqual(["retry", "replan", "retry", "block"]);
    const last = events.at(-1);
    expect(last).toMatchObject({ type: "flow.ended", result: { status: "blocked", answer: "the end" } });
    expect(told(model.calls[1] as ChatRequest)).toMatch(/Done(.|\n)*result of good(.|\n)*could not be done: cannot/);
  });

  it.each([
    ["terminate with failure", calls(call("terminate", { status: "failure", answer: "I cannot" })), "I cannot"],
    ["used up steps", calls(call("look", { q: "x" })), "steps were used up"],
  ] as const)("never takes %s for a finished step", async (_what, reply, why) => {
    const worker = (): Agent => hand(() => reply, "w", { maxSteps: 2, tools: [noting()] });
    const { flow } = flowOf([plan({ id: "a" }), "end"], { executors: { w: worker }, tries: 1, replans: 0 });
    const result = await flow.run("x").result;
    expect(result.status).toBe("blocked");
    expect(result.steps[0]).toMatchObject({ status: "blocked", result: expect.stringContaining(why) });
  });

  it("FlowPlan.F2 blocks what depends on a blocked step, and does the rest", async () => {
    const worker = (): Agent => hand((request) => (task(request) === "do a" ? new ModelError("MODEL_REFUSED", "no") : "ok"));
    const { flow } = flowOf([plan({ id: "a" }, { id: "b", dependsOn: ["a"] }, { id: "c", dependsOn: ["b"] }, { id: "d" }), "end"], {
      executors: { w: worker },
      tries: 1,
      replans: 0,
    });
    const result = await flow.run("x").result;
    expect(result.steps.map((step) => [step.task.id, step.status])).toEqual([
      ["a", "blocked"],
      ["b", "blocked"],
      ["c", "blocked"],
      ["d", "done"],
    ]);
  });

  it("tells the second try why the first one failed", async () => {
    const prompts: string[] = [];
    const worker = (): Agent =>
      hand((request) => {
        prompts.push(told(request));
        return prompts.length === 1 ? calls(call("terminate", { status: "failure", answer: "the door is shut" })) : "open";
      });
    const { flow } = flowOf([plan({ id: "a" })], { executors: { w: worker } });
    expect(await flow.run("x").result).toMatchObject({ status: "finished", answer: "open" });
    expect(prompts[1]).toContain("the door is shut");
  });

  it("asks again for a plan that is no graph, and does the goal as one step when there is none", async () => {
    const cyclic = plan({ id: "a", dependsOn: ["b"] }, { id: "b", dependsOn: ["a"] });
    const worker = (): Agent => hand((request) => `did ${task(request)}`);
    const mended = flowOf([cyclic, plan({ id: "a" })], { executors: { w: worker } });
    expect(await mended.flow.run("x").result).toMatchObject({ status: "finished", answer: "did do a" });
    expect(told(mended.model.calls[1] as ChatRequest)).toContain("wait for each other");
    const without = flowOf(["no plan", "still none", "none"], { executors: { w: worker } });
    const run = without.flow.run("the goal");
    expect((await eventsOf(run)).some((event) => event.type === "warning" && event.code === "PLAN_MISSING")).toBe(true);
    expect(await run.result).toMatchObject({ status: "finished", answer: "did the goal" });
  });

  it("stops at once for what no other try can mend, and stops what is under way", async () => {
    const worker = (): Agent =>
      hand((request) => (task(request) === "do a" ? new ModelError("MODEL_AUTH", "no key") : new Promise<string>(() => {})));
    const { flow, model } = flowOf([plan({ id: "a" }, { id: "b" })], { executors: { w: worker } });
    const events = await eventsOf(flow.run("x"));
    expect(events.at(-1)).toMatchObject({ result: { status: "failed", error: { code: "MODEL_AUTH" } } });
    expect(model.calls).toHaveLength(1);
  });

  it("keeps what the steps gave when nobody can sum it up", async () => {
    const worker = (): Agent => hand((request) => `result of ${task(request)}`);
    const { flow } = flowOf([plan({ id: "a" }, { id: "b" }), new ModelError("MODEL_QUOTA", "no credit")], { executors: { w: worker } });
    const run = flow.run("x");
    expect((await eventsOf(run)).some((event) => event.type === "warning" && event.code === "SUMMARY_MISSING")).toBe(true);
    expect(await run.result).toMatchObject({ status: "finished", answer: "result of do a\n\nresult of do b" });
  });

  it("takes tasks that are given, and then never plans", async () => {
    const worker = (): Agent => hand((request) => task(request));
    const given = flowOf([], { executors: { w: worker }, tasks: [{ id: "a", instruction: "it" }] });
    expect(await given.flow.run("x").result).toMatchObject({ status: "finished", answer: "it" });
    const cyclic = flowOf([], { executors: { w: worker }, tasks: [{ id: "a", instruction: "it", dependsOn: ["a"] }] });
    expect(await cyclic.flow.run("x").result).toMatchObject({ status: "failed", error: { code: "PLAN_CYCLE" } });
  });

  it("refuses what can never work", () => {
    const model = scriptedModel([]);
    const worker = (): Agent => hand([]);
    const bad: PlanningFlowOptions[] = [
      { model, executors: {} },
      { model, executors: { a: worker, A: worker } },
      { model, executors: { a: worker }, tries: 0 },
      { model, executors: { a: worker }, concurrency: 1.5 },
    ];
    for (const options of bad) expect(() => new PlanningFlow(options)).toThrow(expect.objectContaining({ code: "FLOW_INVALID" }));
  });

  it("leaves no step running when it is stopped: what was under way is open, with the reason", async () => {
    const stop = new AbortController();
    const hanging = (): Agent =>
      hand(() => {
        stop.abort();
        return new Promise(() => {});
      });
    const { flow } = flowOf([plan({ id: "a" }, { id: "b", dependsOn: ["a"] })], { executors: { any: hanging } });
    const run = flow.run("the goal", { signal: stop.signal });
    const failed = (await eventsOf(run)).flatMap((event) => (event.type === "step.failed" ? [event.step.status] : []));
    expect(failed).toEqual(["open"]);
    const { status, steps } = await run.result;
    expect([status, ...steps.map((step) => `${step.task.id} ${step.status} ${step.tries}`)]).toEqual(["stopped", "a open 1", "b open 0"]);
  });
});
