import type { CellEnd, FinishedCell } from "./cell-run.ts";
import { type CellJob, jobName } from "./cell.ts";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { takes } from "../../kernel/argument.ts";
import { canonicalJson } from "../../kernel/json.ts";
import {
  assertSame,
  type Manifest,
  withModule,
  manifestOf,
  moduleDifference,
  moduleFiles,
  type ModuleFiles,
  ownVersion,
} from "./manifest.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { type Clock, systemClock } from "../../kernel/clock.ts";
import { UsageError } from "../../kernel/errors.ts";
import { defaultLogger } from "../../kernel/default-logger.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { CELL_VARIABLE } from "./cell-process.ts";
import { type RecordRequest, recordedCost, recordOf } from "./cell-record.ts";
import type { WorldFacts } from "./odd.ts";
import { type LimitOptions, SweepHost } from "./sweep-host.ts";
import { cellRunner, checkProcessOptions, CONCURRENCY, processBounds, type ProcessBounds, WRITE_MODULE } from "./process-slot.ts";
import { anExperiment, type AnyExperiment } from "./experiment.ts";
import { endsOf, type Row, rowsOf } from "./tables.ts";
import type { SweepSpending } from "./cell-use.ts";
import { SweepFolder } from "./sweep-folder.ts";
import { modelLimits } from "../../index.ts";
import { type AskedRuns, askedPlan, askedRuns, folderJobs, type FolderPlan } from "./sweep-plan.ts";
import { writtenResults } from "./sweep-results.ts";

export interface SweepProgress {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Runs that an earlier sweep into the folder had finished. */
  readonly kept: number;
  /** Milliseconds since the sweep began. */
  readonly ms: number;
}

export interface RunExperimentOptions extends ProcessBounds, AskedRuns {
  /** The folder of the results. An interrupted sweep continues there. Default: nothing is kept. */
  readonly out?: string;
  /** Processes that run cells. Default: one less than this machine has cores. Needs `module`. */
  readonly workers?: number;
  /** Runs that failed are run again when the sweep continues. Default false. */
  readonly again?: boolean;
  /** Keeps a record of each run in `out`, by which it continues after a kill, if `world` takes `run`. Default: from its first paid call to a model on. */
  readonly record?: boolean;
  /** Micro-dollars that all runs of the folder may spend together: `usd(20)`. Needs `out`, and a `world` that takes `run`. Default: no bound. */
  readonly budget?: number;
  /** Limits on the calls of all processes together, for a `world` that takes `run`. Default: none. */
  readonly limits?: LimitOptions;
  /** Continues a folder whose module was changed since: the runs that are there stay. Default false: such a folder is refused. */
  readonly acceptChange?: boolean;
  /** Called at the start and whenever a run has ended. */
  readonly onProgress?: (progress: SweepProgress) => void;
}

const runOptions: Known<RunExperimentOptions> = {
  ...processBounds,
  out: { says: "the path of a folder", fits: (value) => typeof value === "string" && value !== "" && !value.includes("\0") },
  workers: kinds.size,
  ...kinds.each(kinds.boolean, "again", "record", "acceptChange"),
  ...askedRuns,
  budget: kinds.count,
  limits: kinds.checked,
  onProgress: kinds.function,
};

/** The results of a sweep, in the order of cells and repetitions. */
export interface ExperimentResult extends SweepSpending {
  readonly out: string | undefined;
  readonly rows: readonly Row[];
  /** One row for each round of each run, where the experiment collects. */
  readonly series: readonly Row[];
  readonly failed: number;
  /** Warnings for a reader of means: runs that the default limit cut, and repetitions that are equal. Logged too, without `onProgress`. */
  readonly warnings: readonly string[];
  /** Runs that an earlier sweep into the folder had finished. */
  readonly kept: number;
}

/**
 * Runs an experiment, or continues one in a folder. A run that fails has a row that says so, and the others continue. The rows do not
 * depend on the number of processes, nor on how often the sweep was interrupted. The folder gets `manifest.json`, `cells.jsonl` with a line
 * for each run as it ends, and at the end `rows` and `series` as `.jsonl`, `.csv` and, with the package `hyparquet-writer`, `.parquet`.
 *
 * @throws UsageError `EXPERIMENT_CHANGED` for a folder of another experiment or module; `EXPERIMENT_BUSY` while another sweep writes into
 * it; `EXPERIMENT_DAMAGED`, `EXPERIMENT_UNREADABLE`; `EXPERIMENT_NESTED` in a process of a sweep
 * @throws ControlError when the signal aborts; finished runs are kept
 */
