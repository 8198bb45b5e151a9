import { type Shape, takes } from "../kernel/argument.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { McpTransport } from "./mcp-connection.ts";
import { bounded, MOST_BYTES, ServerLines } from "./mcp-size.ts";

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

/** Characters that are kept of the standard error of a server's process. */
const LAST_WORDS = 2_000;

function isProcess(server: McpProcess | McpAddress): server is McpProcess {
  return "command" in server;
}

/** Opens a transport to a server. @internal */
export function openTransport(server: McpProcess | McpAddress): Promise<McpTransport> {
  return isProcess(server) ? processTransport(server) : addressTransport(server);
}

/** Names of settings whose values are secret, and values that are never secret: words, numbers, addresses and paths. */
const SECRET_NAME = /key|token|secret|pass|auth|cred|cookie/i;
const PLAIN_VALUE = /^(?:[A-Za-z*]+(?:[-_.+/][A-Za-z*]+)*|[\d.:-]+|[a-z]+:\/\/[^@]*|\.{0,2}\/.*|[A-Za-z]:\\.*)$/;

/** Words that stand before a secret in a header. */
const SIGN_IN = /^(?:bearer|basic|digest|token|apikey)$/i;

/** Returns the secrets in a server's environment and headers: whole values, and each part of them that may be a secret. */
export function secretsOf(server: McpProcess | McpAddress): string[] {
  const given = Object.entries((isProcess(server) ? server.env : server.headers) ?? {});
  return given.flatMap(([name, value]) => {
    const isNamed = SECRET_NAME.test(name);
    if (PLAIN_VALUE.test(value)) return isNamed ? [value] : [];
    return [value, ...value.split(/[\s:@/,;=]+/).filter((part) => (isNamed ? !SIGN_IN.test(part) : !PLAIN_VALUE.test(part)))];
  });
}

/** @throws UsageError `MCP_SERVER_INVALID` */
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
  const { deserializeMessage } = await import("@modelcontextprotocol/client");
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: "pipe",
    maxBufferSize: MOST_BYTES,
    ...(cwd === undefined ? {} : { cwd }),
  });
  let wasRefused = false;
  const refused = (): void => {
    wasRefused = true;
    // Those who wait hear of it now, and not when the process has ended.
    queueMicrotask(() => transport.onclose?.());
  };
  // The field is private, and the limit above holds without it, more slowly.
  Object.assign(transport, { _readBuffer: new ServerLines(deserializeMessage, refused) });
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
