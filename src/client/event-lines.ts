import { onAbort } from "../kernel/abort.ts";
import { TroupeError } from "../kernel/errors.ts";

export interface SentEvent {
  /** Undefined for an entry that is no part of a record. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

const MAX_LENGTH = 256 * 1024 * 1024;

/** Yields `undefined` for a comment: the server is still there. An entry without its empty line is dropped: the connection was cut in it. */
export async function* sentEvents(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<SentEvent | undefined, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  // A server in the same process does not see the signal of the request.
  if (signal.aborted) cancel();
  const letGo = onAbort(signal, cancel);
  let parts: string[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new TroupeError("SERVER_UNREACHABLE", "Expected more of a stream of events, but the connection was cut.", { cause });
      });
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      parts.push(text);
      length += text.length;
      if (length > MAX_LENGTH)
        throw new TroupeError("EVENT_TOO_LONG", `Expected an event of at most ${MAX_LENGTH} characters, got a longer one.`);
      // An entry may end across two pieces: then the first of the two line breaks ended the one before.
      if (!text.includes("\n")) continue;
      const entries = parts.join("").split("\n\n");
      const rest = entries.pop() ?? "";
      parts = [rest];
      length = rest.length;
      for (const entry of entries) yield entryOf(entry);
    }
  } finally {
    letGo();
    cancel();
  }
}

function entryOf(entry: string): SentEvent | undefined {
  let id: string | undefined;
  let event = "message";
  const data: string[] = [];
  for (const line of entry.split("\n")) {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") id = value;
    else if (name === "event") event = value;
    else if (name === "data") data.push(value);
  }
  return data.length === 0 ? undefined : { id, event, data: data.join("\n") };
}
