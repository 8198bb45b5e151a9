import { UsageError } from "../../kernel/errors.ts";
import { endsText, isCut } from "../experiment/tables.ts";
import { DEFAULT_CONFIDENCE, shareInterval, tInterval } from "../statistics/interval.ts";
import { mean } from "../statistics/sample.ts";
import type { BarPlot, HeatMapPlot, HistogramPlot, LinePlot, PlotOptions, PlotRow, PointPlot } from "./plot-options.ts";
import { iterable, object, takes } from "../../kernel/argument.ts";
import { valueText } from "../../kernel/value-text.ts";

export interface Mark {
  readonly x: Place;
  readonly y: Place;
  readonly series: string;
  readonly facet: string;
  /** The ends of an interval, or of a range of a histogram. */
  readonly low?: number;
  readonly high?: number;
  readonly value?: number;
  readonly rows?: number;
}

export interface Marks {
  readonly marks: readonly Mark[];
  /** Rows that have no value in a column that is needed. */
  readonly leftOut: number;
  /** What the picture says of its intervals, and of the ends of runs. */
  readonly notes?: readonly string[];
}

const MAX_MARKS = 50_000;
const MAX_SERIES = 50;
const MAX_FACETS = 20;

/** Returns what a plot draws. @throws UsageError `PLOT_COLUMN`, `PLOT_VALUE`, `PLOT_TOO_LARGE`, `PACKAGE_MISSING` */
export async function marksOf(rows: readonly PlotRow[], plot: PlotOptions): Promise<Marks> {
  for (const column of columnsOf(plot)) checkColumn(rows, column);
  const used = plot.cut === true ? rows : rows.filter((row) => !isCut(row));
  const made = await madeOf(used, plot);
  if (made.marks.length > MAX_MARKS) throw tooLarge(`${MAX_MARKS} marks`, made.marks.length);
  const series = new Set(made.marks.map((mark) => mark.series)).size;
  if (series > MAX_SERIES) throw tooLarge(`${MAX_SERIES} series`, series);
  const facets = new Set(made.marks.map((mark) => mark.facet)).size;
  if (facets > MAX_FACETS) throw tooLarge(`${MAX_FACETS} facets`, facets);
  const ends = endsText(rows);
  const cut = rows.length - used.length;
  const notes = [...(ends === "" ? [] : [`runs ended by: ${ends}`]), ...(cut === 0 ? [] : [`${cut} cut by the default limit left out`])];
  return { ...made, notes: [...(made.notes ?? []), ...notes] };
}

async function madeOf(rows: readonly PlotRow[], plot: PlotOptions): Promise<Marks> {
  switch (plot.kind) {
    case "line":
    case "bars":
      return meanMarks(rows, plot);
    case "points":
      return pointMarks(rows, plot);
    case "histogram":
      return histogramMarks(rows, plot);
    case "heatmap":
      return heatMarks(rows, plot);
  }
}

function columnsOf(plot: PlotOptions): readonly string[] {
  const columns = [plot.x, plot.kind === "histogram" ? undefined : plot.y, plot.kind === "heatmap" ? plot.value : plot.series, plot.facet];
  return columns.filter((column) => column !== undefined);
}

interface Cell extends Pick<Mark, "x" | "y" | "series" | "facet"> {
  readonly values: number[];
}

class Cells {
  readonly all: Map<string, Cell> = new Map();
  leftOut = 0;

  add(x: Place | undefined, y: Place | undefined, group: Group | undefined, value: number | undefined): void {
    if (x === undefined || y === undefined || group === undefined || value === undefined) {
      this.leftOut += 1;
      return;
    }
    const key = JSON.stringify([x, y, group.series, group.facet]);
    const cell = this.all.get(key);
    if (cell === undefined) this.all.set(key, { x, y, ...group, values: [value] });
    else cell.values.push(value);
  }
}

async function meanMarks(rows: readonly PlotRow[], plot: LinePlot | BarPlot): Promise<Marks> {
  const cells = new Cells();
  for (const row of rows) cells.add(placeAt(row, plot.x), 0, groupAt(row, plot), numberAt(row, plot.y));
  const marks: Mark[] = [];
  const confidence = plot.confidence ?? DEFAULT_CONFIDENCE;
  const isShare = rows.every((row) => typeof (valueAt(row, plot.y) ?? true) === "boolean");
  const intervalOf = isShare ? shareInterval : tInterval;
  let hasIntervals = false;
  for (const { values, ...cell } of cells.all.values()) {
    const y = mean(values);
    const isBare = plot.interval === "none" || values.length < 2;
    hasIntervals ||= !isBare;
    const { low, high } = isBare ? { low: y, high: y } : await intervalOf(values, { confidence });
    marks.push({ ...cell, y, low, high, rows: values.length });
  }
  const notes = hasIntervals ? [`${Number((100 * confidence).toFixed(3))} % intervals (${isShare ? "Wilson" : "t"})`] : [];
  return { marks, leftOut: cells.leftOut, notes };
}

function pointMarks(rows: readonly PlotRow[], plot: PointPlot): Marks {
  const marks: Mark[] = [];
  for (const row of rows) {
    const [x, y, group] = [placeAt(row, plot.x), numberAt(row, plot.y), groupAt(row, plot)];
    if (x !== undefined && y !== undefined && group !== undefined) marks.push({ x, y, ...group });
  }
  return { marks, leftOut: rows.length - marks.length };
}

