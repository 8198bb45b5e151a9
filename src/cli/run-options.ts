import { type Command, Option } from "commander";
import { UsageError } from "../kernel/errors.ts";
import { AGENT_TOOLS, defaultLimit } from "./command-options.ts";
import type { Flags } from "./settings.ts";

/** An option of a run: one list serves the commands that begin a run and those that go on with one. */
interface RunOption {
  readonly flags: string;
  /** Its help where a run begins; undefined: another name of an option, which no help shows. */
  readonly text?: string;
  /** Its help where a run goes on, or the reason why it cannot change then. Default: as where it begins. */
  readonly later?: string | { readonly fixed: string };
}

/** True: for a run that begins. False: for one that goes on, where what cannot change is taken only to be refused in words. */
type IsNew = boolean;

const fixed = (reason: string): { readonly fixed: string } => ({ fixed: reason });
const FOLDER = fixed("it works in the folder that it was begun in. For another folder, fork it: troupe fork <id> --out <dir>");
const CREW = fixed("its crew works on. For another crew, begin a new run");
const SEEDED = fixed("what was random is decided. For other decisions, fork it: troupe fork <id> --seed <seed>");
/** A replay repeats the run with the settings of its beginning; a fork has settings of its own. */
const forked = (option: string): { readonly fixed: string } =>
  fixed(`it goes on as it was begun. With that option, fork it: troupe fork <id> ${option}`);
const TOOLS = fixed("its agent knows the tools it was begun with. For others, begin a new run");
const BEGINNING = fixed("it belongs to the beginning of a run");

const BOUNDS: readonly RunOption[] = [
  {
    flags: "-b, --budget <usd>",
    text: "dollars it may spend, also --investment (default 3, for models whose price is known)",
    later: "dollars it may spend in all",
  },
  { flags: "--investment <usd>" },
  {
    flags: "-n, --rounds <n>",
    text: "most rounds, also --n-round (default 60, with --crew waterfall 20)",
    later: "most rounds since the last message (default: as before, and as many again if they were used up)",
  },
  { flags: "--n-round <n>" },
];

const COMPANY: readonly RunOption[] = [
  { flags: "-o, --out <dir>", text: "where the project goes (default ./workspace/<name>)", later: FOLDER },
  {
    flags: "--force",
    text: "work in a folder that holds files; they stay unless the company writes them again",
    later: "go on although files or the team are not as the run left them, or it came from elsewhere",
  },
  { flags: "--seed <seed>", text: "decides everything that is random", later: SEEDED },
  {
    flags: "--sandbox <mode>",
    text: "where the project's tests run: auto, bubblewrap or none (default auto)",
    later: "where the project's tests run: auto, bubblewrap or none (default: as it was begun)",
  },
  { flags: "--in <dir>", text: "change the project in this folder: what you have not committed stays as it is", later: FOLDER },
  {
    flags: "--crew <name>",
    text: "who works: software-company, waterfall, data-interpreter, research, or a file such as company.yaml (default software-company)",
    later: CREW,
  },
  {
    flags: "--approve <what>",
    text: "ask you before the work goes on: prd (the criteria) or plan (the design)",
    later: "ask you before the work goes on: prd (the criteria) or plan (the design), where they are still to be written",
  },
  {
    flags: "--allow-install",
    text: "let packages of npm and PyPI be installed, by name and version; that step reaches the registry alone",
    later: forked("--allow-install"),
  },
  {
    flags: "--size <size>",
    text: "S, M or L: the depth of the work (default: the product manager decides)",
    later: fixed("the depth of the work is decided. For another one, begin a new run"),
  },
  {
    flags: "--stack <name>",
    text: "node, page or python (default: the product manager decides)",
    later: fixed("the stack is decided. For another one, begin a new run"),
  },
  { flags: "--code-review", text: "review (default)", later: forked("--code-review") },
  { flags: "--no-code-review", text: "skip the reviews", later: forked("--no-code-review") },
  { flags: "--run-tests", text: "run the tests (default)", later: forked("--run-tests") },
  {
    flags: "--no-run-tests",
    text: "run nothing of what is written: nothing is proven then",
    later: forked("--no-run-tests"),
  },
];

const METAGPT: readonly RunOption[] = [
  { flags: "--implement", text: "write the code (default)", later: fixed("the crew is what it was begun with") },
  {
    flags: "--no-implement",
    text: "stop after the plan: the criteria, and the design of larger products",
    later: fixed("the crew is what it was begun with"),
  },
  { flags: "--project-name <name>", text: "the project's folder: ./workspace/<name>", later: FOLDER },
  {
    flags: "--recover-path <path>",
    text: "go on with the newest run of this store, or of the store below this folder; needs no idea",
    later: fixed("its store is named by --store"),
  },
  { flags: "--max-auto-summarize-code <n>", text: "0: code is not summarized, it is run (default 0)", later: BEGINNING },
  { flags: "--inc", text: "as --in, with --project-path", later: FOLDER },
  { flags: "--project-path <dir>", text: "the project that is changed", later: FOLDER },
  { flags: "--reqa-file <file>", text: "write the tests of this file again", later: BEGINNING },
  {
    flags: "--init-config",
    text: "write a config file with comments, and do nothing else; one that is there stays",
    later: BEGINNING,
  },
];

