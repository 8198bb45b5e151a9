import { withTimeout } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Tool } from "../tool/tool.ts";
import { toldOf } from "../tool/plain-value.ts";

/** Milliseconds that a tool has to let go of what it holds. */
const CLOSING_TIME = 10_000;
/** Most of an error that a warning tells. */
const TOLD = 500;

/** What tools are closed with. */
interface ClosingParts {
  /** The session whose run is over. */
  readonly session: object;
  readonly clock: Clock;
  readonly warn: (code: string, text: string) => void;
}

/** Lets tools go of what they hold, side by side. Never rejects: one that fails or hangs is told as a warning, and changes no result. */
export async function closeTools(tools: Iterable<Tool>, parts: ClosingParts): Promise<void> {
  await Promise.all([...tools].map((tool) => closed(tool, parts)));
}

async function closed(tool: Tool, { session, clock, warn }: ClosingParts): Promise<void> {
  if (tool.close === undefined) return;
  const what = `the closing of the tool "${tool.name}"`;
  try {
    await withTimeout(clock, CLOSING_TIME, what, new AbortController().signal, async (signal) => tool.close?.({ session, signal }));
  } catch (error) {
    warn("TOOL_NOT_CLOSED", `The tool "${tool.name}" may not have let go of what it holds: ${toldOf(error).slice(0, TOLD)}`);
  }
}
