import { type ChartSpec, chartSpec } from "./chart-spec.ts";
import { type Mark, type Marks, marksOf, rowsOf, titleText } from "./marks.ts";
import { type PlotOptions, type PlotRow, checkPlot } from "./plot-options.ts";
import type { LoggerInterface } from "vega";
import { UsageError } from "../../kernel/errors.ts";
import { thrownText } from "../../kernel/value-text.ts";
import { optionalPackage } from "../../adapters/optional-package.ts";
import type { TopLevelSpec } from "vega-lite";

/**
 * Draws rows as SVG: a line with intervals, points, bars, a histogram or a heat map. Equal rows and options give equal bytes. Rows without
 * a value in a needed column are left out, and the picture says how many; it also says when its means are over different numbers of rows.
 * True and false on an axis of numbers count 1 and 0. It needs the packages `vega`, `vega-lite` and `vega-interpreter`, and for intervals
 * `jstat`.
 *
 * @throws UsageError `PLOT_EMPTY` without rows; `PLOT_COLUMN` for an unknown column; `PLOT_VALUE`; `PLOT_TOO_LARGE` for more than 50,000
 * marks or 50 series; `PACKAGE_MISSING`
 */
export async function plotSvg(rows: Iterable<PlotRow>, o: PlotOptions): Promise<string> {
  checkPlot("plotSvg", o);
  return drawnSvg(chartSpec(o, await marksOf(rowsOf("plotSvg", rows), o)));
}

const MAX_TOLD = 500;

/** Draws rows as a page of HTML without scripts or other files: the picture of {@link plotSvg}, and a table of its values. */
export async function plotHtml(rows: Iterable<PlotRow>, o: PlotOptions): Promise<string> {
  checkPlot("plotHtml", o);
  const drawn = await marksOf(rowsOf("plotHtml", rows), o);
  return page(titleText(o.title ?? `A plot of kind ${o.kind}`), await drawnSvg(chartSpec(o, drawn)), table(o, drawn));
}

