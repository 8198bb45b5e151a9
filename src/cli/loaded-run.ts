import { throwIfAborted } from "../kernel/abort.ts";
import { JournalError } from "../kernel/errors.ts";
import { deepFreeze } from "../kernel/json.ts";
import { apply } from "../runtime/record/apply.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { RunState } from "../runtime/record/run-state.ts";
import { RecordedFiles } from "../workspace/recorded-files.ts";
import { noProgress, type Progress, progressAfter } from "./screen/progress.ts";

/** A run as its record tells it. */
export interface LoadedRun {
  readonly runId: string;
  readonly state: RunState;
  /** What its roles wrote. */
  readonly files: RecordedFiles;
  /** What a screen would show of it. */
  readonly progress: Progress;
  /** Micro-dollars of calls that are counted in full because nobody told what they cost. */
  readonly held: number;
  /** Milliseconds of its first and its last event. */
  readonly began: number;
  readonly moved: number;
  /** Why its record could not be read to its end. */
  readonly trouble: JournalError | undefined;
}

/** How a run is loaded. */
export interface LoadOptions {
  readonly signal?: AbortSignal;
  /** Sequence number of the last event that counts. Default: the last of all. */
  readonly at?: number | undefined;
  /** Whether a record that is damaged is told as far as it is whole. Default false: it is an error. */
  readonly isTolerant?: boolean;
  /** Gets every event that counts. */
  readonly visit?: (event: RunEvent) => void;
}

/**
 * Reads a run from its record, event by event.
 *
 * @throws JournalError `RUN_UNKNOWN`, `JOURNAL_DAMAGED`, `EVENT_NEWER`, `JOURNAL_UNREADABLE`
 * @throws ControlError when the signal aborts
 */
export async function loadRun(journal: Journal, runId: string, options: LoadOptions = {}): Promise<LoadedRun> {
  const { signal, at = Infinity, isTolerant = false, visit } = options;
  const state = new RunState(runId);
  const files = new RecordedFiles();
  let [progress, held, began, moved] = [noProgress, 0, 0, 0];
  let trouble: JournalError | undefined;
  try {
    for await (const event of journal.read(runId, 0)) {
      throwIfAborted(signal);
      apply(state, deepFreeze(event));
      files.add(event);
      progress = progressAfter(progress, event);
      if (event.type === "step.ended" && event.basis === "hold") held += event.cost ?? 0;
      if (event.seq === 0) began = event.time;
      moved = event.time;
      visit?.(event);
      // Not one more is read: what comes behind may be damaged.
      if (event.seq >= at) break;
    }
  } catch (error) {
    if (!(isTolerant && error instanceof JournalError && error.code !== "RUN_UNKNOWN")) throw error;
    trouble = error;
  }
  return { runId, state, files, progress, held, began, moved, trouble };
}
