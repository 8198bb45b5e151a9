import { UsageError } from "../kernel/errors.ts";

/**
 * Limit on the bytes behind the limit that are read and dropped. A client that sends a whole body before it reads would otherwise find its
 * connection closed, in place of the refusal.
 */
const MOST_DROPPED = 64 * 1024 * 1024;

/**
 * Returns a request whose body has at most `limit` bytes. A body that declares a length within the limit is not
 * looked at: the HTTP server holds it to that length, and drops what nobody reads.
 *
 * @throws UsageError `BODY_TOO_LONG`
 */
export async function boundedBody(request: Request, limit: number): Promise<Request> {
  const { headers } = request;
  const declared = headers.has("transfer-encoding") ? undefined : headers.get("content-length");
  if (declared !== null && declared !== undefined && Number(declared) <= limit) return request;
  const { body } = request;
  if (body === null) return request;
  const kept = await readBody(body, limit);
  if (kept === undefined)
    throw new UsageError("BODY_TOO_LONG", `Expected a body of at most ${limit} bytes, got a longer one. Send long texts in parts.`);
  return new Request(request, { method: request.method, body: kept });
}

/** Reads a body to its end. Undefined when it is longer than `limit`. */
async function readBody(body: ReadableStream<Uint8Array>, limit: number): Promise<Blob | undefined> {
  const reader = body.getReader();
  let [pieces, size]: [Uint8Array<ArrayBuffer>[], number] = [[], 0];
  while (size <= limit + MOST_DROPPED) {
    const { done, value } = await reader.read();
    if (done) return size > limit ? undefined : new Blob(pieces);
    size += value.length;
    if (size <= limit) pieces.push(new Uint8Array(value));
    else pieces = [];
  }
  return undefined;
}