export async function runExperiment(experiment: AnyExperiment, o: RunExperimentOptions = {}): Promise<ExperimentResult> {
  takes("runExperiment", "experiment", experiment, anExperiment);
  checkKnownOptions("runExperiment", o, runOptions);
  checkRunOptions(o);
  assertNotNested();
  throwIfAborted(o.signal);
  const { clock = systemClock } = o;
  if (o.out === undefined) return new Sweep(experiment, undefined, { ...o, clock }, askedPlan(experiment.plan, o)).run();
  const { folder, plan } = await openedFolder(experiment, resolve(o.out), o, clock);
  try {
    return await new Sweep(experiment, folder, { ...o, clock }, plan).run();
  } finally {
    await folder.close();
  }
}

function checkRunOptions(o: RunExperimentOptions): void {
  checkProcessOptions("runExperiment", o);
  if (o.workers !== undefined && o.module === undefined)
    throw new UsageError("OPTION_INVALID", `Expected module with workers of runExperiment, got none. ${WRITE_MODULE}`);
  if (o.limits !== undefined) modelLimits(o.limits);
  const bound = o.budget === undefined ? o.limits && "limits" : "budget";
  if (bound === undefined || (o.out !== undefined && o.record !== false)) return;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected ${bound} of runExperiment with out and records, got it without. Write out: "experiments/study", and leave record out.`,
  );
}

function assertNotNested(): void {
  if (process.env[CELL_VARIABLE] === undefined) return;
  throw new UsageError(
    "EXPERIMENT_NESTED",
    "Expected a module that starts nothing when a process of a sweep loads it, got one that runs an experiment. Run the experiment from another file, or by troupe experiment run.",
  );
}

interface OpenFolder {
  readonly folder: SweepFolder;
  readonly plan: FolderPlan;
}

async function openedFolder(experiment: AnyExperiment, path: string, o: RunExperimentOptions, clock: Clock): Promise<OpenFolder> {
  const { cells: _cells, ...whole } = o;
  const manifest = await manifestOf(askedPlan(experiment.plan, whole), o.module, { troupe: ownVersion(), now: clock.now() });
  let known: Manifest | undefined;
  const folder = await SweepFolder.open(path, (found) => {
    known = found;
    if (found !== undefined) assertSame(found, manifest, path, o.acceptChange === true);
  });
  try {
    const plan = askedPlan(experiment.plan, o, known);
    const now = { ...(known === undefined ? manifest : withModule(known, manifest.module)), ...plan };
    if (canonicalJson(now) !== canonicalJson(known ?? null)) await folder.writeManifest(now);
    return { folder, plan };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

const UNRECORDED =
  "Runs asked a model that is not free, and keep no record: a kill loses their calls. Take run in world: ({ seed, run }) => new Environment({ seed, model, ...run }).";

/**
 * One sweep. It owns the runs that are left, and the processes.
 *
 * Sweep.W1 (`#work`) each run starts once, and again only after its process has gone. Sweep.W2 (`#ended`) a run counts when its line is on
 * the disk. Sweep.W3 (`#work`) a run whose processes die fails alone.
 */
class Sweep {
  readonly #experiment: AnyExperiment;
  readonly #folder: SweepFolder | undefined;
  readonly #o: RunExperimentOptions & { readonly clock: Clock };
  readonly #jobs: readonly CellJob[];
  readonly #ends: Map<string, CellEnd>;
  /** All runs that have ended, those of earlier sweeps too. */
  readonly #finished: FinishedCell[];
  readonly #left: readonly CellJob[];
  /** The runs that are left, for all processes together. */
  readonly #next: Iterable<CellJob>;
  #failed: number;
  readonly #began: number;
  readonly #kept: number;
  #isUnrecorded = false;
  #world: WorldFacts | undefined;
  #host: SweepHost | undefined;
  #module: ModuleFiles | undefined;
  readonly #stop = new AbortController();

  constructor(
    experiment: AnyExperiment,
    folder: SweepFolder | undefined,
    o: RunExperimentOptions & { readonly clock: Clock },
    plan: FolderPlan,
  ) {
    this.#experiment = experiment;
    this.#folder = folder;
    this.#o = o;
    this.#jobs = folderJobs(plan);
    this.#began = o.clock.now();
    this.#finished = [...(folder?.finished ?? [])];
    const kept = [...endsOf(this.#finished)];
    this.#ends = new Map(kept.filter(([, end]) => end.kind === "done" || o.again !== true));
    this.#left = this.#jobs.filter((job) => !this.#ends.has(jobName(job)));
    this.#next = this.#left.values();
    this.#kept = this.#ends.size;
    this.#failed = [...this.#ends.values()].filter(({ kind }) => kind === "failed").length;
  }

  async run(): Promise<ExperimentResult> {
    this.#host = await this.#hostOf();
    const { module, signal, workers = Math.max(1, availableParallelism() - 1) } = this.#o;
    this.#report();
    const stopped = signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]);
    const slots = module === undefined ? 1 : Math.min(workers, this.#left.length);
    // The first error ends the other processes; an abort has one reason, the first.
    const works = Array.from({ length: slots }, () => this.#work(stopped).catch((error: unknown) => this.#stop.abort(error)));
    await Promise.all(works);
    throwIfAborted(signal);
    this.#stop.signal.throwIfAborted();
    return this.#result();
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { clock, module } = this.#o;
    const check = module === undefined ? undefined : (): Promise<void> => this.#assertUnchanged(module);
    const runner = cellRunner(this.#experiment, this.#o, {
      clock,
      signal,
      ...(check && { check }),
      ...(this.#host && { host: this.#host }),
    });
    try {
      for (const job of this.#next) {
        throwIfAborted(signal);
        const began = clock.now();
        const keeps = this.#recordOf(job);
        const describes = this.#folder !== undefined && this.#world === undefined ? { describes: true } : {};
        const { end, lost, kept, world } = await runner.run({ job, concurrency: CONCURRENCY, ...describes, ...(keeps && { keeps }) });
        this.#world ??= world;
        if (kept === "left out") this.#isUnrecorded = true;
        const { cell, rep } = job;
        const continued = kept === "continued" ? { continued: true } : {};
        await this.#ended({ cell, rep, end, ...(lost && { lost }), ...continued, ms: clock.now() - began });
      }
    } finally {
      runner.close();
    }
  }

  #recordOf(job: CellJob): RecordRequest | undefined {
    const { record } = this.#o;
    if (this.#folder === undefined || record === false) return undefined;
    const bounds = { isBudgeted: this.#o.budget !== undefined, isLimited: this.#o.limits !== undefined };
    return { ...recordOf(this.#folder.path, this.#experiment.name, job), keeps: record === true ? "all" : "paid", ...bounds };
  }

  async #hostOf(): Promise<SweepHost | undefined> {
    const { budget, limits } = this.#o;
    if (this.#folder === undefined || (budget === undefined && limits === undefined)) return undefined;
    const spent = new Map<string, number>();
    for (const { end, lost, continued, ...job } of this.#finished) {
      const { id } = recordOf(this.#folder.path, this.#experiment.name, job);
      spent.set(id, (continued === true ? 0 : (spent.get(id) ?? 0)) + end.use.microUsd + (lost?.microUsd ?? 0));
    }
    for (const job of this.#left) {
      const { path, id } = recordOf(this.#folder.path, this.#experiment.name, job);
      spent.set(id, Math.max(spent.get(id) ?? 0, await recordedCost(path, id)));
    }
    return new SweepHost({ budget, limits, spent, clock: this.#o.clock, onExhausted: (error) => this.#stop.abort(error) });
  }

  /** A process that starts late must not run another program than the first ones. */
  async #assertUnchanged(module: string): Promise<void> {
    const now = await moduleFiles(module);
    const difference = moduleDifference((this.#module ??= now), now);
    if (difference === undefined) return;
    throw new UsageError(
      "EXPERIMENT_CHANGED",
      `Expected the module of a sweep to stay as it is, but meanwhile ${difference}. Undo the change to continue, or begin anew in another folder.`,
    );
  }

  async #ended(finished: FinishedCell): Promise<void> {
    await this.#folder?.add(finished);
    this.#finished.push(finished);
    this.#ends.set(jobName(finished), finished.end);
    if (finished.end.kind === "failed") this.#failed += 1;
    this.#report();
  }

  #report(): void {
    const { onProgress, clock } = this.#o;
    onProgress?.({
      total: this.#jobs.length,
      done: this.#ends.size,
      failed: this.#failed,
      kept: this.#kept,
      ms: clock.now() - this.#began,
    });
  }

  async #result(): Promise<ExperimentResult> {
    const { rows, series, failed, warnings } = rowsOf(this.#jobs, this.#ends);
    const { use: _use, ...spending } = await writtenResults(this.#folder, { rows, series, finished: this.#finished, world: this.#world });
    const all = this.#isUnrecorded ? [UNRECORDED, ...warnings] : warnings;
    // Who follows the progress has a screen of their own.
    if (this.#o.onProgress === undefined) for (const warning of all) defaultLogger.warn(warning);
    return { out: this.#folder?.path, rows, series, failed, warnings: all, kept: this.#kept, ...spending };
  }
}
