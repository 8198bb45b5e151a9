import type { Clock } from "../kernel/clock.ts";
import type { RunNotice } from "../runtime/record/event.ts";
import type { SummaryStatus } from "../runtime/record/run-summary.ts";
import { CHUNK, HEARTBEAT, type RunFeeds, joined, namedFrame } from "./run-feed.ts";

const HEARTBEAT_EVERY = 15_000;
const MAX_LOOKS = 2;
/** Limits on the notices that wait for one client, and on the characters of their text. */
const MAX_NOTICES = 64;
const MAX_TEXT = 64 * 1024;

const NOTHING: Uint8Array = new Uint8Array(0);

export interface WatchedRun {
  readonly runId: string;
  readonly from: number;
  readonly follows: boolean;
  readonly wantsNotices: boolean;
}

export interface StreamSources {
  readonly feeds: RunFeeds;
  readonly clock: Clock;
  readonly runs: {
    readonly summaries: { standing(runId: string): Promise<{ readonly status: SummaryStatus; readonly events: number }> };
    readonly isClosing: boolean;
  };
}

/**
 * The events of a run as server-sent events, by pull. It owns the position in the record, the rest of an event, and the notices that wait.
 *
 * EventStream.S1 (`#next`) events come in the order of the record, each once, from the one that was asked for.
 * EventStream.S2 (`#pull`) a client that does not read costs 64 kB, or one event, 64 notices and no reading of the journal.
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
  #rest: Uint8Array = NOTHING;
  #notices: RunNotice[] = [];
  #text = 0;
  #isOver = false;
  #hasLeft = false;
  #hasGrown = false;
  #isBehind = false;
  #wake: (() => void) | undefined;
  #looks = 0;
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

  async begin(): Promise<void> {
    await this.#read();
  }

  async #read(): Promise<boolean> {
    const frames = await this.#sources.feeds.next(this.#run.runId, this.#seq);
    this.#seq += frames.length;
    if (frames.length > 0) this.#looks = 0;
    this.#rest = joined(frames);
    return frames.length > 0;
  }

  /** The next bytes; empty when there is something new to look at; undefined at the end. */
  async #next(): Promise<Uint8Array | undefined> {
    if (this.#rest.length > 0) return this.#piece();
    if (this.#notices.length > 0) return this.#takeNotices();
    this.#hasGrown = false;
    this.#isBehind = false;
    if (!(await this.#read())) return this.#atEnd();
    // Notices from before these events are out of date.
    this.#dropNotices();
    return this.#piece();
  }

  #piece(): Uint8Array {
    const piece = this.#rest.subarray(0, CHUNK);
    this.#rest = this.#rest.subarray(CHUNK);
    return piece;
  }

  async #atEnd(): Promise<Uint8Array | undefined> {
    const { runId, from, follows } = this.#run;
    const { feeds, runs } = this.#sources;
    if (runs.isClosing) return undefined;
    if (feeds.isDriven(runId)) return this.#wait();
    const { status, events } = await runs.summaries.standing(runId);
    if (feeds.isDriven(runId)) return NOTHING;
    if (events > this.#seq) return (this.#looks += 1) < MAX_LOOKS ? NOTHING : undefined;
    if (events < this.#seq && this.#seq > from) return undefined;
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
    if (this.#notices.length >= MAX_NOTICES || this.#text + text > MAX_TEXT) return;
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
