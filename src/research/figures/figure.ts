import { aNumber, aText, either, iterable, listOf, object, type Shape, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import { mean, standardError } from "../statistics/sample.ts";

/** The relation between a found value and the published one. */
export type FigureRelation = "equal" | "at most" | "at least";

/** A value of the literature, and what a study found for it. */
export interface FigureOptions {
  /** What was measured, with its unit and its parameters. */
  readonly name: string;
  /** The publication, with its year. */
  readonly source: string;
  /** The published value. */
  readonly expected: number;
  /** One number, which must be met exactly; or the independent samples of a random one, at least two, whose mean is compared. */
  readonly found: number | readonly number[];
  /** Default `equal`. */
  readonly relation?: FigureRelation;
  /** The known error of the published value itself, such as the next term of an expansion, in its unit. Default 0. */
  readonly tolerance?: number;
  /** The standard errors that a mean of many samples may be away, more than 0. Default 4: a right program misses that once in 16,000 times. */
  readonly standardErrors?: number;
}

const figureOptions: Known<FigureOptions> = {
  name: kinds.text,
  source: kinds.text,
  expected: kinds.number,
  found: kinds.checked,
  relation: kinds.checked,
  tolerance: kinds.amount,
  standardErrors: kinds.amount,
};

/** A result of the literature beside the value that was found. Plain JSON. */
export interface Figure {
  readonly name: string;
  readonly source: string;
  readonly expected: number;
  readonly relation: FigureRelation;
  /** The value, or the mean of the samples. */
  readonly found: number;
  /** The standard error of the mean; of zeros and ones, that which `expected` predicts. Left out for one value. */
  readonly standardError?: number;
  /** The mean less and plus the standard errors that it may be away. Left out for one value. */
  readonly interval?: readonly [low: number, high: number];
  /** 1 for a value that is no mean. */
  readonly samples: number;
  /** True when `found` has the relation to `expected`, within the tolerance and the standard errors. */
  readonly holds: boolean;
}

/** Rounding of sums of floating-point numbers, relative. */
const ROUNDING = 1e-9;

/**
 * Compares what a study found with a published value: one number exactly, samples by their mean, which may be four standard errors away.
 *
 * @throws UsageError `FIGURE_INVALID` where a number is not finite, or there is only one sample; `OPTION_UNKNOWN`
 */
export function figure(options: FigureOptions): Figure {
  takes("figure", "what is given", options, someOptions);
  checkKnownOptions("figure", options, figureOptions);
  const { name, source, expected, found, relation = "equal", tolerance = 0, standardErrors = 4 } = options;
  const samples = typeof found === "number" ? [found] : found;
  checkNumbers(name, [expected, tolerance, standardErrors, ...samples]);
  if (standardErrors <= 0 || tolerance < 0)
    throw invalid(name, "more than 0 standard errors and no negative tolerance", `${standardErrors} and ${tolerance}`);
  if (typeof found !== "number" && samples.length < 2) throw invalid(name, "at least two samples", `${samples.length}`);
  const middle = mean(samples);
  const half = typeof found === "number" ? undefined : standardErrors * errorOf(samples, expected);
  const room = tolerance + (half ?? 0) + ROUNDING * Math.max(Math.abs(expected), Math.abs(middle));
  const above = middle - expected;
  const holds = { equal: Math.abs(above) <= room, "at most": above <= room, "at least": -above <= room }[relation];
  const interval =
    half === undefined ? {} : { interval: Object.freeze([middle - half, middle + half] as const), standardError: half / standardErrors };
  return Object.freeze({ name, source, expected, relation, found: middle, ...interval, samples: samples.length, holds });
}

/**
 * Zeros and ones have the standard error that the published share predicts (the score test, Wilson 1927): their own is too small where nearly all
 * are equal.
 */
function errorOf(samples: readonly number[], expected: number): number {
  const isShare = expected >= 0 && expected <= 1 && samples.every((one) => one === 0 || one === 1);
  return isShare ? Math.sqrt((expected * (1 - expected)) / samples.length) : standardError(samples);
}

const someOptions: Shape = object("the name, source, expected and found value of a figure", {
  name: aText,
  source: aText,
  found: either(aNumber, listOf(aNumber)),
});

function checkNumbers(name: string, numbers: readonly number[]): void {
  const wrong = numbers.find((number) => !Number.isFinite(number));
  if (wrong !== undefined) throw invalid(name, "finite numbers", valueText(wrong));
}

function invalid(name: string, expected: string, got: string): UsageError {
  return new UsageError(
    "FIGURE_INVALID",
    `Expected ${expected} for the figure ${valueText(name)}, got ${got}. Look at what the study measured.`,
  );
}

const aFigure: Shape = object("a figure, as figure() makes it", { name: aText, source: aText, expected: aNumber, found: aNumber });
const SIGNS: Readonly<Record<FigureRelation, string>> = { equal: "", "at most": "<= ", "at least": ">= " };

/** Returns a table of figures: what was expected and found, the interval of a mean, its samples, and the source. */
export function figuresText(figures: Iterable<Figure>): string {
  takes("figuresText", "figures", figures, iterable("figures"));
  const given = [...figures];
  takes("figuresText", "figures", given, listOf(aFigure));
  const rows = [["", "figure", "expected", "found", "interval", "samples", "source"], ...given.map(rowOf)];
  const widths = rows[0]?.map((_, column) => rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0)) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function rowOf({ name, source, expected, relation, found, interval, samples, holds }: Figure): readonly string[] {
  const range = interval?.map(numberText).join(" to ") ?? "exact";
  return [holds ? "ok" : "FAILED", name, SIGNS[relation] + numberText(expected), numberText(found), range, `${samples}`, source];
}

function numberText(value: number): string {
  return Number.isInteger(value) ? `${value}` : value.toPrecision(5);
}
