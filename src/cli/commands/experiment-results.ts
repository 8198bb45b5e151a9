import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { UsageError } from "../../kernel/errors.ts";
import { clauseText, thrownText } from "../../kernel/value-text.ts";
import { formatCost, usd } from "../../model/money.ts";
import { csvTable, experimentTable as tableOf, heldSeries, plotHtml, plotSvg, readExperiment, type Row } from "../../research/index.ts";
import type { KeptExperiment } from "../../research/experiment/sweep-folder.ts";
import type { SweepSpending, ModelSpending } from "../../research/experiment/cell-use.ts";
import type { PlotOptions } from "../../research/plot/plot-options.ts";
import type { ExitCode } from "../errors.ts";
import type { Flags } from "../options.ts";
import { counted, elapsed, plural } from "../screen/amounts.ts";
import { factLines, tableLines, type TextStyle } from "../screen/layout.ts";
import { shown } from "../screen/text.ts";
import { printLines, printResult, report, resultStyle, type Session } from "../session.ts";

const DIGITS = 4;
/** Digits of a standard error; its mean is shown to the same decimal place, because further ones say nothing. */
const DIGITS_OF_ERROR = 2;
const MAX_DECIMALS = 12;
const MAX_ERRORS = 10;

export async function experimentStatus(session: Session, _flags: Flags, dir: string): Promise<ExitCode> {
  const { manifest, total, done, failed, failures, ms, spent, lost } = await readExperiment(resolve(session.host.cwd, dir));
  const { experiment, versions, commit, machine, began } = manifest;
  const exitCode = done === total && failed === 0 ? 0 : 1;
  const errors = failures.map(({ cell, rep, error, place }) => {
    const at = place === undefined ? "" : ` At ${shown(place, 200)}`;
    return `cell ${cell}, repetition ${rep}: ${shown(error, 300)}${at}`;
  });
  const { module: _module, ...facts } = manifest;
  const changed = commit?.changed === true ? ", with changes" : "";
  const printed = { type: "status", exitCode, total, done, failed, ms, spent, lost, manifest: facts, errors };
  await printResult(session, printed, (style) => [
    ...factLines(
      [
        ["name", shown(experiment.name, 100)],
        ["cells", `${counted(experiment.cells.length)}, ${plural(experiment.reps, "repetition")}, seed ${shown(experiment.seed, 60)}`],
        ["runs", `${counted(done)} of ${counted(total)}, ${counted(failed)} failed, ${elapsed(ms)} of work`],
        ["spent", spentText({ spent, lost })],
        ["began", shown(began, 40)],
        ["commit", commit === null ? undefined : `${shown(commit.id.slice(0, 12), 20)}${changed}`],
        ["made by", `troupe ${shown(versions.troupe, 40)}, Node.js ${shown(versions.node, 40)}, ${shown(machine.cpu, 80)}`],
      ],
      style,
    ),
    ...errors.slice(0, MAX_ERRORS).map((line) => style.style.bad(line)),
    ...(errors.length > MAX_ERRORS ? [`and ${counted(errors.length - MAX_ERRORS)} more`] : []),
  ]);
  return exitCode;
}

/** `40 calls, $0.12; 3 calls, $0.01 of it are in no row: the run failed, or its process died` */
function spentText({ spent, lost }: SweepSpending): string | undefined {
  const text = (of: ModelSpending): string => `${plural(of.calls, "call")}, ${formatCost({ known: usd(of.usd), unpriced: of.unpriced })}`;
  const isNothing = (of: ModelSpending): boolean => of.calls + of.usd + of.unpriced === 0;
  if (isNothing(spent)) return undefined;
  return isNothing(lost) ? text(spent) : `${text(spent)}; ${text(lost)} of it are in no row: the run failed, or its process died`;
}

export async function experimentTable(session: Session, flags: Flags, dir: string): Promise<void> {
  const kept = await readExperiment(resolve(session.host.cwd, dir));
  const by = columnsIn(flags.by) ?? kept.params;
  const of = columnsIn(flags.of);
  const rest = kept.params.filter((name) => !by.includes(name) && of?.includes(name) !== true);
  const rows = kept.rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !rest.includes(name))));
  const table = tableOf(rows, { by, ...(of === undefined ? {} : { of }) });
  if (session.json !== undefined) for (const row of table) await session.json.write({ type: "group", ...row });
  else if (flags.csv === true) session.host.stdout.write(csvTable(table));
  else await printLines(session, shownTable(table, resultStyle(session)));
}

