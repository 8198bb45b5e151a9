import { sleep } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { type Journal, newestRuns } from "../runtime/record/journal.ts";
import { eventsOf } from "../team/submit.ts";
import type { Fleet } from "./fleet-place.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import { findRun } from "./stored-run.ts";

/** Jobs that are looked at. A queue may be longer than a screen. */
export const MOST_JOBS = 1_000;
/** Milliseconds between two looks at what changes without a word. */
export const LOOK = 250;
/** Runs that are named where a beginning fits several. */
const MOST_ALIKE = 100;

/** Returns the recorded run that an id, or its beginning, names. @throws UsageError `RUN_UNKNOWN`, `RUN_AMBIGUOUS` */
export async function recordedRun(journal: Journal, given: string): Promise<string> {
  // Many runs may have ids that begin with the whole id of another.
  if ((await eventsOf(journal, given)) > 0) return given;
  const alike = await recordedLike(journal, given);
  if (alike.length === 0) throw unknownRun(given);
  return findRun(alike, given);
}

/** Returns the run that an id, or its beginning, names: a recorded one, or one that waits. @throws UsageError `RUN_UNKNOWN`, `RUN_AMBIGUOUS` */
export async function knownRun({ journal, driver }: Fleet, given: string): Promise<string> {
  const jobs = await driver.list({ limit: MOST_JOBS });
  if (jobs.some(({ runId }) => runId === given) || (await eventsOf(journal, given)) > 0) return given;
  const waiting = jobs.flatMap(({ runId }) => (given !== "" && runId.startsWith(given) ? [runId] : []));
  const alike = new Set([...(await recordedLike(journal, given)), ...waiting]);
  if (alike.size > 0) return findRun([...alike], given);
  // The rest of a longer queue may have it.
  if (jobs.length === MOST_JOBS) return given;
  throw unknownRun(given);
}

/**
 * Waits until a worker has begun a run that waits in the queue.
 *
 * @throws UsageError `RUN_UNKNOWN` when its job is gone and nothing is recorded
 */
export async function untilBegun({ host, interruptions, screen }: Session, { journal, driver }: Fleet, runId: string): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    // The queue first: a run that begins and ends between the two looks is recorded.
    const jobs = await driver.list({ limit: MOST_JOBS });
    if ((await eventsOf(journal, runId)) > 0) return;
    if (jobs.length < MOST_JOBS && jobs.every((job) => job.runId !== runId)) throw unknownRun(runId);
    if (looks === 0) screen.say(`${shown(runId, 60)} waits for a worker.`);
    await sleep(host.clock, LOOK, interruptions.signal);
  }
}

/** Returns runs whose ids begin so, the oldest first. */
async function recordedLike(journal: Journal, given: string): Promise<readonly string[]> {
  return (await newestRuns(journal, { limit: MOST_ALIKE, prefix: given })).map(({ runId }) => runId).toReversed();
}

function unknownRun(given: string): UsageError {
  const expected = `Expected the id of a run of the fleet, or its beginning, got "${shown(given, 80)}"`;
  return new UsageError("RUN_UNKNOWN", `${expected}. One that waits has no record yet. See: troupe ps`);
}
