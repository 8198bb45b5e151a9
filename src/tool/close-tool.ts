import { withTimeout } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { toldOf } from "./plain-result.ts";
import type { Tool } from "./tool.ts";

/** Milliseconds that a tool has to release its resources. */
const CLOSING_TIME = 10_000;
/** Longest part of an error in a warning. */
const SHOWN_ERROR = 500;

/**
 * Lets a tool release what it holds for a session. Never rejects.
 *
 * @returns a warning where the tool failed or hung
 */
export async function closeTool(tool: Tool, session: object, clock: Clock): Promise<string | undefined> {
  if (tool.close === undefined) return undefined;
  const name = `the closing of the tool "${tool.name}"`;
  try {
    await withTimeout(clock, CLOSING_TIME, name, new AbortController().signal, async (signal) => tool.close?.({ session, signal }));
    return undefined;
  } catch (error) {
    return `The tool "${tool.name}" may not have let go of what it holds: ${toldOf(error).slice(0, SHOWN_ERROR)}`;
  }
}
