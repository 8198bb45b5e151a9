import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { isPlain, type Mark, type Marks, type Place, titleText } from "./marks.ts";
import type { HeatMapPlot, HistogramPlot, PlotFrame, PlotOptions, PlotReference, PlotScales } from "./plot-options.ts";

/** Colours that people with colour blindness can tell apart (Okabe and Ito 2008), then more of them. */
const FEW_COLOURS: readonly string[] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];
const INK = "#1f2328";
const FAINT = "#57606a";
/** The most fields of a heat map with a number on each. */
const MAX_NUMBERED = 150;
const DEFAULT_WIDTH = 480;
const DEFAULT_HEIGHT = 300;

/** Drawing instructions of Vega-Lite. Its own type of them is too large for the parts to be checked one by one. */
export type ChartSpec = Readonly<Record<string, unknown>>;

/**
 * Returns the drawing instructions of a plot. The columns have other names there, because Vega reads dots and brackets in a name as a path.
 *
 * @throws UsageError `PLOT_VALUE` for a logarithm of a number that is not above 0
 */
export function chartSpec(plot: PlotOptions, { marks, leftOut, notes = [] }: Marks): ChartSpec {
  const said = notesOf(marks, leftOut, [...notes, ...dashedOf(plot)]);
  const title = plot.title === undefined ? undefined : titleText(plot.title);
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description: title ?? `A plot of kind ${plot.kind}`,
    background: "white",
    padding: 12,
    autosize: { type: "pad" },
    ...(title === undefined && said.length === 0 ? {} : { title: titleOf(title, said, limitOf(plot, marks)) }),
    data: { values: dataOf(plot, marks) },
    ...facetsOf(plot, marks, {
      width: plot.width ?? DEFAULT_WIDTH,
      height: plot.height ?? DEFAULT_HEIGHT,
      layer: [layersOf(plot, marks), ...referencesOf(plot, marks)],
    }),
    config: config(),
  };
}

const COLUMNS = 3;

function limitOf({ width = DEFAULT_WIDTH }: PlotFrame, marks: readonly Mark[]): number {
  return width * Math.min(COLUMNS, Math.max(1, new Set(marks.map(({ facet }) => facet)).size));
}

function facetsOf(plot: PlotOptions, marks: readonly Mark[], spec: ChartSpec): ChartSpec {
  if (plot.facet === undefined) return spec;
  const names = [...new Set(marks.map(({ facet }) => facet))];
  const header = { title: titleText(plot.facet), labelLimit: plot.width ?? DEFAULT_WIDTH };
  return { facet: { field: "facet", type: "nominal", sort: names, header }, columns: COLUMNS, spec };
}

function dashedOf(plot: PlotFrame & PlotReference): readonly string[] {
  const dashed = (["reference", "curve"] as const).filter((name) => plot[name] !== undefined);
  return dashed.length === 0 ? [] : [`dashed: ${dashed.join(" and ")}`];
}

/** Returns what a reader must know of the rows: how many have no place, and that the means are not of equally many. */
function notesOf(marks: readonly Mark[], leftOut: number, more: readonly string[]): readonly string[] {
  const counts = marks.map(({ rows = 1 }) => rows);
  const least = counts.reduce((low, rows) => Math.min(low, rows), Infinity);
  const most = counts.reduce((high, rows) => Math.max(high, rows), 0);
  const notes = [
    ...(leftOut === 0 ? [] : [`${leftOut} row${leftOut === 1 ? "" : "s"} without a value left out`]),
    ...(least < most ? [`means of ${least} to ${most} rows`] : []),
    ...more,
  ];
  return notes;
}

function titleOf(title: string | undefined, notes: readonly string[], limit: number): ChartSpec {
  const place = { anchor: "start", frame: "group", offset: 12, limit };
  if (title !== undefined) return { ...place, text: title, ...(notes.length === 0 ? {} : { subtitle: notes }) };
  return { ...place, text: notes, fontSize: 11, fontWeight: "normal", color: FAINT };
}

