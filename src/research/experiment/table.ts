import { aText, listOf, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { mean, standardError } from "../statistics/sample.ts";
import { type CellValue, OWN_COLUMNS } from "./cell.ts";
import { columnsOf, type Row } from "./tables.ts";

export interface TableOptions {
  /** The columns whose equal values make a group: names of parameters. */
  readonly by: readonly string[];
  /** The columns to average. Default: all measures that are numbers, true or false. */
  readonly of?: readonly string[];
}

const tableOptions: Known<TableOptions> = { by: kinds.texts, of: kinds.texts };

/**
 * Returns a row for each group of runs: the number of its runs and of the failed ones, and for each column the mean and its standard error,
 * as `gini` and `gini_se`. True and false count 1 and 0. A mean is over the runs that have the value; the error is null for fewer than two.
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
  const hidden = of.find((column) => of.includes(`${column}_se`));
  if (hidden !== undefined)
    throw new UsageError(
      "EXPERIMENT_COLUMN",
      `Expected columns to average whose standard errors have names of their own, got ${hidden} and ${hidden}_se. Name one of them by of.`,
    );
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = canonicalJson(o.by.map((column) => row[column] ?? null));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()].map((group) => groupRow(group, o.by, of));
}

function groupRow(group: readonly Row[], by: readonly string[], of: readonly string[]): Row {
  const row: Record<string, CellValue> = {};
  for (const column of by) row[column] = group[0]?.[column] ?? null;
  row["runs"] = group.length;
  row["failed"] = group.filter(({ status }) => status === "failed").length;
  for (const column of of) {
    const values = group.flatMap((one) => numberIn(column, one[column] ?? null));
    row[column] = values.length === 0 ? null : mean(values);
    row[`${column}_se`] = values.length < 2 ? null : standardError(values);
  }
  return row;
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
