import { createRequire } from "node:module";
import type { Context, Counter, HrTime, Histogram, Meter, Span, Tracer } from "@opentelemetry/api";
import { either, having, iterable, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { lazily } from "../kernel/lazily.ts";
import { thrownText } from "../kernel/value-text.ts";
import type { Observed, ObservedOf, RunEvent } from "../runtime/record/event.ts";
import { EVENT_TYPES } from "../runtime/record/event-type.ts";
import { RunSpans } from "./otel-spans.ts";
import { DURATIONS, GEN_AI, USED, USED_EACH } from "./otel-names.ts";
import type { MeasuredOperation, MeasureTarget, OpenSpan, SpanBeginning, SpanTarget, SpanValues, UsedTokens } from "./span-target.ts";

/** Options of {@link traceRun}. */
export interface TraceOptions {
  /** Makes the spans. Default: the tracer named `troupe` of the registered tracer provider. */
  readonly tracer?: { startSpan(name: string, options?: object, context?: object): object };
  /** Makes the histograms and counters. Default: the meter named `troupe` of the registered meter provider. */
  readonly meter?: { createHistogram(name: string, options?: object): object; createCounter(name: string, options?: object): object };
  /**
   * Tells texts too: prompts, answers, arguments and results of tools, questions to persons, and the words of errors, each cut to 8,000
   * characters. Default false: then no text of a message, a model or a tool reaches a span.
   */
  readonly content?: boolean;
  /** The value of `gen_ai.provider.name`: the record does not say whose server a model is at. Default `openai`, the API that it is asked by. */
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
  /**
   * Resolves when every span has ended: with a run at its end, with events after the last one, with an environment after `stop`. Rejects
   * when the events cannot be read.
   */
  readonly ended: Promise<void>;
  /** Stops observing, and ends the open spans as unfinished. */
  stop(): void;
}

/**
 * Traces a run with OpenTelemetry, in the conventions for generative AI: a span for each part of the run between its start or a resume and
 * its next end (`invoke_workflow`), for each activation (`invoke_agent`), for each try of a model call (`chat`), for each tool call
 * (`execute_tool`) and for each other step. An activation is linked to the activations that sent the messages it took. Spans have the times
 * of the record. The span that is active at the call of this function becomes the parent.
 *
 * A run or an environment is observed from now on: call this right after `team.run`. A list of events, or a journal's, gives the same
 * spans afterwards. The run is not changed and not held up: an error of a tracer goes to OpenTelemetry's diagnostic logger.
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
  const target = new TracerSpans(tracer as Tracer, context.active());
  const spans = new RunSpans(target, { content, provider }, new MeterValues(meter as Meter));
  return "on" in source ? observed(source, spans) : recorded(source, spans);
}

/** Loads `@opentelemetry/api` at the first trace: a program without it can import this entry. @throws UsageError `PACKAGE_MISSING` */
const api = lazily((): typeof import("@opentelemetry/api") => {
  try {
    return createRequire(import.meta.url)("@opentelemetry/api") as typeof import("@opentelemetry/api");
  } catch (cause) {
    throw new UsageError(
      "PACKAGE_MISSING",
      'Expected the package "@opentelemetry/api" beside this one, got none that can be loaded. Install it: npm install @opentelemetry/api.',
      { cause },
    );
  }
});

/** The name of the tracer and the meter. */
const SCOPE = "troupe";

/** Traces a run under way. Its past, where it has one, is read first: messages that wait since then are known by it. */
function observed(run: ObservableRun, spans: RunSpans): RunTrace {
  let waiting: RunEvent[] | undefined;
  let isFirst = true;
  let caughtUp = Promise.resolve();
  const take = (event: RunEvent): void => {
    if (isFirst) {
      isFirst = false;
      if (event.seq > 0 && Symbol.asyncIterator in run) {
        waiting = [];
        caughtUp = past(run as AsyncIterable<RunEvent>, event.seq, spans).then(() => {
          for (const one of waiting ?? []) accepted(spans, one);
          waiting = undefined;
        });
      }
    }
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
  // A caller that does not wait for the end is not ended by events that cannot be read.
  ended.catch(() => {});
  return { ended, stop: () => void (isStopped = true) };
}

/** A tracer of a program may throw: its error must reach neither the run nor the other spans. */
function accepted(spans: RunSpans, event: RunEvent): void {
  try {
    spans.accept(event);
  } catch (error) {
    api().diag.error(`troupe: event ${event.seq} of run ${event.runId} could not be traced: ${thrownText(error)}`);
  }
}

function finished(spans: RunSpans, isWhole: boolean): void {
  try {
    spans.finish(isWhole);
  } catch (error) {
    api().diag.error(`troupe: the spans of a run could not be ended: ${thrownText(error)}`);
  }
}

/** Makes spans with a tracer. It owns nothing: the tracer's provider owns the spans. */
class TracerSpans implements SpanTarget {
  readonly #tracer: Tracer;
  readonly #context: Context;

  constructor(tracer: Tracer, context: Context) {
    this.#tracer = tracer;
    this.#context = context;
  }

  begin({ name, isClient, time, parent, values, links }: SpanBeginning): OpenSpan {
    const within = parent instanceof TracerSpan ? api().trace.setSpan(this.#context, parent.span) : this.#context;
    const kind = isClient ? api().SpanKind.CLIENT : api().SpanKind.INTERNAL;
    const linked = links.map((link) => ({ context: link.context, attributes: link.values }));
    const options = { kind, startTime: timeOf(time), attributes: values, links: linked };
    return new TracerSpan(this.#tracer.startSpan(name, options, within));
  }
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

  fail(type: string, text: string | undefined): void {
    this.span.setAttribute(GEN_AI.errorType, type);
    this.span.setStatus({ code: api().SpanStatusCode.ERROR, ...(text === undefined ? {} : { message: text }) });
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

const EACH = { unit: "{token}", advice: { explicitBucketBoundaries: TOKENS } };

/** Makes measurements with a meter. */
class MeterValues implements MeasureTarget {
  readonly #durations: Readonly<Record<MeasuredOperation, Histogram>>;
  readonly #used: Readonly<Record<keyof typeof USED, Counter>>;
  readonly #each: Readonly<Record<keyof typeof USED_EACH, Histogram>>;

  constructor(meter: Meter) {
    const duration = (name: string, description: string): Histogram =>
      meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: SECONDS } });
    const count = (name: string, description: string): Counter => meter.createCounter(name, { description, unit: "{token}" });
    const each = (name: string, description: string): Histogram => meter.createHistogram(name, { description, ...EACH });
    const invoked = duration(DURATIONS.invoke_agent, "Duration of an activation of a role, or of a part of a run.");
    this.#durations = {
      chat: duration(DURATIONS.chat, "Duration of a call of a model."),
      embeddings: duration(DURATIONS.embeddings, "Duration of a call of an embedder."),
      execute_tool: duration(DURATIONS.execute_tool, "Duration of a call of a tool."),
      invoke_agent: invoked,
      invoke_workflow: invoked,
    };
    this.#used = {
      input: count(USED.input, "Input tokens, with those that were read from a cache."),
      output: count(USED.output, "Output tokens."),
      cached: count(USED.cached, "Input tokens that were read from a cache."),
    };
    this.#each = {
      input: each(USED_EACH.input, "Input tokens of a call of a model."),
      output: each(USED_EACH.output, "Output tokens of a call of a model."),
      embedded: each(USED_EACH.embedded, "Input tokens of a call of an embedder."),
    };
  }

  took(operation: MeasuredOperation, seconds: number, values: SpanValues): void {
    this.#durations[operation].record(seconds, values);
  }

  used(operation: "chat" | "embeddings", { input, output, cached }: UsedTokens, values: SpanValues): void {
    if (operation === "embeddings") return this.#each.embedded.record(input, values);
    this.#each.input.record(input, values);
    this.#each.output.record(output, values);
    // The record does not say which tokens were of pictures.
    const all = { ...values, [GEN_AI.tokenModality]: "unknown" };
    this.#used.input.add(input, all);
    this.#used.output.add(output, all);
    if (cached !== undefined) this.#used.cached.add(cached, all);
  }
}
