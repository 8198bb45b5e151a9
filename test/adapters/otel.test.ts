import { type Context, context, type ContextManager, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { traceRun } from "../../src/adapters/otel.ts";
import { defineTool } from "../../src/agent/index.ts";
import { canonical, defineAction, defineRole, Environment, memoryJournal, type RunEvent, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { eventsOf } from "../team/recorded.ts";
import { linkedFrom, millis, named, spansOf, tracing, treeOf } from "./otel-setup.ts";

const Research = defineAction({ name: "Research", run: () => undefined });
const Headline = defineAction({ name: "Headline", prompt: (ctx) => `A headline for: ${ctx.text}` });

const archive = defineTool({
  name: "archive",
  description: "Searches the archive.",
  parameters: z.object({ query: z.string() }),
  effect: "read",
  execute: ({ query }) => `SECRET ${query}`,
});

function call(query: string) {
  return { toolCalls: [{ id: "call_1", type: "function", function: { name: "archive", arguments: JSON.stringify({ query }) } }] } as const;
}

function newsroom(journal: Journal = memoryJournal()): Team {
  const roles = [
    defineRole({ name: "Rita", goal: "find out", actions: [Research], reactMode: "agent", tools: [archive] }),
    defineRole({ name: "Eda", watch: [Research], actions: [Headline] }),
  ];
  const model = scriptedModel([call("SECRET bridges"), "The SECRET bridge is old.", "SECRET BRIDGE"], { id: "gpt-5-mini" });
  return new Team({ name: "newsroom", seed: "s", roles, model, journal, prices: { "gpt-5-mini": { input: 1, output: 2 } } });
}

const TREE = [
  "invoke_workflow newsroom",
  "  invoke_agent Rita",
  "    chat gpt-5-mini (client)",
  "    execute_tool archive",
  "    chat gpt-5-mini (client)",
  "  invoke_agent Eda",
  "    chat gpt-5-mini (client)",
];

/** The events of one run of the newsroom. */
async function recordedNews(): Promise<readonly RunEvent[]> {
  const journal = memoryJournal();
  await newsroom(journal).run("What about SECRET bridges?", { id: "run-1" }).result;
  return eventsOf(journal, "run-1");
}

describe("traceRun", () => {
  it("makes a span for the run, each activation, each model call and each tool call", async () => {
    const { tracer, spans } = tracing();
    const run = newsroom().run("What about bridges?", { id: "run-1" });
    await traceRun(run, { tracer }).ended;
    expect((await run.result).status).toBe("finished");
    expect(treeOf(spans())).toEqual(TREE);
  });

  it("makes the same spans of the record, with its times", async () => {
    const events = await recordedNews();
    const spans = await spansOf(events.map((event) => ({ ...event, time: 1_000 + event.seq })));
    expect(treeOf(spans)).toEqual(TREE);
    const [run] = spans.filter(({ name }) => name === "invoke_workflow newsroom");
    expect([run?.startTime, run?.endTime].map((time) => millis(time ?? [0, 0]))).toEqual([1_000, 1_000 + events.length - 1]);
  });

  it("links an activation to those that sent the messages it took", async () => {
    const spans = await spansOf(await recordedNews());
    const eda = named(spans, "invoke_agent Eda");
    expect(linkedFrom(spans, eda)).toEqual(["invoke_agent Rita"]);
    expect(eda.links[0]?.attributes).toEqual({
      "troupe.message.id": "Rita#0.0",
      "troupe.message.cause": "Research",
      "troupe.message.from": "Rita",
    });
    expect(named(spans, "invoke_agent Rita").links).toEqual([]);
  });

  it("gives spans the attributes of the conventions", async () => {
    const spans = await spansOf(await recordedNews(), { provider: "mistral_ai" });
    expect(named(spans, "invoke_workflow newsroom").attributes).toEqual({
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.conversation.id": "run-1",
      "gen_ai.agent.name": "newsroom",
      "troupe.run.status": "finished",
      "troupe.cost.usd": expect.any(Number) as number,
    });
    expect(named(spans, "invoke_agent Eda").attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "Eda",
      "gen_ai.conversation.id": "run-1",
      "troupe.act": "Eda#0~1",
      "troupe.act.messages": 1,
      "troupe.act.causes": ["Research"],
      "troupe.act.sent": 1,
    });
    expect(named(spans, "chat gpt-5-mini").attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "mistral_ai",
      "gen_ai.request.model": "gpt-5-mini",
      "gen_ai.response.finish_reasons": ["tool_calls"],
      "gen_ai.usage.input_tokens": expect.any(Number) as number,
      "gen_ai.usage.output_tokens": expect.any(Number) as number,
      "troupe.step.try": 1,
    });
    expect(named(spans, "execute_tool archive").attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "archive",
      "gen_ai.tool.type": "function",
    });
  });

  it("has no text of a message, a model or a tool without `content`", async () => {
    const events = await recordedNews();
    const facts = (spans: Awaited<ReturnType<typeof spansOf>>): string =>
      JSON.stringify(spans.map(({ name, attributes, events: noted, links, status }) => ({ name, attributes, noted, links, status })));
    expect(facts(await spansOf(events))).not.toContain("SECRET");
    const told = await spansOf(events, { content: true });
    const { attributes } = named(told, "execute_tool archive");
    expect(attributes["gen_ai.tool.call.arguments"]).toBe('{"query":"SECRET bridges"}');
    expect(attributes["gen_ai.tool.call.result"]).toContain("SECRET SECRET bridges");
    const chat = named(told, "chat gpt-5-mini").attributes;
    expect(JSON.parse(String(chat["gen_ai.output.messages"]))).toEqual([
      {
        role: "assistant",
        parts: [{ type: "tool_call", id: "call_1", name: "archive", arguments: '{"query":"SECRET bridges"}' }],
        finish_reason: "tool_calls",
      },
    ]);
    expect(JSON.parse(String(chat["gen_ai.input.messages"]))).toContainEqual({
      role: "user",
      parts: [{ type: "text", content: expect.stringContaining("SECRET bridges") as string }],
    });
  });

  it("puts the run below the span that is active when it is called", async () => {
    const { tracer, spans } = tracing();
    const request = tracer.startSpan("POST /runs");
    const within = (active: Context): ContextManager => ({
      active: () => active,
      with: (_context, work, self, ...args) => work.apply(self, args),
      bind: (_context, target) => target,
      enable: () => within(active),
      disable: () => within(active),
    });
    context.setGlobalContextManager(within(trace.setSpan(ROOT_CONTEXT, request)));
    const traced = traceRun(newsroom().run("go"), { tracer });
    context.disable();
    await traced.ended;
    request.end();
    expect(treeOf(spans())).toEqual(["POST /runs", ...TREE.map((line) => `  ${line}`)]);
  });

  it("observes an environment until `stop`", async () => {
    const { tracer, spans } = tracing();
    const environment = new Environment({ model: scriptedModel(["hi"], { id: "m" }) });
    environment.addRole(defineRole({ name: "Ann", actions: [defineAction({ name: "Greet", prompt: () => "Greet." })] }));
    const traced = traceRun(environment, { tracer });
    environment.publishMessage("go");
    await environment.run();
    traced.stop();
    await traced.ended;
    expect(treeOf(spans())).toEqual(["invoke_workflow environment", "  invoke_agent Ann", "    chat m (client)"]);
  });
});

