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

/** Returns rows as lines of JSON. */
export function jsonLinesOf(rows: readonly Row[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
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
  const columns = columnsOf(rows);
  if (columns.length === 0) return "";
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  return lines.map((line) => `${line.map(fieldOf).join(",")}\r\n`).join("");
}

function fieldOf(value: CellValue): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) || (value === "" && typeof value === "string") ? `"${text.replaceAll('"', '""')}"` : text;
}
