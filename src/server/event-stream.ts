import type { Clock } from "../kernel/clock.ts";
import type { RunNotice } from "../runtime/record/event.ts";
import type { SummaryStatus } from "../runtime/record/run-summary.ts";
import { type EventFrames, HEARTBEAT, namedFrame } from "./event-frames.ts";
import type { RunFeeds } from "./run-feed.ts";

/** Bytes that one pull of a client takes. A larger event is sent in pieces. */
const CHUNK = 64 * 1024;
/** Milliseconds without news after which a comment is sent. */
const HEARTBEAT_EVERY = 15_000;
/** Looks at a record that contradicts what was sent: a look that another stream shares may be older than this one. */
const MOST_LOOKS = 2;
/** Limits on the notices that wait for one client, and on the characters of their text. */
const MOST_NOTICES = 64;
const MOST_TEXT = 64 * 1024;

export interface WatchedRun {
  readonly runId: string;
  readonly from: number;
  /** The stream stays open when the run comes to rest. */
  readonly follows: boolean;
  readonly wantsNotices: boolean;
}

export interface StreamSources {
  readonly frames: EventFrames;
  readonly feeds: RunFeeds;
  readonly clock: Clock;
  readonly runs: {
    /** The status of a run by its record, and the number of its events. */
    readonly summaries: { standing(runId: string): Promise<{ readonly status: SummaryStatus; readonly events: number }> };
    /** True while the server closes: streams end, and clients come back later. */
    readonly isClosing: boolean;
  };
}

/**
 * The events of a run as server-sent events, by pull: nothing is read before the client has taken what came before. It owns the position in the
 * record, the rest of an event that is sent in pieces, and the notices that wait.
 *
 * EventStream.S1 (`#next`) events come in the order of the record, each once, from the one that was asked for.
 * EventStream.S2 (`#pull`) a client that does not read costs one piece of 64 kB, 64 notices and no reading of the journal.
 * EventStream.S3 (`#notice`) a notice is sent only to a client that has every event before it.
 * EventStream.S4 (`#atEnd`) `event: end` comes only when the record ends with the end of the run, and every event was sent.
 * EventStream.S5 (`#pull`) a record that cannot be read ends the stream after the events before; the next request gets the reason.
 * EventStream.S6 (`#atEnd`) a record with fewer events than were sent, of a run that was begun again under its id, ends the stream.
 */
export class EventStream {
  readonly #run: WatchedRun;
  readonly #sources: StreamSources;
  readonly #leave: () => void;
  readonly #closed: () => void;
  #seq: number;
  #rest: Uint8Array | undefined;
  #notices: RunNotice[] = [];
  #text = 0;
  #isOver = false;
  #hasLeft = false;
  #hasGrown = false;
  /** True while the record may have events that were not sent. */
  #isBehind = false;
  #wake: (() => void) | undefined;
  /** Looks in a row that contradict what was sent. */
  #looks = 0;
  /** The number of events at the last rest that was reported, for a stream that follows. */
  #reportedRest = -1;

