import { UsageError } from "../kernel/errors.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import type { StepPort } from "../kernel/step.ts";
import { checkBudget } from "../model/budget-pool.ts";
import { type LimitOptions, type ModelLimits, sharedLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import { compactionOptions, type CompactionOptions } from "./compaction.ts";
import { loopOptions, type LoopOptions } from "./loop-detector.ts";

/** Numbers that bound what a brain does. */
interface BrainLimits {
  readonly parallelTools?: number;
  readonly loops?: LoopOptions | false;
  readonly compaction?: CompactionOptions;
  readonly tokenLimit?: number;
  readonly budget?: MicroUsd | BudgetPool;
  readonly limits?: LimitOptions | ModelLimits;
  readonly steps?: StepPort;
}

/**
 * Refuses limits under which an agent would never make room, never notice a loop, or do nothing.
 *
 * @throws UsageError `AGENT_INVALID`, `LIMIT_INVALID`
 */
export function checkBrainLimits({ parallelTools, loops, compaction = {}, tokenLimit, budget, limits, steps }: BrainLimits): void {
  if (loops !== false) checkKnownOptions("the option loops", loops, loopOptions);
  checkKnownOptions("the option compaction", compaction, compactionOptions);
  const { repeats, longest } = loops === false ? {} : (loops ?? {});
  const { contextTokens, keepResults, summaryWords, share } = compaction;
  checkBudget(budget, "AGENT_INVALID");
  sharedLimits(limits);
  if (budget !== undefined && steps !== undefined) throw boundElsewhere();
  checkCount("tokenLimit", tokenLimit, 1);
  checkCount("parallelTools", parallelTools, 1);
  checkCount("loops.repeats", repeats, 2);
  checkCount("loops.longest", longest, 1);
  checkCount("compaction.contextTokens", contextTokens, 1);
  checkCount("compaction.keepResults", keepResults, 0);
  checkCount("compaction.summaryWords", summaryWords, 1);
  if (share === undefined || (share > 0 && share <= 1)) return;
  throw invalid("compaction.share to be more than 0 and at most 1", share);
}

function boundElsewhere(): UsageError {
  return new UsageError(
    "AGENT_INVALID",
    "Expected either a budget or the door of a role, got both: what passes that door is bound by the budget of the run. Leave one of them out.",
  );
}

function checkCount(name: string, count: number | undefined, least: number): void {
  if (count === undefined || (Number.isSafeInteger(count) && count >= least)) return;
  throw invalid(`${name} to be a whole number of ${least} or more`, count);
}

function invalid(expected: string, got: number): UsageError {
  return new UsageError("AGENT_INVALID", `Expected ${expected}, got ${String(got)}. Leave it out for its default.`);
}
