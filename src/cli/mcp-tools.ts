import { resolve } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import { defineTool, type Tool } from "../tool/tool.ts";
import { readMcpConfig } from "./mcp-config.ts";
import type { Session } from "./session.ts";

/** Servers that are connected, and what they offer. */
export interface OpenServers {
  readonly tools: readonly Tool[];
  /** Ends their sessions and processes. Never rejects. */
  close(): Promise<void>;
}

export const NO_SERVERS: OpenServers = { tools: [], close: () => Promise.resolve() };

/**
 * Connects to all servers of a config. What they offer is asked for before each call.
 *
 * @throws UsageError as {@link readMcpConfig}, `PACKAGE_MISSING`; McpError `MCP_UNREACHABLE`, and then none stays connected
 */
export async function openServers({ host, screen, interruptions }: Session, path: string): Promise<OpenServers> {
  const configured = await readMcpConfig(host, resolve(host.cwd, path));
  const { mcpServer } = await import("../adapters/mcp.ts");
  const { signal } = interruptions;
  const quiet = (): void => {};
  const logger = { debug: quiet, info: quiet, warn: (text: string) => screen.warn(text), error: (text: string) => screen.warn(text) };
  const began = await Promise.allSettled(configured.map((one) => mcpServer({ ...one, signal, clock: host.clock, logger })));
  const servers = began.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const close = async (): Promise<void> => void (await Promise.allSettled(servers.map((server) => server.close())));
  const failed = began.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  return { tools: servers.flatMap(({ tools }) => tools), close };
}

/** Tools as a record tells of them: for a replay, which connects to nobody and runs nothing. */
export function muteTools(specs: readonly ToolSpec[]): readonly Tool[] {
  return specs.map((spec) =>
    defineTool({
      ...spec,
      permission: "ask",
      execute: () => {
        throw new UsageError(
          "REPLAY_CALL",
          `Expected a replay to call no tool, but it called ${spec.name}. This is a fault of this program.`,
        );
      },
    }),
  );
}
