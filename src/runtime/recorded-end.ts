import { MovedError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import { maskedError } from "./record/masking.ts";
import type { RunLog } from "./record/run-log.ts";
import { type RunEnd, type RunResult, runResult, statusOf } from "./run-result.ts";

/** Records the end of a run, if it has not moved and its journal still takes events, and returns the result. Never rejects. */
export async function recordedEnd(log: RunLog, mask: Mask, end: RunEnd): Promise<RunResult> {
  const { state } = log;
  const { status, error } = statusOf(end, mask);
  if (status === "moved") return runResult(state, end, mask);
  try {
    log.record({ type: "run.ended", status, ...(error === undefined ? {} : { error: maskedError(mask, error) }) });
    await log.durable();
    if (status !== "stopped") await log.rest();
    return runResult(state, end, mask);
  } catch (broken) {
    if (broken instanceof MovedError) return runResult(state, { ...end, control: broken }, mask);
    return runResult(state, { ...end, failure: end.failure ?? { error: broken } }, mask);
  }
}
