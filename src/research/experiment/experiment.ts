import { aFunction, type Shape, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { deepFreeze, textHash } from "../../kernel/json.ts";
import { checkGivenOptions, checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isCount, isObject, isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { canonical, type RunEvent } from "../../index.ts";
import { type CellJob, type CellParams, cellsOf, jobsOf, OWN_COLUMNS, type Seeds } from "./cell.ts";
import { type CellEnd, type CellWatch, runCell } from "./cell-run.ts";
import type { CellUse } from "./cell-use.ts";
import { type CellBudget, DEFAULT_ROUNDS, type ExperimentOptions, type ExperimentWorld } from "./experiment-options.ts";

const budgetOptions: Known<CellBudget> = { messages: kinds.count, calls: kinds.count, usd: kinds.count };

const experimentOptions: Known<ExperimentOptions<CellParams, ExperimentWorld>> = {
  name: kinds.text,
  params: kinds.checked,
  reps: kinds.size,
  seed: kinds.seed,
  seeds: kinds.checked,
  world: kinds.function,
  begin: kinds.function,
  rounds: kinds.either(kinds.number, kinds.function),
  stop: kinds.function,
  collect: kinds.record(kinds.function),
  measure: kinds.function,
  budget: kinds.checked,
};

/** The member by which a process finds the experiments of a module, also those of another copy of this package. */
export const CELLS: unique symbol = Symbol.for("troupe.experiment");

/** One run that is asked for. */
export interface CellRequest extends Omit<CellWatch, "record" | "onConcurrency"> {
  readonly job: CellJob;
  /** `hash`: the reply has the hash of its canonical record; `events`: its record. */
  readonly record?: "hash" | "events";
}

/** The reply to a request. */
export interface CellReply {
  readonly end: CellEnd;
  /** True where `world` read the concurrency that it was given. */
  readonly usesConcurrency: boolean;
  /** Of its canonical record; left out where the record does not begin with the start of the run. */
  readonly hash?: string;
  readonly events?: readonly RunEvent[];
  /** What tries took whose process died. */
  readonly lost?: CellUse;
}

/** What of a definition is data. Two definitions with equal data may still differ in code. */
export interface ExperimentPlan {
  readonly name: string;
  readonly cells: readonly CellParams[];
  readonly reps: number;
  readonly seed: string;
  readonly seeds: Seeds;
  readonly rounds: number | "by parameters";
  readonly budget: CellBudget;
  readonly collect: readonly string[];
}

/** An experiment, made by {@link experiment}. It is a definition: it starts nothing and has no data of runs. */
export class Experiment<P extends CellParams = CellParams, W extends ExperimentWorld = ExperimentWorld> {
  readonly name: string;
  /** The cells in order. */
  readonly cells: readonly P[];
  readonly plan: ExperimentPlan;
  readonly options: ExperimentOptions<P, W>;

  /** @internal */
  constructor(options: ExperimentOptions<P, W>) {
    const { name = "experiment", reps = 1, seed = 1, seeds = "common", rounds = DEFAULT_ROUNDS, budget = {}, collect = {} } = options;
    this.name = name;
    this.options = Object.freeze({ ...options });
    this.cells = deepFreeze(cellsOf<P>(options.params));
    const byCell = typeof rounds === "function" ? ("by parameters" as const) : rounds;
    this.plan = deepFreeze({
      name,
      cells: this.cells,
      reps,
      seed: String(seed),
      seeds,
      rounds: byCell,
      budget: { ...budget },
      collect: Object.keys(collect),
    });
    Object.freeze(this);
  }

  /** The runs of the experiment, cell by cell. */
  get jobs(): readonly CellJob[] {
    return jobsOf(this.cells, this.plan);
  }

  /** Runs one cell in this process. It rejects only where it records and the events are none of a run. @internal */
  async [CELLS](request: CellRequest): Promise<CellReply> {
    const { job, record, ...given } = request;
    let usesConcurrency = false;
    const watch = { ...given, onConcurrency: (): void => void (usesConcurrency = true) };
    if (record === undefined) return { end: await runCell(this.options, job, watch), usesConcurrency };
    const events: RunEvent[] = [];
    const end = await runCell(this.options, job, { ...watch, record: (event) => void events.push(event) });
    if (record === "events") return { end, usesConcurrency, events };
    return { end, usesConcurrency, ...(isWhole(events) ? { hash: textHash(canonical(events)) } : {}) };
  }
}

/** True for a record that begins with the start of its run. */
export function isWhole([first]: readonly RunEvent[]): boolean {
  return first?.type === "run.started" && first.seq === 0;
}

/** An experiment of any parameters and any world. */
export interface AnyExperiment extends Pick<Experiment, "name" | "cells" | "plan" | "jobs"> {
  /** @internal */
  readonly [CELLS]: Experiment[typeof CELLS];
}

/** The shape of an experiment, also of one of another copy of this package. */
export const anExperiment: Shape = {
  says: "an experiment, which experiment({ ... }) returns",
  fits: (value) => isObject(value) && typeof (value as { readonly [CELLS]?: unknown })[CELLS] === "function",
};

/**
 * Defines an experiment: what is varied, how often each cell is repeated, the world of one run, when it stops, and what is collected and
 * measured. {@link runExperiment} and `troupe experiment run` run it.
 *
 * @throws UsageError `EXPERIMENT_PARAMS` for cells that are none, or twice the same; `OPTION_UNKNOWN`, `OPTION_INVALID`, `ARGUMENT_INVALID`
 *
 * @example
 * import { createMessage, defineRole, Environment } from "troupe";
 * import { experiment, runExperiment } from "troupe/research";
 *
 * const walker = defineRole({ name: "Walker", react: (rc) => rc.message(rc.random() < 0.5 ? "left" : "right", { sendTo: "<self>" }) });
 * const walks = experiment({
 *   params: { steps: [4, 16] },
 *   reps: 3,
 *   rounds: ({ steps }) => steps,
 *   world: ({ seed, concurrency }) => new Environment({ seed, concurrency }).addRole(walker),
 *   begin: (road) => road.publishMessage(createMessage("go", { sendTo: ["Walker"] })),
 *   measure: ({ result }) => ({ rights: result.messages.filter(({ content }) => content === "right").length }),
 * });
 * const { rows } = await runExperiment(walks);
 * console.log(rows.map(({ steps, rounds }) => `${steps}:${rounds}`).join(" ")); // 4:4 4:4 4:4 16:16 16:16 16:16
 */
export function experiment<const P extends CellParams, W extends ExperimentWorld>(options: ExperimentOptions<P, W>): Experiment<P, W> {
  checkGivenOptions("experiment", options, experimentOptions);
  const {
    name = "experiment",
    reps = 1,
    seed = 1,
    seeds = "common",
    world,
    begin,
    rounds = DEFAULT_ROUNDS,
    stop,
    collect,
    measure,
  } = options;
  takes("experiment", "world", world, aFunction);
  for (const [option, given] of Object.entries({ begin, stop, measure }))
    if (given !== undefined) takes("experiment", option, given, aFunction);
  if (typeof name !== "string" || name === "") throw wrong("name", "a text that is not empty", name);
  if (!isCount(reps) || reps < 1) throw wrong("reps", "a whole number from 1", reps);
  if (typeof seed !== "string" && !Number.isSafeInteger(seed)) throw wrong("seed", "a text or a whole number", seed);
  if (!["common", "independent"].includes(seeds)) throw wrong("seeds", `"common" or "independent"`, seeds);
  if (typeof rounds !== "function" && !isCount(rounds)) throw wrong("rounds", "a whole number or a function of the parameters", rounds);
  checkCollectors(collect);
  checkBudget(options.budget);
  const made = new Experiment(options);
  const clash = Object.keys(collect ?? {}).find((one) => one in (made.cells[0] ?? {}));
  if (clash !== undefined) throw wrong("collect", "names that no parameter has", clash);
  return made;
}

function checkCollectors(collect: unknown): void {
  if (collect === undefined) return;
  if (!isRecord(collect)) throw wrong("collect", "an object of functions", collect);
  for (const [name, one] of Object.entries(collect)) {
    takes("experiment", `collect.${name}`, one, aFunction);
    if (OWN_COLUMNS.includes(name)) throw wrong("collect", "other names than those of the columns of a row", name);
  }
}

function checkBudget(budget: CellBudget | undefined): void {
  if (budget === undefined) return;
  checkKnownOptions("the budget of an experiment", budget, budgetOptions);
  for (const [name, bound] of Object.entries(budget))
    if (bound !== undefined && !isCount(bound)) throw wrong(`budget.${name}`, "a whole number", bound);
}

function wrong(option: string, expected: string, got: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${option} of an experiment to be ${expected}, got ${valueText(got)}.`);
}