const AGENT: readonly RunOption[] = [
  { flags: "--tools <names>", text: `its tools, with commas between (default ${AGENT_TOOLS.join(",")})`, later: TOOLS },
  { flags: "--allow <names>", text: "the tools among them, and of servers, that run without asking" },
  {
    flags: "--steps <n>",
    text: "most steps (default 30), of each step of a plan with --plan",
    later: forked("--steps <n>"),
  },
  { flags: "--plan", text: "make a plan first and let an agent do each of its steps", later: TOOLS },
  { flags: "--mcp <config>", text: 'servers of tools, from a file of the form { "mcpServers": { ... } }', later: TOOLS },
  { flags: "--no-commit", text: "leave its changes uncommitted where it works in a git repository" },
];

const MODEL: RunOption = {
  flags: "-m, --model <name>",
  text: "the model (default gpt-5-mini)",
  later: fixed("its conversation does not fit another model. For another one, fork it: troupe fork <id> --model <name>"),
};

const REACH: readonly RunOption[] = [
  MODEL,
  { flags: "--base-url <url>", text: "an OpenAI-compatible server" },
  { flags: "--price <in,out>", text: "what the model costs, in dollars for a million tokens; a third number for cached ones" },
  {
    flags: "--first-byte <time>",
    text: `longest silence before an answer begins, such as 90 or 5m, or none (default ${defaultLimit("firstByte")})`,
  },
  { flags: "--silence <time>", text: `longest silence in the middle of an answer (default ${defaultLimit("silence")})` },
  { flags: "--call-limit <time>", text: `longest time of a model call with its retries (default ${defaultLimit("call")})` },
];

function withOptions(command: Command, options: readonly RunOption[], isNew: IsNew): Command {
  for (const { flags, text, later = text } of options) {
    const help = isNew ? text : later;
    const option = new Option(flags, typeof help === "string" ? help : "");
    command.addOption(typeof help === "string" ? option : option.hideHelp());
  }
  return command;
}

/** Adds the options of the model. */
export function withReach(command: Command, isNew: IsNew = true): Command {
  return withOptions(command.optionsGroup("The model:"), REACH, isNew);
}

/** Adds the options of a run's bounds. */
export function withBounds(command: Command, isNew: IsNew): Command {
  return withOptions(command.optionsGroup("The company:"), BOUNDS, isNew);
}

/** Adds the options of a company, its bounds included. */
export function withCompany(command: Command, isNew: IsNew): Command {
  return withOptions(withBounds(command, isNew), COMPANY, isNew);
}

const FORKED: ReadonlySet<string> = new Set(
  "--approve <what>,--allow-install,--code-review,--no-code-review,--run-tests,--no-run-tests,--steps <n>".split(","),
);

/** Adds the options of a company and an agent that a fork may change. */
export function withForked(command: Command): Command {
  return withOptions(
    command,
    [...COMPANY, ...AGENT].filter(({ flags }) => FORKED.has(flags)),
    true,
  );
}

/** Adds MetaGPT's options. */
export function withMetaGPT(command: Command, isNew: IsNew): Command {
  return withOptions(command.optionsGroup("As MetaGPT's:"), METAGPT, isNew).optionsGroup("Options:");
}

/** Adds the options of an agent. */
export function withAgent(command: Command, isNew: IsNew): Command {
  return withOptions(command.optionsGroup("The agent:"), AGENT, isNew);
}

/** Options that cannot change once a run has begun, with their places among the flags. */
function fixedOptions(): readonly { readonly option: RunOption; readonly reason: string; readonly known: Option }[] {
  return [...REACH, ...BOUNDS, ...COMPANY, ...METAGPT, ...AGENT].flatMap((option) =>
    typeof option.later === "object" ? [{ option, reason: option.later.fixed, known: new Option(option.flags) }] : [],
  );
}

/**
 * Refuses options that cannot change once a run has begun.
 *
 * @throws UsageError `MODEL_FIXED`, `OPTION_FIXED`
 */
export function refuseFixed(flags: Flags): void {
  for (const { option, reason, known } of fixedOptions()) {
    const given = flags[known.attributeName() as keyof Flags];
    if (given === undefined || (given === false) !== known.negate) continue;
    const code = option === MODEL ? "MODEL_FIXED" : "OPTION_FIXED";
    throw new UsageError(code, `Expected no ${known.long} for a run that goes on: ${reason}.`);
  }
}

/** The flags of a run that begins, as they hold for its next part. */
export function withoutFixed(flags: Flags): Flags {
  const names = new Set(fixedOptions().map(({ known }) => known.attributeName()));
  return Object.fromEntries(Object.entries(flags).filter(([name]) => !names.has(name)));
}
