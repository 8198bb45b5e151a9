import type { Client, Tool as ServerTool } from "@modelcontextprotocol/client";
import { withTimeout } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { ControlError, TimeoutError, TroupeError, UsageError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import { refusalText, type ServerTerms, unreachedText } from "../kernel/server-answer.ts";
import { isObject, isRecord } from "../kernel/value-kind.ts";
import { clauseText, escapedText, shownText, thrownText } from "../kernel/value-text.ts";
import { optionalPackage } from "./optional-package.ts";
import { isTooLong, type McpTransport, MessageTooLong, MAX_BYTES } from "./mcp-transport.ts";

/** A server of the Model Context Protocol could not be reached, went away, or broke the protocol; see `code`. */
export class McpError extends TroupeError {}

/** @internal */
export interface McpConnectionParts {
  readonly name: string;
  open(): Promise<McpTransport>;
  readonly timeout: number;
  /** Milliseconds that a process may be silent when it is asked for its versions; then it is greeted as one of the protocol before 2026-07-28. */
  readonly patience: number;
  readonly clock: Clock;
  readonly mask: Mask;
  readonly onTools: (tools: readonly ServerTool[]) => void;
}

const MAX_PAGES = 20;

/** Accepts every answer: a server's own output schema may hold a pattern that never ends. */
const TRUSTING_VALIDATOR = {
  getValidator: () => (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined }),
};

/**
 * At most one connection to one server. The first call opens it, and after a loss the next call opens it again. It owns the client, and
 * with it the server's process or session.
 *
 * A call under way is not repeated when the connection breaks: it is unknown whether it took effect (`use`). Every wait has a limit and takes a
 * signal. `McpConnection.C4` the server gets no capability of the client: no model, person or file (`#connect`).
 * @internal
 */
export class McpConnection {
  readonly #parts: McpConnectionParts;
  readonly #closing = new AbortController();
  #link: Promise<Client> | undefined;
  #current: Client | undefined;
  #opened: McpTransport | undefined;

  constructor(parts: McpConnectionParts) {
    this.#parts = parts;
  }

