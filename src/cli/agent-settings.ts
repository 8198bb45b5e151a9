import { UsageError } from "../kernel/errors.ts";
import { shown } from "./screen/text.ts";

/** How the agent of `troupe agent` works. Kept with its run. */
export interface AgentSettings {
  /** Names of its tools. */
  readonly tools: readonly string[];
  /** Names of those that run without asking. */
  readonly allow: readonly string[];
  /** Most steps. */
  readonly steps: number;
}

/** Options of `troupe agent`: texts, not yet looked at. */
export interface AgentFlags {
  readonly tools?: string;
  readonly allow?: string;
  readonly steps?: string;
}

/** The tools there are, by the name that is typed. */
export const AGENT_TOOLS = ["shell", "code", "editor", "file_search", "planning", "web_fetch", "web_search", "ask_human"] as const;

const DEFAULT_STEPS = "30";
const MOST_STEPS = 1_000;

/**
 * The options of an agent, checked.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function agentSettings({ tools, allow, steps = DEFAULT_STEPS }: AgentFlags): AgentSettings {
  const named = tools === undefined ? AGENT_TOOLS : toolNames("--tools", tools, AGENT_TOOLS);
  return { tools: named, allow: allow === undefined ? [] : toolNames("--allow", allow, named), steps: stepsOf(steps) };
}

function toolNames(option: string, text: string, known: readonly string[]): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return [...new Set(names)];
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
