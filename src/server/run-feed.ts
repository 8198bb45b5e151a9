import type { Observed, RunNotice } from "../runtime/record/event.ts";
import { type Journal, runInfo } from "../runtime/record/journal.ts";
import { type Clock, sleep } from "../kernel/clock.ts";

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
  readonly notice: ((notice: RunNotice) => void) | undefined;
}

interface Observable {
  on(type: Observed["type"], listener: (observed: Observed) => void): () => void;
}

interface Feed {
  readonly followers: Set<Follower>;
  leave: () => void;
}

/**
 * The followers of the runs of a server. It owns them, and the subscriptions and watches, which exist only while a run has followers.
 *
 * RunFeeds.F1 (`changed`) a follower is notified of growth and fetches events itself, so that a slow one has no queue.
 * RunFeeds.F2 (`follow`) nothing is kept of a run without followers.
 * RunFeeds.F3 (`changed`) followers are notified at once of a change that this server makes in a run at rest.
 * RunFeeds.F4 (`#listen`) a followed run that this server does not drive has one watch of its record, for what other processes do.
 * RunFeeds.F5 (`next`) followers that ask for the same events at once share one reading, unless the record has grown.
 */
export class RunFeeds {
  readonly #journal: Journal;
  readonly #watch: RecordWatch;
  readonly #driven = new Map<string, Observable>();
  readonly #feeds = new Map<string, Feed>();
  readonly #readings = new Map<string, Promise<readonly Uint8Array[]>>();

  constructor(journal: Journal, watch: RecordWatch) {
    this.#journal = journal;
    this.#watch = watch;
  }

  driven(runId: string, run: Observable): void {
    this.#driven.set(runId, run);
    this.#turned(runId);
  }

  ended(runId: string): void {
    this.#driven.delete(runId);
    this.#turned(runId);
  }

  isDriven(runId: string): boolean {
    return this.#driven.has(runId);
  }

  changed(runId: string): void {
    this.#readings.clear();
    for (const { grew } of [...(this.#feeds.get(runId)?.followers ?? [])]) grew();
  }

  wakeAll(): void {
    for (const runId of [...this.#feeds.keys()]) this.changed(runId);
  }

  follow(runId: string, follower: Follower): () => void {
    let feed = this.#feeds.get(runId);
    if (feed === undefined) {
      feed = { followers: new Set(), leave: () => undefined };
      this.#feeds.set(runId, feed);
      feed.leave = this.#listen(runId, feed);
    }
    const { followers } = feed;
    followers.add(follower);
    return () => {
      followers.delete(follower);
      if (followers.size > 0 || this.#feeds.get(runId) !== feed) return;
      this.#feeds.delete(runId);
      feed.leave();
    };
  }

  async next(runId: string, from: number): Promise<readonly Uint8Array[]> {
    const key = `${from} ${runId}`;
    const reading = this.#readings.get(key) ?? readFrames(this.#journal, runId, from).finally(() => this.#readings.delete(key));
    this.#readings.set(key, reading);
    return reading;
  }

  #turned(runId: string): void {
    const feed = this.#feeds.get(runId);
    if (feed === undefined) return;
    feed.leave();
    feed.leave = this.#listen(runId, feed);
    this.changed(runId);
  }

  #listen(runId: string, { followers }: Feed): () => void {
    const run = this.#driven.get(runId);
    if (run === undefined) return this.#watch(runId, () => this.changed(runId));
    const notify = (notice: Observed): void => {
      for (const follower of followers) follower.notice?.(notice as RunNotice);
    };
    const subscribed = NOTICES.map((type) => run.on(type, notify));
    return () => {
      for (const end of subscribed) end();
    };
  }
}

/** Polling interval in milliseconds for the record of a run whose journal has no `watch`, or whose `watch` has ended. */
const POLL_EVERY = 1_000;
/** Minimum of milliseconds between two calls: a run that grows fast is read in larger parts. */
const CALM = 100;

export type RecordWatch = (runId: string, grew: () => void) => () => void;

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

/** Bytes that one pull of a client takes. A larger event is sent in pieces. */
export const CHUNK: number = 64 * 1024;

const encoder = new TextEncoder();

export function namedFrame(event: string, data: object): Uint8Array {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The comment that a stream without news sends, so that no proxy closes the connection. */
export const HEARTBEAT: Uint8Array = encoder.encode(": still here\n\n");

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let index = 0;
  for (const part of parts) {
    whole.set(part, index);
    index += part.length;
  }
  return whole;
}

async function readFrames(journal: Pick<Journal, "read">, runId: string, from: number): Promise<readonly Uint8Array[]> {
  const frames: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const event of journal.read(runId, from)) {
      const frame = encoder.encode(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      bytes += frame.length;
      if (frames.length > 0 && bytes > CHUNK) break;
      frames.push(frame);
    }
  } catch (error) {
    // The events before a damaged one are good. A reading that begins with it fails.
    if (frames.length === 0) throw error;
  }
  return frames;
}
