import { numberWith } from "../../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { aConfidence } from "../statistics/interval.ts";

/** A row of a table: the values of its columns by their names. */
export type PlotRow = Readonly<Record<string, unknown>>;

/** The size is that of the area between the axes, in pixels from 50 to 4,000. The title of an axis is by default the name of its column. */
export interface PlotFrame {
  readonly title?: string;
  /** Default 480. */
  readonly width?: number;
  /** Default 300. */
  readonly height?: number;
  readonly xTitle?: string;
  readonly yTitle?: string;
  /** Draws also the runs that the default limit on rounds cut. Default false. */
  readonly cut?: boolean;
  /** The column whose values have a picture each, of the given size, with equal axes: at most 20. */
  readonly facet?: string;
}

/** What is known or expected, dashed. An axis of strings has no reference, and no curve. */
export interface PlotReference {
  /** A line at a number of an axis. */
  readonly reference?: { readonly x?: number; readonly y?: number };
  /** A function from x to y, such as a theory, drawn over the range of the rows. It returns finite numbers. */
  readonly curve?: (x: number) => number;
}

/** The columns of the horizontal axis, of the vertical axis (numbers), and of the colours. Default: one series. */
export interface PlotColumns {
  readonly x: string;
  readonly y: string;
  readonly series?: string;
}

/** Rows with equal `x` and series are one mark, at their mean. */
export interface MeanColumns extends PlotColumns {
  /** `t`: the t interval of the mean, for true and false that of Wilson (1927), where there are two rows or more. It needs `jstat`. Default `t`. */
  readonly interval?: "t" | "none";
  readonly confidence?: number;
}

/** `log` needs numbers above 0. Default `linear`. */
export interface PlotScales {
  readonly xScale?: "linear" | "log";
  readonly yScale?: "linear" | "log";
}

/** Means over `x`, joined by a line, with a band for the interval. */
export interface LinePlot extends PlotFrame, MeanColumns, PlotScales, PlotReference {
  readonly kind: "line";
}

export interface PointPlot extends PlotFrame, PlotScales, PlotColumns, PlotReference {
  readonly kind: "points";
}

/** A bar for the mean of each `x`, side by side for several series, with a line for the interval. */
export interface BarPlot extends PlotFrame, MeanColumns, Pick<PlotReference, "reference"> {
  readonly kind: "bars";
}

/** A histogram: the number of rows that have values in each of some ranges of equal width. */
export interface HistogramPlot extends PlotFrame, Pick<PlotColumns, "x" | "series">, PlotReference {
  readonly kind: "histogram";
  /** Number of ranges, from 1 to 1,000. Default: the rule of Sturges, one more than the binary logarithm of the number of rows. */
  readonly bins?: number;
}

/** A field for each pair of `x` and `y`, coloured by the mean of `value`. */
export interface HeatMapPlot extends PlotFrame, Pick<PlotColumns, "x" | "y"> {
  readonly kind: "heatmap";
  readonly value: string;
  readonly valueTitle?: string;
}

export type PlotOptions = LinePlot | PointPlot | BarPlot | HistogramPlot | HeatMapPlot;

const { text, checked } = kinds;
const pixels = numberWith("a number from 50 to 4,000", (value) => value >= 50 && value <= 4_000);
const someBins = numberWith("a whole number from 1 to 1,000", (value) => Number.isInteger(value) && value >= 1 && value <= 1_000);
const scale = kinds.oneOf("linear", "log");
const frame = {
  kind: checked,
  title: text,
  width: pixels,
  height: pixels,
  xTitle: text,
  yTitle: text,
  cut: kinds.boolean,
  facet: text,
} as const;
const means = { x: text, y: text, series: text, interval: kinds.oneOf("t", "none"), confidence: aConfidence } as const;
const reference = kinds.options({ x: kinds.number, y: kinds.number });
const known = { reference, curve: kinds.function } as const;
const scales = { xScale: scale, yScale: scale } as const;

const line: Known<LinePlot> = { ...frame, ...means, ...scales, ...known };
const points: Known<PointPlot> = { ...frame, ...scales, ...known, x: text, y: text, series: text };
const bars: Known<BarPlot> = { ...frame, ...means, reference };
const histogram: Known<HistogramPlot> = { ...frame, ...known, x: text, series: text, bins: someBins };
const heatmap: Known<HeatMapPlot> = { ...frame, x: text, y: text, value: text, valueTitle: text };
const options: Readonly<Record<PlotOptions["kind"], Known<Record<string, unknown>>>> = { line, points, bars, histogram, heatmap };
const anyKind: Known<Record<string, unknown>> = { ...line, ...points, ...bars, ...histogram, ...heatmap };

export function checkPlot(caller: string, o: PlotOptions): void {
  checkGivenOptions(caller, o, anyKind);
  const { kind } = o;
  if (typeof kind !== "string" || !Object.hasOwn(options, kind))
    throw invalid(caller, "kind", `one of ${Object.keys(options).join(", ")}`, kind);
  checkGivenOptions(`${caller} of kind ${kind}`, o, options[kind]);
  const given: { readonly [name: string]: unknown } = { ...o };
  for (const name of ["x", "y", "value"])
    if (options[kind][name] !== undefined && typeof given[name] !== "string")
      throw invalid(caller, name, "the name of a column", given[name]);
}

function invalid(caller: string, option: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected the option ${option} of ${caller} to be ${expected}, got ${valueText(came)}.`);
}
