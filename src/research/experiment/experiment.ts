import { aFunction, type Shape, takes, numberWith } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { deepFreeze, textHash } from "../../kernel/json.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isObject } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import {
  canonical,
  type Environment,
  type MicroUsd,
  type Observed,
  type Run,
  type RunEvent,
  type RunProgress,
  type RunResult,
} from "../../index.ts";
import {
  type CellJob,
  type CellParams,
  cellsOf,
  type CellValue,
  DEFAULT_ROUNDS,
  jobsOf,
  OWN_COLUMNS,
  type ParamSpace,
  type Seeds,
} from "./cell.ts";
import { type CellEnd, type CellWatch, runCell } from "./cell-run.ts";
import { type WorldFacts, worldFacts } from "./odd.ts";
import type { RecordUse, RunRecord } from "./cell-record.ts";
import type { CellUse } from "./cell-use.ts";

const budgetOptions: Known<CellBudget> = { messages: kinds.count, calls: kinds.count, usd: kinds.count };

const aName: Shape = { says: "a string that is not empty", fits: (value) => typeof value === "string" && value !== "" };
const experimentOptions: Known<ExperimentOptions<CellParams, ExperimentWorld>> = {
  name: aName,
  params: kinds.checked,
  reps: kinds.size,
  seed: kinds.either(kinds.text, numberWith("a whole number", Number.isSafeInteger)),
  seeds: kinds.oneOf("common", "independent"),
  ...kinds.each(kinds.function, "world", "begin", "stop", "measure"),
  rounds: kinds.either(kinds.rounds, kinds.function),
  ticks: kinds.either(kinds.ticks, kinds.function),
  collect: kinds.record(kinds.function),
  budget: kinds.options(budgetOptions),
};

/** The member by which a process finds the experiments of a module, also those of another copy of this package. */
export const CELLS: unique symbol = Symbol.for("troupe.experiment");

export interface CellRequest extends Omit<CellWatch, "record" | "onConcurrency" | "onKept" | "onStart"> {
  readonly job: CellJob;
  /** True if the reply shall have the declarations of the program. */
  readonly describes?: boolean;
  readonly record?: "hash" | "events";
}

export interface CellReply {
  readonly end: CellEnd;
  readonly usesConcurrency: boolean;
  /** Of its canonical record; left out where the record does not begin with the start of the run. */
  readonly hash?: string;
  readonly events?: readonly RunEvent[];
  readonly lost?: CellUse;
  readonly world?: WorldFacts;
  /** What became of the record of the run, if the sweep has a folder. */
  readonly kept?: RecordUse;
}

export interface ExperimentPlan {
  readonly name: string;
  readonly cells: readonly CellParams[];
  readonly reps: number;
  readonly seed: string;
  readonly seeds: Seeds;
  readonly rounds: number | "by parameters" | "unlimited";
  readonly ticks?: number | "by parameters";
  readonly budget: CellBudget;
  readonly collect: readonly string[];
}

/** An experiment, made by {@link experiment}. It is a definition: it starts nothing and has no data of runs. */
export class Experiment<P extends CellParams = CellParams, W extends ExperimentWorld = ExperimentWorld> {
  readonly name: string;
  readonly cells: readonly P[];
  readonly plan: ExperimentPlan;
  readonly options: ExperimentOptions<P, W>;

  /** @internal */
  constructor(options: ExperimentOptions<P, W>) {
    const {
      name = "experiment",
      reps = 1,
      seed = 1,
      seeds = "common",
      rounds = DEFAULT_ROUNDS,
      ticks,
      budget = {},
      collect = {},
    } = options;
    this.name = name;
    this.options = Object.freeze({ ...options });
    this.cells = deepFreeze(cellsOf<P>(options.params));
    const planned = <T>(bound: T | ((params: P) => T)): T | "by parameters" =>
      typeof bound === "function" ? "by parameters" : (bound as T);
    this.plan = deepFreeze({
      name,
      cells: this.cells,
      reps,
      seed: String(seed),
      seeds,
      rounds: rounds === Infinity ? "unlimited" : planned(rounds),
      ...(ticks === undefined ? {} : { ticks: planned(ticks) }),
      budget: { ...budget },
      collect: Object.keys(collect),
    });
    Object.freeze(this);
  }

  get jobs(): readonly CellJob[] {
    return jobsOf(this.cells, this.plan);
  }

  /** Runs one cell in this process. It rejects only where it records and the events are none of a run. @internal */
  async [CELLS](request: CellRequest): Promise<CellReply> {
    const { job, record, describes, ...given } = request;
    let usesConcurrency = false;
    let kept: RecordUse | undefined;
    const onKept = (use: RecordUse | undefined): void => void (kept = use);
    let world: WorldFacts | undefined;
    const onStart: CellWatch["onStart"] = (start) => void (world = worldFacts(start, this.options as never));
    const watch = {
      ...given,
      ...(describes === true ? { onStart } : {}),
      onKept,
      onConcurrency: (): void => void (usesConcurrency = true),
    };
    if (record === undefined) {
      const end = await runCell(this.options, job, watch);
      return { end, usesConcurrency, ...(kept === undefined ? {} : { kept }), ...(world === undefined ? {} : { world }) };
    }
    const events: RunEvent[] = [];
    const end = await runCell(this.options, job, { ...watch, record: (event) => void events.push(event) });
    if (record === "events") return { end, usesConcurrency, events };
    return { end, usesConcurrency, ...(isWhole(events) ? { hash: textHash(canonical(events)) } : {}) };
  }
}

