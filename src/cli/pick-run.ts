import { JournalError, UsageError } from "../kernel/errors.ts";
import type { RunEvent, RunStatus } from "../runtime/record/event.ts";
import type { Journal, RunInfo } from "../runtime/record/journal.ts";
import { readAbout } from "./about.ts";
import { findRun } from "./run-id.ts";
import { shown } from "./screen/text.ts";
import type { Store } from "./store.ts";

/** A run that nobody else can go on with meanwhile. */
export interface HeldRun {
  readonly runId: string;
  release(): Promise<void>;
}

/**
 * Takes the run that is meant; without an id the newest that is not finished and that nobody works on.
 *
 * @throws UsageError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`, `RUN_NONE`; JournalError `RUN_OWNED`
 */
export async function holdRun({ journal, name }: Store, given: string | undefined): Promise<HeldRun> {
  const runs = await journal.runs();
  if (given !== undefined)
    return heldRun(
      journal,
      findRun(
        runs.map(({ runId }) => runId),
        given,
      ),
    );
  let refusal: JournalError | undefined;
  for (const info of runs.toReversed()) {
    if (!(await isToGoOn(journal, info))) continue;
    try {
      return await heldRun(journal, info.runId);
    } catch (error) {
      if (!(error instanceof JournalError && error.code === "RUN_OWNED")) throw error;
      refusal ??= error;
    }
  }
  if (refusal !== undefined) throw refusal;
  const what = runs.length === 0 ? "there is none yet" : "all that this command began are finished";
  throw new UsageError(
    "RUN_NONE",
    `Expected a run in ${shown(name, 200)} to go on with, but ${what}. Begin one: troupe "Create a 2048 game"`,
  );
}

async function heldRun(journal: Journal, runId: string): Promise<HeldRun> {
  const epoch = await journal.claim(runId);
  return { runId, release: () => journal.release(runId, epoch) };
}

async function isToGoOn(journal: Journal, info: RunInfo): Promise<boolean> {
  const first = await eventAt(journal, info, 0);
  if (first?.type !== "run.started" || readAbout(first.about ?? null) === undefined) return false;
  return (await statusOf(journal, info)) !== "finished";
}

/** How a run ended last; undefined where its record has no end: it is under way, or its process died. */
async function statusOf(journal: Journal, info: RunInfo): Promise<RunStatus | undefined> {
  const last = await eventAt(journal, info, info.events - 1);
  return last?.type === "run.ended" ? last.status : undefined;
}

/** One event of a run; undefined when it has no such event. */
export async function eventAt(journal: Journal, { runId, events }: RunInfo, seq: number): Promise<RunEvent | undefined> {
  if (seq < 0 || seq >= events) return undefined;
  for await (const event of journal.read(runId, seq)) return event;
  return undefined;
}
