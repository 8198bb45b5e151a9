import type { RecordedState } from "../runtime/snapshot/snapshot.ts";
import { contentHash } from "../kernel/json.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import type { WarmMemories } from "../runtime/role-memories.ts";

/*
 * The states of runs that came to rest in this process, with the memories of their roles, so that a conversation does not read its whole
 * record at each turn. The record takes precedence.
 *
 * WarmStates.M1 (`takeWarm`) a state has one user, who takes it out and returns it when the run is at rest and its events are durable.
 * WarmStates.M2 (`takeWarm`) a state is used only if the record ends with the last event that the state has applied.
 * WarmStates.M3 (`keepWarm`) the states of one journal have a size limit; the oldest are dropped first.
 */

/** The last state at rest of a run in this process. */
export interface WarmRun extends RecordedState {
  readonly warmMemories?: WarmMemories | undefined;
}

interface Kept extends WarmRun {
  /** The hash of the event that the state has applied last. */
  readonly after: string;
  /** Approximate number of characters. */
  readonly size: number;
}

/** Limits on the characters of all states of one journal, and of one state. */
const MAX_CHARACTERS = 20_000_000;
const MAX_STATE = 5_000_000;
const MAX_ROLES = 10_000;
const PER_MESSAGE = 300;

const journals = new WeakMap<Journal, Map<string, Kept>>();

/** Returns the state of a run, if the record has no later event. @param read returns the events of the run from one on */
export async function takeWarm(
  journal: Journal,
  runId: string,
  read: (from: number) => AsyncIterable<RunEvent>,
): Promise<WarmRun | undefined> {
  const kept = journals.get(journal)?.get(runId);
  if (kept === undefined) return undefined;
  journals.get(journal)?.delete(runId);
  let isLast = false;
  for await (const event of read(kept.state.seq - 1)) {
    if (isLast || contentHash(event) !== kept.after) return undefined;
    isLast = true;
  }
  return isLast ? kept : undefined;
}

/** Keeps the state of a run at rest. @param latest the event that the state has applied last, which is durable */
export function keepWarm(journal: Journal, { warmMemories, ...run }: WarmRun, latest: RunEvent): void {
  const { state } = run;
  const own = sizeOf(state);
  if (latest.seq !== state.seq - 1 || state.roles.size > MAX_ROLES || own > MAX_STATE) return;
  const whole = own + (warmMemories?.size ?? 0);
  const all = journals.get(journal) ?? new Map<string, Kept>();
  journals.set(journal, all);
  all.delete(state.runId);
  const more = whole <= MAX_STATE ? { warmMemories, size: whole } : { size: own };
  all.set(state.runId, { ...run, ...more, after: contentHash(latest) });
  let sum = 0;
  for (const { size } of all.values()) sum += size;
  for (const [id, { size }] of all) {
    if (sum <= MAX_CHARACTERS) break;
    all.delete(id);
    sum -= size;
  }
}

/** Stops counting above the limit: a long conversation is counted at each turn. */
function sizeOf({ deliveries }: RunState): number {
  let size = 0;
  for (const { content } of deliveries) if ((size += PER_MESSAGE + 2 * content.length) > MAX_STATE) break;
  return size;
}
