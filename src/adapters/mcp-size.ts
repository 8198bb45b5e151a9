import type { JSONRPCMessage } from "@modelcontextprotocol/client";

/** Most bytes of one message of a server. A longer one is refused before it is parsed. */
export const MOST_BYTES = 10_000_000;

/** The code of the JSON-RPC error that stands for an answer that was refused. */
const REFUSED = -32_077;
const LINE_END = 10;
const RETURN = 13;

/** True for the error of a message that was too long. */
export function isTooLong(error: unknown): boolean {
  return error instanceof MessageTooLong || (typeof error === "object" && error !== null && "code" in error && error.code === REFUSED);
}

/** A message of a server is longer than {@link MOST_BYTES}. */
export class MessageTooLong extends RangeError {
  constructor() {
    super(`A message of more than ${MOST_BYTES} bytes came.`);
  }
}

/**
 * The lines of a server's process. It takes the place of the buffer of the protocol's package, which copies and searches all bytes of a
 * message again for each piece of it.
 *
 * ServerLines.L1 (`append`) each byte is searched once, and copied once when its line is whole. ServerLines.L2 (`append`) a line that is
 * too long is refused at the byte that is one too many, and nothing is read after it.
 */
export class ServerLines {
  readonly #parse: (line: string) => JSONRPCMessage;
  readonly #refused: () => void;
  readonly #whole: string[] = [];
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  /** @param refused called once when a line is too long */
  constructor(parse: (line: string) => JSONRPCMessage, refused: () => void) {
    this.#parse = parse;
    this.#refused = refused;
  }

  /** @throws MessageTooLong */
  append(piece: Buffer): void {
    let from = 0;
    for (let end = piece.indexOf(LINE_END); end !== -1 && !this.#isOver; end = piece.indexOf(LINE_END, from)) {
      this.#keep(piece.subarray(from, end));
      this.#whole.push(Buffer.concat(this.#pieces).toString("utf8"));
      this.clear();
      from = end + 1;
    }
    if (!this.#isOver) this.#keep(piece.subarray(from));
  }

  /** Returns the next message; null when none is whole. Lines that are no JSON are skipped. @throws errors of the parser */
  readMessage(): JSONRPCMessage | null {
    for (let line = this.#whole.shift(); line !== undefined; line = this.#whole.shift()) {
      try {
        return this.#parse(line);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    return null;
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MOST_BYTES) {
      this.#isOver = true;
      this.clear();
      this.#refused();
      throw new MessageTooLong();
    }
    if (part.length > 0) this.#pieces.push(part);
  }
}

/**
 * Returns a response whose messages have at most {@link MOST_BYTES}. In the place of a longer answer comes an error of the request.
 *
 * @param asked the body of the request
 */
export async function bounded(response: Response, asked: unknown): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
  if (isStream) return new Response(body.pipeThrough(boundedEvents(asked)), { status, statusText, headers });
  const bytes = Number(headers.get("content-length") ?? 0) > MOST_BYTES ? undefined : await bytesOf(body);
  if (bytes !== undefined) return new Response(bytes, { status, statusText, headers });
  await body.cancel().catch(() => {});
  throw new MessageTooLong();
}

/** Reads a body to its end; undefined when it is too long. */
async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Blob | undefined> {
  const reader = body.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let bytes = 0; bytes <= MOST_BYTES;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces);
    bytes += value.length;
    pieces.push(new Uint8Array(value));
  }
  await reader.cancel().catch(() => {});
  return undefined;
}

/** Bounds the events of a stream. An event that is too long ends the stream, with an error of the request. */
function boundedEvents(asked: unknown): TransformStream<Uint8Array, Uint8Array> {
  let [bytes, last] = [0, 0];
  return new TransformStream({
    transform(piece, out) {
      const end = eventEnd(piece, last);
      bytes = end === undefined ? bytes + piece.length : piece.length - end;
      last = piece.at(-1) ?? last;
      if (bytes <= MOST_BYTES) return out.enqueue(piece);
      const id = idIn(asked);
      if (id === undefined) return out.error(new MessageTooLong());
      const refusal = { jsonrpc: "2.0", id, error: { code: REFUSED, message: new MessageTooLong().message } };
      // The beginning of the event becomes one of a kind that nobody parses.
      out.enqueue(new TextEncoder().encode(`\nevent: refused\n\ndata: ${JSON.stringify(refusal)}\n\n`));
      out.terminate();
    },
  });
}

/** Returns the place of the last byte that ends an event: a line end right after a line end. @param before the byte before the piece */
function eventEnd(piece: Uint8Array, before: number): number | undefined {
  for (let at = piece.length - 1; at >= 0; at -= 1) {
    const byte = piece[at];
    if (byte !== LINE_END && byte !== RETURN) continue;
    const former = at === 0 ? before : piece[at - 1];
    // A return and a line feed are one line end.
    if (former === LINE_END || (former === RETURN && byte === RETURN)) return at;
  }
  return undefined;
}

/** Returns the id of a request. */
function idIn(asked: unknown): string | number | undefined {
  const request: unknown = typeof asked === "string" ? JSON.parse(asked) : undefined;
  if (typeof request !== "object" || request === null || !("id" in request)) return undefined;
  return typeof request.id === "string" || typeof request.id === "number" ? request.id : undefined;
}
