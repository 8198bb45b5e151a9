import { UsageError } from "../kernel/errors.ts";
import type { CompactionOptions } from "./compaction.ts";
import type { LoopOptions } from "./loop-detector.ts";

/** Steps of one run unless said otherwise. */
export const DEFAULT_MAX_STEPS = 30;

/** Numbers that bound what a brain does. */
interface BrainLimits {
  readonly parallelTools?: number;
  readonly loops?: LoopOptions | false;
  readonly compaction?: CompactionOptions;
}

/**
 * Refuses limits under which an agent would never make room, never notice a loop, or do nothing.
 *
 * @throws UsageError `AGENT_INVALID`
 */
export function checkBrainLimits({ parallelTools, loops, compaction = {} }: BrainLimits): void {
  const { repeats, longest } = loops === false ? {} : (loops ?? {});
  const { contextTokens, keepResults, summaryWords, share } = compaction;
  checkCount("parallelTools", parallelTools, 1);
  checkCount("loops.repeats", repeats, 2);
  checkCount("loops.longest", longest, 1);
  checkCount("compaction.contextTokens", contextTokens, 1);
  checkCount("compaction.keepResults", keepResults, 0);
  checkCount("compaction.summaryWords", summaryWords, 1);
  if (share === undefined || (share > 0 && share <= 1)) return;
  throw invalid("compaction.share to be more than 0 and at most 1", share);
}

function checkCount(name: string, count: number | undefined, least: number): void {
  if (count === undefined || (Number.isSafeInteger(count) && count >= least)) return;
  throw invalid(`${name} to be a whole number of ${least} or more`, count);
}

function invalid(expected: string, got: number): UsageError {
  return new UsageError("AGENT_INVALID", `Expected ${expected}, got ${String(got)}. Leave it out for its default.`);
}
