import { iterable, object, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { PlotRow } from "./plot-options.ts";

/** A place on an axis or the name of a series. */
export type Place = number | string;

/** Limit on the characters of a title. */
const LONGEST_TITLE = 200;
/** Limit on the characters of a text on an axis, which is never cut: two places must not become one. */
const LONGEST_PLACE = 1_000;
/** Limit on the size of a number and, unless it is 0, on its nearness to 0: beyond it Vega finds no ticks for an axis. */
const MOST = 1e100;

/** Returns the rows of a plot as a list. @throws UsageError `ARGUMENT_INVALID`; `PLOT_EMPTY` without a row */
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

/**
 * Returns the number of a column in a row; undefined where the row has none. True and false are 1 and 0, so that their mean is a share.
 *
 * @throws UsageError `PLOT_VALUE` for another value, `NaN` and infinite numbers among them
 */
export function numberAt(row: PlotRow, column: string): number | undefined {
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
export function placeAt(row: PlotRow, column: string): Place | undefined {
  const value = valueAt(row, column);
  if (value === undefined || isPlain(value)) return value;
  if (typeof value === "boolean" || (typeof value === "string" && value.length <= LONGEST_PLACE)) return placeText(String(value));
  throw new UsageError(
    "PLOT_VALUE",
    `Expected texts of at most ${LONGEST_PLACE} characters or finite numbers in the column ${valueText(column)} of a plot, got ${valueText(value)}.`,
  );
}

function isPlain(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MOST && (value === 0 || Math.abs(value) >= 1 / MOST);
}

/** @throws UsageError `PLOT_COLUMN` where no row has the column */
export function checkColumn(rows: readonly PlotRow[], column: string): void {
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

/**
 * Returns a text that an axis or a legend can show. Vega takes the name of a member of every object, such as `constructor`, for that member;
 * a space without width before it prevents that.
 */
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
