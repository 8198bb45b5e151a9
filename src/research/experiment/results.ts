import { jobName, jobsOf } from "./cell.ts";
import { resolve } from "node:path";
import { aText, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { shownText } from "../../kernel/value-text.ts";
import type { CellEnd } from "./cell-run.ts";
import type { Manifest } from "./manifest.ts";
import { endsOf, errorText, type Row, rowsOf } from "./tables.ts";
import { type SweepSpending, sweepUse } from "./cell-use.ts";
import { finishedIn, manifestIn } from "./sweep-folder.ts";

export interface FailedRun {
  readonly cell: number;
  readonly rep: number;
  /** Its code and its message, as its row has them. */
  readonly error: string;
  /** The file, line and column of the program at which it was thrown, where that is known. */
  readonly place: string | undefined;
}

export interface KeptExperiment extends SweepSpending {
  readonly manifest: Manifest;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly failures: readonly FailedRun[];
  /** Milliseconds that the ended runs took, one after another. */
  readonly ms: number;
  readonly params: readonly string[];
  readonly rows: readonly Row[];
  /** One row for each round of each run, where the experiment collects. */
  readonly series: readonly Row[];
}

/** Reads the folder of a sweep, also of one that is under way. @throws UsageError `EXPERIMENT_UNKNOWN`, `EXPERIMENT_DAMAGED` */
export async function readExperiment(folder: string): Promise<KeptExperiment> {
  takes("readExperiment", "folder", folder, aText);
  const path = resolve(folder);
  const manifest = await manifestIn(path);
  if (manifest === undefined)
    throw new UsageError(
      "EXPERIMENT_UNKNOWN",
      `Expected the folder of an experiment, got ${shownText(folder)}. Name the one that has the results: the out of runExperiment, or --out of troupe experiment run.`,
    );
  const { finished } = await finishedIn(path);
  const { cells } = manifest.experiment;
  const ends: ReadonlyMap<string, CellEnd> = endsOf(finished);
  const jobs = jobsOf(cells, manifest.experiment);
  const { rows, series, failed } = rowsOf(jobs, ends);
  const failures = jobs.flatMap((job): readonly FailedRun[] => {
    const end = ends.get(jobName(job));
    return end?.kind === "failed" ? [{ cell: job.cell, rep: job.rep, error: errorText(end), place: end.place }] : [];
  });
  const ms = finished.reduce((sum, one) => sum + one.ms, 0);
  const { use: _use, ...spending } = sweepUse(finished);
  const params = Object.keys(cells[0] ?? {});
  return { ...spending, manifest, total: jobs.length, done: rows.length, failed, failures, ms, params, rows, series };
}
