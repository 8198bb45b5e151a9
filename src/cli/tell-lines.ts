import { throwIfAborted } from "../kernel/abort.ts";
import { Lines } from "./lines.ts";
import type { Session } from "./session.ts";

/**
 * Writes lines to standard output at the pace of its reader, as they come. They must be fit for a terminal.
 *
 * @throws ControlError when an interruption comes; a reader that is gone is one.
 */
export async function tellLines({ host, interruptions }: Session, lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const out = new Lines(host.stdout);
  for await (const line of lines) {
    await out.write(line);
    throwIfAborted(interruptions.signal);
  }
}