function config(): ChartSpec {
  const font = "Helvetica, Arial, sans-serif";
  const words = { labelFont: font, titleFont: font, labelColor: FAINT, titleColor: INK, labelFontSize: 11, titleFontSize: 12 };
  return {
    font,
    view: { stroke: null },
    title: { font, fontSize: 14, color: INK, subtitleColor: FAINT, subtitleFontSize: 11 },
    axis: { ...words, titleFontWeight: "normal", titlePadding: 8, gridColor: "#e6e8eb", domainColor: "#8c959f", tickColor: "#8c959f" },
    header: { ...words, titleFontWeight: "normal" },
    legend: { ...words, titleFontWeight: "normal", labelLimit: 160, titleLimit: 160, symbolOpacity: 1 },
  };
}

/** Numbers on fields of a heat map stand out from their field. */
function dataOf(plot: PlotOptions, marks: readonly Mark[]): Mark[] {
  if (plot.kind !== "heatmap") return [...marks];
  const values = marks.map(({ value = 0 }) => value);
  const least = values.reduce((one, other) => Math.min(one, other), Infinity);
  const most = values.reduce((one, other) => Math.max(one, other), -Infinity);
  return marks.map((mark) => ({ ...mark, ink: (mark.value ?? 0) - least > (most - least) * 0.6 ? INK : "#ffffff" }));
}

function layersOf(plot: PlotOptions, marks: readonly Mark[]): ChartSpec {
  switch (plot.kind) {
    case "line":
      return {
        encoding: { x: axisOf("x", plot, marks), ...seriesOf(plot.series, marks) },
        layer: [
          ...(hasInterval(marks) ? [{ mark: { type: "area", opacity: 0.18 }, encoding: band(plot, marks) }] : []),
          { mark: { type: "line", strokeWidth: 2, point: { size: 32 } }, encoding: { y: axisOf("y", plot, marks) } },
        ],
      };
    case "points":
      return {
        mark: { type: "point", filled: true, size: 40, opacity: marks.length > 200 ? 0.4 : 0.75 },
        encoding: { x: axisOf("x", plot, marks), y: axisOf("y", plot, marks), ...seriesOf(plot.series, marks) },
      };
    case "bars":
      return {
        encoding: {
          x: discreteOf("x", plot.xTitle ?? plot.x, plot, marks),
          ...(plot.series === undefined ? {} : { xOffset: { field: "series", sort: null } }),
        },
        layer: [
          { mark: { type: "bar", opacity: 0.9 }, encoding: { y: axisOf("y", plot, marks), ...seriesOf(plot.series, marks) } },
          ...(hasInterval(marks) ? [{ mark: { type: "rule", strokeWidth: 1.5, color: INK }, encoding: { ...band(plot, marks) } }] : []),
        ],
      };
    case "histogram":
      return histogramLayers(plot, marks);
    case "heatmap":
      return heatLayers(plot, marks);
  }
}

function histogramLayers(plot: HistogramPlot, marks: readonly Mark[]): ChartSpec {
  const x = { ...axisOf("x", plot, marks), field: "low" };
  return {
    mark: {
      type: "rect",
      ...(plot.series === undefined ? { opacity: 0.9, stroke: "white", strokeWidth: 0.5 } : { fillOpacity: 0.25, strokeWidth: 1.5 }),
    },
    encoding: {
      x,
      x2: { field: "high" },
      y: axisOf("y", { ...plot, y: "rows" }, marks),
      y2: { datum: 0 },
      ...seriesOf(plot.series, marks),
      ...(plot.series === undefined ? {} : { stroke: seriesOf(plot.series, marks)["color"] }),
    },
  };
}

function heatLayers(plot: HeatMapPlot, marks: readonly Mark[]): ChartSpec {
  const colour = {
    field: "value",
    type: "quantitative",
    scale: { scheme: "viridis", zero: false, nice: false },
    legend: { title: titleText(plot.valueTitle ?? plot.value), gradientLength: 160, tickCount: 5 },
  };
  const places = { x: discreteOf("x", plot.xTitle ?? plot.x, plot, marks), y: discreteOf("y", plot.yTitle ?? plot.y, plot, marks) };
  const numbers = {
    mark: { type: "text", fontSize: 11 },
    encoding: { text: { field: "value", type: "quantitative", format: ".3~g" }, color: { field: "ink", type: "nominal", scale: null } },
  };
  return {
    encoding: places,
    // The ink of a number has the channel of colours to itself: all facets share the scale of the fields.
    layer: [{ mark: "rect", encoding: { fill: colour } }, ...(marks.length <= MAX_NUMBERED ? [numbers] : [])],
  };
}