  async refresh(signal: AbortSignal): Promise<void> {
    if (this.#link === undefined) return void (await this.#connected(signal));
    const { clock, name, timeout } = this.#parts;
    const list = (client: Client): Promise<readonly ServerTool[]> =>
      withTimeout(clock, timeout, `the tools of MCP server ${name}`, signal, (limited) => this.#list(client, limited));
    this.#parts.onTools(await this.use(signal, list));
  }

  async use<T>(signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#connected(signal);
    const opened = this.#opened;
    try {
      return await work(client);
    } catch (error) {
      if (isTooLong(error)) throw this.#tooLong(error);
      if (signal.aborted || !(client.transport === undefined || (await isTransportError(error)))) throw error;
      this.#closed(client);
      await client.close().catch(() => {});
      if (opened?.wasRefused() === true) throw this.#tooLong(error);
      throw this.#refused(error, opened, "The next call connects again.") ?? this.#lost(error);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new UsageError("MCP_CLOSED", `The connection to MCP server ${this.#parts.name} was closed.`));
    const link = this.#link;
    this.#link = undefined;
    const made = await link?.catch(() => undefined);
    await made?.close();
  }

  #connected(signal: AbortSignal): Promise<Client> {
    const { name } = this.#parts;
    if (this.#closing.signal.aborted) {
      const text = `Expected MCP server ${name} to be connected, but its connection was closed. Open it again with mcpServer().`;
      return Promise.reject(new McpError("MCP_CLOSED", text));
    }
    const link = (this.#link ??= this.#connect());
    link.catch(() => {
      if (this.#link === link) this.#link = undefined;
    });
    return withTimeout(this.#parts.clock, 2 * this.#parts.timeout, `the connection to MCP server ${name}`, signal, () => link);
  }

  async #connect(): Promise<Client> {
    const { name, clock, timeout, patience } = this.#parts;
    const { Client: McpClient } = await optionalPackage("@modelcontextprotocol/client", "2", () => import("@modelcontextprotocol/client"));
    const client = new McpClient(
      { name: "troupe", version: "1" },
      {
        capabilities: {},
        versionNegotiation: { mode: "auto", probe: { timeoutMs: patience } },
        jsonSchemaValidator: TRUSTING_VALIDATOR,
        listMaxPages: MAX_PAGES,
        listChanged: { tools: { onChanged: (error, tools) => this.#changed(client, error, tools) } },
      },
    );
    client.onclose = () => this.#closed(client);
    let opened: McpTransport | undefined;
    try {
      opened = await this.#parts.open();
      const { transport } = opened;
      const tools = await withTimeout(clock, timeout, `the greeting of MCP server ${name}`, this.#closing.signal, async (signal) => {
        await client.connect(transport, { signal, timeout: 2 * timeout });
        return this.#list(client, signal);
      });
      this.#current = client;
      this.#opened = opened;
      this.#parts.onTools(tools);
      return client;
    } catch (error) {
      await client.close().catch(() => {});
      // A client that still asks for the versions does not hold its transport.
      await opened?.transport.close().catch(() => {});
      throw this.#unreachable(error, opened);
    }
  }

  async #list(client: Client, signal: AbortSignal): Promise<readonly ServerTool[]> {
    // The list is not cached, even if the server allows it.
    return (await client.listTools(undefined, { signal, timeout: 2 * this.#parts.timeout, cacheMode: "refresh" })).tools;
  }

  #changed(client: Client, error: Error | null, tools: readonly ServerTool[] | null): void {
    if (client === this.#current && error === null && tools !== null) this.#parts.onTools(tools);
  }

  #closed(client: Client): void {
    if (client !== this.#current) return;
    this.#current = undefined;
    this.#link = undefined;
  }

  #lost(cause: unknown): McpError {
    const { name } = this.#parts;
    const why = unreachedText(cause);
    return new McpError(
      "MCP_LOST",
      `Expected an answer of MCP server ${name}, but the connection ended while it worked${why === undefined ? "" : `: ${why}`}. It may have done what was asked. The next call connects again.`,
      { cause },
    );
  }

  #tooLong(cause: unknown): McpError {
    const { name } = this.#parts;
    return new McpError(
      "MCP_TOO_LONG",
      `Expected an answer of at most ${MAX_BYTES} bytes of MCP server ${name}, got a longer one. It may have done what was asked. Ask for less.`,
      { cause },
    );
  }

  #unreachable(cause: unknown, opened: McpTransport | undefined): Error {
    if (cause instanceof ControlError || cause instanceof UsageError) return cause;
    const refused = this.#refused(cause, opened);
    if (refused !== undefined) return refused;
    const { name, mask } = this.#parts;
    const isLong = isTooLong(cause) || opened?.wasRefused() === true;
    const known = isLong ? new MessageTooLong().message : cause instanceof TimeoutError ? cause.message : unreachedText(cause);
    const why = known ?? contentText(cause) ?? mask(escapedText(thrownText(cause)));
    const lastWords = opened?.lastWords() ?? "";
    const said = lastWords === "" ? "" : ` It said: ${mask(escapedText(lastWords))}`;
    return new McpError(
      "MCP_UNREACHABLE",
      `Expected MCP server ${name} to answer, but: ${clauseText(why)}.${said} Look at its command or address.`,
      { cause },
    );
  }

  #refused(cause: unknown, opened: McpTransport | undefined, rest = ""): McpError | undefined {
    const answer = answerIn(cause);
    if (answer === undefined) return undefined;
    const { name, mask } = this.#parts;
    const got = refusalText({ status: answer.status, said: mask(answer.said), retryAfter: opened?.retryAfter() }, TERMS);
    const text = `Expected MCP server ${name} to agree, got ${got}${rest === "" ? "" : ` ${rest}`}`;
    return new McpError("MCP_REFUSED", text, { cause, data: { status: answer.status } });
  }
}

const TERMS: ServerTerms = { token: "headers: { authorization }, such as `Bearer TOKEN`", address: "its url" };

const MAX_SAID = 4_000;

function answerIn(cause: unknown): { readonly status: number; readonly said: string } | undefined {
  const data = isObject(cause) ? (cause as { readonly data?: unknown }).data : undefined;
  if (!isRecord(data) || typeof data["status"] !== "number") return undefined;
  return { status: data["status"], said: typeof data["text"] === "string" ? data["text"].slice(0, MAX_SAID) : "" };
}

/** Says why an answer with a good status does not keep to the protocol. */
function contentText(thrown: unknown): string | undefined {
  for (let cause = thrown; isObject(cause);) {
    const { data, name, cause: next } = cause as { readonly data?: unknown; readonly name?: unknown; readonly cause?: unknown };
    if (isRecord(data) && "contentType" in data) {
      const kind = typeof data["contentType"] === "string" ? shownText(data["contentType"], 100) : "of no kind";
      return `its answer is no JSON but ${kind}: it is no MCP server, or a page to sign in`;
    }
    if (name === "SyntaxError") return "its answer is not JSON";
    if (name === "ZodError") return "its answer is not one of the protocol (JSON-RPC 2.0)";
    cause = next;
  }
  return undefined;
}

async function isTransportError(error: unknown): Promise<boolean> {
  const { SdkHttpError } = await import("@modelcontextprotocol/client");
  return error instanceof SdkHttpError || error instanceof TypeError;
}
