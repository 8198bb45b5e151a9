import fc from "fast-check";
import type { Tracer } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { describe, expect, it, test } from "vitest";
import { traceRun } from "../../src/adapters/otel.ts";
import { defineAction, defineRole, memoryJournal, type RunEvent, type RunState, Team } from "../../src/index.ts";
import { apply } from "../../src/runtime/record/apply.ts";
import { RunState as State } from "../../src/runtime/record/run-state.ts";
import { scriptedModel, simulatedClock } from "../../src/testing/index.ts";
import { tries } from "../long.ts";
import { live } from "../properties/lives.ts";
import { shuffled } from "../properties/outside.ts";
import { rolesOf, teamSketch } from "../properties/random-team.ts";
import { eventsOf } from "../team/recorded.ts";
import { linkedFrom, millis, named, spansOf, tracing, treeOf } from "./otel-setup.ts";

/** A tracer that counts the spans that begin. */
function counting(tracer: Tracer): { readonly tracer: Tracer; readonly begun: () => number } {
  let begun = 0;
  const startSpan: Tracer["startSpan"] = (...given) => {
    begun += 1;
    return tracer.startSpan(...given);
  };
  return { tracer: Object.create(tracer, { startSpan: { value: startSpan } }) as Tracer, begun: () => begun };
}

/** Spans nest, end, and refer to spans that are there. */
function expectSound(spans: readonly ReadableSpan[]): void {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  expect(byId.size).toBe(spans.length);
  for (const { name, startTime, endTime, parentSpanContext, links } of spans) {
    expect(millis(endTime), name).toBeGreaterThanOrEqual(millis(startTime));
    for (const { context } of links) expect(byId.has(context.spanId), `${name} links a span`).toBe(true);
    if (name.startsWith("invoke_workflow")) {
      expect(parentSpanContext).toBeUndefined();
      continue;
    }
    const parent = byId.get(parentSpanContext?.spanId ?? "");
    expect(parent, `the parent of ${name}`).toBeDefined();
    if (parent === undefined) continue;
    expect(millis(startTime), name).toBeGreaterThanOrEqual(millis(parent.startTime));
    expect(millis(endTime), name).toBeLessThanOrEqual(millis(parent.endTime));
  }
}

/** The ids of messages of roles that each activation took, by the runtime's own fold. */
function takenBy(events: readonly RunEvent[]): ReadonlyMap<string, readonly string[]> {
  const state: RunState = new State("");
  const taken = new Map<string, readonly string[]>();
  for (const event of events) {
    if (event.type === "act.ended" || event.type === "act.failed") {
      const news = state.roles.get(event.role)?.news(event.take) ?? [];
      taken.set(
        event.act,
        news.filter(({ sentFrom }) => sentFrom !== "").map(({ id }) => id),
      );
    }
    apply(state, event);
  }
  return taken;
}

function linkedMessages({ links }: ReadableSpan): readonly unknown[] {
  return links.map(({ attributes }) => attributes?.["troupe.message.id"]).filter((id) => id !== undefined);
}

describe("the trace of any run", () => {
  test(
    "RunSpans.T1, RunSpans.T2, MessageOrigins.O1: spans end, lie within their parents, and are linked to the senders",
    { tags: "numbers" },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          teamSketch,
          fc.nat(),
          fc.boolean(),
          fc.double({ min: 0, max: 1, noNaN: true }),
          async (sketch, seed, isEager, cut) => {
            const company = {
              roles: (outside: Parameters<typeof rolesOf>[1]) => rolesOf(sketch, outside, !isEager),
              options: { scheduler: isEager ? "eager" : "rounds" } as const,
            };
            const uncut = await live(company, [], shuffled(seed));
            const kept = uncut.events.slice(0, 1 + Math.floor(cut * uncut.events.length));
            const { events } = await live(company, kept, shuffled(seed));
            const { tracer, spans } = tracing();
            const counted = counting(tracer);
            await traceRun(events, { tracer: counted.tracer }).ended;
            expect(spans().length, "every span ends").toBe(counted.begun());
            expectSound(spans());
            expect(spans().filter(({ name }) => name.startsWith("invoke_workflow")).length).toBe(
              1 + events.filter((event) => event.type === "run.resumed").length,
            );
            const acts = takenBy(events);
            expect([...acts.keys()].toSorted()).toEqual(
              spans()
                .filter(
                  ({ attributes }) => attributes["gen_ai.operation.name"] === "invoke_agent" && attributes["troupe.unfinished"] !== true,
                )
                .map(({ attributes }) => String(attributes["troupe.act"]))
                .toSorted(),
            );
            for (const span of spans()) {
              const ended = acts.get(String(span.attributes["troupe.act"]));
              if (ended !== undefined) expect(linkedMessages(span)).toEqual(ended);
            }
          },
        ),
        { numRuns: tries(5, 200) },
      );
    },
  );

  test("a record that is cut off anywhere, in the middle or at its beginning", async () => {
    const company = { roles: (outside: Parameters<typeof rolesOf>[1]) => rolesOf(SKETCH, outside, true) };
    const { events } = await live(company, [], shuffled(1));
    for (let cut = 0; cut <= events.length; cut += 1) {
      for (const part of [events.slice(0, cut), events.slice(cut)]) {
        const { tracer, spans } = tracing();
        const counted = counting(tracer);
        await traceRun(part, { tracer: counted.tracer }).ended;
        expect(spans().length).toBe(counted.begun());
        expectSound(spans());
      }
    }
  });
});

