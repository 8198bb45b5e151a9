import { UsageError } from "../kernel/errors.ts";

/**
 * Limit on the bytes behind the limit that are read and dropped. A client that sends a whole body before it reads would otherwise find its
 * connection closed, in place of the refusal.
 */
const MOST_DROPPED = 64 * 1024 * 1024;

/** The bounds of a body. */
export interface BodyBounds {
  readonly limit: number;
  /** Called before bytes are kept, with their number. @throws UsageError when there is no room for them */
  readonly take: (bytes: number) => void;
  /** Called before a body is read, with the bytes that it declares. It may be a while until it resolves: an unread body is kept by its client. */
  readonly begin: (declared: number) => Promise<void>;
}

/** A request with its body in memory. */
export interface ReadRequest {
  readonly request: Request;
  readonly bytes: number;
}

/** Reads the body of a request. Room is taken for what it declares before any of it is read. @throws UsageError `BODY_TOO_LONG`, and that of `take` */
export async function boundedBody(request: Request, { limit, take, begin }: BodyBounds): Promise<ReadRequest> {
  const { headers, body, method } = request;
  if (body === null) return { request, bytes: 0 };
  let taken = 0;
  const room = (size: number): void => {
    if (size <= taken) return;
    take(size - taken);
    taken = size;
  };
  // The HTTP server holds a body to the length that it declares.
  const declared = headers.has("transfer-encoding") ? 0 : Number(headers.get("content-length"));
  if (declared <= limit) room(declared);
  await begin(taken);
  const kept = await readBody(body, limit, room);
  if (kept === undefined)
    throw new UsageError("BODY_TOO_LONG", `Expected a body of at most ${limit} bytes, got a longer one. Send long texts in parts.`);
  return { request: new Request(request, { method, body: kept }), bytes: kept.size };
}

/** Reads a body to its end. Undefined when it is longer than `limit`. @param room called with the size so far before a piece is kept */
async function readBody(body: ReadableStream<Uint8Array>, limit: number, room: (size: number) => void): Promise<Blob | undefined> {
  const reader = body.getReader();
  let [pieces, size]: [Uint8Array<ArrayBuffer>[], number] = [[], 0];
  while (size <= limit + MOST_DROPPED) {
    const { done, value } = await reader.read();
    if (done) return size > limit ? undefined : new Blob(pieces);
    size += value.length;
    if (size <= limit) {
      room(size);
      pieces.push(new Uint8Array(value));
    } else pieces = [];
  }
  return undefined;
}
