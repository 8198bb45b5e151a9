import { resolve } from "node:path";
import { z } from "zod";
import type { McpAddress, McpProcess } from "../adapters/mcp.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Host } from "./host.ts";
import { shown } from "./screen/text.ts";
import { readText } from "./text-file.ts";

/** A server of tools, as a config names it. */
export interface ConfiguredServer {
  readonly name: string;
  readonly server: McpProcess | McpAddress;
}

/** A config is a few servers; a larger file is something else. */
const MOST_BYTES = 256 * 1024;
const MOST_SERVERS = 16;
/** What begins the names of a server's tools. */
const NAME = /^[A-Za-z0-9_-]{1,32}$/;

const Texts = z.record(z.string(), z.string());
/** What other programs keep beside it, such as lists of calls that need no question, is theirs: here every call is asked for. */
const Server = z.union([
  z.object({
    type: z.literal("stdio").optional(),
    command: z.string().trim().min(1),
    args: z.array(z.string()).optional(),
    env: Texts.optional(),
    cwd: z.string().min(1).optional(),
    disabled: z.boolean().optional(),
  }),
  z.object({
    type: z.enum(["http", "streamable-http", "streamableHttp"]).optional(),
    url: z.url({ protocol: /^https?$/ }),
    headers: Texts.optional(),
    disabled: z.boolean().optional(),
  }),
]);
const Config = z.object({ mcpServers: z.record(z.string(), z.unknown()) });

/**
 * The servers that a config names, in the common form `{ "mcpServers": { name: { command, args, env } | { url, headers } } }`. Those that are
 * `disabled` are left out.
 *
 * @throws UsageError `FILE_UNREADABLE`; `MCP_CONFIG_INVALID`, which repeats no value of the file: it may hold keys
 */
export async function readMcpConfig(host: Host, path: string): Promise<readonly ConfiguredServer[]> {
  const config = Config.safeParse(jsonIn(await readText(host, path, "the servers of --mcp", MOST_BYTES), path));
  if (!config.success) throw invalid(path, 'it has no member "mcpServers" that is an object');
  const entries = Object.entries(config.data.mcpServers);
  if (entries.length === 0 || entries.length > MOST_SERVERS)
    throw invalid(path, `it names ${entries.length} servers, and 1 to ${MOST_SERVERS} can be used`);
  return entries.flatMap(([name, value]) => {
    const where = `the server "${shown(name, 60)}"`;
    if (!NAME.test(name) || name === "__proto__") throw invalid(path, `${where} needs a name of 1 to 32 letters, digits, _ and -`);
    const server = Server.safeParse(value);
    if (!server.success)
      throw invalid(path, `${where} has neither a "command" with texts for "args" and "env", nor an http "url" with texts for "headers"`);
    const { disabled = false, type: _type, ...reached } = server.data;
    return disabled ? [] : [{ name, server: "command" in reached ? withFolder(host, reached) : reached }];
  });
}

function withFolder({ cwd: here }: Host, { cwd, ...server }: McpProcess): McpProcess {
  return { ...server, cwd: cwd === undefined ? here : resolve(here, cwd) };
}

function jsonIn(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says repeats the text, which may hold keys.
    throw invalid(path, "it is no JSON");
  }
}

function invalid(path: string, why: string): UsageError {
  return new UsageError(
    "MCP_CONFIG_INVALID",
    `Expected servers of tools in "${shown(path, 200)}", as { "mcpServers": { "files": { "command": "...", "args": [] } } }, but ${why}.`,
  );
}
