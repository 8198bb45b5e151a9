import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { describe, expect, it } from "vitest";
import { traceRun } from "../../src/adapters/otel.ts";
import { otlpLines } from "../../src/adapters/otlp-lines.ts";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { eventsOf } from "../team/recorded.ts";
import { spansOf } from "./otel-setup.ts";

const Ask = defineAction({ name: "Ask", prompt: () => "SECRET?" });
const Reply = defineAction({ name: "Reply", prompt: () => "!" });

/** Two roles; the model fails once before its first answer. */
function pair(journal = memoryJournal()): Team {
  const busy = new ModelError("MODEL_SERVER", "SECRET words of the server", { retryable: true });
  const model = scriptedModel([busy, { content: "a", usage: { inputTokens: 7, outputTokens: 3 } }, "b"], { id: "m" });
  const roles = [defineRole({ name: "Ann", actions: [Ask] }), defineRole({ name: "Ben", actions: [Reply], watch: [Ask] })];
  return new Team({ name: "pair", roles, model, journal, calls: { retry: { baseDelay: 1 } } });
}

describe("a receiver of traces", () => {
  it("gets the same from the export of the record as from OpenTelemetry's own serializer", async () => {
    const journal = memoryJournal();
    await pair(journal).run("go", { id: "run-1" }).result;
    const events = await eventsOf(journal, "run-1");
    const lines: string[] = [];
    for await (const { text } of otlpLines(events, "run-1", { content: true, provider: "p", service: "s", version: "1" })) lines.push(text);
    const own = Buffer.from(JsonTraceSerializer.serializeRequest([...(await spansOf(events, { content: true, provider: "p" }))]) ?? []);
    expect(lines.flatMap(spansIn)).toEqual(spansIn(own.toString("utf8")));
  });
});

describe("the metrics of a run", () => {
  it("have tokens, and durations by operation, model, role and error", async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
    const run = pair().run("go");
    await traceRun(run, { meter: meters.getMeter("test") }).ended;
    await meters.forceFlush();
    const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    const of = (name: string): unknown[] =>
      metrics
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => [attributes, (value as { readonly count: number }).count]));
    const call = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m" };
    expect(of("gen_ai.client.inference.operation.input_tokens")).toEqual([[call, 2]]);
    expect(of("gen_ai.client.inference.operation.output_tokens")).toEqual([[call, 2]]);
    const totals = ["input", "output"].map((kind) => `gen_ai.client.inference.usage.${kind}_tokens`);
    for (const name of totals) {
      const total = metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints[0];
      expect(total).toMatchObject({ attributes: { ...call, "gen_ai.token.modality": "unknown" }, value: expect.any(Number) as number });
    }
    expect(of("gen_ai.client.inference.duration")).toEqual([
      [{ ...call, "error.type": "MODEL_SERVER" }, 1],
      [call, 2],
    ]);
    const invoked = (operation: string, name: string): unknown => [{ "gen_ai.operation.name": operation, "gen_ai.agent.name": name }, 1];
    expect(of("gen_ai.invoke_agent.duration")).toEqual([
      ...["Ann", "Ben"].map((name) => invoked("invoke_agent", name)),
      invoked("invoke_workflow", "pair"),
    ]);
    await meters.shutdown();
  });
});

interface JsonSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly intValue?: string | number } }[];
  readonly links: readonly { readonly spanId: string; readonly attributes: JsonSpan["attributes"] }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

/** The spans of a request as JSON, without fields that may be left out, and with names for ids. */
function spansIn(text: string): readonly object[] {
  const { resourceSpans } = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: JsonSpan[] }[] }[] };
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const places = new Map(spans.map(({ spanId }, place) => [spanId, place]));
  const values = (attributes: JsonSpan["attributes"]): object =>
    Object.fromEntries(
      attributes.map(({ key, value }) => [key, value.intValue === undefined ? value : { intValue: String(value.intValue) }]),
    );
  return spans.map((span) => ({
    traceId: span.traceId.length,
    parent: places.get(span.parentSpanId ?? ""),
    ...{ name: span.name, kind: span.kind, start: span.startTimeUnixNano, end: span.endTimeUnixNano },
    attributes: values(span.attributes),
    links: span.links.map(({ spanId, attributes }) => [places.get(spanId), values(attributes)]),
    status: { code: span.status.code ?? 0, message: span.status.message },
  }));
}
