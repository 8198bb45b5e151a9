import type { MicroUsd, Observed, Run, RunProgress, RunResult, EnvironmentRunOptions } from "../../index.ts";
import type { CellParams, CellValue, ParamSpace, Seeds } from "./cell.ts";

/** The rounds of a run where the experiment says nothing: those of `Environment.run`. */
export const DEFAULT_ROUNDS = 100;

/** Bounds of the work of one run. Each cell gets the same, so that cells are compared at equal cost. */
export interface CellBudget {
  /** Delivered messages, each counted once. */
  readonly messages?: number;
  /** Answers of models. */
  readonly calls?: number;
  /** Money, in micro-dollars: `usd(0.5)`. */
  readonly usd?: MicroUsd;
}

/** The identity of one run. */
export interface CellIdentity<P extends CellParams> {
  readonly params: P;
  /** The repetition, from 0. */
  readonly rep: number;
  /** The seed of this repetition. */
  readonly seed: string;
}

/** The input of `world`. Its seed is for the option `seed` of an Environment or a Team. */
export interface CellSetting<P extends CellParams> extends CellIdentity<P> {
  /** Concurrent activations, for the option `concurrency`. 16 unless the experiment is verified. */
  readonly concurrency: number;
  readonly budget: CellBudget;
  /** Aborts when the sweep is stopped, or the time of the cell is up. */
  readonly signal: AbortSignal;
}

/** The options that `run` of a world is called with: of `Environment.run` and of `Team.run` alike. */
export type WorldRunOptions = Required<Pick<EnvironmentRunOptions, "rounds" | "stopWhen" | "signal">>;

/** What `world` returns: an Environment is one. For a team: `{ run: (o) => team.run("the idea", o) }`. */
export interface ExperimentWorld {
  run(o: WorldRunOptions): Promise<RunResult> | Run;
  /** Observes the events of the run. Not needed where `run` returns a `Run`. */
  on?: <T extends Observed["type"]>(type: T, listener: (observed: Extract<Observed, { readonly type: T }>) => void) => () => void;
}

/** The input of `measure`. */
export interface CellOutcome<P extends CellParams, W> extends CellIdentity<P> {
  readonly world: W;
  readonly result: RunResult;
}

/** The definition of an experiment. */
export interface ExperimentOptions<P extends CellParams, W extends ExperimentWorld> {
  /** Default "experiment". Needed where a module exports several. */
  readonly name?: string;
  /** A grid, as `{ n: [10, 100], p: [0.1, 0.5] }`, a list of cells, or the cells of a `latinHypercube`. */
  readonly params: ParamSpace<P>;
  /** Repetitions of each cell. Default 1. */
  readonly reps?: number;
  /** Default 1. */
  readonly seed?: string | number;
  /**
   * `common` (default): repetition r of every cell has the same seed, so that cells share random numbers and are compared in pairs.
   * `independent`: every cell has seeds of its own.
   */
  readonly seeds?: Seeds;
  /** Makes the world of one run, from nothing but its input. */
  readonly world: (setting: CellSetting<P>) => W | Promise<W>;
  /**
   * Begins the run, after the world is made and observed: publishes the first messages. What `world` publishes itself is missing in the record of
   * a replay.
   */
  readonly begin?: (world: W, setting: CellSetting<P>) => unknown;
  /** Limit on the rounds of a run, or a function of the parameters. Default 100. */
  readonly rounds?: number | ((params: P) => number);
  /** Ends a run when it returns true. Called after each round; without rounds, after each activation. */
  readonly stop?: (progress: RunProgress, cell: CellIdentity<P>) => boolean;
  /** Values by round, by name: the columns of the series. Called when `stop` is. */
  readonly collect?: { readonly [name: string]: (progress: RunProgress, cell: CellIdentity<P>) => CellValue };
  /** Returns the measures of a run: the columns of its row. Default: none but the counts that every row has. */
  readonly measure?: (
    outcome: CellOutcome<P, W>,
  ) => { readonly [name: string]: CellValue } | Promise<{ readonly [name: string]: CellValue }>;
  /** Default: none. */
  readonly budget?: CellBudget;
}
