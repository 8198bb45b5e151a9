import type { Attributes, SpanContext } from "@opentelemetry/api";
import type { DURATIONS } from "./otel-names.ts";

/** Attributes of a span or a measurement by name. A span leaves out those that are undefined; a measurement has none. */
export type SpanValues = Readonly<Attributes>;

/** A span that has not ended. */
export interface OpenSpan {
  /** Undefined where nothing can refer to the span. */
  readonly context: SpanContext | undefined;
  set(values: SpanValues): void;
  /** Marks the span as failed. @param text a description; undefined for none */
  fail(type: string, text: string | undefined): void;
  /** @param time milliseconds since 1970 */
  end(time: number): void;
}

/** A reference to another span. */
export interface SpanReference {
  readonly context: SpanContext;
  readonly values: SpanValues;
}

/** The beginning of a span. */
export interface SpanBeginning {
  readonly name: string;
  readonly isClient: boolean;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly parent: OpenSpan | undefined;
  readonly values: SpanValues;
  readonly links: readonly SpanReference[];
}

/** Where spans go. */
export interface SpanTarget {
  begin(beginning: SpanBeginning): OpenSpan;
}

/** Where measurements go. */
export interface MeasureTarget {
  /** @param seconds how long the operation took */
  took(operation: MeasuredOperation, seconds: number, values: SpanValues): void;
  used(operation: "chat" | "embeddings", tokens: UsedTokens, values: SpanValues): void;
}

/** Tokens of a call of a model. `cached` is a part of `input`. */
export interface UsedTokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number | undefined;
}

export type MeasuredOperation = keyof typeof DURATIONS;
