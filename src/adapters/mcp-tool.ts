import type { Tool as ServerTool } from "@modelcontextprotocol/client";
import { canonicalJson, contentHash, type JsonObject } from "../kernel/json.ts";
import { thrownText } from "../kernel/value-text.ts";
import { ControlError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import { masked } from "../run/masking.ts";
import { cutText } from "../tool/cut-text.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { visible } from "../tool/visible-text.ts";
import type { McpConnection } from "./mcp-connection.ts";
import { resultOf } from "./mcp-result.ts";

/** How a server's tools are taken on. */
export interface McpToolSettings {
  /** The server's name, which every tool's name begins with. */
  readonly server: string;
  /** Whether the server's own hints (only reads, may be called twice) are believed. */
  readonly trust: boolean;
  readonly timeout: number;
  readonly mask: Mask;
  warn(text: string): void;
}

/** Most tools of one server: what a model can be told of at once. */
const MOST_TOOLS = 128;
/** Longest description of a tool, and largest schema of its arguments, in characters: both are part of every request. */
const LONGEST_DESCRIPTION = 2_048;
const LARGEST_SCHEMA = 32_768;
/** What model servers take as a name. */
const LONGEST_NAME = 64;
const HASH_DIGITS = 8;

/** A server's tools as ours. What cannot be one is left out with a warning. In nothing that a server says is what it was given to sign in with. */
export function toolsOf(listed: readonly ServerTool[], connection: McpConnection, settings: McpToolSettings): Tool[] {
  const tools = new Map<string, Tool>();
  for (const listing of listed) {
    const name = toolName(settings.server, listing.name);
    const reason = tools.size === MOST_TOOLS ? `there are more than ${MOST_TOOLS}` : unfit(listing, tools.has(name));
    if (reason === undefined) tools.set(name, toolOf(name, listing, connection, settings));
    else
      settings.warn(
        `MCP server ${settings.server}: the tool ${visible(JSON.stringify(listing.name.slice(0, LONGEST_NAME)))} is left out, because ${reason}.`,
      );
  }
  return [...tools.values()];
}

/**
 * `server_tool`, of the characters and the length that model servers take. A name that had to be changed ends in a hash of what it was, so
 * that two different tools never get one name.
 */
export function toolName(server: string, tool: string): string {
  const whole = `${server}_${tool}`;
  const clean = whole.replace(/[^A-Za-z0-9_-]/g, "_");
  if (clean === whole && whole.length <= LONGEST_NAME) return whole;
  const hash = contentHash([server, tool]).slice(0, HASH_DIGITS);
  return `${clean.slice(0, LONGEST_NAME - HASH_DIGITS - 1)}_${hash}`;
}

function unfit(listing: ServerTool, isTaken: boolean): string | undefined {
  if (isTaken) return "another of its tools has that name";
  if (listing.name === "") return "it has no name";
  return unwritable(listing.inputSchema);
}

/** A schema is a part of every request, and of its record. */
function unwritable(schema: unknown): string | undefined {
  try {
    return canonicalJson(schema).length > LARGEST_SCHEMA ? `its schema is longer than ${LARGEST_SCHEMA} characters` : undefined;
  } catch (error) {
    return `its schema cannot be written down: ${thrownText(error)}`;
  }
}

function toolOf(name: string, listing: ServerTool, connection: McpConnection, settings: McpToolSettings): Tool {
  const hints = settings.trust ? (listing.annotations ?? {}) : {};
  const onlyReads = hints.readOnlyHint === true;
  return defineTool({
    name,
    description: settings.mask(described(listing)),
    parameters: masked(settings.mask, withoutDialect(listing.inputSchema as JsonObject)),
    timeout: settings.timeout,
    effect: onlyReads ? "read" : "write",
    idempotent: onlyReads || hints.idempotentHint === true,
    execute: async (args, { signal, progress }) => {
      try {
        const answer = await connection.use(signal, (client) =>
          client.callTool(
            { name: listing.name, arguments: args as Record<string, unknown> },
            {
              signal,
              // The tool's own limit is kept by who calls it; this one only has to be later.
              timeout: settings.timeout * 2,
              onprogress: ({ message = "" }) => progress(settings.mask(message)),
            },
          ),
        );
        return masked(settings.mask, resultOf(answer));
      } catch (error) {
        if (signal.aborted || error instanceof ControlError) throw error;
        return { error: settings.mask(thrownText(error)) };
      }
    },
  });
}

function described({ description = "", title }: ServerTool): string {
  const text = description === "" ? (title ?? "") : description;
  return cutText(text, LONGEST_DESCRIPTION);
}

/** Model servers do not need to be told in which dialect a schema is written, and some refuse to be. */
function withoutDialect({ $schema: _dialect, ...schema }: JsonObject): JsonObject {
  return schema;
}