  constructor(run: WatchedRun, sources: StreamSources, closed: () => void) {
    this.#run = run;
    this.#sources = sources;
    this.#closed = closed;
    this.#seq = run.from;
    this.#leave = sources.feeds.follow(run.runId, {
      grew: () => {
        this.#isBehind = true;
        this.#grew();
      },
      notice: run.wantsNotices ? (notice): void => this.#notice(notice) : undefined,
    });
  }

  get body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({ pull: (sink) => this.#pull(sink), cancel: () => this.#end() }, { highWaterMark: 0 });
  }

  async #pull(sink: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (!this.#isOver) {
      const chunk = await this.#next().catch(() => undefined);
      if (chunk === undefined) break;
      if (chunk.length > 0) return sink.enqueue(chunk);
    }
    this.#end();
    sink.close();
  }

  /** The next bytes; empty when there is something new to look at; undefined at the end. */
  async #next(): Promise<Uint8Array | undefined> {
    const { runId } = this.#run;
    const { frames } = this.#sources;
    if (this.#rest !== undefined) return this.#piece(this.#rest);
    if (this.#notices.length > 0) return this.#takeNotices();
    this.#hasGrown = false;
    this.#isBehind = false;
    const first = frames.get(runId, this.#seq) ?? (await frames.load(runId, this.#seq));
    if (first === undefined) return this.#atEnd();
    // Notices from before this event are out of date.
    this.#dropNotices();
    this.#looks = 0;
    this.#seq += 1;
    if (first.length > CHUNK) return this.#piece(first);
    return this.#joined(first);
  }

  #joined(first: Uint8Array): Uint8Array {
    const parts = [first];
    let { length } = first;
    const next = (): Uint8Array | undefined => this.#sources.frames.get(this.#run.runId, this.#seq);
    for (let frame = next(); frame !== undefined && length + frame.length <= CHUNK; frame = next()) {
      parts.push(frame);
      length += frame.length;
      this.#seq += 1;
    }
    return joined(parts);
  }

  #piece(frame: Uint8Array): Uint8Array {
    this.#rest = frame.length > CHUNK ? frame.subarray(CHUNK) : undefined;
    return frame.subarray(0, CHUNK);
  }

  /** Every event was sent: reports that the run is at rest, or waits for more. */
  async #atEnd(): Promise<Uint8Array | undefined> {
    const { runId, from, follows } = this.#run;
    const { feeds, runs } = this.#sources;
    if (runs.isClosing) return undefined;
    if (feeds.isDriven(runId)) return this.#wait();
    const { status, events } = await runs.summaries.standing(runId);
    // Another stream may have asked before the last events came.
    const isOld = events < this.#seq && this.#seq > from;
    if (feeds.isDriven(runId)) return NOTHING;
    if (events > this.#seq || isOld) {
      this.#looks += 1;
      return this.#looks < MOST_LOOKS ? NOTHING : undefined;
    }
    this.#looks = 0;
    if (status === "open" || status === "empty" || this.#reportedRest === events) return this.#wait();
    this.#reportedRest = events;
    if (!follows) this.#isOver = true;
    return namedFrame("end", { status, events });
  }

  /** Waits for news; after a while sends a comment, which also finds out whether the client is still there. */
  async #wait(): Promise<Uint8Array> {
    if (this.#hasGrown || this.#isOver) return NOTHING;
    const isNews = await new Promise<boolean>((resolve) => {
      const cancel = this.#sources.clock.timer(HEARTBEAT_EVERY, () => resolve(false));
      this.#wake = () => {
        cancel();
        resolve(true);
      };
    });
    this.#wake = undefined;
    return isNews ? NOTHING : HEARTBEAT;
  }

  #grew(): void {
    this.#hasGrown = true;
    this.#wake?.();
  }

  #notice(notice: RunNotice): void {
    // Only a client that waits has every event, and only it can take a notice.
    if (this.#isBehind || (this.#wake === undefined && this.#notices.length === 0)) return;
    const text = notice.type === "model.delta" || notice.type === "tool.progress" ? notice.text.length : 0;
    if (this.#notices.length >= MOST_NOTICES || this.#text + text > MOST_TEXT) return;
    this.#notices.push(notice);
    this.#text += text;
    this.#grew();
  }

  #takeNotices(): Uint8Array {
    const parts = this.#notices.map((notice) => namedFrame(notice.type, notice));
    this.#dropNotices();
    return joined(parts);
  }

  #dropNotices(): void {
    this.#notices = [];
    this.#text = 0;
  }

  #end(): void {
    this.#isOver = true;
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#leave();
    this.#wake?.();
    this.#closed();
  }
}

const NOTHING = new Uint8Array(0);

function joined(parts: readonly Uint8Array[]): Uint8Array {
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