export function isWhole([first]: readonly RunEvent[]): boolean {
  return first?.type === "run.started" && first.seq === 0;
}

export interface AnyExperiment extends Pick<Experiment, "name" | "cells" | "plan" | "jobs"> {
  /** @internal */
  readonly [CELLS]: Experiment[typeof CELLS];
}

export const anExperiment: Shape = {
  says: "an experiment, which experiment({ ... }) returns",
  fits: (value) => isObject(value) && typeof (value as { readonly [CELLS]?: unknown })[CELLS] === "function",
};

/** Defines an experiment. {@link runExperiment} and `troupe experiment run` run it. @throws UsageError `EXPERIMENT_PARAMS` for invalid cells */
export function experiment<const P extends CellParams, W extends ExperimentWorld>(options: ExperimentOptions<P, W>): Experiment<P, W> {
  checkGivenOptions("experiment", options, experimentOptions);
  takes("experiment", "world", options.world, aFunction);
  const made = new Experiment(options);
  const clash = made.plan.collect.find((one) => OWN_COLUMNS.includes(one) || one in (made.cells[0] ?? {}));
  if (clash === undefined) return made;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected collect of an experiment to have other names than parameters and the columns of a row, got ${valueText(clash)}.`,
  );
}

/** Bounds of the work of one run. Each cell gets the same, so that cells are compared at equal cost. */
export interface CellBudget {
  /** Delivered messages, each counted once. */
  readonly messages?: number;
  readonly calls?: number;
  /** Money, in micro-dollars: `usd(0.5)`. */
  readonly usd?: MicroUsd;
}

export interface CellIdentity<P extends CellParams> {
  readonly params: P;
  readonly rep: number;
  readonly seed: string;
}

/** The input of `world`. Its seed is for the option `seed` of an Environment or a Team. */
export interface CellSetting<P extends CellParams> extends CellIdentity<P> {
  /** Concurrent activations, for the option `concurrency`. 16 unless the experiment is verified. */
  readonly concurrency: number;
  readonly budget: CellBudget;
  /** Aborts when the sweep is stopped, or the time of the cell is up. */
  readonly signal: AbortSignal;
  /**
   * Keeps the record of the run in the folder of the sweep, and continues a run that was cut off: `new Environment({ seed, model, ...run })`; for a
   * team `new Team({ roles, model, journal: run.journal })`, and `team.run("the idea", { ...o, id: run.id })`.
   */
  readonly run: RunRecord;
}

type EnvironmentRunOptions = NonNullable<Parameters<Environment["run"]>[0]>;

/** The options that `run` of a world is called with: of `Environment.run` and of `Team.run` alike. */
export type WorldRunOptions = Required<Pick<EnvironmentRunOptions, "rounds" | "stopWhen" | "signal">> &
  Pick<EnvironmentRunOptions, "ticks">;

/** The result of `world`, such as an Environment. For a team: `{ run: (o) => team.run("the idea", o) }`. */
export interface ExperimentWorld {
  run(o: WorldRunOptions): Promise<RunResult> | Run;
  /** An Environment has it: the series then begins at round 0, before any role has acted. */
  readonly progress?: RunProgress;
  /** Observes the events of the run. Not needed where `run` returns a `Run`. */
  on?: <T extends Observed["type"]>(type: T, listener: (observed: Extract<Observed, { readonly type: T }>) => void) => () => void;
}

export interface CellOutcome<P extends CellParams, W> extends CellIdentity<P> {
  readonly world: W;
  readonly result: RunResult;
}

export interface ExperimentOptions<P extends CellParams, W extends ExperimentWorld> {
  /** Default "experiment". Needed where a module exports several. */
  readonly name?: string;
  /** A grid, as `{ n: [10, 100], p: [0.1, 0.5] }`, a list of cells, or the cells of a `latinHypercube`. */
  readonly params: ParamSpace<P>;
  /** Repetitions of each cell. Default 1. */
  readonly reps?: number;
  readonly seed?: string | number;
  /** `common` (default): repetition r of every cell has the same seed, so that cells are compared in pairs. `independent`: every cell has its own. */
  readonly seeds?: Seeds;
  /** Makes the world of one run, from nothing but its input. */
  readonly world: (setting: CellSetting<P>) => W | Promise<W>;
  /** Begins the run, after the world is observed: publishes the first messages. The record of a replay lacks what `world` publishes itself. */
  readonly begin?: (world: W, setting: CellSetting<P>) => unknown;
  /**
   * Limit on the rounds of a run, or a function of the parameters; without rounds, as under `single` and `poisson`, on the activations of one
   * role. Infinity: none but the time limit. Default 100: a run that the default cuts has `ended: "limit"`, and tables and plots leave it out.
   */
  readonly rounds?: number | ((params: P) => number);
  /** Limit on the time of the run's clock, or a function of the parameters: nothing happens later. Default: none. */
  readonly ticks?: number | ((params: P) => number);
  /** Ends a run when it returns true. Called after each round; without rounds, after each activation. */
  readonly stop?: (progress: RunProgress, cell: CellIdentity<P>) => boolean;
  /** Values by round, by name: the columns of the series. Called when `stop` is. */
  readonly collect?: { readonly [name: string]: (progress: RunProgress, cell: CellIdentity<P>) => CellValue };
  /** Returns the measures of a run: the columns of its row. Default: none but the counts that every row has. */
  readonly measure?: (
    outcome: CellOutcome<P, W>,
  ) => { readonly [name: string]: CellValue } | Promise<{ readonly [name: string]: CellValue }>;
  readonly budget?: CellBudget;
}
