import type { Observed, RunEvent, RunNotice } from "../runtime/record/event.ts";
import type { EventFrames } from "./event-frames.ts";
import type { RecordWatch } from "./record-watch.ts";

/** The notices that watchers of a run get besides its events. */
const NOTICES: readonly RunNotice["type"][] = [
  "role.active",
  "role.idle",
  "action.started",
  "model.delta",
  "model.void",
  "tool.progress",
  "message.dead",
  "message.dropped",
  "message.fault",
  "message.output",
  "message.unheard",
  "warning",
];

/** Someone who follows a run. */
export interface Follower {
  /** Called when the record has grown, and when the run begins or ceases to be driven here. */
  readonly grew: () => void;
  /** Undefined for a follower of events alone. */
  readonly notice: ((notice: RunNotice) => void) | undefined;
}

/** A run that can be observed. */
interface Observable {
  on(type: Observed["type"], listener: (observed: Observed) => void): () => void;
}

/**
 * The followers of the runs of a server. It owns the set of followers of each run, and the subscriptions to notices and the watches of records, which
 * exist only while somebody follows: nobody pays for pieces of text that nobody reads.
 *
 * RunFeeds.F1 (`grew`) a follower is told of growth and fetches events itself, so that a slow one has no queue.
 * RunFeeds.F2 (`follow`) when the last follower of a run has gone, nothing is kept of it, its frames included.
 * RunFeeds.F3 (`changed`) a follower hears at once of a change in a run at rest that this server made.
 * RunFeeds.F4 (`#look`) the record of a followed run that this server does not drive has one watch, so a follower hears of what other processes do.
 */
export class RunFeeds {
  readonly #frames: EventFrames;
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #driven = new Map<string, Observable>();
  readonly #subscriptions = new Map<string, readonly (() => void)[]>();
  readonly #watch: RecordWatch;
  /** The functions that end the watches of records. */
  readonly #watches = new Map<string, () => void>();

  constructor(frames: EventFrames, watch: RecordWatch) {
    this.#frames = frames;
    this.#watch = watch;
  }

  /** Notes a run that this server drives from now on. */
  driven(runId: string, run: Observable): void {
    this.#driven.set(runId, run);
    this.#look(runId);
    this.#subscribe(runId);
    this.#tell(runId);
  }

  /** Notes that this server drives a run no longer. */
  ended(runId: string): void {
    this.#unsubscribe(runId);
    this.#driven.delete(runId);
    this.#look(runId);
    this.#tell(runId);
  }

  isDriven(runId: string): boolean {
    return this.#driven.has(runId);
  }

  /** Takes an event that is durable. */
  grew(event: RunEvent): void {
    if (!this.#followers.has(event.runId)) return;
    this.#frames.add(event);
    this.#tell(event.runId);
  }

  /** Notes that the record of a run at rest may have grown. */
  changed(runId: string): void {
    this.#tell(runId);
  }

  /** Adds a follower; the returned function removes it. */
  follow(runId: string, follower: Follower): () => void {
    const followers = this.#followers.get(runId) ?? new Set<Follower>();
    this.#followers.set(runId, followers);
    this.#frames.watch(runId);
    followers.add(follower);
    this.#look(runId);
    this.#subscribe(runId);
    return () => {
      followers.delete(follower);
      if (followers.size > 0 || this.#followers.get(runId) !== followers) return;
      this.#followers.delete(runId);
      this.#frames.forget(runId);
      this.#look(runId);
      this.#unsubscribe(runId);
    };
  }

  /** Tells every follower, because the server closes. */
  tellAll(): void {
    for (const runId of [...this.#followers.keys()]) this.#tell(runId);
  }

  #tell(runId: string): void {
    for (const { grew } of [...(this.#followers.get(runId) ?? [])]) grew();
  }

  /** Begins or ends the watch of a record. */
  #look(runId: string): void {
    const isWanted = this.#followers.has(runId) && !this.#driven.has(runId);
    const end = this.#watches.get(runId);
    if (isWanted === (end !== undefined)) return;
    end?.();
    const grew = (): void => this.#tell(runId);
    if (isWanted) this.#watches.set(runId, this.#watch(runId, grew));
    else this.#watches.delete(runId);
  }

  #subscribe(runId: string): void {
    const run = this.#driven.get(runId);
    const followers = this.#followers.get(runId);
    if (run === undefined || followers === undefined || this.#subscriptions.has(runId)) return;
    const tell = (notice: Observed): void => {
      for (const follower of followers) follower.notice?.(notice as RunNotice);
    };
    this.#subscriptions.set(
      runId,
      NOTICES.map((type) => run.on(type, tell)),
    );
  }

  #unsubscribe(runId: string): void {
    for (const end of this.#subscriptions.get(runId) ?? []) end();
    this.#subscriptions.delete(runId);
  }
}
