import type { AttributeValue } from "@opentelemetry/api";
import { textHash } from "../kernel/json.ts";
import { defined } from "../kernel/value-kind.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { SpanContent } from "./otel-attributes.ts";
import { type OpenSpan, RunSpans, type SpanBeginning, type SpanTarget, type SpanValues } from "./otel-spans.ts";

export interface OtlpOptions extends SpanContent {
  readonly service: string;
  readonly version: string;
}

export interface OtlpLine {
  readonly text: string;
  readonly spans: number;
}

/** Approximate limits of one line: receivers refuse large requests. */
const MAX_SPANS = 512;
const MAX_TEXT = 1_000_000;

/**
 * The spans of a recorded run as lines of OTLP/JSON, each a whole request of the trace endpoint. Ids follow from the run's id and the index of a
 * span, so the same record gives the same lines. @throws JournalError when the events cannot be read
 */
export async function* otlpLines(
  events: AsyncIterable<RunEvent> | Iterable<RunEvent>,
  runId: string,
  options: OtlpOptions,
): AsyncIterable<OtlpLine> {
  const target = new WrittenSpans(runId);
  const spans = new RunSpans(target, options);
  for await (const event of events) {
    spans.accept(event);
    if (target.isFull) yield lineOf(target.take(), options);
  }
  spans.finish();
  const rest = target.take();
  if (rest.length > 0) yield lineOf(rest, options);
}

function lineOf(spans: readonly string[], { service, version }: OtlpOptions): OtlpLine {
  const resource = JSON.stringify({ attributes: keyValues({ "service.name": service }) });
  const scope = JSON.stringify({ name: "troupe", version });
  const text = `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${scope},"spans":[${spans.join(",")}]}]}]}`;
  return { text, spans: spans.length };
}

class WrittenSpans implements SpanTarget {
  readonly #runId: string;
  #count = 0;
  #written: string[] = [];
  #size = 0;

  constructor(runId: string) {
    this.#runId = runId;
  }

  get isFull(): boolean {
    return this.#written.length >= MAX_SPANS || this.#size >= MAX_TEXT;
  }

  take(): readonly string[] {
    const written = this.#written;
    this.#written = [];
    this.#size = 0;
    return written;
  }

  begin(beginning: SpanBeginning): OpenSpan {
    const parent = beginning.parent?.context;
    const digits = textHash(JSON.stringify([this.#runId, this.#count]));
    this.#count += 1;
    const context = { traceId: parent?.traceId ?? digits.slice(0, 32), spanId: digits.slice(32, 48), traceFlags: 1 };
    let { values } = beginning;
    let status: object = {};
    const set = (more: SpanValues): void => void (values = { ...values, ...defined(more) });
    return {
      context,
      set,
      fail(type, message) {
        set({ "error.type": type });
        status = { code: FAILED, ...(message === undefined ? {} : { message }) };
      },
      end: (time) => {
        const text = textOf(beginning, context, { time, values, status });
        this.#written.push(text);
        this.#size += text.length;
      },
    };
  }
}

const INTERNAL = 1;
const CLIENT = 3;
const FAILED = 2;

interface SpanEnd {
  readonly time: number;
  readonly values: SpanValues;
  readonly status: object;
}

function textOf(
  { name, isClient, time: began, parent, links }: SpanBeginning,
  { traceId, spanId }: { readonly traceId: string; readonly spanId: string },
  { time, values, status }: SpanEnd,
): string {
  return JSON.stringify({
    ...{ traceId, spanId, parentSpanId: parent?.context?.spanId, name, kind: isClient ? CLIENT : INTERNAL },
    ...{ startTimeUnixNano: nanos(began), endTimeUnixNano: nanos(time), attributes: keyValues(values) },
    links: links.map((link) => ({ traceId: link.context.traceId, spanId: link.context.spanId, attributes: keyValues(link.values) })),
    status,
  });
}

function nanos(ms: number): string {
  return (BigInt(Math.round(ms * 1_000)) * 1_000n).toString();
}

function keyValues(values: SpanValues): readonly object[] {
  return Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));
}

function anyValue(value: AttributeValue): object {
  switch (typeof value) {
    case "string":
      return { stringValue: value };
    case "boolean":
      return { boolValue: value };
    case "number":
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return { arrayValue: { values: value.flatMap((one) => (one === null || one === undefined ? [] : [anyValue(one)])) } };
  }
}
