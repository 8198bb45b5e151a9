import { type CallTimeouts, DEFAULT_TIMEOUTS } from "../model/timeouts.ts";

/** The tools of an agent. */
export const AGENT_TOOLS = ["shell", "code", "editor", "file_search", "look", "planning", "web_fetch", "web_search", "ask_human"] as const;
const OWN = ["software-company"] as const;

const inFolder = "it works in the folder that it was begun in. For another folder, fork it: troupe fork <id> --out <dir>";
const sameTools = "its agent knows the tools it was begun with. For others, begin a new run";
const beginning = "it belongs to the beginning of a run";
const decided = (what: string): string => `${what} is decided. For another one, begin a new run`;
const limitText = (limit: keyof CallTimeouts): string => {
  const minutes = DEFAULT_TIMEOUTS[limit] / 60_000;
  return `(default ${minutes >= 60 ? `${minutes / 60}h` : `${minutes}m`})`;
};

export const BOUNDS = {
  budget: {
    flags: "-b, --budget <usd>",
    value: "dollars",
    config: "budget",
    text: "dollars it may spend, also --investment (default 3, for models whose price is known)",
    later: "dollars it may spend in all",
  },
  investment: { flags: "--investment <usd>", value: "dollars", alias: "budget" },
  rounds: {
    flags: "-n, --rounds <n>",
    value: "count",
    most: 100_000,
    config: "rounds",
    text: "most rounds, also --n-round (default 60, with --crew waterfall 20)",
    later: "most rounds since the last message (default: as before, and as many again if they were used up)",
  },
  nRound: { flags: "--n-round <n>", value: "count", most: 100_000, alias: "rounds" },
} as const;

export const COMPANY = {
  out: {
    flags: "-o, --out <dir>",
    value: "name",
    fixed: inFolder,
    text: "where the project goes (default ./workspace/<name>)",
  },
  force: {
    flags: "--force",
    text: "work in a folder that holds files; they stay unless the company writes them again",
    later: "continue although files or the team are not as the run left them, or it came from elsewhere",
  },
  seed: {
    flags: "--seed <seed>",
    value: "name",
    text: "decides everything that is random",
    fixed: "what was random is decided. For other decisions, fork it: troupe fork <id> --seed <seed>",
  },
  sandbox: {
    flags: "--sandbox <mode>",
    value: ["auto", "bubblewrap", "none"],
    config: "sandbox",
    text: "where the project's tests run: auto, bubblewrap or none (default auto)",
    later: "where the project's tests run: auto, bubblewrap or none (default: as it was begun)",
  },
  in: {
    flags: "--in <dir>",
    value: "name",
    fixed: inFolder,
    text: "change the project in this folder: what you have not committed stays as it is",
  },
  crew: {
    flags: "--crew <name>",
    offered: ["software-company", "waterfall", "data-interpreter", "research"],
    text: "who works: software-company, waterfall, data-interpreter, research, or a file such as company.yaml (default software-company)",
    fixed: "its crew works on. For another crew, begin a new run",
  },
  approve: {
    flags: "--approve <what>",
    value: ["prd", "plan"],
    crews: OWN,
    text: "ask you before the work goes on: prd (the criteria) or plan (the design)",
    later: "ask you before the work goes on: prd (the criteria) or plan (the design), where they are still to be written",
  },
  allowInstall: {
    flags: "--allow-install",
    crews: OWN,
    fixed: "fork",
    text: "let packages of npm and PyPI be installed, by name and version; that step reaches the registry alone",
  },
  size: {
    flags: "--size <size>",
    value: ["S", "M", "L"],
    crews: OWN,
    fixed: decided("the depth of the work"),
    text: "S, M or L: the depth of the work (default: the product manager decides)",
  },
  stack: {
    flags: "--stack <name>",
    value: ["node", "page", "python"],
    crews: OWN,
    fixed: decided("the stack"),
    text: "node, page or python (default: the product manager decides)",
  },
  codeReview: { flags: "--code-review", text: "review (default)", not: "skip the reviews", fixed: "fork" },
  runTests: {
    flags: "--run-tests",
    text: "run the tests (default)",
    fixed: "fork",
    not: "run nothing of what is written: nothing is proven then",
  },
} as const;

export const METAGPT = {
  implement: {
    flags: "--implement",
    crews: ["software-company", "waterfall"],
    fixed: "the crew is what it was begun with",
    text: "write the code (default)",
    not: "stop after the plan: the criteria, and the design of larger products",
  },
  projectName: {
    flags: "--project-name <name>",
    value: "name",
    fixed: inFolder,
    text: "the project's folder: ./workspace/<name>",
  },
  recoverPath: {
    flags: "--recover-path <path>",
    fixed: "its store is named by --store",
    text: "continue the newest run of this store, or of the store below this folder; needs no idea",
  },
  maxAutoSummarizeCode: {
    flags: "--max-auto-summarize-code <n>",
    fixed: beginning,
    text: "0: code is not summarized, it is run (default 0)",
  },
  inc: { flags: "--inc", text: "as --in, with --project-path", fixed: inFolder },
  projectPath: {
    flags: "--project-path <dir>",
    value: "name",
    alias: "in",
    fixed: inFolder,
    text: "the project that is changed",
  },
  reqaFile: { flags: "--reqa-file <file>", text: "write the tests of this file again", fixed: beginning },
  initConfig: {
    flags: "--init-config",
    fixed: beginning,
    text: "write a config file with comments, and do nothing else; an existing one stays",
  },
} as const;

export const AGENT = {
  tools: { flags: "--tools <names>", text: `its tools, with commas between (default ${AGENT_TOOLS.join(",")})`, fixed: sameTools },
  allow: { flags: "--allow <names>", text: "the tools among them, and of servers, that run without asking" },
  steps: {
    flags: "--steps <n>",
    value: "count",
    most: 1_000,
    fixed: "fork",
    text: "most steps (default 30), of each step of a plan with --plan",
  },
  plan: { flags: "--plan", text: "make a plan first and let an agent do each of its steps", fixed: sameTools },
  mcp: {
    flags: "--mcp <config>",
    value: "name",
    fixed: sameTools,
    text: 'servers of tools, from a file of the form { "mcpServers": { ... } }',
  },
  commit: { flags: "--no-commit", text: "leave its changes uncommitted where it works in a git repository" },
} as const;

export const MODEL = {
  model: {
    flags: "-m, --model <name>",
    value: "name",
    config: "model",
    text: "the model (default gpt-5-mini)",
    fixed: "its conversation does not fit another model. For another one, fork it: troupe fork <id> --model <name>",
  },
  baseUrl: {
    flags: "--base-url <url>",
    value: "name",
    config: "baseUrl",
    text: "an OpenAI-compatible server",
  },
  price: {
    flags: "--price <in,out>",
    value: "price",
    text: "what the model costs, in dollars for a million tokens; a third number for cached ones",
  },
  firstByte: {
    flags: "--first-byte <time>",
    value: "time",
    config: "firstByte",
    text: `longest silence before an answer begins, such as 90 or 5m, or none ${limitText("firstByte")}`,
  },
  silence: {
    flags: "--silence <time>",
    value: "time",
    config: "silence",
    text: `longest silence in the middle of an answer ${limitText("silence")}`,
  },
  callLimit: {
    flags: "--call-limit <time>",
    value: "time",
    config: "call",
    text: `longest time of a model call with its retries ${limitText("call")}`,
  },
} as const;
