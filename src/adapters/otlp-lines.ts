import type { AttributeValue, SpanContext } from "@opentelemetry/api";
import { textHash } from "../kernel/json.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { SpanWords } from "./otel-attributes.ts";
import { GEN_AI } from "./otel-names.ts";
import { RunSpans } from "./otel-spans.ts";
import type { OpenSpan, SpanBeginning, SpanTarget, SpanValues } from "./span-target.ts";

/** How the spans of a recorded run are written. */
export interface OtlpOptions extends SpanWords {
  /** The value of `service.name`. */
  readonly service: string;
  /** The version of this package. */
  readonly version: string;
}

/** Spans in one line. */
export interface OtlpLine {
  /** A request of OTLP as JSON, without line breaks. */
  readonly text: string;
  readonly spans: number;
}

/** Most spans of one line, and characters of them, near enough: receivers refuse large requests. */
const MOST_SPANS = 512;
const MOST_TEXT = 1_000_000;

/**
 * The spans of a recorded run as lines of OTLP/JSON: each is a whole request, as the trace endpoint of a receiver takes it, and as a file for
 * a receiver has it. The same record gives the same lines: ids follow from the run's id and the place of a span in it, so a receiver that
 * gets a run twice can see that.
 *
 * @throws JournalError when the events cannot be read
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

/** Writes spans when they end. It owns the written spans that no line has yet, and the number of spans so far. */
class WrittenSpans implements SpanTarget {
  readonly #runId: string;
  #begun = 0;
  #written: string[] = [];
  #size = 0;

  constructor(runId: string) {
    this.#runId = runId;
  }

  get isFull(): boolean {
    return this.#written.length >= MOST_SPANS || this.#size >= MOST_TEXT;
  }

  take(): readonly string[] {
    const written = this.#written;
    this.#written = [];
    this.#size = 0;
    return written;
  }

  begin(beginning: SpanBeginning): OpenSpan {
    const parent = beginning.parent?.context;
    const digits = textHash(JSON.stringify([this.#runId, this.#begun]));
    this.#begun += 1;
    const context = { traceId: parent?.traceId ?? digits.slice(0, 32), spanId: digits.slice(32, 48), traceFlags: 1 };
    return new WrittenSpan(beginning, context, (text) => {
      this.#written.push(text);
      this.#size += text.length;
    });
  }
}

/** The numbers of OTLP for the kinds of spans, and for the status of one that failed. */
const INTERNAL = 1;
const CLIENT = 3;
const FAILED = 2;

class WrittenSpan implements OpenSpan {
  readonly context: SpanContext;
  readonly #beginning: SpanBeginning;
  readonly #ended: (text: string) => void;
  #values: SpanValues;
  #status: { readonly code: number; readonly message?: string } | undefined;

  constructor(beginning: SpanBeginning, context: SpanContext, ended: (text: string) => void) {
    this.#beginning = beginning;
    this.context = context;
    this.#ended = ended;
    this.#values = beginning.values;
  }

  set(values: SpanValues): void {
    this.#values = { ...this.#values, ...defined(values) };
  }

  fail(type: string, text: string | undefined): void {
    this.set({ [GEN_AI.errorType]: type });
    this.#status = { code: FAILED, ...(text === undefined ? {} : { message: text }) };
  }

  end(time: number): void {
    const { name, isClient, time: began, parent, links } = this.#beginning;
    const { traceId, spanId } = this.context;
    const span = {
      ...{ traceId, spanId, parentSpanId: parent?.context?.spanId, name, kind: isClient ? CLIENT : INTERNAL },
      ...{ startTimeUnixNano: nanos(began), endTimeUnixNano: nanos(time), attributes: keyValues(this.#values) },
      links: links.map(({ context, values }) => ({ traceId: context.traceId, spanId: context.spanId, attributes: keyValues(values) })),
      status: this.#status ?? {},
    };
    this.#ended(JSON.stringify(span));
  }
}

function defined(values: SpanValues): SpanValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Nanoseconds do not fit a number. */
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
