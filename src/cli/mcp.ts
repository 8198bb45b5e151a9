import { resolve } from "node:path";
import { z } from "zod";
import type { McpAddress, McpProcess } from "../adapters/mcp.ts";
import { UsageError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import { defineTool, type Tool } from "../tool/tool.ts";
import type { Host } from "./host.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import { readText } from "./text-file.ts";

export interface OpenServers {
  readonly tools: readonly Tool[];
  close(): Promise<void>;
}

export const NO_SERVERS: OpenServers = { tools: [], close: () => Promise.resolve() };

const MAX_BYTES = 256 * 1024;
const MAX_SERVERS = 16;
const NAME = /^[A-Za-z0-9_-]{1,32}$/;

const Strings = z.record(z.string(), z.string());
/** Members of other programs, such as lists of calls that need no question, are ignored: here every call asks. */
const Server = z.union([
  z.object({
    type: z.literal("stdio").optional(),
    command: z.string().trim().min(1),
    args: z.array(z.string()).optional(),
    env: Strings.optional(),
    cwd: z.string().min(1).optional(),
    disabled: z.boolean().optional(),
  }),
  z.object({
    type: z.enum(["http", "streamable-http", "streamableHttp"]).optional(),
    url: z.url({ protocol: /^https?$/ }),
    headers: Strings.optional(),
    disabled: z.boolean().optional(),
  }),
]);
const Config = z.object({ mcpServers: z.record(z.string(), z.unknown()) });

/** Connects to all servers of a config. Each call of their tools asks first. */
export async function openServers({ host, screen, interruptions }: Session, path: string): Promise<OpenServers> {
  const configured = await readMcpConfig(host, resolve(host.cwd, path));
  const { mcpServer } = await import("../adapters/mcp.ts");
  const options = { signal: interruptions.signal, clock: host.clock, logger: screen.logger };
  const began = await Promise.allSettled(configured.map((one) => mcpServer({ ...one, ...options })));
  const servers = began.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const close = async (): Promise<void> => void (await Promise.allSettled(servers.map((server) => server.close())));
  const failed = began.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  return { tools: servers.flatMap(({ tools }) => tools), close };
}

async function readMcpConfig(host: Host, path: string) {
  const json = parsedJson(await readText(host, path, "the servers of --mcp", MAX_BYTES));
  if (json === undefined) throw invalid(path, "it is no JSON");
  const config = Config.safeParse(json);
  if (!config.success) throw invalid(path, 'it has no member "mcpServers" that is an object');
  const entries = Object.entries(config.data.mcpServers);
  if (entries.length === 0 || entries.length > MAX_SERVERS)
    throw invalid(path, `it names ${entries.length} servers, and 1 to ${MAX_SERVERS} can be used`);
  return entries.flatMap(([name, value]) => {
    const where = `the server "${shown(name, 60)}"`;
    if (!NAME.test(name) || name === "__proto__") throw invalid(path, `${where} needs a name of 1 to 32 letters, digits, _ and -`);
    const server = Server.safeParse(value);
    if (!server.success)
      throw invalid(
        path,
        `${where} has neither a "command" with strings for "args" and "env", nor an http "url" with strings for "headers"`,
      );
    const { disabled = false, type: _type, ...given } = server.data;
    const reached: McpProcess | McpAddress = "command" in given ? { ...given, cwd: resolve(host.cwd, given.cwd ?? "") } : given;
    return disabled ? [] : [{ name, server: reached }];
  });
}

export function replayTools(specs: readonly ToolSpec[]): readonly Tool[] {
  return specs.map((spec) =>
    defineTool({
      ...spec,
      permission: "ask",
      execute: () => {
        const text = `Expected a replay to call no tool, but it called ${spec.name}. This is a fault of this program.`;
        throw new UsageError("REPLAY_CALL", text);
      },
    }),
  );
}

function invalid(path: string, why: string): UsageError {
  const form = `{ "mcpServers": { "files": { "command": "...", "args": [] } } }`;
  return new UsageError("MCP_CONFIG_INVALID", `Expected servers of tools in "${shown(path, 200)}", as ${form}, but ${why}.`);
}
