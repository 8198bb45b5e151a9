import type { Transport } from "@modelcontextprotocol/client";
import { type Shape, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";

/** @internal */
export interface McpTransport {
  readonly transport: Transport;
  lastWords(): string;
  wasRefused(): boolean;
  retryAfter(): string | undefined;
}

/** A server as a child process that speaks over its standard input and output. */
export interface McpProcess {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Its environment besides PATH, HOME and the like. It gets no other variable of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

/** A remote server that speaks streamable HTTP. */
export interface McpAddress {
  /** `http:` or `https:`. Redirects are refused, so that the headers reach no other server. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const secretTexts: Shape = { ...kinds.record(kinds.text), isSecret: true };
const processParts: Known<McpProcess> = { command: kinds.checked, args: kinds.texts, env: secretTexts, cwd: kinds.text };
const addressParts: Known<McpAddress> = { url: kinds.checked, headers: secretTexts };

const LAST_WORDS = 2_000;

const isProcess = (server: McpProcess | McpAddress): server is McpProcess => "command" in server;

/** @internal */
export function openTransport(server: McpProcess | McpAddress): Promise<McpTransport> {
  return isProcess(server) ? processTransport(server) : addressTransport(server);
}

/** Names of settings with secret values, and values that are never secret: words, numbers, addresses and paths. */
const SECRET_NAME = /key|token|secret|pass|auth|cred|cookie/i;
const PLAIN_VALUE = /^(?:[A-Za-z*]+(?:[-_.+/][A-Za-z*]+)*|[\d.:-]+|[a-z]+:\/\/[^@]*|\.{0,2}\/.*|[A-Za-z]:\\.*)$/;

const SIGN_IN = /^(?:bearer|basic|digest|token|apikey)$/i;

export function secretsOf(server: McpProcess | McpAddress): string[] {
  const given = Object.entries((isProcess(server) ? server.env : server.headers) ?? {});
  return given.flatMap(([name, value]) => {
    const isNamed = SECRET_NAME.test(name);
    if (PLAIN_VALUE.test(value)) return isNamed ? [value] : [];
    return [value, ...value.split(/[\s:@/,;=]+/).filter((part) => (isNamed ? !SIGN_IN.test(part) : !PLAIN_VALUE.test(part)))];
  });
}

export function assertServer(name: string, server: McpProcess | McpAddress): void {
  takes("mcpServer", "server", server, kinds.object);
  checkKnownOptions("the server of mcpServer", server, isProcess(server) ? processParts : addressParts);
  if (isProcess(server) && typeof server.command === "string" && server.command.trim() !== "") return;
  if (!isProcess(server) && isHttp(server.url)) return;
  throw new UsageError(
    "MCP_SERVER_INVALID",
    `Expected MCP server ${name} to have a command, or an address that begins with http: or https:, got ${valueText(server)}.`,
  );
}

async function processTransport({ command, args = [], env = {}, cwd }: McpProcess): Promise<McpTransport> {
  const { getDefaultEnvironment, StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: "pipe",
    maxBufferSize: MAX_BYTES,
    ...(cwd === undefined ? {} : { cwd }),
  });
  let wasRefused = false;
  transport.onerror = ({ message }): void => {
    if (!message.includes("exceeded maximum size")) return;
    wasRefused = true;
    // Waiting calls fail now, and not when the process has ended.
    queueMicrotask(() => transport.onclose?.());
  };
  let words = "";
  transport.stderr?.on("data", (piece: Buffer) => (words = `${words}${piece.toString("utf8")}`.slice(-LAST_WORDS)));
  return { transport, lastWords: () => words.trim(), wasRefused: () => wasRefused, retryAfter: () => undefined };
}

async function addressTransport({ url, headers = {} }: McpAddress): Promise<McpTransport> {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  let retryAfter: string | undefined;
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers }, redirect: "error" },
    fetch: async (address, init) => {
      const response = await fetch(address, { ...init, redirect: "error" });
      if (!response.ok) retryAfter = response.headers.get("retry-after") ?? undefined;
      return bounded(response, init?.body);
    },
  });
  return { transport, lastWords: () => "", wasRefused: () => false, retryAfter: () => retryAfter };
}

function isHttp(url: unknown): boolean {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** Limit on the bytes of one message of a server. A longer one is refused before it is parsed. */
export const MAX_BYTES = 10_000_000;

/** The code of the JSON-RPC error that stands for an answer that was refused. */
const REFUSED = -32_077;
const LINE_END = 10;
const RETURN = 13;

export function isTooLong(error: unknown): boolean {
  return error instanceof MessageTooLong || (typeof error === "object" && error !== null && "code" in error && error.code === REFUSED);
}

export class MessageTooLong extends RangeError {
  constructor() {
    super(`A message of more than ${MAX_BYTES} bytes came.`);
  }
}

/** Returns a response whose messages have at most {@link MAX_BYTES}. An error replaces a longer answer. @param asked the body of the request */
export async function bounded(response: Response, asked: unknown): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
  if (isStream) return new Response(body.pipeThrough(boundedEvents(asked)), { status, statusText, headers });
  const bytes = Number(headers.get("content-length") ?? 0) > MAX_BYTES ? undefined : await bytesOf(body);
  if (bytes !== undefined) return new Response(bytes, { status, statusText, headers });
  await body.cancel().catch(() => {});
  throw new MessageTooLong();
}

async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Blob | undefined> {
  const reader = body.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let bytes = 0; bytes <= MAX_BYTES;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces);
    bytes += value.length;
    pieces.push(new Uint8Array(value));
  }
  await reader.cancel().catch(() => {});
  return undefined;
}

function boundedEvents(asked: unknown): TransformStream<Uint8Array, Uint8Array> {
  let [bytes, last] = [0, 0];
  return new TransformStream({
    transform(piece, out) {
      const end = eventEnd(piece, last);
      bytes = end === undefined ? bytes + piece.length : piece.length - end;
      last = piece.at(-1) ?? last;
      if (bytes <= MAX_BYTES) return out.enqueue(piece);
      const id = typeof asked === "string" ? (JSON.parse(asked) as { readonly id?: unknown }).id : undefined;
      if (id === undefined) return out.error(new MessageTooLong());
      const refusal = { jsonrpc: "2.0", id, error: { code: REFUSED, message: new MessageTooLong().message } };
      // The beginning of the event becomes one of a kind that no one parses.
      out.enqueue(new TextEncoder().encode(`\nevent: refused\n\ndata: ${JSON.stringify(refusal)}\n\n`));
      out.terminate();
    },
  });
}

/** Returns the index of the last byte that ends an event: a line end right after a line end. @param before the byte before the piece */
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
