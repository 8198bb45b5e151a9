import { iterable, object, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { type CellJob, type CellValue, isCellValue, jobName } from "./cell.ts";
import { optionalPackage } from "../../adapters/optional-package.ts";
import type { CellEnd, CellFailed, FinishedCell } from "./cell-run.ts";

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
  const kinds = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  if (kinds.size !== 1) return "STRING";
  if (kinds.has("boolean")) return "BOOLEAN";
  return kinds.has("number") ? "DOUBLE" : "STRING";
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
    const { rounds, messages, calls, usd, unpriced } = end.counts;
    return { ...identity, status: "done", ended: end.ended, rounds, messages, calls, usd, unpriced, ...end.measures, error: null };
  }
  const counts = { rounds: null, messages: null, calls: null, usd: null, unpriced: null };
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

export function rowsOf(
  jobs: readonly CellJob[],
  ends: ReadonlyMap<string, CellEnd>,
): { readonly rows: readonly Row[]; readonly series: readonly Row[]; readonly failed: number } {
  const rows: Row[] = [];
  const series: Row[] = [];
  let failed = 0;
  for (const job of jobs) {
    const end = ends.get(jobName(job));
    if (end === undefined) continue;
    rows.push(rowOf(job, end));
    if (end.kind === "failed") failed += 1;
    else for (const point of end.series) series.push({ cell: job.cell, ...job.params, rep: job.rep, seed: job.seed, ...point });
  }
  return { rows, series, failed };
}