/** Points of a curve: a line through them looks smooth. */
const SAMPLES = 100;

/** Lines that are known, over the whole of an axis, and a curve over the range of the marks. */
function referencesOf(plot: PlotOptions, marks: readonly Mark[]): readonly ChartSpec[] {
  if (plot.kind === "heatmap") return [];
  const axes: PlotFrame & PlotScales & PlotReference & AxisColumns = { ...plot, y: plot.kind === "histogram" ? "rows" : plot.y };
  const { reference = {}, curve } = axes;
  const isNumbers = marks.every(({ x }) => typeof x === "number") && plot.kind !== "bars";
  if (!isNumbers && (curve !== undefined || reference.x !== undefined)) throw unplaced("numbers on the x axis for a reference or a curve");
  const dashed = { strokeDash: [5, 4], strokeWidth: 1.5, color: INK };
  const scaled = (channel: "x" | "y", values: readonly Mark[]): ChartSpec => {
    const field = channel === "x" && plot.kind === "histogram" ? { field: "x" } : {};
    return { [channel]: { ...axisOf(channel, axes, [...marks, ...values]), ...field } };
  };
  const lines = (["x", "y"] as const).flatMap((channel) => {
    const at = reference[channel];
    if (at === undefined) return [];
    const value: Mark = { x: 1, y: 1, series: "", facet: "", [channel]: pointOf(channel, at, axes) };
    return [{ data: { values: [value] }, mark: { type: "rule", ...dashed }, encoding: scaled(channel, []) }];
  });
  if (curve === undefined) return lines;
  const ends = marks.flatMap(({ x, high = x }) => (plot.kind === "histogram" ? [Number(x), high as number] : [Number(x)]));
  const [least, most] = ends.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity] as const);
  const isLog = axes.xScale === "log";
  const values = Array.from({ length: SAMPLES + 1 }, (_, n): Mark => {
    const x = isLog ? least * (most / least) ** (n / SAMPLES) : least + (most - least) * (n / SAMPLES);
    return { x, y: pointOf("y", curve(x), axes, ` for ${x}`), series: "", facet: "" };
  });
  const encoding = { ...scaled("x", []), ...scaled("y", []) };
  return [...lines, { data: { values }, mark: { type: "line", ...dashed }, encoding }];
}

/** Returns a number of a reference or a curve that its axis can show. @throws UsageError `PLOT_VALUE` */
function pointOf(channel: "x" | "y", at: unknown, plot: PlotScales, where = ""): number {
  const isLog = plot[`${channel}Scale`] === "log";
  if (isPlain(at) && (!isLog || at > 0)) return at;
  throw unplaced(`${isLog ? "numbers above 0" : "finite numbers"} from a reference or a curve on the ${channel} axis`, at, where);
}

function unplaced(expected: string, came: unknown = "texts", where = ""): UsageError {
  return new UsageError("PLOT_VALUE", `Expected ${expected}, got ${valueText(came)}${where}. Leave it out, or plot another range.`);
}

function hasInterval(marks: readonly Mark[]): boolean {
  return marks.some(({ low, high }) => low !== high);
}

function band(plot: PlotOptions, marks: readonly Mark[]): ChartSpec {
  return { y: { ...axisOf("y", plot, marks), field: "low" }, y2: { field: "high" } };
}

