import { type Command, Option } from "commander";
import type { StackName } from "../checks/stacks.ts";
import type { OnTeamChange } from "../team/team-change.ts";
import { type CallTimeouts, DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import type { SandboxMode } from "../workspace/sandbox.ts";
import type { ExitCode } from "./errors.ts";
import type { Session } from "./session.ts";
import type { Flags } from "./settings.ts";

/** The tools of an agent, by the name that is typed. */
export const AGENT_TOOLS = ["shell", "code", "editor", "file_search", "look", "planning", "web_fetch", "web_search", "ask_human"] as const;

/** The words of options that take one of a few, by their long names. `--crew` takes the name of a shipped crew or a file besides. */
export const OPTION_WORDS: OptionWords = {
  "--sandbox": ["auto", "bubblewrap", "none"],
  "--crew": ["software-company", "waterfall"],
  "--approve": ["prd", "plan"],
  "--size": ["S", "M", "L"],
  "--stack": ["node", "page", "python"],
  "--reuse": ["all", "none"],
  "--format": ["mermaid", "dot", "json"],
  "--log-level": ["debug", "info", "warn", "error"],
  "--on-team-change": ["refuse", "continue"],
  "--kind": ["line", "points", "bars", "histogram", "heatmap"],
};

interface OptionWords extends Readonly<Record<string, readonly string[]>> {
  readonly "--sandbox": readonly SandboxMode[];
  readonly "--crew": readonly ("software-company" | "waterfall")[];
  readonly "--approve": readonly ("prd" | "plan")[];
  readonly "--size": readonly ("S" | "M" | "L")[];
  readonly "--stack": readonly StackName[];
  readonly "--reuse": readonly ("all" | "none")[];
  readonly "--format": readonly FlowFormat[];
  readonly "--log-level": readonly ("debug" | "info" | "warn" | "error")[];
  readonly "--on-team-change": readonly OnTeamChange[];
  readonly "--kind": readonly ("line" | "points" | "bars" | "histogram" | "heatmap")[];
}

/** The forms of `troupe runs flow`. */
export type FlowFormat = "mermaid" | "dot" | "json";

/** Loads the file of a command and runs it in a session of its own. The process ends with its exit code. */
export type RunCommand = <F>(flags: Flags, load: () => Promise<F>, work: (file: F, session: Session) => Promise<ExitCode>) => Promise<void>;

export function withTalk(command: Command): Command {
  return command
    .optionsGroup("The output:")
    .option("--json", "print events as lines of JSON, the result last")
    .option("-q, --quiet", "print the result and nothing else")
    .option("-v, --verbose", "print warnings, and where errors come from")
    .option("--no-color", "no colour")
    .optionsGroup("Options:");
}

export function withStoreOption(command: Command): Command {
  return command
    .optionsGroup("The record:")
    .option("--store <file>", "the file that keeps runs (default .troupe/runs.db)")
    .optionsGroup("Options:");
}

/** The default of a limit in words, for a help text: `10m`. */
export function defaultLimit(limit: keyof CallTimeouts): string {
  const minutes = DEFAULT_TIMEOUTS[limit] / 60_000;
  return minutes >= 60 ? `${minutes / 60}h` : `${minutes}m`;
}

/** An option that may come more than once: its value is a list. */
export function repeated(flags: string, description: string): Option {
  const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];
  return new Option(flags, `${description}; may come more than once`).argParser<readonly string[] | undefined>(collect);
}
