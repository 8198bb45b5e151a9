import { resolve } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import { shown } from "./screen/text.ts";

/** How the agent of `troupe agent` works. Kept with its run. */
export interface AgentSettings {
  /** Names of its tools. */
  readonly tools: readonly string[];
  /** Names of those that run without asking. */
  readonly allow: readonly string[];
  /** Most steps. */
  readonly steps: number;
  /** Whether its changes are committed where it works in a repository. Default true. */
  readonly commit?: boolean | undefined;
  /** A plan is made first, and each of its steps is an agent's. Default false. */
  readonly plan?: boolean | undefined;
  /** Absolute path of a config of servers of tools. What it holds is read each time: it may hold keys. */
  readonly mcp?: string | undefined;
  /** What those servers offered when the run began, as its model was told: for a replay, which connects to nobody. */
  readonly mcpTools?: readonly ToolSpec[] | undefined;
  /** Paths that had changes of the user's when it began; undefined: not known. */
  readonly dirty?: readonly string[] | undefined;
}

/** Options of `troupe agent`: texts, not yet looked at. */
export interface AgentFlags {
  readonly tools?: string;
  readonly allow?: string;
  readonly steps?: string;
  readonly commit?: boolean;
  readonly plan?: boolean;
  readonly mcp?: string;
}

/** The tools there are, by the name that is typed. */
export const AGENT_TOOLS = ["shell", "code", "editor", "file_search", "look", "planning", "web_fetch", "web_search", "ask_human"] as const;

const DEFAULT_STEPS = "30";
const MOST_STEPS = 1_000;

/**
 * The options of an agent, checked.
 *
 * @param cwd what the path of a config starts from
 * @throws UsageError `OPTION_INVALID`
 */
export function agentSettings(flags: AgentFlags, cwd: string): AgentSettings {
  const { tools, allow, steps = DEFAULT_STEPS, commit = true, plan = false, mcp } = flags;
  const named = tools === undefined ? AGENT_TOOLS : toolNames("--tools", tools, AGENT_TOOLS);
  // Which tools a server has is known when it is connected; what is allowed of them is looked at then.
  const allowed = allow === undefined ? [] : mcp === undefined ? toolNames("--allow", allow, named) : namesIn(allow);
  return { tools: named, allow: allowed, steps: stepsOf(steps), commit, plan, ...(mcp === undefined ? {} : { mcp: configPath(mcp, cwd) }) };
}

function configPath(path: string, cwd: string): string {
  if (path.trim() !== "") return resolve(cwd, path);
  throw new UsageError("OPTION_INVALID", "Expected --mcp to be a file that names servers of tools, got an empty text.");
}

function namesIn(text: string): readonly string[] {
  return [...new Set(text.split(",").map((name) => name.trim()))];
}

function toolNames(option: string, text: string, known: readonly string[]): readonly string[] {
  const names = namesIn(text);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected ${option} to name tools of ${known.join(", ")}, with commas between, got "${shown(unknown, 60)}".`,
  );
}

function stepsOf(text: string): number {
  const steps = /^\d+$/.test(text.trim()) ? Number(text) : 0;
  if (steps >= 1 && steps <= MOST_STEPS) return steps;
  throw new UsageError("OPTION_INVALID", `Expected --steps to be a whole number from 1 to ${MOST_STEPS}, got "${shown(text, 60)}".`);
}