function axisOf(channel: "x" | "y", plot: PlotFrame & PlotScales & AxisColumns, marks: readonly Mark[]): ChartSpec {
  const title = (channel === "x" ? plot.xTitle : plot.yTitle) ?? plot[channel] ?? "";
  const places = marks.map((mark) => mark[channel]);
  if (!places.every((place) => typeof place === "number")) return discreteOf(channel, title, plot, marks);
  const isLog = plot[`${channel}Scale`] === "log";
  if (isLog) checkAboveZero(channel, marks);
  const isCounted = plot.kind === "bars" || plot.kind === "histogram";
  const isWhole = places.every((place) => Number.isInteger(place));
  return {
    field: channel,
    type: "quantitative",
    axis: {
      ...axisTitle(channel, title, plot),
      ...ticksOf(channel, plot),
      ...(isLog ? { format: "~s" } : isWhole ? { tickMinStep: 1 } : {}),
    },
    scale: {
      ...(isLog ? { type: "log" } : linearScale(marks, channel, isCounted)),
      nice: channel === "y",
      ...(plot.kind === "points" && channel === "x" ? { padding: 8 } : {}),
    },
  };
}

const LABEL: Readonly<Record<"x" | "y", number>> = { x: 70, y: 40 };

function ticksOf(channel: "x" | "y", { width = DEFAULT_WIDTH, height = DEFAULT_HEIGHT }: PlotFrame): ChartSpec {
  const length = channel === "x" ? width : height;
  return { tickCount: Math.max(2, Math.round(length / LABEL[channel])), labelOverlap: "greedy" };
}

/** Marks at one place stand in the middle of an axis around it. */
function linearScale(marks: readonly Mark[], channel: "x" | "y", isCounted: boolean): ChartSpec {
  const ends = marks.flatMap(({ x, y, low = y, high = y }) => (channel === "x" ? [Number(x)] : [Number(low), Number(high)]));
  const [least = 0] = ends;
  if (isCounted || ends.some((end) => end !== least)) return { type: "linear", zero: channel === "y" && isCounted };
  return { type: "linear", domain: [least - Math.max(1, Math.abs(least) / 2), least + Math.max(1, Math.abs(least) / 2)] };
}

interface AxisColumns {
  readonly kind: string;
  readonly x?: string;
  readonly y?: string;
}

/** Numbers stand in their order, strings in the order of the rows. */
function discreteOf(channel: "x" | "y", title: string, plot: PlotFrame, marks: readonly Mark[]): ChartSpec {
  const places = [...new Set(marks.map((mark) => mark[channel]))];
  const sort = places.every((place) => typeof place === "number") ? places.toSorted((a, b) => Number(a) - Number(b)) : places;
  return {
    field: channel,
    type: "ordinal",
    sort,
    axis: { ...axisTitle(channel, title, plot), labelAngle: angleOf(channel, sort), labelLimit: 200 },
  };
}

function axisTitle(channel: "x" | "y", title: string, { width = DEFAULT_WIDTH, height = DEFAULT_HEIGHT }: PlotFrame): ChartSpec {
  return { title: titleText(title), titleLimit: channel === "x" ? width : height };
}

/** Labels that would not fit side by side stand aslant. */
function angleOf(channel: "x" | "y", places: readonly Place[]): number {
  const longest = places.reduce<number>((most, place) => Math.max(most, String(place).length), 0);
  return channel === "x" && longest * places.length > 70 ? -40 : 0;
}

function seriesOf(column: string | undefined, marks: readonly Mark[]): ChartSpec {
  if (column === undefined) return { color: { value: FEW_COLOURS[0] } };
  const names = [...new Set(marks.map(({ series }) => series))];
  const range = names.length <= FEW_COLOURS.length ? { range: FEW_COLOURS.slice(0, names.length) } : { scheme: "tableau20" };
  return { color: { field: "series", type: "nominal", scale: { domain: names, ...range }, legend: { title: titleText(column) } } };
}

function checkAboveZero(channel: "x" | "y", marks: readonly Mark[]): void {
  const least = marks.reduce(
    (low, mark) => Math.min(low, Number(mark[channel]), channel === "y" ? (mark.low ?? Infinity) : Infinity),
    Infinity,
  );
  if (least > 0) return;
  throw new UsageError(
    "PLOT_VALUE",
    `Expected numbers above 0 on the ${channel} axis with the scale "log", got ${least}. Take the scale "linear"${channel === "y" ? ', or the interval "none"' : ""}.`,
  );
}
