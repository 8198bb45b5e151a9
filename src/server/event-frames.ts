import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";

/** Bytes of the frames of all runs that are kept for the next reader, and what each costs besides its text. */
const MOST_BYTES = 64 * 1024 * 1024;
const ENTRY_BYTES = 256;
/** Events and bytes that one reading of the journal takes. */
const PAGE_EVENTS = 256;
const PAGE_BYTES = 256 * 1024;

const encoder = new TextEncoder();

/** Returns an event as it is sent to a watcher. JSON has no line breaks of its own, so the data is one line. */
export function frameOf(event: RunEvent): Uint8Array {
  return encoder.encode(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** Returns a frame that is no event of the record: a notice, the end of the stream. */
export function namedFrame(event: string, data: object): Uint8Array {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The comment that a stream without news sends, so that no proxy closes the connection. */
export const HEARTBEAT: Uint8Array = encoder.encode(": still here\n\n");

interface KeptFrame {
  readonly runId: string;
  readonly seq: number;
  readonly frame: Uint8Array;
}

/**
 * The events of runs as bytes for watchers. It owns the recent frames of the runs that are watched, which all watchers of a run share.
 *
 * EventFrames.F1 (`#keep`) kept frames take at most 64 MB; the least recently used one goes first. EventFrames.F2 (`load`) one reading of the
 * journal takes at most 256 events, or 256 kB unless one event has more. EventFrames.F3 (`load`) watchers of a run that ask for the same events
 * share one reading. EventFrames.F4 (`forget`) nothing is kept of a run without watchers, also when a reading ends later.
 * EventFrames.F5 (`add`, `#keep`) a run that begins again under its id, or whose words were erased, has no frame from before.
 */
export class EventFrames {
  readonly #journal: Journal;
  /** The frames of watched runs by seq. */
  readonly #watched = new Map<string, Map<number, KeptFrame>>();
  /** All frames, the least recently used one first. */
  readonly #frames = new Set<KeptFrame>();
  readonly #loading = new Map<string, Promise<void>>();
  #bytes = 0;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get bytes(): number {
    return this.#bytes;
  }

  watch(runId: string): void {
    if (!this.#watched.has(runId)) this.#watched.set(runId, new Map());
  }

  forget(runId: string): void {
    this.#clear(runId);
    this.#watched.delete(runId);
  }

  add(event: RunEvent): void {
    if (!this.#watched.has(event.runId)) return;
    if (event.seq === 0) this.#clear(event.runId);
    this.#keep(event, frameOf(event));
  }

  get(runId: string, seq: number): Uint8Array | undefined {
    const kept = this.#watched.get(runId)?.get(seq);
    if (kept === undefined) return undefined;
    this.#frames.delete(kept);
    this.#frames.add(kept);
    return kept.frame;
  }

  /**
   * Reads the next events of a run from the journal.
   *
   * @returns the first frame itself, since a large one may be more than is kept
   * @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`, `JOURNAL_DAMAGED`, `EVENT_NEWER`
   */
  async load(runId: string, from: number): Promise<Uint8Array | undefined> {
    const key = `${from} ${runId}`;
    let first: Uint8Array | undefined;
    const loading = this.#loading.get(key) ?? this.#read(runId, from, (frame) => (first = frame));
    this.#loading.set(key, loading);
    try {
      await loading;
    } finally {
      this.#loading.delete(key);
    }
    return first ?? this.get(runId, from);
  }

  async #read(runId: string, from: number, isFirst: (frame: Uint8Array) => void): Promise<void> {
    let [events, bytes] = [0, 0];
    try {
      for await (const event of this.#journal.read(runId, from)) {
        const frame = frameOf(event);
        if (events === 0) isFirst(frame);
        this.#keep(event, frame);
        events += 1;
        bytes += frame.length;
        if (events >= PAGE_EVENTS || bytes >= PAGE_BYTES) break;
      }
    } catch (error) {
      // The events before a damaged one are good. A reading that begins with it fails.
      if (events === 0) throw error;
    }
  }

  #keep({ runId, seq, type }: RunEvent, frame: Uint8Array): void {
    const ofRun = this.#watched.get(runId);
    if (ofRun === undefined || ofRun.has(seq)) return;
    if (type === "run.erased") this.#clear(runId);
    const kept = { runId, seq, frame };
    ofRun.set(seq, kept);
    this.#frames.add(kept);
    this.#bytes += frame.length + ENTRY_BYTES;
    for (const oldest of this.#frames) {
      if (this.#bytes <= MOST_BYTES || oldest === kept) return;
      this.#drop(oldest);
    }
  }

  #clear(runId: string): void {
    for (const kept of this.#watched.get(runId)?.values() ?? []) this.#drop(kept);
  }

  #drop(kept: KeptFrame): void {
    this.#frames.delete(kept);
    this.#watched.get(kept.runId)?.delete(kept.seq);
    this.#bytes -= kept.frame.length + ENTRY_BYTES;
  }
}
