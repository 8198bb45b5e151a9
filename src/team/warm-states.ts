import type { RecordedState } from "../runtime/snapshot/snapshot.ts";
import { contentHash } from "../kernel/json.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { ForkAnswers } from "../runtime/replay/fork-answers.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import type { WarmMemories } from "../runtime/role-memories.ts";

/*
 * The states of runs that came to rest in this process, with what their roles and forks know, so that a conversation does not read its whole
 * record at each turn. The record stays the truth.
 *
 * WarmStates.M1 (`takeWarm`) a state has one user: it is taken out, and comes back when the run is at rest again and its events are durable.
 * WarmStates.M2 (`takeWarm`) a state is used only where the record ends with the event that the state has applied last.
 * WarmStates.M3 (`keepWarm`) the states of one journal have a bound; the oldest leave first.
 */

/** The answers of a parent to its fork. */
export interface SharedPast {
  /** Undefined: the parent is gone. */
  readonly past: ForkAnswers | undefined;
  /** A warning that some of the parent could not be read. */
  readonly lost: string | undefined;
  /** How far the parent was read; undefined where some of it could not be. */
  readonly reading: PastReading | undefined;
}

/** How far a parent was read. */
export interface PastReading {
  /** The number of its events. */
  readonly events: number;
  /** The hash of the last of them. */
  readonly after: string;
  /** Characters of the events after the shared past. */
  readonly size: number;
}

/** What a fork knows of its whole parent. */
export interface WarmPast extends SharedPast {
  readonly past: ForkAnswers;
  readonly lost: undefined;
  readonly reading: PastReading;
}

/** A run as this process has left it at its last rest. */
export interface WarmRun extends RecordedState {
  /** Undefined for a run that is no fork, and where it is to be read again. */
  readonly warmPast?: WarmPast | undefined;
  /** What the memories of its roles have learned of its whole record. */
  readonly warmMemories?: WarmMemories | undefined;
}

interface Kept extends WarmRun {
  /** The hash of the event that the state has applied last. */
  readonly after: string;
  /** About how many characters the state holds. */
  readonly size: number;
  /** The deliveries that are counted in the size. */
  readonly counted: number;
}

/** Characters of all states of one journal. */
const MOST_CHARACTERS = 20_000_000;
/** Characters of one state, and its roles. */
const MOST_OF_ONE = 5_000_000;
const MOST_ROLES = 10_000;
/** Characters that a message takes besides its text. */
const OF_A_MESSAGE = 300;

const journals = new WeakMap<Journal, Map<string, Kept>>();
/** The known sizes of the states that are in use. */
const sizes = new WeakMap<RunState, Pick<Kept, "size" | "counted">>();

/** Returns the state of a run, where the record has nothing else. @param read returns the events of the run from one on */
export async function takeWarm(
  journal: Journal,
  runId: string,
  read: (from: number) => AsyncIterable<RunEvent>,
): Promise<WarmRun | undefined> {
  const kept = journals.get(journal)?.get(runId);
  if (kept === undefined) return undefined;
  journals.get(journal)?.delete(runId);
  sizes.set(kept.state, kept);
  const { state, after } = kept;
  let isLast = false;
  for await (const event of read(state.seq - 1)) {
    if (isLast || contentHash(event) !== after) return undefined;
    isLast = true;
  }
  return isLast ? kept : undefined;
}

/** Keeps the state of a run at rest. @param latest the event that the state has applied last, which is durable */
export function keepWarm(journal: Journal, { warmPast, warmMemories, ...run }: WarmRun, latest: RunEvent): void {
  const { state } = run;
  const { size, counted } = sizeOf(state);
  if (latest.seq !== state.seq - 1 || size > MOST_OF_ONE || state.roles.size > MOST_ROLES) return;
  const all = journals.get(journal) ?? new Map<string, Kept>();
  journals.set(journal, all);
  all.delete(state.runId);
  const isHeld = size + (warmPast?.reading.size ?? 0) + (warmMemories?.size ?? 0) <= MOST_OF_ONE;
  all.set(state.runId, { ...run, ...(isHeld ? { warmPast, warmMemories } : {}), after: contentHash(latest), size, counted });
  let sum = 0;
  for (const one of all.values()) sum += whole(one);
  for (const [id, one] of all) {
    if (sum <= MOST_CHARACTERS) break;
    all.delete(id);
    sum -= whole(one);
  }
}

function whole({ size, warmPast, warmMemories }: Kept): number {
  return size + (warmPast?.reading.size ?? 0) + (warmMemories?.size ?? 0);
}

/** Counts the messages that were delivered since the last count. */
function sizeOf(state: RunState): Pick<Kept, "size" | "counted"> {
  const { deliveries } = state;
  let { size, counted } = sizes.get(state) ?? { size: 0, counted: 0 };
  for (; counted < deliveries.length; counted += 1) size += OF_A_MESSAGE + 2 * (deliveries[counted]?.content.length ?? 0);
  return { size, counted };
}
