import { listOf, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { CellValue } from "./cell.ts";
import type { Row } from "./row.ts";

/**
 * Returns a series in which every run reaches the last round of all: a run that has ended keeps its last values. Without it a mean over late
 * rounds is one of the runs that lasted, and rises or falls because others have left. It is right for states, such as a share of agents, and
 * wrong for flows, such as the messages of a round, which are 0 after the end.
 *
 * A value that no run has in a round, because a reporter leaves it out, is null there for ended runs too.
 *
 * @param series that of `runExperiment` or of `readExperiment`
 * @throws UsageError `EXPERIMENT_COLUMN` for rows without the columns `cell`, `rep` and `round`; `ARGUMENT_INVALID`
 *
 * @example
 * import { heldSeries } from "troupe/research";
 *
 * const series = [
 *   { cell: 0, rep: 0, round: 1, share: 0.5 },
 *   { cell: 0, rep: 1, round: 1, share: 0.5 },
 *   { cell: 0, rep: 1, round: 2, share: 1 },
 * ];
 * console.log(heldSeries(series).filter(({ round }) => round === 2).map(({ share }) => share)); // [ 0.5, 1 ]
 */
export function heldSeries(series: readonly Row[]): readonly Row[] {
  takes("heldSeries", "series", series, listOf({ says: "a row", fits: isRecord }));
  const runs = new Map<string, Row[]>();
  const told = new Map<number, Set<string>>();
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
    const columns = told.get(round) ?? new Set();
    told.set(round, columns);
    for (const [column, value] of Object.entries(row)) if (value !== null) columns.add(column);
  }
  const rounds = [...told.keys()].sort((a, b) => a - b);
  return [...runs.values()].flatMap((run) => [...run, ...heldRows(run, rounds, told)]);
}

function heldRows(run: readonly Row[], rounds: readonly number[], told: ReadonlyMap<number, ReadonlySet<string>>): readonly Row[] {
  const last: Record<string, CellValue> = {};
  for (const row of run) for (const [column, value] of Object.entries(row)) if (value !== null || !(column in last)) last[column] = value;
  return rounds
    .filter((round) => round > Number(last["round"]))
    .map((round) => {
      const columns = Object.entries(last).map(([column, value]) => [column, told.get(round)?.has(column) === true ? value : null]);
      return { ...Object.fromEntries(columns), round } as Row;
    });
}
