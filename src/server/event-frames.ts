import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";

/** Bytes that one pull of a client takes. A larger event is sent in pieces. */
export const CHUNK: number = 64 * 1024;

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

/** Reads the events of one chunk as frames; none at the end of the record. @throws JournalError as `read` of the journal */
export async function readFrames(journal: Pick<Journal, "read">, runId: string, from: number): Promise<readonly Uint8Array[]> {
  const frames: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const event of journal.read(runId, from)) {
      const frame = frameOf(event);
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
