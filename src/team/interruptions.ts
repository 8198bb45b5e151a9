import { JournalError } from "../kernel/errors.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import type { RunFailure } from "../runtime/run-failure.ts";

/**
 * Owners that a run without progress may lose before it ends as failed. Deploys and failing machines take a run a few times in a long call;
 * twenty times without one answer between mean that no owner can go on with it.
 */
const STUCK_AFTER = 20;

/** Returns the failure of a run that was taken too often without progress. Nothing of it is dropped. */
export function stuckFailure({ runId, takes }: RunState): RunFailure | undefined {
  if (takes < STUCK_AFTER) return undefined;
  const text = `Expected run ${runId} to progress, but it was taken over ${takes} times and got no answer in between. Look at why its owners leave it, then resume it: nothing is lost.`;
  return { error: new JournalError("RUN_STUCK", text, { data: { runId, takes } }) };
}

/** Returns warnings before the last try: of a run that is taken again and again, and of activations under which the process dies. */
export function lastTries({ runId, takes, bounds: { poisonAfter }, open, roles }: RunState): readonly string[] {
  const stuck = `Run ${runId} was taken over ${takes} of at most ${STUCK_AFTER} times without progress. If it is taken once more before it gets an answer, it ends as failed with RUN_STUCK.`;
  const dying = [...open].flatMap((name) => {
    const { act = "", crashes = 0 } = roles.get(name)?.open ?? {};
    if (poisonAfter === undefined || crashes === 0 || crashes !== poisonAfter - 1) return [];
    return `The process died ${crashes} of at most ${poisonAfter} times during ${act} without progress. If it dies once more, ${act} ends with POISONED and its messages are tried one by one, or become dead letters.`;
  });
  return takes === STUCK_AFTER - 1 ? [stuck, ...dying] : dying;
}
