import type { Clock } from "../../kernel/clock.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isCount } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { CellProcessOptions } from "./cell-process.ts";
import type { AnyExperiment } from "./experiment.ts";

/** Bounds of runs and of the processes that run them. All have defaults. */
export interface ProcessBounds {
  /**
   * The address of the module that exports the experiment: `import.meta.url` there. Runs take place in processes of their own then. Without
   * it they take place in this process, one after another: a run that never ends, crashes or eats memory takes this process with it.
   */
  readonly module?: string;
  /** Milliseconds that one run may take. Default one hour. Without `module` it holds for runs that wait for something. */
  readonly timeLimit?: number;
  /** Megabytes that a process may take. Default 4096. Needs `module`. */
  readonly memory?: number;
  /** Processes that may die during one run until it has failed. Default 3: a process may be killed by somebody else. */
  readonly tries?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** The names of the options. */
export const processBounds: Known<ProcessBounds> = {
  module: kinds.text,
  timeLimit: kinds.milliseconds,
  memory: kinds.count,
  tries: kinds.size,
  signal: kinds.signal,
  clock: kinds.clock,
};

/** Concurrent activations of a run: the default of an Environment. */
export const CONCURRENCY = 16;
/** Milliseconds that a run may take by default. */
export const HOUR = 3_600_000;
const DEFAULT_MEMORY = 4096;

/** @throws UsageError `OPTION_INVALID` */
export function checkProcessOptions(caller: string, { module, timeLimit, memory, tries }: ProcessBounds): void {
  for (const [name, value] of Object.entries({ timeLimit, memory, tries })) {
    if (value !== undefined && (!isCount(value) || value < 1))
      throw new UsageError("OPTION_INVALID", `Expected ${name} of ${caller} to be a whole number from 1, got ${valueText(value)}.`);
  }
  if (module !== undefined && (typeof module !== "string" || !module.startsWith("file:")))
    throw new UsageError(
      "OPTION_INVALID",
      `Expected module of ${caller} to be the address of a file, got ${valueText(module)}. Write module: import.meta.url.`,
    );
  if (module === undefined && memory !== undefined)
    throw new UsageError(
      "OPTION_INVALID",
      `Expected module with memory of ${caller}, got none. Write module: import.meta.url in the file that exports the experiment.`,
    );
}

/** Returns the means of the processes of an experiment. */
export function processOptions(
  { name, plan }: AnyExperiment,
  {
    module,
    node = process.execPath,
    timeLimit = HOUR,
    memory = DEFAULT_MEMORY,
  }: ProcessBounds & { readonly module: string; readonly node?: string },
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): CellProcessOptions {
  return { module, name, plan: JSON.stringify(plan), timeLimit, memory, node, clock, signal };
}
