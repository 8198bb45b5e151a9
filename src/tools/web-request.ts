import { systemCode } from "../kernel/system-error.ts";
import { type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { withTimeout } from "../kernel/abort.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { ControlError, TimeoutError, TroupeError } from "../kernel/errors.ts";
import { unreachedText } from "../kernel/server-answer.ts";
import { type Admission, admit, type WebAccess } from "./web-access.ts";

export interface WebRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly access: WebAccess;
  readonly signal: AbortSignal;
  /** Limit on the bytes, after decompression. Default 2 MiB. */
  readonly maxBytes?: number;
  /** Default 5. */
  readonly maxRedirects?: number;
  /** Milliseconds for all of it. Default 20,000. */
  readonly timeout?: number;
  readonly clock?: Clock;
}

export interface WebAnswer {
  readonly kind: "answer";
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** True when there was more than `maxBytes`. */
  readonly isCut: boolean;
}

export type WebOutcome = WebAnswer | { readonly kind: "refused" | "failed"; readonly reason: string };

const MAX_BYTES = 2 * 1024 ** 2;
const MAX_REDIRECTS = 5;
const TIMEOUT = 20_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Gets a page and follows redirects. Every address on the way is admitted. The given headers go to the first origin only. */
export async function getWeb(request: WebRequest): Promise<WebOutcome> {
  const { clock = systemClock, timeout = TIMEOUT, signal } = request;
  try {
    return await withTimeout(clock, timeout, `the request to ${hostOf(request.url)}`, signal, (limited) => follow(request, limited));
  } catch (error) {
    if (error instanceof ControlError) throw error;
    if (error instanceof TimeoutError) return { kind: "failed", reason: `no complete answer came within ${timeout} ms` };
    return { kind: "failed", reason: failureOf(error) };
  }
}

async function follow(request: WebRequest, signal: AbortSignal): Promise<WebOutcome> {
  const maxRedirects = request.maxRedirects ?? MAX_REDIRECTS;
  let place: Admission = await admit(request.url, request.access);
  const first = place.kind === "admitted" ? place.url.origin : "";
  for (let hops = 0; hops <= maxRedirects; hops++) {
    if (place.kind === "refused") return place;
    const headers = place.url.origin === first ? request.headers : undefined;
    const response = await open(place, headers ?? {}, signal);
    const location = REDIRECTS.has(response.statusCode ?? 0) ? response.headers.location : undefined;
    if (location === undefined) return readAnswer(place.url, response, request.maxBytes ?? MAX_BYTES);
    response.destroy();
    place = await admit(location, request.access, place.url);
  }
  return { kind: "failed", reason: `expected at most ${maxRedirects} redirects, got more` };
}

function open(
  { url, addresses }: Extract<Admission, { kind: "admitted" }>,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  // With several addresses Node.js asks for all and tries one after the other.
  const lookup = ((_host: string, options: { all?: boolean }, answer: (...answers: unknown[]) => void): void => {
    if (options.all === true) answer(null, addresses);
    else answer(null, addresses[0]?.address, addresses[0]?.family);
  }) as LookupFunction;
  const options: RequestOptions = {
    method: "GET",
    // A connection of its own: a pooled one could lead to an address of an earlier check.
    agent: false,
    lookup,
    signal,
    headers: { "user-agent": "troupe", accept: "text/html,text/*;q=0.9,*/*;q=0.5", "accept-encoding": "gzip, deflate, br", ...headers },
  };
  return new Promise((resolve, reject) => {
    const sent = url.protocol === "https:" ? httpsRequest(url, options) : httpRequest(url, options);
    sent.on("response", resolve);
    sent.on("error", reject);
    // Some servers close without an error and without an answer, for example to change the protocol.
    sent.on("close", () => reject(new TroupeError("WEB_CLOSED", "Expected an answer, but the connection was closed. Try again later.")));
    sent.end();
  });
}

async function readAnswer(url: URL, response: IncomingMessage, maxBytes: number): Promise<WebOutcome> {
  const body = decoded(response);
  if (body === undefined) {
    response.destroy();
    return { kind: "failed", reason: `expected gzip, deflate or br, got the encoding "${response.headers["content-encoding"] ?? ""}"` };
  }
  const pieces: Buffer[] = [];
  let size = 0;
  // The limit counts the decompressed bytes: a small body may decompress to a huge one.
  for await (const piece of body as AsyncIterable<Buffer>) {
    pieces.push(piece.subarray(0, maxBytes - size));
    size += piece.length;
    if (size > maxBytes) break;
  }
  response.destroy();
  return {
    kind: "answer",
    url: url.href,
    status: response.statusCode ?? 0,
    headers: plainHeaders(response),
    body: Buffer.concat(pieces),
    isCut: size > maxBytes,
  };
}

function decoded(response: IncomingMessage): Readable | undefined {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return response;
  const makers: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  };
  const make = Object.hasOwn(makers, encoding) ? makers[encoding] : undefined;
  // The reader of the pipe gets its error by reading.
  return make === undefined ? undefined : pipeline(response, make(), () => {});
}

function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "the web";
}

/** The code of the system and nothing of the request: an address may hold a key. */
function failureOf(error: unknown): string {
  const known = unreachedText(error);
  if (known !== undefined) return `the connection failed: ${known}`;
  const causes = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  const codes = [...new Set(causes.map(systemCode).filter((code) => code !== ""))];
  return codes.length === 0 ? "the connection failed" : `the connection failed: ${codes.join(", ")}`;
}

/** Decodes bytes by the charset that the server or the page names; default UTF-8. */
export function textOfBytes(bytes: Buffer, contentType: string): string {
  const named = /charset\s{0,5}=\s{0,5}["']?([\w:.-]{1,40})/i;
  const label = named.exec(contentType)?.[1] ?? named.exec(bytes.subarray(0, 1024).toString("latin1"))?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // An unknown label.
    return new TextDecoder().decode(bytes);
  }
}

/** True for bytes that are no text: they hold NUL bytes and do not begin with the mark of UTF-16. */
export function isBinary(bytes: Buffer): boolean {
  const start = bytes.subarray(0, 2).toString("hex");
  return start !== "fffe" && start !== "feff" && bytes.subarray(0, 8192).includes(0);
}
