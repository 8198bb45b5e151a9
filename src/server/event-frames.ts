import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";

/** Bytes that one pull of a client takes. A larger event is sent in pieces. */
export const CHUNK: number = 64 * 1024;
/** Bytes of the frames of one run that are kept for its watchers. */
const KEPT = 2 * CHUNK;

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

/** Takes frames until the next one would fill more than a chunk; the first one always fits. */
class Page {
  readonly frames: Uint8Array[] = [];
  #bytes = 0;

  /** @returns false where the frame has no room */
  add(frame: Uint8Array): boolean {
    this.#bytes += frame.length;
    if (this.frames.length > 0 && this.#bytes > CHUNK) return false;
    this.frames.push(frame);
    return true;
  }
}

/**
 * The latest events of a run that is driven and watched here, as frames that its watchers share.
 *
 * RecentFrames.F1 (`add`) kept frames take at most 128 kB, or there is one. A run that begins again under its id has no frame from before.
 */
export class RecentFrames {
  #first = 0;
  #frames: Uint8Array[] = [];
  #bytes = 0;

  add(event: RunEvent): void {
    if (event.seq !== this.#first + this.#frames.length) [this.#first, this.#frames, this.#bytes] = [event.seq, [], 0];
    const frame = frameOf(event);
    this.#frames.push(frame);
    this.#bytes += frame.length;
    while (this.#bytes > KEPT && this.#frames.length > 1) {
      this.#bytes -= this.#frames.shift()?.length ?? 0;
      this.#first += 1;
    }
  }

  /** Returns the frames of one chunk; none where the first is not kept. */
  from(seq: number): readonly Uint8Array[] {
    const page = new Page();
    if (seq >= this.#first) this.#frames.slice(seq - this.#first).every((frame) => page.add(frame));
    return page.frames;
  }
}

/** Reads the events of one chunk as frames; none at the end of the record. @throws JournalError as `read` of the journal */
export async function readFrames(journal: Pick<Journal, "read">, runId: string, from: number): Promise<readonly Uint8Array[]> {
  const page = new Page();
  try {
    for await (const event of journal.read(runId, from)) if (!page.add(frameOf(event))) break;
  } catch (error) {
    // The events before a damaged one are good. A reading that begins with it fails.
    if (page.frames.length === 0) throw error;
  }
  return page.frames;
}
