import type { RecordedState } from "../runtime/snapshot/snapshot.ts";
import { contentHash } from "../kernel/json.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import type { WarmMemories } from "../runtime/role-memories.ts";

/*
 * The states of runs at rest, with the memories of their roles, so that a conversation does not read its whole record at each turn.
 *
 * WarmStates.M1 (`takeWarm`) a state has one user, who takes it out and returns it when the run is at rest and its events are durable.
 * WarmStates.M2 (`takeWarm`) a state is used only if the record ends with the last event that the state has applied.
 * WarmStates.M3 (`keepWarm`) the states of one journal have a size limit; the oldest are dropped first.
 * WarmStates.M4 (`keepWarm`) most runs of one turn never continue, so only the newest of their states are kept, and they displace no conversation.
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
/** Limit on the states of runs of one turn. */
const MAX_NEW = 100;
/** Approximate number of characters of a state without roles and messages, of a role, and of a message without its content. */
const PER_RUN = 6_000;
const PER_ROLE = 500;
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
  if (latest.seq !== state.seq - 1 || own > MAX_STATE) return;
  const whole = own + (warmMemories?.size ?? 0);
  const all = journals.get(journal) ?? new Map<string, Kept>();
  journals.set(journal, all);
  all.delete(state.runId);
  const more = whole <= MAX_STATE ? { warmMemories, size: whole } : { size: own };
  all.set(state.runId, { ...run, ...more, after: contentHash(latest) });
  limit(all, MAX_NEW, (kept) => (kept.state.turnStart === undefined ? 1 : 0));
  limit(all, MAX_CHARACTERS, ({ size }) => size);
}

/** Drops the oldest states that weigh something, until all together weigh no more than `most`. */
function limit(all: Map<string, Kept>, most: number, weight: (kept: Kept) => number): void {
  let sum = 0;
  for (const kept of all.values()) sum += weight(kept);
  for (const [id, kept] of all) {
    if (sum <= most) return;
    if (weight(kept) > 0) all.delete(id);
    sum -= weight(kept);
  }
}

/** Stops counting above the limit: a long conversation is counted at each turn. */
function sizeOf({ roles, deliveries }: RunState): number {
  let size = PER_RUN + PER_ROLE * roles.size;
  for (const { content } of deliveries) if ((size += PER_MESSAGE + 2 * content.length) > MAX_STATE) break;
  return size;
}
