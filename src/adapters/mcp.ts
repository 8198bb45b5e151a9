import { type Clock, systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { maskSecrets } from "../kernel/mask.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Tool } from "../tool/tool.ts";
import { McpConnection, McpError } from "./mcp-connection.ts";
import { toolName, toolsOf } from "./mcp-tool.ts";
import { assertServer, type McpAddress, type McpProcess, openTransport, secretsOf } from "./mcp-transport.ts";

export { McpError, toolName as mcpToolName };
export type { McpAddress, McpProcess };

/** Options of {@link mcpServer}. */
export interface McpServerOptions {
  /** The name of each of its tools begins with it: at most 32 letters, digits, `_` and `-`. */
  readonly name: string;
  /** A process to start, or an address. */
  readonly server: McpProcess | McpAddress;
  /** Believe its hints: that a tool only reads, or may be called twice. Default false: each call asks for permission, and none is repeated. */
  readonly trust?: boolean | undefined;
  /** Milliseconds for connecting, and for listing its tools. Default 30,000. */
  readonly connectTimeout?: number | undefined;
  /** Milliseconds for one call. Default 60,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
}

const mcpServerOptions: Known<McpServerOptions> = {
  name: kinds.text,
  server: kinds.checked,
  trust: kinds.boolean,
  connectTimeout: kinds.milliseconds,
  timeout: kinds.milliseconds,
  signal: kinds.signal,
  clock: kinds.clock,
  logger: kinds.logger,
};

/** A server of the Model Context Protocol, and its tools. */
export interface McpServer {
  readonly name: string;
  /** Its tools, as it listed them last. */
  readonly tools: readonly Tool[];
  /** Lists its tools again and connects if needed. @throws McpError `MCP_UNREACHABLE`, `MCP_REFUSED` */
  refresh(signal?: AbortSignal): Promise<readonly Tool[]>;
  /** Ends the session, and the server's process if this one started it. */
  close(): Promise<void>;
}

const NAME = /^[A-Za-z0-9_-]{1,32}$/;

/**
 * Connects to a server of the Model Context Protocol, over standard input and output or streamable HTTP, and makes tools of its tools. The
 * server is not trusted: names and descriptions are bounded, hints are believed only with `trust`, it cannot ask back for a model, person
 * or file, and its process gets only the given environment. After a lost connection the next call connects again.
 *
 * @throws UsageError `MCP_SERVER_INVALID`, `PACKAGE_MISSING` without `@modelcontextprotocol/client`; McpError `MCP_UNREACHABLE`,
 * `MCP_REFUSED` where the server answered with a status that is no success
 * @example
 * import { Agent } from "troupe/agents";
 * import { mcpServer } from "troupe/mcp";
 * import type { ChatModel } from "troupe";
 *
 * export async function withFiles(model: ChatModel, task: string): Promise<string | undefined> {
 *   const server = await mcpServer({ name: "files", server: { command: "npx", args: ["@modelcontextprotocol/server-filesystem", "."] } });
 *   const agent = new Agent({ name: "clerk", model, tools: server.tools, approve: ({ tool }) => tool.startsWith("files_read") });
 *   const { answer } = await agent.run(task).result;
 *   await server.close();
 *   return answer;
 * }
 */
export async function mcpServer(options: McpServerOptions): Promise<McpServer> {
  checkGivenOptions("mcpServer", options, mcpServerOptions);
  const { name, server, trust = false, connectTimeout = 30_000, timeout = 60_000, clock = systemClock, logger = defaultLogger } = options;
  if (typeof name !== "string" || !NAME.test(name)) {
    const text = `Expected the name of an MCP server to be 1 to 32 letters, digits, _ or -, got ${valueText(name)}.`;
    throw new UsageError("MCP_SERVER_INVALID", text);
  }
  assertServer(name, server);
  const mask = maskSecrets(secretsOf(server));
  const settings = { server: name, trust, timeout, mask, warn: (text: string): void => logger.warn(mask(text)) };
  let tools: readonly Tool[] = [];
  const connection: McpConnection = new McpConnection({
    name,
    open: () => openTransport(server),
    timeout: connectTimeout,
    // A remote server that is silent is away; a process may not know the question.
    patience: "command" in server ? connectTimeout / 3 : 2 * connectTimeout,
    clock,
    mask,
    onTools: (listed) => (tools = Object.freeze(toolsOf(listed, connection, settings))),
  });
  const refresh = async (signal: AbortSignal = new AbortController().signal): Promise<readonly Tool[]> => {
    await connection.refresh(signal);
    return tools;
  };
  try {
    await refresh(options.signal);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    name,
    get tools() {
      return tools;
    },
    refresh,
    close: () => connection.close(),
  };
}