describe("a trace does not disturb its run", () => {
  it("the run is the same with it and without it", async () => {
    const texts = [];
    for (const isTraced of [false, true]) {
      const journal = memoryJournal();
      const run = newsroom(journal).run("go", { id: "run-1" });
      if (isTraced) await traceRun(run, { tracer: tracing().tracer }).ended;
      await run.result;
      texts.push(canonical(await eventsOf(journal, "run-1")));
    }
    expect(texts[1]).toBe(texts[0]);
  });

  it("an error of a tracer does not reach the run", async () => {
    const { tracer } = tracing();
    let begun = 0;
    const broken: typeof tracer = Object.create(tracer, {
      startSpan: {
        value: (...given: Parameters<typeof tracer.startSpan>) => {
          begun += 1;
          if (begun % 2 === 0) throw new Error("the tracer broke");
          return tracer.startSpan(...given);
        },
      },
    }) as typeof tracer;
    const run = newsroom().run("go");
    await traceRun(run, { tracer: broken }).ended;
    expect(begun).toBeGreaterThan(2);
    expect((await run.result).status).toBe("finished");
  });

  it("events that cannot be read reject its end", async () => {
    async function* broken(): AsyncIterable<RunEvent> {
      yield* (await recordedNews()).slice(0, 5);
      throw new Error("the disk broke");
    }
    const { tracer, spans } = tracing();
    await expect(traceRun(broken(), { tracer }).ended).rejects.toThrow("the disk broke");
    expect(treeOf(spans())[0]).toBe("invoke_workflow newsroom (unfinished)");
  });
});
