import { aText, iterable, listOf, object, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { type CellJob, type CellValue, DEFAULT_ROUNDS, OWN_COLUMNS, isCellValue, jobName } from "./cell.ts";
import { optionalPackage } from "../../adapters/optional-package.ts";
import type { CellEnd, CellFailed, FinishedCell } from "./cell-run.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { type Known, checkGivenOptions } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { NORMAL_95, wilson } from "../statistics/interval.ts";
import { mean, standardError } from "../statistics/sample.ts";

/** Returns rows as lines of JSON. @throws UsageError `TABLE_INVALID` for a value that is no string, finite number, boolean or null */
export function jsonLinesTable(rows: Iterable<Row>): string {
  return [...jsonLinePieces(checkedRows("jsonLinesTable", rows))].join("");
}

/** Returns rows as CSV (RFC 4180) with a head. Null is an empty field, an empty string is `""`. @throws UsageError `TABLE_INVALID` */
export function csvTable(rows: Iterable<Row>): string {
  return [...csvPieces(checkedRows("csvTable", rows))].join("");
}

/**
 * Returns rows as a Parquet file, by the package `hyparquet-writer`. A column has one type: booleans, numbers (DOUBLE) or, where they
 * differ, strings.
 *
 * @throws UsageError `TABLE_INVALID` for no column, or a value that is no string, finite number, boolean or null; `PACKAGE_MISSING`
 */
export async function parquetTable(rows: Iterable<Row>): Promise<Uint8Array> {
  const table = checkedRows("parquetTable", rows);
  const columns = columnsOf(table);
  if (columns.length === 0) throw new UsageError("TABLE_INVALID", "Expected rows of parquetTable with at least one column, got none.");
  const { parquetWriteBuffer } = await optionalPackage("hyparquet-writer", "0.17", async () => import("hyparquet-writer"));
  const columnData = columns.map((name) => {
    const values = table.map((row) => row[name] ?? null);
    const type = typeOf(values);
    return { name, type, data: type === "STRING" ? values.map((value) => (value === null ? null : String(value))) : values };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

function typeOf(values: readonly CellValue[]): "BOOLEAN" | "DOUBLE" | "STRING" {
  const types = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  if (types.size !== 1) return "STRING";
  if (types.has("boolean")) return "BOOLEAN";
  return types.has("number") ? "DOUBLE" : "STRING";
}

function checkedRows(caller: string, rows: Iterable<Row>): readonly Row[] {
  takes(caller, "rows", rows, iterable("rows"));
  const checked: Row[] = [];
  for (const row of rows) {
    takes(caller, "a row", row, object("an object with values by the names of columns"));
    for (const [name, value] of Object.entries(row)) {
      if (isCellValue(value)) continue;
      throw new UsageError(
        "TABLE_INVALID",
        `Expected strings, finite numbers, booleans or null in rows of ${caller}, got ${valueText(value)} in the column ${valueText(name)}. Write parts as columns of their own, or as JSON.`,
      );
    }
    checked.push(row);
  }
  return checked;
}

/** One row of a table: of one run, or of one round of it. */
export type Row = { readonly [column: string]: CellValue };

/** Returns the row of a run: its parameters, its counts, its measures, and the error of a run that failed. Equal for equal runs. */
export function rowOf({ cell, params, rep, seed }: CellJob, end: CellEnd): Row {
  const identity = { cell, ...params, rep, seed };
  if (end.kind === "done") {
    const { rounds, tick, messages, unread, calls, usd, unpriced } = end.counts;
    return {
      ...identity,
      status: "done",
      ended: end.ended,
      ...{ rounds, tick, messages, unread, calls, usd, unpriced },
      ...end.measures,
      error: null,
    };
  }
  const counts = { rounds: null, tick: null, messages: null, unread: null, calls: null, usd: null, unpriced: null };
  return { ...identity, status: "failed", ended: null, ...counts, error: errorText(end) };
}

export function errorText({ code, message }: CellFailed): string {
  return `${code}: ${message}`;
}

/** Rows of one piece of a string: a string of V8 has at most half a gigabyte. */
const PIECE = 1_000;

export function* jsonLinePieces(rows: readonly Row[]): Generator<string> {
  yield* pieces(rows, (row) => `${JSON.stringify(row)}\n`);
}

function* pieces(rows: readonly Row[], lineOf: (row: Row) => string): Generator<string> {
  for (let start = 0; start < rows.length; start += PIECE)
    yield rows
      .slice(start, start + PIECE)
      .map(lineOf)
      .join("");
}

/** Returns all columns of rows, in the order in which they first come. The error is last. */
export function columnsOf(rows: readonly Row[]): readonly string[] {
  const columns = new Set<string>();
  for (const row of rows) for (const column of Object.keys(row)) columns.add(column);
  const hasError = columns.delete("error");
  return hasError ? [...columns, "error"] : [...columns];
}

export function* csvPieces(rows: readonly Row[]): Generator<string> {
  const columns = columnsOf(rows);
  if (columns.length === 0) return;
  const lineOf = (fields: readonly CellValue[]): string => `${fields.map(fieldOf).join(",")}\r\n`;
  yield lineOf(columns);
  yield* pieces(rows, (row) => lineOf(columns.map((column) => row[column] ?? null)));
}

function fieldOf(value: CellValue): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) || (value === "" && typeof value === "string") ? `"${text.replaceAll('"', '""')}"` : text;
}

export function endsOf(finished: readonly FinishedCell[]): Map<string, CellEnd> {
  return new Map(finished.map((one) => [jobName(one), one.end]));
}

interface TableRows {
  readonly rows: readonly Row[];
  readonly series: readonly Row[];
  readonly failed: number;
  /** Warnings for a reader of means: runs that the default limit cut, and repetitions that are equal. */
  readonly warnings: readonly string[];
}

export function rowsOf(jobs: readonly CellJob[], ends: ReadonlyMap<string, CellEnd>): TableRows {
  const rows: Row[] = [];
  const series: Row[] = [];
  let failed = 0;
  for (const job of jobs) {
    const end = ends.get(jobName(job));
    if (end === undefined) continue;
    rows.push(rowOf(job, end));
    if (end.kind === "failed") failed += 1;
    else
      for (const point of end.series)
        series.push({ cell: job.cell, ...job.params, rep: job.rep, seed: job.seed, ended: end.ended, ...point });
  }
  return { rows, series, failed, warnings: [...failedWarning(rows), ...cutWarning(rows), ...equalWarning(rows)] };
}

function failedWarning(rows: readonly Row[]): readonly string[] {
  const errors = rows.map(({ error }) => error).filter((error) => typeof error === "string");
  return errors.length === 0 ? [] : [`${errors.length} of ${rows.length} runs failed, the first with: ${errors[0]}`];
}

function cutWarning(rows: readonly Row[]): readonly string[] {
  const cut = rows.filter(isCut).length;
  if (cut === 0) return [];
  return [`${cut} of ${rows.length} runs were cut by the default limit of ${DEFAULT_ROUNDS} rounds, and means leave them out. Set rounds.`];
}

/** True for the row of a run that nothing but the default limit ended. The values of its rounds, in a series, are right. */
export function isCut({ ended, round }: { readonly [column: string]: unknown }): boolean {
  return ended === "limit" && round === undefined;
}

/** The fewest equal repetitions that are more than chance. */
const FEWEST_EQUAL = 3;

function equalWarning(rows: readonly Row[]): readonly string[] {
  const ended = rows.filter(({ error }) => typeof error !== "string");
  const cells = groupsOf(ended, ["cell"]);
  const equal = cells.filter(areEqual);
  const [first] = equal;
  if (first === undefined) return [];
  const which = equal.length === cells.length ? "of each cell" : `of cell ${[...equal].map(([run]) => run?.["cell"]).join(", ")}`;
  return [
    `All ${first.length} repetitions ${which} are equal. If their world ignores its seed, or draws nothing, they are one sample: pass the seed on, or set reps: 1.`,
  ];
}

function areEqual(runs: readonly Row[]): boolean {
  const outcomes = new Set(runs.map(({ cell: _cell, rep: _rep, seed: _seed, ...outcome }) => canonicalJson(outcome)));
  return runs.length >= FEWEST_EQUAL && outcomes.size === 1;
}

/** Counts how runs ended, as `idle 184, rounds 116`. A run counts once, however many rows of a series it has. */
export function endsText(rows: Iterable<{ readonly [column: string]: unknown }>): string {
  const runs = new Map(
    [...rows].map((row) => [row["round"] === undefined ? row : `${String(row["cell"])}-${String(row["rep"])}`, row["ended"]]),
  );
  const counts = new Map<string, number>();
  for (const ended of runs.values()) if (typeof ended === "string") counts.set(ended, (counts.get(ended) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([ended, count]) => `${ended} ${count}`)
    .join(", ");
}

export interface TableOptions {
  /** The columns whose equal values make a group: names of parameters. */
  readonly by: readonly string[];
  /** The columns to average. Default: all measures that are numbers, true or false. */
  readonly of?: readonly string[];
  /** Includes the runs that the default limit on rounds cut in the means. Default false. */
  readonly cut?: boolean;
}

const tableOptions: Known<TableOptions> = { by: kinds.texts, of: kinds.texts, cut: kinds.boolean };

/**
 * Returns a row for each group of runs: the number of its runs and of the failed ones, how the others ended, and for each column the mean and
 * its standard error, as `gini` and `gini_se`. A column of true and false has its share and the 95 % interval of Wilson (1927), as `poor`,
 * `poor_low` and `poor_high`. A mean is over the runs that have the value; the error is null for fewer than two, and for repetitions that are
 * equal in everything. Runs that the default limit on rounds cut are left out.
 *
 * @throws UsageError `EXPERIMENT_COLUMN` for an unknown column, and for values of `of` that are no numbers
 */
export function experimentTable(rows: readonly Row[], o: TableOptions): readonly Row[] {
  takes("experimentTable", "rows", rows, listOf({ says: "a row", fits: isRecord }));
  checkGivenOptions("experimentTable", o, tableOptions);
  takes("experimentTable", "by", o.by, listOf(aText));
  if (o.of !== undefined) takes("experimentTable", "of", o.of, listOf(aText));
  const columns = columnsOf(rows);
  const of = o.of ?? columns.filter((column) => !OWN_COLUMNS.includes(column) && !o.by.includes(column) && hasNumbers(rows, column));
  const unknown = rows.length === 0 ? undefined : [...o.by, ...of].find((column) => !columns.includes(column));
  if (unknown !== undefined)
    throw new UsageError("EXPERIMENT_COLUMN", `Expected a column of the rows, got ${valueText(unknown)}. Known: ${columns.join(", ")}.`);
  const hidden = ENDINGS.flatMap((ending) =>
    of.filter((column) => of.includes(`${column}${ending}`)).map((column) => [column, ending] as const),
  )[0];
  if (hidden !== undefined)
    throw new UsageError(
      "EXPERIMENT_COLUMN",
      `Expected columns to average whose errors have names of their own, got ${hidden[0]} and ${hidden.join("")}. Name one of them by of.`,
    );
  return groupsOf(rows, o.by).map((group) => groupRow(group, o, of));
}

function groupsOf(rows: readonly Row[], by: readonly string[]): readonly (readonly Row[])[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = canonicalJson(by.map((column) => row[column] ?? null));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

const ENDINGS = ["_se", "_low", "_high"] as const;

function groupRow(group: readonly Row[], { by, cut = false }: TableOptions, of: readonly string[]): Row {
  const row: Record<string, CellValue> = {};
  for (const column of by) row[column] = group[0]?.[column] ?? null;
  row["runs"] = group.length;
  row["failed"] = group.filter(({ status }) => status === "failed").length;
  const ends = endsText(group);
  if (ends !== "") row["ended"] = ends;
  const used = cut ? group : group.filter((one) => !isCut(one));
  const isOne = groupsOf(used, ["cell"]).every(areEqual);
  for (const column of of) {
    const values = used.flatMap((one) => numberIn(column, one[column] ?? null));
    row[column] = values.length === 0 ? null : mean(values);
    if (isShare(used, column)) Object.assign(row, shareColumns(column, values));
    else row[`${column}_se`] = values.length < 2 || isOne ? null : standardError(values);
  }
  return row;
}

function isShare(rows: readonly Row[], column: string): boolean {
  const values = rows.map((row) => row[column] ?? null).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => typeof value === "boolean");
}

function shareColumns(column: string, values: readonly number[]): Row {
  const { low, high } = wilson(mean(values), values.length, NORMAL_95);
  return { [`${column}_low`]: low, [`${column}_high`]: high };
}

function hasNumbers(rows: readonly Row[], column: string): boolean {
  const types = new Set(rows.map((row) => typeof (row[column] ?? undefined)));
  types.delete("undefined");
  return types.size > 0 && !types.has("string");
}

function numberIn(column: string, value: CellValue): readonly number[] {
  if (value === null) return [];
  if (typeof value === "boolean") return [value ? 1 : 0];
  if (typeof value === "number") return [value];
  throw new UsageError(
    "EXPERIMENT_COLUMN",
    `Expected numbers in the column ${column}, got ${valueText(value)}. Leave it out of the columns to average.`,
  );
}

/**
 * Returns a series in which every run reaches the last round of all: a run that has ended keeps its last values. It is right for states,
 * such as a share of agents, and wrong for flows, such as the messages of a round. A value that no run has in a round is null there for
 * ended runs too.
 *
 * @throws UsageError `EXPERIMENT_COLUMN` for rows without the columns `cell`, `rep` and `round`
 */
export function heldSeries(series: readonly Row[]): readonly Row[] {
  takes("heldSeries", "series", series, listOf({ says: "a row", fits: isRecord }));
  const runs = new Map<string, Row[]>();
  const reported = new Map<number, Set<string>>();
  for (const row of series) {
    const { cell, rep, round } = row;
    if (typeof cell !== "number" || typeof rep !== "number" || typeof round !== "number")
      throw new UsageError(
        "EXPERIMENT_COLUMN",
        `Expected rows of a series with cell, rep and round, got ${valueText(row)}. Give it the series.`,
      );
    const name = `${cell}-${rep}`;
    const run = runs.get(name);
    if (run === undefined) runs.set(name, [row]);
    else run.push(row);
    const columns = reported.get(round) ?? new Set();
    reported.set(round, columns);
    for (const [column, value] of Object.entries(row)) if (value !== null) columns.add(column);
  }
  const rounds = [...reported.keys()].sort((a, b) => a - b);
  return [...runs.values()].flatMap((run) => [...run, ...heldRows(run, rounds, reported)]);
}

function heldRows(run: readonly Row[], rounds: readonly number[], reported: ReadonlyMap<number, ReadonlySet<string>>): readonly Row[] {
  const last: Record<string, CellValue> = {};
  for (const row of run) for (const [column, value] of Object.entries(row)) if (value !== null || !(column in last)) last[column] = value;
  return rounds
    .filter((round) => round > Number(last["round"]))
    .map((round) => {
      const columns = Object.entries(last).map(([column, value]) => [column, reported.get(round)?.has(column) === true ? value : null]);
      return { ...Object.fromEntries(columns), round } as Row;
    });
}
