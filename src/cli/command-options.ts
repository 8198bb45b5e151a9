import { type Command, Option } from "commander";
import { type CallTimeouts, DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import type { ExitCode } from "./errors.ts";
import type { Session } from "./session.ts";
import type { Flags } from "./settings.ts";

/** The tools of an agent, by the name that is typed. */
export const AGENT_TOOLS = ["shell", "code", "editor", "file_search", "look", "planning", "web_fetch", "web_search", "ask_human"] as const;

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

/** Options of the model. @param names true when it can be chosen */
export function withReach(command: Command, names: boolean = true): Command {
  const group = command.optionsGroup("The model:");
  const named = names
    ? group.option("-m, --model <name>", "the model (default gpt-5-mini)")
    : group.addOption(new Option("-m, --model <name>").hideHelp());
  return named
    .option("--base-url <url>", "an OpenAI-compatible server")
    .option("--price <in,out>", "what the model costs, in dollars for a million tokens; a third number for cached ones")
    .option(
      "--first-byte <time>",
      `longest silence before an answer begins, such as 90 or 5m, or none (default ${defaultLimit("firstByte")})`,
    )
    .option("--silence <time>", `longest silence in the middle of an answer (default ${defaultLimit("silence")})`)
    .option("--call-limit <time>", `longest time of a model call with its retries (default ${defaultLimit("call")})`);
}

export function withStoreOption(command: Command): Command {
  return command
    .optionsGroup("The record:")
    .option("--store <file>", "the file that keeps runs (default .troupe/runs.db)")
    .optionsGroup("Options:");
}

/** Options of the bounds of a run. @param isNew true when it begins; a resumed run has bounds already */
export function withBounds(command: Command, isNew: boolean): Command {
  const budget = isNew
    ? "dollars it may spend, also --investment (default 3, for models whose price is known)"
    : "dollars it may spend in all";
  const rounds = isNew
    ? "most rounds, also --n-round (default 20)"
    : "most rounds in all (default: as before, and as many again if they were used up)";
  return command
    .optionsGroup("The company:")
    .option("-b, --budget <usd>", budget)
    .addOption(new Option("--investment <usd>").hideHelp())
    .option("-n, --rounds <n>", rounds)
    .addOption(new Option("--n-round <n>").hideHelp());
}

/** Adds MetaGPT's options to the command that begins a run. */
export function withMetaGPT(command: Command): Command {
  return command
    .optionsGroup("As MetaGPT's:")
    .option("--implement", "write the code (default)")
    .option("--no-implement", "stop after the plan, with --crew waterfall")
    .option("--project-name <name>", "the project's folder: ./workspace/<name>")
    .option("--recover-path <path>", "go on with the newest run of this store, or of the store below this folder; needs no idea")
    .option("--max-auto-summarize-code <n>", "0: code is not summarized, it is run (default 0)")
    .option("--inc", "as --in, with --project-path")
    .option("--project-path <dir>", "the project that is changed")
    .option("--reqa-file <file>", "write the tests of this file again")
    .option("--init-config", "write a config file with comments, and do nothing else; one that is there stays")
    .optionsGroup("Options:");
}

/** The default of a limit in words, for a help text: `10m`. */
export function defaultLimit(limit: keyof CallTimeouts): string {
  const minutes = DEFAULT_TIMEOUTS[limit] / 60_000;
  return minutes >= 60 ? `${minutes / 60}h` : `${minutes}m`;
}
