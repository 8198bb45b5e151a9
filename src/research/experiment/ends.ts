import type { CellJob } from "./cell.ts";
import type { CellEnd } from "./cell-run.ts";
import { type Row, rowOf, seriesRowsOf } from "./row.ts";
import { type FinishedCell, jobName } from "./sweep-folder.ts";

/** Returns the last end of each run, by the name of the run. */
export function endsOf(finished: readonly FinishedCell[]): Map<string, CellEnd> {
  return new Map(finished.map((one) => [jobName(one), one.end]));
}

/** Returns the rows of the runs that have ended, in the order of the jobs. */
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
    else for (const row of seriesRowsOf(job, end.series)) series.push(row);
  }
  return { rows, series, failed };
}