function histogramMarks(rows: readonly PlotRow[], plot: HistogramPlot): Marks {
  const cells = new Cells();
  for (const row of rows) cells.add(0, 0, groupAt(row, plot), numberAt(row, plot.x));
  const all = [...cells.all.values()].flatMap(({ values }) => values);
  if (all.length === 0) return { marks: [], leftOut: cells.leftOut };
  const bins = plot.bins ?? Math.ceil(Math.log2(all.length)) + 1;
  const [least, most] = all.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity] as const);
  // Equal values fill one range around them.
  const [start, width] = least === most ? [least - 0.5, 1 / bins] : [least, (most - least) / bins];
  const marks = [...cells.all.values()].flatMap(({ values, ...cell }) => {
    const counts = Array.from({ length: bins }, () => 0);
    for (const value of values) {
      const bin = Math.min(bins - 1, Math.floor((value - start) / width));
      counts[bin] = (counts[bin] ?? 0) + 1;
    }
    return counts.map((y, bin): Mark => ({
      ...cell,
      x: start + bin * width,
      y,
      low: start + bin * width,
      high: start + (bin + 1) * width,
    }));
  });
  return { marks, leftOut: cells.leftOut };
}

function heatMarks(rows: readonly PlotRow[], plot: HeatMapPlot): Marks {
  const cells = new Cells();
  for (const row of rows) cells.add(placeAt(row, plot.x), placeAt(row, plot.y), groupAt(row, plot), numberAt(row, plot.value));
  const marks = [...cells.all.values()].map(({ values, ...cell }): Mark => ({ ...cell, value: mean(values), rows: values.length }));
  return { marks, leftOut: cells.leftOut };
}

type Group = Pick<Mark, "series" | "facet">;

function groupAt(row: PlotRow, plot: PlotOptions): Group | undefined {
  const at = (column: string | undefined): Place | undefined => (column === undefined ? "" : placeAt(row, column));
  const [series, facet] = [at(plot.kind === "heatmap" ? undefined : plot.series), at(plot.facet)];
  return series === undefined || facet === undefined ? undefined : { series: String(series), facet: String(facet) };
}

function tooLarge(most: string, came: number): UsageError {
  return new UsageError("PLOT_TOO_LARGE", `Expected at most ${most} in one plot, got ${came}. Group the rows, or plot a part of them.`);
}

export type Place = number | string;

const LONGEST_TITLE = 200;
/** Limit on the characters of a string on an axis, which is never cut: two places must not become one. */
const LONGEST_PLACE = 1_000;
/** Limit on the size of a number and, unless it is 0, on its nearness to 0: beyond it Vega finds no ticks for an axis. */
const MOST = 1e100;

export function rowsOf(caller: string, given: Iterable<PlotRow>): readonly PlotRow[] {
  takes(caller, "rows", given, iterable("rows"));
  const rows: PlotRow[] = [];
  for (const row of given) {
    takes(caller, "a row", row, object("an object with values by the names of columns"));
    rows.push(row);
  }
  if (rows.length > 0) return rows;
  throw new UsageError("PLOT_EMPTY", `Expected at least one row of ${caller}, got none. Give it the rows of an experiment.`);
}

/** Returns the number of a column in a row, undefined for none. True and false are 1 and 0. @throws UsageError `PLOT_VALUE` */
function numberAt(row: PlotRow, column: string): number | undefined {
  const value = valueAt(row, column);
  if (value === undefined) return undefined;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (isPlain(value)) return value;
  throw new UsageError(
    "PLOT_VALUE",
    `Expected finite numbers of at most ${MOST} in the column ${valueText(column)} of a plot, got ${valueText(value)}. Leave out the row, or plot another column.`,
  );
}

/** Returns the place of a row on an axis; undefined where the row has none. @throws UsageError `PLOT_VALUE` */
function placeAt(row: PlotRow, column: string): Place | undefined {
  const value = valueAt(row, column);
  if (value === undefined || isPlain(value)) return value;
  if (typeof value === "boolean" || (typeof value === "string" && value.length <= LONGEST_PLACE)) return placeText(String(value));
  throw new UsageError(
    "PLOT_VALUE",
    `Expected texts of at most ${LONGEST_PLACE} characters or finite numbers in the column ${valueText(column)} of a plot, got ${valueText(value)}.`,
  );
}

export function isPlain(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MOST && (value === 0 || Math.abs(value) >= 1 / MOST);
}

function checkColumn(rows: readonly PlotRow[], column: string): void {
  if (rows.some((row) => valueAt(row, column) !== undefined)) return;
  const names = [...new Set(rows.slice(0, 100).flatMap((row) => Object.keys(row)))];
  throw new UsageError(
    "PLOT_COLUMN",
    `Expected rows with the column ${valueText(column)}, got none with a value in it. Their columns: ${valueText(names.slice(0, 20))}.`,
  );
}

/** Returns a title without characters that XML cannot hold, of bounded length. */
export function titleText(text: string): string {
  const plain = plainText(text);
  return plain.length <= LONGEST_TITLE ? plain : `${plain.slice(0, LONGEST_TITLE - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

/** Vega takes the name of a member of every object, such as `constructor`, for that member; a space without width before it prevents that. */
function placeText(text: string): string {
  const plain = plainText(text);
  return plain in Object.prototype ? `\u200b${plain}` : plain;
}

function plainText(text: string): string {
  return text.replace(/[\t\n\r]+/g, " ").replace(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd");
}

function valueAt(row: PlotRow, column: string): unknown {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  return value === null ? undefined : value;
}
