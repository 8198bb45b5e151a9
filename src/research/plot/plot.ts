import { chartSpec } from "./chart-spec.ts";
import { drawnSvg } from "./draw.ts";
import { type Mark, type Marks, marksOf, rowsOf, titleText } from "./marks.ts";
import { type PlotOptions, type PlotRow, checkPlot } from "./plot-options.ts";

/**
 * Draws rows as SVG: a line with intervals, points, bars, a histogram or a heat map. Equal rows and options give equal bytes. Rows without
 * a value in a needed column are left out, and the picture says how many; it also says when its means are over different numbers of rows.
 * True and false on an axis of numbers count 1 and 0. It needs the packages `vega`, `vega-lite` and `vega-interpreter`, and for intervals
 * `jstat`.
 *
 * @throws UsageError `PLOT_EMPTY` without rows; `PLOT_COLUMN` for an unknown column; `PLOT_VALUE`; `PLOT_TOO_LARGE` for more than 50,000
 * marks, 50 series or 20 facets; `PACKAGE_MISSING`
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
  const facet: readonly Column[] = plot.facet === undefined ? [] : [[plot.facet, (mark) => mark.facet]];
  const ends: readonly Column[] = [
    ["from", (mark) => mark.low],
    ["to", (mark) => mark.high],
  ];
  const counts: readonly Column[] = [["rows", (mark) => mark.rows]];
  switch (plot.kind) {
    case "histogram":
      return [...facet, ...series, ...ends, ["rows", (mark) => mark.y]];
    case "heatmap":
      return [...facet, [plot.x, (mark) => mark.x], [plot.y, (mark) => mark.y], [plot.value, (mark) => mark.value], ...counts];
    default:
      return [
        ...facet,
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
