// A run as a trace of OpenTelemetry: as it happens, and again from its record.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { defineAction, defineRole, memoryJournal, Team } from "troupe";
import { traceRun } from "troupe/otel";
import { scriptedModel } from "troupe/testing";

/** In the place of a collector, Jaeger or a hosted service. */
let requests = 0;
const receiver = createServer((request, response) => {
  requests += 1;
  request.resume();
  request.on("end", () => response.end());
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");
process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

// #region team
const journal = memoryJournal();
const Research = defineAction({ name: "Research", prompt: (ctx) => `Find out about ${ctx.text}.` });
const Headline = defineAction({ name: "Headline", prompt: (ctx) => `A headline for: ${ctx.text}` });
const team = new Team({
  name: "newsroom",
  journal,
  model: scriptedModel(["The bridge opens in May.", "Bridge to open in May"], { id: "gpt-5-mini" }),
  roles: [defineRole({ name: "Rita", actions: [Research] }), defineRole({ name: "Eda", watch: [Research], actions: [Headline] })],
});
// #endregion

// #region sdk
const spans = new OTLPTraceExporter(); // to OTEL_EXPORTER_OTLP_ENDPOINT, by default http://localhost:4318
const tracers = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(spans)] });
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE); // or OTLPMetricExporter
const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
const [tracer, meter] = [tracers.getTracer("news-service"), meters.getMeter("news-service")];
// #endregion

// #region live
const run = team.run("the new bridge", { id: "monday" });
const trace = traceRun(run, { tracer, meter });
console.log((await run.result).output?.content); // Bridge to open in May
await trace.ended; // every span has ended
// #endregion

// #region record
await traceRun(journal.read("monday", 0), { tracer }).ended;
// #endregion

// #region shutdown
await tracers.shutdown(); // sends what waits
await meters.shutdown();
// #endregion
console.log("requests:", requests); // requests: 1
const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
console.log(metrics.map(({ descriptor }) => descriptor.name).join(", ")); // gen_ai.invoke_agent.duration, ...
delete process.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
receiver.close();