function page(title: string, svg: string, rows: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 15px/1.5 Helvetica, Arial, sans-serif; color: #1f2328; background: white; }
figure { margin: 0; overflow-x: auto; }
table { border-collapse: collapse; margin-top: 0.5rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.8rem; border-bottom: 1px solid #d8dee4; text-align: left; }
td.number { text-align: right; }
</style>
</head>
<body>
<main>
<figure>${svg}</figure>
<details>
<summary>The values</summary>
${rows}
</details>
</main>
</body>
</html>
`;
}

function table(plot: PlotOptions, { marks }: Marks): string {
  const columns = columnsOf(plot, marks);
  const head = columns.map(([name]) => `<th scope="col">${escaped(titleText(name))}</th>`).join("");
  const body = marks.slice(0, MAX_TOLD).map((mark) => `<tr>${columns.map(([, valueOf]) => cell(valueOf(mark))).join("")}</tr>`);
  const more = marks.length > MAX_TOLD ? `<p>and ${marks.length - MAX_TOLD} more</p>` : "";
  return `<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join("\n")}\n</tbody>\n</table>${more}`;
}

type Column = readonly [name: string, valueOf: (mark: Mark) => number | string | undefined];

function columnsOf(plot: PlotOptions, marks: readonly Mark[]): readonly Column[] {
  const series: readonly Column[] = "series" in plot && plot.series !== undefined ? [[plot.series, (mark) => mark.series]] : [];
  const ends: readonly Column[] = [
    ["from", (mark) => mark.low],
    ["to", (mark) => mark.high],
  ];
  const counts: readonly Column[] = [["rows", (mark) => mark.rows]];
  switch (plot.kind) {
    case "histogram":
      return [...series, ...ends, ["rows", (mark) => mark.y]];
    case "heatmap":
      return [[plot.x, (mark) => mark.x], [plot.y, (mark) => mark.y], [plot.value, (mark) => mark.value], ...counts];
    default:
      return [
        ...series,
        [plot.x, (mark) => mark.x],
        [plot.y, (mark) => mark.y],
        ...(marks.some(({ low, high }) => low !== high) ? ends : []),
        ...(plot.kind === "points" ? [] : counts),
      ];
  }
}

function cell(value: number | string | undefined): string {
  const text = typeof value === "number" ? String(Number(value.toPrecision(6))) : escaped(value ?? "");
  return typeof value === "number" ? `<td class="number">${text}</td>` : `<td>${text}</td>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** The drawing under way. Vega numbers the gradients and clips of a drawing with one counter for the process. */
let last: Promise<unknown> = Promise.resolve();

/** Draws a chart as SVG. Expressions are interpreted, so no string becomes code. @throws UsageError `PACKAGE_MISSING`; `PLOT_VALUE` */
async function drawnSvg(spec: ChartSpec): Promise<string> {
  const drawing = last.then(async () => draw(spec));
  last = drawing.catch(() => undefined);
  return drawing;
}

async function draw(spec: ChartSpec): Promise<string> {
  const compile = await chartCompiler();
  const { parse, resetSVGDefIds, View } = await optionalPackage("vega", "6", async () => import("vega"));
  const { expressionInterpreter } = await optionalPackage("vega-interpreter", "2", async () => import("vega-interpreter"));
  const faults: unknown[] = [];
  const logger = loggerInto(faults);
  const chart = parse(compile(spec, logger), undefined, { ast: true });
  const view = new View(chart, { expr: expressionInterpreter, renderer: "none", logger });
  try {
    resetSVGDefIds();
    const svg = await view.toSVG();
    if (faults.length === 0) return svg;
    throw faults[0] instanceof Error ? faults[0] : new Error(String(faults[0]));
  } catch (cause) {
    throw new UsageError(
      "PLOT_VALUE",
      `Expected rows that Vega can draw, got some it cannot: ${thrownText(faults[0] ?? cause)}. Scale the numbers, or plot a part of them.`,
      { cause },
    );
  } finally {
    view.finalize();
  }
}

/** Vega continues after an error and draws a part: errors are kept here. */
function loggerInto(faults: unknown[]): LoggerInterface {
  const logger: LoggerInterface = {
    level: ((level?: number) => (level === undefined ? 1 : logger)) as LoggerInterface["level"],
    error: (...reported) => {
      faults.push(reported[0]);
      return logger;
    },
    warn: () => logger,
    info: () => logger,
    debug: () => logger,
  };
  return logger;
}

export type CompileChart = (spec: ChartSpec, logger: LoggerInterface) => ReturnType<typeof import("vega-lite").compile>["spec"];

/** The `toJSON` that vega-lite gives every `Set` when it is loaded; undefined before, or where another loaded it. */
let ofSets: PropertyDescriptor | undefined;

/**
 * Loads vega-lite. Every `Set` has its `toJSON` only while a chart is compiled, because a set is no JSON elsewhere. @throws UsageError
 * `PACKAGE_MISSING`
 */
async function chartCompiler(): Promise<CompileChart> {
  const before = present();
  const { compile } = await optionalPackage("vega-lite", "6", async () => import("vega-lite"));
  if (present()?.value !== before?.value) {
    ofSets = present();
    put(before);
  }
  return (spec, logger) => {
    const own = present();
    if (ofSets !== undefined) put(ofSets);
    try {
      return compile(spec as unknown as TopLevelSpec, { logger }).spec;
    } finally {
      put(own);
    }
  };
}

function present(): PropertyDescriptor | undefined {
  return Object.getOwnPropertyDescriptor(Set.prototype, "toJSON");
}

function put(descriptor: PropertyDescriptor | undefined): void {
  if (descriptor === undefined) Reflect.deleteProperty(Set.prototype, "toJSON");
  else Object.defineProperty(Set.prototype, "toJSON", descriptor);
}
