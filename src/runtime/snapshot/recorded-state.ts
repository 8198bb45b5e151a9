import { deepFreeze } from "../../kernel/json.ts";
import { apply } from "../record/apply.ts";
import type { RunEvent } from "../record/event.ts";
import type { Journal } from "../record/journal.ts";
import { RunState } from "../record/run-state.ts";
import type { RestoredState } from "./snapshot.ts";
import type { LastSnapshot } from "./snapshot-writer.ts";

/** A run as its record has it. */
export interface RecordedState {
  readonly state: RunState;
  /** The snapshot that the state was restored from. */
  readonly last: LastSnapshot | undefined;
}

/**
 * Returns the state that the record of a run leads to: from its newest snapshot and the events after that, else from all its events.
 *
 * @param read returns the events of the run from a place on
 * @throws the errors of `read`; JournalError as `apply`
 */
export async function recordedState(
  journal: Pick<Journal, "newestSnapshot">,
  runId: string,
  read: (from: number) => AsyncIterable<RunEvent>,
): Promise<RecordedState> {
  const found = await newestState(journal, runId);
  const continued = found && (await continuedFrom(found, read));
  if (continued !== undefined) return continued;
  const state = new RunState(runId);
  for await (const event of read(0)) apply(state, deepFreeze(event));
  return { state, last: undefined };
}

/** A snapshot that cannot be read is ignored: where the journal itself is at fault, reading its events shows that. */
async function newestState(journal: Pick<Journal, "newestSnapshot">, runId: string): Promise<RestoredState | undefined> {
  try {
    const snapshot = await journal.newestSnapshot?.(runId);
    if (snapshot === undefined) return undefined;
    // Loaded here because most runs have no snapshot.
    const { restored } = await import("./snapshot.ts");
    return restored(runId, snapshot);
  } catch {
    return undefined;
  }
}

/** Returns undefined for a snapshot that does not belong to the record. */
async function continuedFrom(found: RestoredState, read: (from: number) => AsyncIterable<RunEvent>): Promise<RecordedState | undefined> {
  const { continuesFrom } = await import("./snapshot.ts");
  const { state, size } = found;
  const last = { seq: state.seq, size };
  let isProven = false;
  for await (const event of read(last.seq - 1)) {
    const fits: boolean = isProven ? doesApply(state, event) : continuesFrom(found, event);
    if (!fits) return undefined;
    isProven = true;
  }
  return isProven ? { state, last } : undefined;
}

/** The record may be at fault in place of the snapshot: folding all of it shows that. */
function doesApply(state: RunState, event: RunEvent): boolean {
  try {
    apply(state, deepFreeze(event));
    return true;
  } catch {
    return false;
  }
}
