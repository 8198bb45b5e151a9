import type { Observed, RunEvent, RunNotice } from "../runtime/record/event.ts";
import type { EventFrames } from "./event-frames.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import { type Journal, runInfo } from "../runtime/record/journal.ts";

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

export interface Follower {
  /** Called when the record has grown, and when this server begins or ceases to drive the run. */
  readonly grew: () => void;
  /** Undefined for a follower of events alone. */
  readonly notice: ((notice: RunNotice) => void) | undefined;
}

interface Observable {
  on(type: Observed["type"], listener: (observed: Observed) => void): () => void;
}

/**
 * The followers of the runs of a server. It owns the followers of each run, and the subscriptions to notices and the watches of records, which
 * exist only while a run has followers.
 *
 * RunFeeds.F1 (`grew`) a follower is notified of growth and fetches events itself, so that a slow one has no queue.
 * RunFeeds.F2 (`follow`) nothing is kept of a run without followers, its frames included.
 * RunFeeds.F3 (`changed`) followers are notified at once of a change that this server makes in a run at rest.
 * RunFeeds.F4 (`#look`) a followed run that this server does not drive has one watch of its record, for what other processes do.
 */
export class RunFeeds {
  readonly #frames: EventFrames;
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #driven = new Map<string, Observable>();
  readonly #subscriptions = new Map<string, readonly (() => void)[]>();
  readonly #watch: RecordWatch;
  readonly #watches = new Map<string, () => void>();

  constructor(frames: EventFrames, watch: RecordWatch) {
    this.#frames = frames;
    this.#watch = watch;
  }

  driven(runId: string, run: Observable): void {
    this.#driven.set(runId, run);
    this.#look(runId);
    this.#subscribe(runId);
    this.#wake(runId);
  }

  ended(runId: string): void {
    this.#unsubscribe(runId);
    this.#driven.delete(runId);
    this.#look(runId);
    this.#wake(runId);
  }

  isDriven(runId: string): boolean {
    return this.#driven.has(runId);
  }

  grew(event: RunEvent): void {
    if (!this.#followers.has(event.runId)) return;
    this.#frames.add(event);
    this.#wake(event.runId);
  }

  /** Notes that the record of a run at rest may have grown. */
  changed(runId: string): void {
    this.#wake(runId);
  }

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

  wakeAll(): void {
    for (const runId of [...this.#followers.keys()]) this.#wake(runId);
  }

  #wake(runId: string): void {
    for (const { grew } of [...(this.#followers.get(runId) ?? [])]) grew();
  }

  #look(runId: string): void {
    const isWanted = this.#followers.has(runId) && !this.#driven.has(runId);
    const end = this.#watches.get(runId);
    if (isWanted === (end !== undefined)) return;
    end?.();
    const grew = (): void => this.#wake(runId);
    if (isWanted) this.#watches.set(runId, this.#watch(runId, grew));
    else this.#watches.delete(runId);
  }

  #subscribe(runId: string): void {
    const run = this.#driven.get(runId);
    const followers = this.#followers.get(runId);
    if (run === undefined || followers === undefined || this.#subscriptions.has(runId)) return;
    const notify = (notice: Observed): void => {
      for (const follower of followers) follower.notice?.(notice as RunNotice);
    };
    const subscribed = NOTICES.map((type) => run.on(type, notify));
    this.#subscriptions.set(runId, subscribed);
  }

  #unsubscribe(runId: string): void {
    for (const end of this.#subscriptions.get(runId) ?? []) end();
    this.#subscriptions.delete(runId);
  }
}

/** Milliseconds between two looks at the record of a run, where its journal has no `watch` or that has ended. */
const POLL_EVERY = 1_000;
/** Minimum of milliseconds between two calls: a run that grows fast is read in larger parts. */
const CALM = 100;

/** Watches the record of a run. @param grew called when it may have grown @returns a function that ends it */
export type RecordWatch = (runId: string, grew: () => void) => () => void;

/** Returns the watch of a journal: its own `watch` where it has one, else one that asks for the number of events. */
export function recordWatch(journal: Journal, clock: Clock): RecordWatch {
  return (runId, grew) => {
    const stop = new AbortController();
    void watched(journal, clock, runId, grew, stop.signal);
    return () => stop.abort();
  };
}

/** Never rejects: a later read reports the error. */
async function watched(journal: Journal, clock: Clock, runId: string, grew: () => void, signal: AbortSignal): Promise<void> {
  const pause = (ms: number): Promise<void> => sleep(clock, ms, signal).catch(() => undefined);
  let known: number | undefined;
  while (!signal.aborted) {
    try {
      for await (const _growth of journal.watch?.(runId, { signal }) ?? []) {
        if (signal.aborted) return;
        grew();
        await pause(CALM);
      }
      const { events } = await runInfo(journal, runId);
      if (!signal.aborted && events !== known) grew();
      known = events;
    } catch {
      // Tried again.
    }
    await pause(POLL_EVERY);
  }
}
