import { createRequire } from "node:module";
import type { Context, HrTime, Histogram, Meter, Span, Tracer } from "@opentelemetry/api";
import { either, having, iterable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { lazily } from "../kernel/lazily.ts";
import { thrownText } from "../kernel/value-text.ts";
import { type Observed, type ObservedOf, type RunEvent, EVENT_TYPES } from "../runtime/record/event.ts";
import { missingPackage } from "./optional-package.ts";
import { type MeasuredOperation, type MeasureTarget, type OpenSpan, RunSpans, type SpanTarget, type SpanValues } from "./otel-spans.ts";

/** Options of {@link traceRun}. */
export interface TraceOptions {
  /** Makes the spans. Default: the tracer named `troupe` of the registered tracer provider. */
  readonly tracer?: { startSpan(name: string, options?: object, context?: object): object };
  /** Makes the histograms and counters. Default: the meter named `troupe` of the registered meter provider. */
  readonly meter?: { createHistogram(name: string, options?: object): object; createCounter(name: string, options?: object): object };
  /** Adds texts: prompts, answers, arguments, results, questions and errors, each cut to 8,000 characters. Default false: no text reaches a span. */
  readonly content?: boolean;
  /** The value of `gen_ai.provider.name`, which the record does not have. Default `openai`. */
  readonly provider?: string;
}

const traceOptions: Known<TraceOptions> = {
  tracer: kinds.having("a tracer", "startSpan"),
  meter: kinds.having("a meter", "createHistogram", "createCounter"),
  content: kinds.boolean,
  provider: kinds.text,
};

/** A run that can be observed: a {@link Run} or an {@link Environment}. */
export interface ObservableRun {
  on<T extends Observed["type"]>(type: T, listener: (observed: ObservedOf<T>) => void): () => void;
  /** Settles when the run has ended. */
  readonly result?: Promise<unknown>;
}

/** A trace under way. */
export interface RunTrace {
  /** Resolves when every span has ended: with the run, the last event or `stop`. Rejects when the events cannot be read. */
  readonly ended: Promise<void>;
  /** Stops observing, and ends the open spans as unfinished. */
  stop(): void;
}

/**
 * Traces a run with OpenTelemetry, in the conventions for generative AI: a span for each part of the run between its start or a resume and
 * its next end (`invoke_workflow`), each activation (`invoke_agent`), each try of a model call (`chat`), each tool call (`execute_tool`) and
 * each other step, with the times of the record. An activation is linked to the activations that sent its messages. The active span becomes
 * the parent.
 *
 * A run or an environment is observed from now on: call this right after `team.run`. A list of events, or a journal's, gives the same
 * spans afterwards. The run does not wait, and an error of a tracer goes to OpenTelemetry's diagnostic logger.
 *
 * Histograms: `gen_ai.client.inference.duration`, `gen_ai.client.embeddings.duration`, `gen_ai.invoke_agent.duration`,
 * `gen_ai.execute_tool.duration`, the tokens of each call; counters: `gen_ai.client.inference.usage.input_tokens`, `.output_tokens` and
 * `.cache_read.input_tokens`.
 *
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_UNKNOWN`, `PACKAGE_MISSING`
 * @example
 * import { defineAction, defineRole, Team } from "troupe";
 * import { traceRun } from "troupe/otel";
 *
 * const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
 * const run = new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })] }).run("hello");
 * await traceRun(run).ended;
 */
export function traceRun(source: ObservableRun | Iterable<RunEvent> | AsyncIterable<RunEvent>, o: TraceOptions = {}): RunTrace {
  checkKnownOptions("traceRun", o, traceOptions);
  takes("traceRun", "source", source, either(having("a run", "on"), iterable("events of a run")));
  const { trace, metrics, context } = api();
  const { tracer = trace.getTracer(SCOPE), meter = metrics.getMeter(SCOPE), content = false, provider = "openai" } = o;
  const spans = new RunSpans(tracerSpans(tracer as Tracer, context.active()), { content, provider }, meterValues(meter as Meter));
  return "on" in source ? observed(source, spans) : recorded(source, spans);
}

/** Loads `@opentelemetry/api` at the first trace: a program without it can import this entry. @throws UsageError `PACKAGE_MISSING` */
const api = lazily((): typeof import("@opentelemetry/api") => {
  try {
    return createRequire(import.meta.url)("@opentelemetry/api") as typeof import("@opentelemetry/api");
  } catch (cause) {
    throw missingPackage("@opentelemetry/api", "1", cause);
  }
});

const SCOPE = "troupe";

/** Traces a run under way. Its past, where it has one, is read first, for the messages that wait since then. */
function observed(run: ObservableRun, spans: RunSpans): RunTrace {
  let waiting: RunEvent[] | undefined;
  let caughtUp: Promise<void> | undefined;
  const take = (event: RunEvent): void => {
    if (caughtUp === undefined && event.seq > 0 && Symbol.asyncIterator in run) {
      waiting = [];
      caughtUp = past(run as AsyncIterable<RunEvent>, event.seq, spans).then(() => {
        for (const one of waiting ?? []) accepted(spans, one);
        waiting = undefined;
      });
    }
    caughtUp ??= Promise.resolve();
    if (waiting === undefined) accepted(spans, event);
    else waiting.push(event);
  };
  const stops = EVENT_TYPES.map((type) => run.on(type, take));
  let isOver = (): void => {};
  const over = new Promise<void>((resolve) => (isOver = resolve));
  const end = (): void => {
    for (const stop of stops) stop();
    isOver();
  };
  void run.result?.then(end, end);
  return { ended: over.then(() => caughtUp).then(() => finished(spans, run.result === undefined)), stop: end };
}

/** Reads the events before the first observed one. A past that cannot be read costs the links to it. */
async function past(run: AsyncIterable<RunEvent>, before: number, spans: RunSpans): Promise<void> {
  try {
    for await (const event of run) {
      if (event.seq >= before) return;
      spans.skip(event);
    }
  } catch (error) {
    api().diag.error(`troupe: the past of a run could not be read for its trace: ${thrownText(error)}`);
  }
}

function recorded(events: Iterable<RunEvent> | AsyncIterable<RunEvent>, spans: RunSpans): RunTrace {
  let isStopped = false;
  const read = async (): Promise<void> => {
    try {
      for await (const event of events) {
        if (isStopped) break;
        accepted(spans, event);
      }
    } finally {
      finished(spans, false);
    }
  };
  const ended = read();
  // A caller that does not await the end is not hurt by events that cannot be read.
  ended.catch(() => {});
  return { ended, stop: () => void (isStopped = true) };
}

function accepted(spans: RunSpans, event: RunEvent): void {
  surely(() => spans.accept(event), `event ${event.seq} of run ${event.runId} could not be traced`);
}

function finished(spans: RunSpans, isWhole: boolean): void {
  surely(() => spans.finish(isWhole), "the spans of a run could not be ended");
}

/** A tracer of a program may throw: its error must reach neither the run nor the other spans. */
function surely(work: () => void, failure: string): void {
  try {
    work();
  } catch (error) {
    api().diag.error(`troupe: ${failure}: ${thrownText(error)}`);
  }
}

function tracerSpans(tracer: Tracer, context: Context): SpanTarget {
  const { trace, SpanKind } = api();
  return {
    begin({ name, isClient, time, parent, values, links }) {
      const within = parent instanceof TracerSpan ? trace.setSpan(context, parent.span) : context;
      const linked = links.map((link) => ({ context: link.context, attributes: link.values }));
      const kind = isClient ? SpanKind.CLIENT : SpanKind.INTERNAL;
      return new TracerSpan(tracer.startSpan(name, { kind, startTime: timeOf(time), attributes: values, links: linked }, within));
    },
  };
}

class TracerSpan implements OpenSpan {
  readonly span: Span;

  constructor(span: Span) {
    this.span = span;
  }

  get context(): OpenSpan["context"] {
    const own = this.span.spanContext();
    return api().isSpanContextValid(own) ? own : undefined;
  }

  set(values: SpanValues): void {
    this.span.setAttributes(values);
  }

  fail(type: string, message: string | undefined): void {
    this.span.setAttribute("error.type", type);
    this.span.setStatus({ code: api().SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
  }

  end(time: number): void {
    this.span.end(timeOf(time));
  }
}

/** Seconds and nanoseconds: an SDK takes a small number for a time since the process began. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}

/** The bounds of the histograms are those of the conventions. */
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

function meterValues(meter: Meter): MeasureTarget {
  const histogram = (name: string, unit: string, explicitBucketBoundaries: number[]): Histogram =>
    meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries } });
  // The conventions count a workflow as an agent that is invoked.
  const invoked = histogram("gen_ai.invoke_agent.duration", "s", SECONDS);
  const durations: Readonly<Record<MeasuredOperation, Histogram>> = {
    chat: histogram("gen_ai.client.inference.duration", "s", SECONDS),
    embeddings: histogram("gen_ai.client.embeddings.duration", "s", SECONDS),
    execute_tool: histogram("gen_ai.execute_tool.duration", "s", SECONDS),
    invoke_agent: invoked,
    invoke_workflow: invoked,
  };
  const embedded = histogram("gen_ai.client.embeddings.operation.input_tokens", "{token}", TOKENS);
  const directions = ["input", "output"] as const;
  const each = directions.map((kind) => histogram(`gen_ai.client.inference.operation.${kind}_tokens`, "{token}", TOKENS));
  const used = [...directions, "cache_read.input"].map((kind) =>
    meter.createCounter(`gen_ai.client.inference.usage.${kind}_tokens`, { unit: "{token}" }),
  );
  return {
    took: (operation, seconds, values) => durations[operation].record(seconds, values),
    used(operation, { input, output, cached }, values) {
      if (operation === "embeddings") return embedded.record(input, values);
      // The record does not say which tokens were of pictures.
      const all = { ...values, "gen_ai.token.modality": "unknown" };
      for (const [n, tokens] of [input, output].entries()) each[n]?.record(tokens, values);
      for (const [n, tokens] of [input, output, cached].entries()) if (tokens !== undefined) used[n]?.add(tokens, all);
    },
  };
}
