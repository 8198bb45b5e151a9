import { SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { traceRun, type TraceOptions } from "../../src/adapters/otel.ts";

/** A tracer, and the spans that it ended. */
export interface Traced {
  readonly tracer: Tracer;
  readonly spans: () => readonly ReadableSpan[];
}

/** A tracer of OpenTelemetry's own SDK that keeps its spans. */
export function tracing(): Traced {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  return { tracer: provider.getTracer("test"), spans: () => exporter.getFinishedSpans() };
}

/** The spans of recorded events. */
export async function spansOf(
  events: Iterable<RunEvent> | AsyncIterable<RunEvent>,
  o: TraceOptions = {},
): Promise<readonly ReadableSpan[]> {
  const { tracer, spans } = tracing();
  await traceRun(events, { tracer, ...o }).ended;
  return spans();
}

/** The spans as a tree of lines: two spaces for each level, in the order of their beginning. */
export function treeOf(spans: readonly ReadableSpan[]): readonly string[] {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const lines = (parent: string | undefined, depth: number): readonly string[] =>
    spans
      .filter(({ parentSpanContext }) => {
        const id = parentSpanContext?.spanId;
        return parent === undefined ? id === undefined || !known.has(id) : id === parent;
      })
      .toSorted((a, b) => millis(a.startTime) - millis(b.startTime))
      .flatMap((span) => [`${"  ".repeat(depth)}${lineOf(span)}`, ...lines(span.spanContext().spanId, depth + 1)]);
  return lines(undefined, 0);
}

function lineOf({ name, kind, status, attributes }: ReadableSpan): string {
  const marks = [
    kind === SpanKind.CLIENT ? "client" : "",
    status.code === SpanStatusCode.ERROR ? `error ${String(attributes["error.type"])}` : "",
    attributes["troupe.unfinished"] === true ? "unfinished" : "",
  ].filter((mark) => mark !== "");
  return marks.length === 0 ? name : `${name} (${marks.join(", ")})`;
}

export function millis([seconds, nanos]: readonly [number, number]): number {
  return seconds * 1_000 + nanos / 1_000_000;
}

/** The names of the spans that a span is linked to. */
export function linkedFrom(spans: readonly ReadableSpan[], { links }: ReadableSpan): readonly string[] {
  return links.map(({ context }) => spans.find((span) => span.spanContext().spanId === context.spanId)?.name ?? "unknown");
}

/** The first span of a name. */
export function named(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`Expected a span ${name}, got ${spans.map((span) => span.name).join(", ")}.`);
  return found;
}
