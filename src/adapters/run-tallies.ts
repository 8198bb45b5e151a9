import type { RunEvent } from "../runtime/record/event.ts";
import type { RunInfo } from "../runtime/record/journal.ts";
import { keptTally, type RunTally, TallyFold, readTally } from "../runtime/record/run-summary.ts";
import { digestOf } from "./stored-json.ts";

/*
 * Tallies of runs in a store, each as the JSON text of a `RunTally` with a checksum. A tally can always be made again from the events, so a
 * damaged one counts as missing.
 */

/** A tally is rewritten after this many events, so a list reads at most this many for each run. */
const MOST_BEHIND = 500;

/** Returns the tally in a row, unless it is missing, damaged, or of another version. */
export function tallyIn(runId: string, text: unknown, checksum: unknown): RunTally | undefined {
  if (typeof text !== "string" || checksum !== checksumOf(runId, text)) return undefined;
  return keptTally(JSON.parse(text), runId);
}

/** A tally as it is kept. */
export interface TallyText {
  readonly text: string;
  readonly checksum: string;
}

export function tallyText(tally: RunTally): TallyText {
  const text = JSON.stringify(tally);
  return { text, checksum: checksumOf(tally.summary.id, text) };
}

function checksumOf(runId: string, text: string): string {
  return digestOf(`tally ${JSON.stringify(runId)} ${text}`);
}

interface OwnedTally {
  readonly fold: TallyFold;
  /** Events in the tally that was written last. */
  written: number;
}

/** The parts of {@link OwnedTallies}. */
interface TallySource {
  info(runId: string): Promise<RunInfo>;
  read(runId: string, from: number): AsyncIterable<RunEvent>;
}

/**
 * The tallies of the runs that a journal appends to. It owns their folds, until the run is released.
 *
 * OwnedTallies.T1 (`before`) a fold has exactly the events before an append, or there is none: then the append writes no tally.
 * OwnedTallies.T2 (`failed`) a fold has nothing of an append that failed: one that took events of it in is gone until the next claim.
 * OwnedTallies.T3 (`tallyAfter`) a tally is written with the append that begins, ends or resumes a run, that adds to a run at rest, and every 500
 * events.
 */
export class OwnedTallies {
  readonly #source: TallySource;
  readonly #owned = new Map<string, OwnedTally>();

  constructor(source: TallySource) {
    this.#source = source;
  }

  /**
   * Folds what a claimed run has. One that cannot be read has no tally: its reader gets the error.
   *
   * @param events their number, where it is known
   */
  async claimed(runId: string, events?: number): Promise<void> {
    try {
      const info = events === 0 ? { runId, events } : await this.#source.info(runId);
      const tally = await readTally(this.#source, info);
      this.#owned.set(runId, { fold: new TallyFold(runId, tally), written: tally.summary.events });
    } catch {
      this.drop(runId);
    }
  }

  before(runId: string, seq: number): OwnedTally | undefined {
    const owned = this.#owned.get(runId);
    return owned?.fold.next === seq ? owned : undefined;
  }

  failed(runId: string, seq: number): void {
    if (this.before(runId, seq) === undefined) this.drop(runId);
  }

  drop(runId: string): void {
    this.#owned.delete(runId);
  }

  close(): void {
    this.#owned.clear();
  }
}

export function tallyAfter(owned: OwnedTally, events: readonly RunEvent[]): RunTally | undefined {
  const { fold } = owned;
  for (const event of events) fold.add(event);
  const turns = events.some(({ type }) => type === "run.started" || type === "run.resumed" || type === "run.ended");
  if (!turns && !fold.isAtRest && fold.next - owned.written < MOST_BEHIND) return undefined;
  owned.written = fold.next;
  return fold.tally;
}