const SKETCH = {
  roles: [
    { hearsIdea: true, work: ["nested", "flaky"] as const, tells: ["<all>", "R1"], policy: "skip" as const },
    { hearsIdea: false, work: ["parallel", "model"] as const, tells: ["R0"], policy: "skip" as const },
  ],
  depth: 2,
};

const Ask = defineAction({ name: "Ask", run: async (ctx) => ctx.message(await ctx.human.ask("SECRET: ship it?")) });
const Ship = defineAction({ name: "Ship", prompt: () => "Ship." });

function shop(journal = memoryJournal()): Team {
  const roles = [defineRole({ name: "Ann", actions: [Ask] }), defineRole({ name: "Ben", watch: [Ask], actions: [Ship] })];
  return new Team({ name: "shop", roles, model: scriptedModel(() => "shipped", { id: "m" }), journal });
}

describe("a run in several parts", () => {
  it("that waits for a person: a span for each part, linked, and how long the person took", async () => {
    const journal = memoryJournal();
    const first = await shop(journal).run("go", { id: "run-1" }).result;
    const [question] = first.questions;
    await (
      await shop(journal).answer("run-1", question?.id ?? "", "yes")
    ).result;
    const spans = await spansOf(await eventsOf(journal, "run-1"));
    expect(treeOf(spans)).toEqual([
      "invoke_workflow shop",
      "  invoke_agent Ann (unfinished)",
      "    wait_for_person (unfinished)",
      "invoke_workflow shop",
      "  invoke_agent Ann",
      "    wait_for_person",
      "  invoke_agent Ben",
      "    chat m (client)",
    ]);
    const [, second] = spans.filter(({ name }) => name === "invoke_workflow shop");
    expect(second === undefined ? [] : linkedFrom(spans, second)).toEqual(["invoke_workflow shop"]);
    const answered = spans.find(({ name, attributes }) => name === "wait_for_person" && attributes["troupe.unfinished"] !== true);
    expect(answered?.attributes["troupe.waited.seconds"]).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain("SECRET");
    expect(linkedFrom(spans, named(spans, "invoke_agent Ben"))).toEqual(["invoke_agent Ann"]);
  });

  it("whose question is answered by its deadline: the wait is a span of the later part", async () => {
    const [journal, clock] = [memoryJournal(), simulatedClock(1_000)];
    const Wait = defineAction({
      name: "Wait",
      run: (ctx) => ctx.human.ask("Go?", { choices: ["yes", "no"], default: "no", deadline: 60_000 }),
    });
    const team = (): Team => new Team({ name: "t", journal, clock, roles: [defineRole({ name: "Ann", actions: [Wait] })] });
    await team().run("go", { id: "run-1" }).result;
    await clock.advance(60_000);
    expect((await team().resume("run-1").result).status).toBe("finished");
    const spans = await spansOf(await eventsOf(journal, "run-1"));
    expect(treeOf(spans)).toEqual([
      "invoke_workflow t",
      "  invoke_agent Ann (unfinished)",
      "    wait_for_person (unfinished)",
      "invoke_workflow t",
      "  invoke_agent Ann",
      "    wait_for_person",
    ]);
    const [, answered] = spans.filter(({ name }) => name === "wait_for_person");
    expect(answered?.attributes).toMatchObject({ "troupe.waited.seconds": 60, "troupe.answer.by_deadline": true });
  });

  it("whose later part is observed as it happens: that part alone has spans", async () => {
    const journal = memoryJournal();
    const first = await shop(journal).run("go", { id: "run-1" }).result;
    const { tracer, spans } = tracing();
    const run = await shop(journal).answer("run-1", first.questions[0]?.id ?? "", "yes");
    await traceRun(run, { tracer }).ended;
    expect(treeOf(spans())).toEqual([
      "invoke_workflow shop",
      "  invoke_agent Ann",
      "    wait_for_person",
      "  invoke_agent Ben",
      "    chat m (client)",
    ]);
    expect(linkedFrom(spans(), named(spans(), "invoke_agent Ben"))).toEqual(["invoke_agent Ann"]);
  });

  it("RunSpans.T3: a fork has spans of its own events alone", async () => {
    const journal = memoryJournal();
    await shop(journal).run("go", { id: "run-1" }).result;
    const events = await eventsOf(journal, "run-1");
    const at = events.findIndex(({ type }) => type === "step.started") - 1;
    const { tracer, spans } = tracing();
    const fork = shop(journal).fork("run-1", { at, id: "run-2" });
    await traceRun(fork, { tracer }).ended;
    await fork.result;
    const tree = ["invoke_workflow shop", "  invoke_agent Ann (unfinished)", "    wait_for_person (unfinished)"];
    expect(treeOf(spans())).toEqual(tree);
    const after = await spansOf(await eventsOf(journal, "run-2"));
    expect(treeOf(after)).toEqual(tree);
    expect(named(after, "invoke_workflow shop").attributes["troupe.run.forked_from"]).toBe("run-1");
  });
});
