import type { CellJob, CellValue } from "./cell.ts";
import type { CellEnd, CellFailed, SeriesPoint } from "./cell-run.ts";

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

/** Returns the error of a run as a table has it. */
export function errorText({ code, message }: CellFailed): string {
  return `${code}: ${message}`;
}

/** Returns the rows of the series of a run, one for each round. */
export function seriesRowsOf({ cell, params, rep, seed }: CellJob, points: readonly SeriesPoint[]): readonly Row[] {
  return points.map((point) => ({ cell, ...params, rep, seed, ...point }));
}

/** Rows of one piece of a text: a text of V8 has at most half a gigabyte. */
const PIECE = 1_000;

/** Returns rows as lines of JSON. */
export function jsonLinesOf(rows: readonly Row[]): string {
  return [...jsonLinePieces(rows)].join("");
}

/** Gives rows as lines of JSON, piece by piece. */
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

/** Returns rows as CSV (RFC 4180) with a head. Null is an empty field. */
export function csvOf(rows: readonly Row[]): string {
  return [...csvPieces(rows)].join("");
}

/** Gives rows as CSV, piece by piece; nothing for rows without a column. */
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