function columnsIn(text: string | undefined): readonly string[] | undefined {
  return text
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function shownTable(table: readonly Row[], style: TextStyle): readonly string[] {
  const [first] = table;
  if (first === undefined) return ["No run has ended yet."];
  const names = Object.keys(first);
  const columns = names.filter((name) => !(name.endsWith("_se") && names.includes(name.slice(0, -"_se".length))));
  return tableLines(
    columns.map((name) => shown(name, 40)),
    table.map((row) => columns.map((name) => cellText(row, name))),
    style,
  );
}

function cellText(row: Row, name: string): string {
  const value = row[name] ?? null;
  if (!(`${name}_se` in row)) return value === null ? "" : shown(String(value), 60);
  const error = row[`${name}_se`] ?? null;
  if (typeof value !== "number" || typeof error !== "number") return numberText(value);
  const decimals = error > 0 ? Math.max(0, DIGITS_OF_ERROR - 1 - Math.floor(Math.log10(error))) : MAX_DECIMALS + 1;
  if (decimals > MAX_DECIMALS) return `${numberText(value)} ± ${numberText(error)}`;
  return `${value.toFixed(decimals)} ± ${error.toFixed(decimals)}`;
}

function numberText(value: unknown): string {
  return typeof value === "number" ? String(Number(value.toPrecision(DIGITS))) : "";
}

export async function experimentPlot(session: Session, flags: Flags, dir: string): Promise<void> {
  const { cwd } = session.host;
  const kept = await readExperiment(resolve(cwd, dir));
  const rows = drawnRows(kept, flags);
  const options = plotOptions(kept, rows, flags);
  const out = resolve(cwd, flags.out ?? `${dir}/plot.svg`);
  if (!/\.(svg|html)$/.test(out))
    throw new UsageError("OPTION_INVALID", `Expected --out to be an .svg or an .html file, got ${shown(flags.out ?? "", 200)}.`);
  const drawn = await (out.endsWith(".svg") ? plotSvg(rows, options) : plotHtml(rows, options));
  await writeFile(out, drawn).catch((cause: unknown) => {
    const text = `Expected --out to be a file that can be written, but ${clauseText(thrownText(cause))}. Name another.`;
    throw new UsageError("OPTION_INVALID", text, { cause });
  });
  await report(session, `Drawn: ${shown(out)}`, { type: "plot", out, ...options });
}

function drawnRows({ series, rows }: KeptExperiment, { x, hold }: Flags): readonly Row[] {
  if (x === "round") return hold === true ? heldSeries(series) : series;
  if (hold === true) throw new UsageError("OPTION_INVALID", "Expected --hold with --x round, got it with another column. Leave it out.");
  return rows.filter(({ status }) => status === "done");
}

function plotOptions(kept: KeptExperiment, rows: readonly Row[], flags: Flags): PlotOptions {
  const kind = flags.kind ?? "line";
  const x = flags.x ?? variedIn(kept);
  const { name: title } = kept.manifest.experiment;
  if (kind !== "heatmap" && flags.value !== undefined)
    throw new UsageError("OPTION_INVALID", `Expected --value with --kind heatmap, got it with ${kind}. Name the column by --y.`);
  if (kind === "heatmap") return { kind, x, y: flags.y ?? variedIn(kept, x), value: flags.value ?? measuredIn(kept, x, rows), title };
  const series = flags.series === undefined ? {} : { series: flags.series };
  if (kind === "histogram") return { kind, x, title, ...series };
  return { kind, x, y: flags.y ?? measuredIn(kept, x, rows), title, ...series };
}

function variedIn({ manifest, params }: KeptExperiment, taken?: string): string {
  const { cells } = manifest.experiment;
  const free = params.filter((name) => name !== taken);
  const varied = free.find((name) => cells.some((cell) => cell[name] !== cells[0]?.[name])) ?? free[0];
  if (varied !== undefined) return varied;
  const option = taken === undefined ? "--x" : "--y";
  throw new UsageError("OPTION_INVALID", `Expected a parameter to draw by, got none. Name a column: ${option}.`);
}

function measuredIn({ params }: KeptExperiment, x: string, rows: readonly Row[]): string {
  const known = x === "round" ? [...params, x] : params;
  const [first] = rows.length === 0 ? [] : tableOf(rows, { by: known.filter((name) => name in (rows[0] ?? {})) });
  const measure = Object.keys(first ?? {}).find((name) => `${name}_se` in (first ?? {}));
  if (measure !== undefined) return measure;
  throw new UsageError("OPTION_INVALID", "Expected a measure that is a number, got none. Name a column: --y messages.");
}
