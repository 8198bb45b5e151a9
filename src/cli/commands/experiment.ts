import { defined } from "../../kernel/value-kind.ts";
import { access, writeFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { UsageError } from "../../kernel/errors.ts";
import { succeeds } from "../../kernel/system-error.ts";
import { anExperiment, type AnyExperiment } from "../../research/experiment/experiment.ts";
import {
  csvTable,
  experimentTable as tableOf,
  heldSeries,
  plotHtml,
  plotSvg,
  readExperiment,
  replayCell,
  type Row,
  runExperiment,
  verifyExperiment,
} from "../../research/index.ts";
import { endsText } from "../../research/experiment/tables.ts";
import type { CellReplay } from "../../research/experiment/replay.ts";
import { askedIn } from "./experiment-parts.ts";
import type { SweepProgress } from "../../research/experiment/sweep.ts";
import type { ExitCode } from "../errors.ts";
import { wholeNumber } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { counted, elapsed, factLines, plural, shellWord, shown, tableLines, type TextStyle } from "../screen/text.ts";
import { printLines, printResult, report, resultStyle, type Session } from "../session.ts";
import { importedModule } from "../text-file.ts";
import { clauseText, thrownText } from "../../kernel/value-text.ts";
import { formatCost, usd } from "../../model/money.ts";
import type { KeptExperiment } from "../../research/experiment/sweep-folder.ts";
import type { SweepSpending, ModelSpending } from "../../research/experiment/cell-use.ts";
import type { PlotOptions } from "../../research/plot/plot-options.ts";

const MAX = 1_000_000;
const HINT = `Write: export const coins = experiment({ ... }), with experiment of "troupe/research".`;

export async function experimentRun(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const { experiment, bounds, out: usual } = await asked(session, module, flags);
  const wanted = flags.part === undefined || flags.out !== undefined ? usual : `${usual}-part-${flags.part.replace("/", "-of-")}`;
  const out = flags.anew === true ? await freeFolder(wanted) : wanted;
  const { rows, failed, warnings, kept } = await runExperiment(experiment, {
    ...{ ...bounds, ...askedIn(flags), ...defined({ workers: flags.workers }), out, again: flags.again === true },
    acceptChange: flags.acceptChange === true,
    onProgress: progressPrinter(session),
  });
  const exitCode = failed === 0 ? 0 : 1;
  const next = `troupe experiment ${failed === 0 ? "table" : "status"} ${shellWord(relative(session.host.cwd, out) || ".")}`;
  const sentence = `${plural(rows.length, "run")} in ${shown(out)}${failed === 0 ? "" : `, ${counted(failed)} failed`}. See: ${next}`;
  sayWarnings(session, warnings);
  await report(session, `${sentence}\nEnded by: ${endsText(rows) || "nothing yet"}.`, {
    type: "experiment",
    out,
    runs: rows.length,
    failed,
    kept,
    ended: endsText(rows),
    warnings,
    exitCode,
  });
  return exitCode;
}

export async function experimentVerify(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const { experiment, bounds } = await asked(session, module, flags);
  const { runs, concurrency, node } = flags;
  const { clock } = session.host;
  const began = clock.now();
  const print = progressPrinter(session);
  const found = await verifyExperiment(experiment, {
    onProgress: ({ total, done }) => print({ total, done, failed: 0, kept: 0, ms: clock.now() - began }),
    ...bounds,
    ...defined({ runs, concurrency: concurrency?.split(",").map((one) => wholeNumber("--concurrency", one, MAX)) }),
    ...defined({ nodes: node && [process.execPath, ...node] }),
  });
  const { isEqual, ways, differences, warnings } = found;
  sayWarnings(session, warnings);
  const lines = differences.flatMap(({ job, left, right, text }) => [
    `cell ${job.cell}, repetition ${job.rep}: ${shown(left, 200)} (left) and ${shown(right, 200)} (right) differ`,
    ...text.split("\n").map((line) => `  ${shown(line, 400)}`),
  ]);
  const exitCode = isEqual ? 0 : 1;
  const sum = `${plural(found.runs, "run")} in ${plural(ways.length, "way")}: ${isEqual ? "equal" : `${counted(differences.length)} differ`}`;
  await printResult(session, { type: "verified", exitCode, ...found }, () => [...lines, sum]);
  return exitCode;
}

export async function experimentReplay(session: Session, flags: Flags, module: string): Promise<ExitCode> {
  const { experiment, bounds, out } = await asked(session, module, flags);
  const replay = await replayCell(experiment, { ...bounds, cell: flags.cell ?? 0, rep: flags.rep ?? 0, out });
  const { row, journal, place, changed = [], events } = replay;
  const exitCode = changed.length === 0 ? 0 : 1;
  const facts = {
    type: "replayed",
    exitCode,
    row,
    journal,
    place: place ?? null,
    changed,
    events: events.length,
    isRecorded: replay.isRecorded,
  };
  await printResult(session, facts, () => replayLines(replay));
  return exitCode;
}

function replayLines({ row, journal, place, changed = [], events, isRecorded }: CellReplay): readonly string[] {
  const store = shellWord(journal?.path ?? "");
  const same =
    changed.length === 0
      ? "The row is the one of the sweep."
      : `The row differs from the one of the sweep in ${changed.map((name) => shown(name, 60)).join(", ")}.`;
  const failed = row["status"] === "failed" ? [`The run failed: ${shown(String(row["error"]), 600)}`] : [];
  return [
    ...failed,
    ...(place === undefined ? [] : [`At ${shown(place, 200)}`]),
    `${plural(events.length, "event")}${isRecorded ? " of its record: no model was asked" : ""}. ${same}`,
    `See: troupe inspect --store ${store}`,
    `     troupe runs show ${shellWord(journal?.runId ?? "")} --store ${store}`,
  ];
}

async function asked({ host, interruptions }: Session, file: string, flags: Flags) {
  const path = resolve(host.cwd, file);
  const name = shown(file, 200);
  if (!(await succeeds(access(path)))) throw unreadable(`a module with an experiment at ${name}, got no such file. ${HINT}`);
  const exported = Object.values(await importedModule(path, "a module with an experiment", "EXPERIMENT_UNREADABLE"));
  const found = [...new Set(exported)].filter((one): one is AnyExperiment => anExperiment.fits(one));
  const named = flags.name === undefined ? found : found.filter((one) => one.name === flags.name);
  const [experiment] = named;
  if (experiment === undefined || named.length > 1) {
    const names = found.map((one) => shown(one.name, 60));
    const got = names[0] === undefined ? `none. ${HINT}` : `${names.join(", ")}. Name one: --name ${names[0]}`;
    const which = flags.name === undefined ? "" : ` of the name ${shown(flags.name, 60)}`;
    throw unreadable(`${name} to export one experiment${which}, got ${got}`);
  }
  const { timeLimit, memory } = flags;
  return {
    experiment,
    out: resolve(host.cwd, flags.out ?? `experiments/${experiment.name.replace(/[^\w.-]+/g, "-").replace(/^\.+/, "") || "experiment"}`),
    bounds: {
      module: pathToFileURL(path).href,
      signal: interruptions.signal,
      ...defined({ timeLimit: timeLimit === 0 ? Number.MAX_SAFE_INTEGER : timeLimit }),
      ...defined({ memory: memory === undefined ? undefined : wholeNumber("--memory", memory, MAX) }),
    },
  };
}

function unreadable(expected: string): UsageError {
  return new UsageError("EXPERIMENT_UNREADABLE", `Expected ${expected}`);
}

const MAX_FOLDERS = 1_000;

async function freeFolder(wanted: string): Promise<string> {
  for (let n = 1; n <= MAX_FOLDERS; n += 1) {
    const folder = n === 1 ? wanted : `${wanted}-${n}`;
    if (!(await succeeds(access(folder)))) return folder;
  }
  throw new UsageError("OPTION_INVALID", `Expected a free folder beside ${shown(wanted)}, got none. Name another by --out.`);
}

function sayWarnings({ screen }: Session, warnings: readonly string[]): void {
  for (const warning of warnings) screen.print([screen.style.warn(shown(warning, 600))], 2);
}

const STEPS = 10;

function progressPrinter({ json, screen }: Session): (progress: SweepProgress) => void {
  let last = -1;
  return (progress) => {
    const step = Math.floor((STEPS * progress.done) / Math.max(1, progress.total));
    if (step === last) return;
    last = step;
    if (json === undefined) screen.say(progressText(progress));
    else void json.write({ type: "progress", ...progress });
  };
}

function progressText({ total, done, failed, kept, ms }: SweepProgress): string {
  const now = done - kept;
  const left = now > 0 && done < total ? `, about ${elapsed((ms / now) * (total - done))} left` : "";
  return `${counted(done)} of ${plural(total, "run")}${failed === 0 ? "" : `, ${counted(failed)} failed`}, ${elapsed(ms)}${left}`;
}

const DIGITS = 4;
/** Digits of a standard error; its mean is shown to the same decimal place, because further ones say nothing. */
const DIGITS_OF_ERROR = 2;
const MAX_DECIMALS = 12;
const MAX_ERRORS = 10;

export async function experimentStatus(session: Session, _flags: Flags, dir: string): Promise<ExitCode> {
  const kept = await readExperiment(resolve(session.host.cwd, dir));
  const { manifest, total, done, failed, failures, warnings, rows, ms, spent, lost, uncertain } = kept;
  const { experiment, versions, commit, machine, began } = manifest;
  const exitCode = done === total && failed === 0 ? 0 : 1;
  const errors = failures.map(({ cell, rep, error, place }) => {
    const at = place === undefined ? "" : ` At ${shown(place, 200)}`;
    return `cell ${cell}, repetition ${rep}: ${shown(error, 300)}${at}`;
  });
  const { module: _module, ...facts } = manifest;
  const changed = commit?.changed === true ? ", with changes" : "";
  const printed = {
    type: "status",
    exitCode,
    total,
    done,
    failed,
    ms,
    spent,
    lost,
    uncertain,
    ended: endsText(rows),
    warnings,
    manifest: facts,
    errors,
  };
  await printResult(session, printed, (style) => [
    ...factLines(
      [
        ["name", shown(experiment.name, 100)],
        ["cells", `${counted(experiment.cells.length)}, ${plural(experiment.reps, "repetition")}, seed ${shown(experiment.seed, 60)}`],
        ["runs", `${counted(done)} of ${counted(total)}, ${counted(failed)} failed, ${elapsed(ms)} of work`],
        ["ended", endsText(rows) || undefined],
        ["spent", spentText({ spent, lost, uncertain })],
        ["began", shown(began, 40)],
        ["commit", commit === null ? undefined : `${shown(commit.id.slice(0, 12), 20)}${changed}`],
        ["made by", `troupe ${shown(versions.troupe, 40)}, Node.js ${shown(versions.node, 40)}, ${shown(machine.cpu, 80)}`],
      ],
      style,
    ),
    ...errors.slice(0, MAX_ERRORS).map((line) => style.style.bad(line)),
    ...warnings.map((warning) => style.style.warn(shown(warning, 600))),
    ...(errors.length > MAX_ERRORS ? [`and ${counted(errors.length - MAX_ERRORS)} more`] : []),
  ]);
  return exitCode;
}

/** `40 calls, $0.12; 3 calls, $0.01 of it are in no row: the run failed, or its process died` */
function spentText({ spent, lost, uncertain }: SweepSpending): string | undefined {
  const text = (of: ModelSpending): string => `${plural(of.calls, "call")}, ${formatCost({ known: usd(of.usd), unpriced: of.unpriced })}`;
  const isNothing = (of: ModelSpending): boolean => of.calls + of.usd + of.unpriced === 0;
  if (isNothing(spent) && uncertain === 0) return undefined;
  const doubt = uncertain === 0 ? "" : `; ${plural(uncertain, "more call")} may have been paid: they were in flight when a process died`;
  const part = lost.calls === 0 ? formatCost({ known: usd(lost.usd), unpriced: lost.unpriced }) : text(lost);
  const gone = isNothing(lost) ? "" : `; ${part} of it are in no row: the run failed, or its process died`;
  return `${text(spent)}${gone}${doubt}`;
}

export async function experimentTable(session: Session, flags: Flags, dir: string): Promise<void> {
  const kept = await readExperiment(resolve(session.host.cwd, dir));
  const by = columnsIn(flags.by) ?? kept.params;
  const of = columnsIn(flags.of);
  const rest = kept.params.filter((name) => !by.includes(name) && of?.includes(name) !== true);
  const rows = kept.rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !rest.includes(name))));
  const table = tableOf(rows, { by, ...defined({ of, cut: flags.cut }) });
  sayWarnings(session, kept.warnings);
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
  const columns = names.filter((name) => !/_(se|low|high)$/.test(name) || !names.includes(name.replace(/_(se|low|high)$/, "")));
  const captions = [
    ...(names.some((name) => columns.includes(name) && names.includes(`${name}_se`)) ? ["a ± b: a mean and its standard error"] : []),
    ...(names.some((name) => columns.includes(name) && names.includes(`${name}_low`))
      ? ["a [b, c]: a share and its 95 % interval (Wilson)"]
      : []),
  ];
  const lines = tableLines(
    columns.map((name) => shown(name, 40)),
    table.map((row) => columns.map((name) => cellText(row, name))),
    style,
  );
  return captions.length === 0 ? lines : [...lines, captions.join("; ")];
}

function cellText(row: Row, name: string): string {
  const value = row[name] ?? null;
  const [low, high] = [row[`${name}_low`], row[`${name}_high`]];
  if (typeof low === "number" && typeof high === "number") return `${numberText(value)} [${numberText(low)}, ${numberText(high)}]`;
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
  const { cut } = flags;
  if (kind !== "heatmap" && flags.value !== undefined)
    throw new UsageError("OPTION_INVALID", `Expected --value with --kind heatmap, got it with ${kind}. Name the column by --y.`);
  if (kind === "heatmap")
    return { kind, x, y: flags.y ?? variedIn(kept, x), value: flags.value ?? measuredIn(kept, x, rows), title, ...defined({ cut }) };
  const series = defined({ series: flags.series, cut });
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
  const measure = Object.keys(first ?? {}).find((name) => [`${name}_se`, `${name}_low`].some((error) => error in (first ?? {})));
  if (measure !== undefined) return measure;
  throw new UsageError("OPTION_INVALID", "Expected a measure that is a number, got none. Name a column: --y messages.");
}
