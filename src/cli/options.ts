import type { Dialect } from "../model/dialect.ts";
import type { MicroUsd } from "../model/money.ts";
import type { ModelPrice } from "../model/price.ts";
import { type CallTimeouts, DEFAULT_TIMEOUTS } from "../model/timeouts.ts";
import { EVENT_TYPES } from "../runtime/record/event.ts";

/** Parsed types by the format of a value. Times are in milliseconds, where 0 is no limit. */
export interface Values {
  readonly name: string;
  readonly dollars: MicroUsd;
  readonly price: ModelPrice;
  readonly dialect: Dialect;
  readonly count: number;
  readonly index: number;
  readonly size: number;
  readonly seq: number;
  readonly port: number;
  readonly time: number;
  readonly age: number;
}

/** One option: the type of its flag, its help, check, completion and refusals, and whether runs keep it. */
export interface OptionEntry {
  readonly flags: string;
  readonly text: string;
  /** The allowed words, or the format. Default: any string, or no value. */
  readonly value?: readonly string[] | keyof Values;
  readonly offered?: readonly string[];
  readonly max?: number;
  readonly list?: true;
  readonly required?: true;
  /** The help of `--no-x`, beside `--x`. */
  readonly not?: string;
  readonly alias?: string;
  /** Its name in a config file. A variable sets it too: see `variableOf`. */
  readonly config?: string;
  /** The crews that have it; it is kept with their runs. */
  readonly crews?: readonly ("software-company" | "waterfall")[];
  /** Its help for a run that continues. Default: `text`. */
  readonly later?: string;
  /** It cannot change once a run has begun: only in a fork, or in a new run. */
  readonly fixed?: "fork" | "new run";
}

export const AGENT_TOOLS = ["shell", "code", "editor", "file_search", "look", "planning", "web_fetch", "web_search", "ask_human"] as const;
const OWN = ["software-company"] as const;

/** @param text its help; empty: it is hidden */
const option = <const F extends string, const More extends Omit<OptionEntry, "flags" | "text"> = object>(
  flags: F,
  text: string,
  more?: More,
) => ({ flags, text, ...more }) as { readonly flags: F; readonly text: string } & More;

function limitText(limit: keyof CallTimeouts): string {
  const minutes = DEFAULT_TIMEOUTS[limit] / 60_000;
  return `(default ${minutes >= 60 ? `${minutes / 60}h` : `${minutes}m`})`;
}

export const BOUNDS = {
  budget: option("-b, --budget <usd>", "dollars it may spend, also --investment (default 3, for models whose price is known)", {
    value: "dollars",
    config: "budget",
    later: "dollars it may spend in all",
  }),
  investment: option("--investment <usd>", "", { value: "dollars", alias: "budget" }),
  rounds: option("-n, --rounds <n>", "most rounds, also --n-round (default 150, with --crew waterfall 20)", {
    value: "count",
    max: 100_000,
    config: "rounds",
    later: "most rounds since the last message (default: as before, and as many again if they were used up)",
  }),
  nRound: option("--n-round <n>", "", { value: "count", max: 100_000, alias: "rounds" }),
};

export const COMPANY = {
  out: option("-o, --out <dir>", "where the project goes (default ./workspace/<name>)", { value: "name", fixed: "fork" }),
  force: option("--force", "work in a folder that holds files; they stay unless the company writes them again", {
    later: "continue although files or the team are not as the run left them, or it came from elsewhere",
  }),
  seed: option("--seed <seed>", "decides everything that is random", { value: "name", fixed: "fork" }),
  sandbox: option("--sandbox <mode>", "where the project's tests run: auto, bubblewrap or none (default auto)", {
    value: ["auto", "bubblewrap", "none"],
    config: "sandbox",
    later: "where the project's tests run: auto, bubblewrap or none (default: as it was begun)",
  }),
  in: option("--in <dir>", "change the project in this folder: what you have not committed stays as it is", {
    value: "name",
    fixed: "new run",
  }),
  inFolder: option("--in-folder", "with --in: change the files there themselves, without commits; what they held is kept in .troupe/kept", {
    crews: OWN,
    fixed: "new run",
  }),
  documents: option("--documents", "with --in: write the criteria and your words into docs/ of the project (default: into .troupe)", {
    crews: OWN,
    fixed: "new run",
  }),
  crew: option(
    "--crew <name>",
    "who works: software-company, waterfall, data-interpreter, research, a process such as kanban, or a file such as company.yaml (default software-company)",
    {
      offered: [
        "software-company",
        "waterfall",
        "data-interpreter",
        "research",
        "handoff",
        "kanban",
        "open-source",
        "pairs",
        "scrum",
        "swarm",
      ],
      fixed: "new run",
    },
  ),
  approve: option("--approve <what>", "ask you before the work continues: prd (the criteria) or plan (the design)", {
    value: ["prd", "plan"],
    crews: OWN,
    later: "ask you before the work continues: prd (the criteria) or plan (the design), where they are still to be written",
  }),
  allowInstall: option(
    "--allow-install",
    "let packages of npm and PyPI be installed, by name and version; that step reaches the registry alone",
    { crews: OWN, fixed: "fork" },
  ),
  size: option("--size <size>", "S, M or L: the depth of the work (default: the product manager decides)", {
    value: ["S", "M", "L"],
    crews: OWN,
    fixed: "new run",
  }),
  stack: option("--stack <name>", "node, page, python or other (default: the product manager decides)", {
    value: ["node", "page", "python", "other"],
    crews: OWN,
    fixed: "new run",
  }),
  codeReview: option("--code-review", "review (default)", { not: "skip the reviews", fixed: "fork" }),
  runTests: option("--run-tests", "run the tests (default)", {
    not: "run nothing of what is written: nothing is proven then",
    fixed: "fork",
  }),
};

export const WORKER = {
  worker: option(
    "--worker <command>",
    'a coding agent that does the engineer\'s part, such as "claude -p --permission-mode acceptEdits"; it runs with your rights',
    { value: "name", crews: OWN, fixed: "new run" },
  ),
  workerBudget: option(
    "--worker-budget <usd>",
    "dollars reserved before each start of the worker, and counted where it reports no cost (default 1)",
    {
      value: "dollars",
      crews: OWN,
    },
  ),
  workerEnv: option("--worker-env <names>", "further variables that the worker gets, with commas between", { crews: OWN }),
  allowWorker: option("--allow-worker", "start the worker without asking"),
};

export const METAGPT = {
  implement: option("--implement", "write the code (default)", {
    not: "stop after the plan: the criteria, and the design of larger products",
    crews: ["software-company", "waterfall"],
    fixed: "new run",
  }),
  projectName: option("--project-name <name>", "the project's folder: ./workspace/<name>", { value: "name", fixed: "new run" }),
  recoverPath: option("--recover-path <path>", "continue the newest run of this store, or of the store below this folder; needs no idea", {
    fixed: "new run",
  }),
  maxAutoSummarizeCode: option("--max-auto-summarize-code <n>", "0: code is not summarized, it is run (default 0)", { fixed: "new run" }),
  inc: option("--inc", "as --in, with --project-path", { fixed: "new run" }),
  projectPath: option("--project-path <dir>", "the project that is changed", { value: "name", alias: "in", fixed: "new run" }),
  reqaFile: option("--reqa-file <file>", "write the tests of this file again", { fixed: "new run" }),
  initConfig: option("--init-config", "write a config file with comments, and do nothing else; an existing one stays", {
    fixed: "new run",
  }),
};

export const AGENT = {
  tools: option("--tools <names>", `its tools, with commas between (default ${AGENT_TOOLS.join(",")})`, { fixed: "new run" }),
  allow: option("--allow <names>", "the tools among them, and of servers, that run without asking"),
  steps: option("--steps <n>", "most steps (default 30), of each step of a plan with --plan", {
    value: "count",
    max: 1_000,
    fixed: "fork",
  }),
  plan: option("--plan", "make a plan first and let an agent do each of its steps", { fixed: "new run" }),
  mcp: option("--mcp <config>", 'servers of tools, from a file of the form { "mcpServers": { ... } }', { value: "name", fixed: "new run" }),
  commit: option("--no-commit", "leave its changes uncommitted where it works in a git repository"),
};

export const MODEL = {
  model: option("-m, --model <name>", "the model, or a provider and its model as in anthropic/claude-sonnet-4-5 (default gpt-5-mini)", {
    value: "name",
    config: "model",
    fixed: "fork",
  }),
  baseUrl: option("--base-url <url>", "an OpenAI-compatible server", { value: "name", config: "baseUrl" }),
  price: option("--price <in,out>", "what the model costs, in dollars for a million tokens; a third number for cached ones", {
    value: "price",
  }),
  dialect: option(
    "--dialect <fields>",
    "what its server takes, such as maxTokens=4096,stream=false,omit=seed (default: learned from its refusals)",
    {
      value: "dialect",
      config: "dialect",
    },
  ),
  firstByte: option("--first-byte <time>", `longest silence before an answer begins, such as 90 or 5m, or none ${limitText("firstByte")}`, {
    value: "time",
    config: "firstByte",
  }),
  silence: option("--silence <time>", `longest silence in the middle of an answer ${limitText("silence")}`, {
    value: "time",
    config: "silence",
  }),
  callLimit: option("--call-limit <time>", `longest time of a model call with its retries ${limitText("call")}`, {
    value: "time",
    config: "call",
  }),
};

const COMMON = {
  allowUnpriced: option("--allow-unpriced", "accept a --budget for a model whose price is not known"),
  json: option("--json", "print events as lines of JSON, the result last"),
  quiet: option("-q, --quiet", "print the result and nothing else"),
  talk: option("--talk", "show what the roles say to one another, in place of each step"),
  verbose: option("-v, --verbose", "print warnings, and where errors come from"),
  color: option("--no-color", "no color"),
  store: option("--store <file>", "the file that keeps runs (default .troupe/runs.db)", { config: "store" }),
  yes: option("-y, --yes", "do not ask"),
  js: option("--js", "in JavaScript (default: in TypeScript)"),
  file: option("-f, --file <file>", "read the idea from a file"),
  reuse: option("--reuse <which>", "", { value: ["all", "none"] }),
  to: option("--to <role>", "the role that gets it (default: the roles that watch what a user says)"),
  as: option("--as <name>", ""),
  by: option("--by <person>", "the person whom the questions of the role name (default: anyone)"),
  determinism: option("--determinism", ""),
  explore: option("--explore", ""),
  ping: option("--ping", "ask the model for one word, which may cost a fraction of a cent"),
  dialects: option("--dialects", "list the lessons of the last 24 hours from refusals of servers; check nothing"),
  clear: option("--clear", "with --dialects: remove them"),
  at: option("--at <seq>", "the last event shared with the run (default: the last one edited or dropped, else all)", { value: "seq" }),
  edit: option("--edit <seq=file>", "a message says what the file says; as JSON where it carries data", { list: true }),
  drop: option("--drop <seq>", "a message is never delivered", { list: true }),
  add: option("--add <file>", "say something more, after the events shared", { list: true }),
  port: option("--port <port>", "", { value: "port" }),
};

const PROOF = {
  criteria: option("--criteria <file>", "the criteria (default: docs/acceptance.json of the project, else .troupe/acceptance.json)", {
    value: "name",
  }),
  junit: option("--junit <file>", "write a report in JUnit's XML"),
  sarif: option("--sarif <file>", "write a report in SARIF"),
  badge: option("--badge <file>", "write a badge as SVG"),
};

const STORED = {
  limit: option("-n, --limit <n>", "", { value: "count", max: 10_000 }),
  after: option("--after <id>", "start after this run, with older ones"),
  from: option("--from <n>", "begin with this event (default 0)", { value: "seq" }),
  type: option("--type <type>", "only events of one type, such as message or step.ended", { value: EVENT_TYPES }),
  format: option("--format <format>", "mermaid or dot (default mermaid)", { value: ["mermaid", "dot"] }),
  allRoles: option("--all-roles", "judge also roles that asked no model: plain functions that repeat themselves do what their code says"),
  otlp: option(
    "--otlp <target>",
    "write its spans instead, for OpenTelemetry: to a new file, or to a receiver such as http://localhost:4318",
  ),
  html: option("--html <file>", "write the run and the inspector instead: one page for a browser, which needs no network"),
  content: option("--content", "with --otlp: the contents of prompts, answers and tools too"),
  cost: option("--cost <dollars>", "what the provider billed for each lost call (default: nothing)", { value: "dollars" }),
  user: option("--user <name>", "what this person has said, as the runs name them"),
  conversation: option("--conversation <id>", "what was said in the run with this id, and in its forks"),
  tenant: option("--tenant <name>", "what was said for this tenant of a server"),
  memory: option("--memory <file>", "the file that keeps memories (default .troupe/memory.db)"),
  olderThan: option("--older-than <time>", "", { value: "age" }),
  role: option("--role <id>", "only what one role remembers"),
  run: option("--run <id>", "only what was said in one run"),
  last: option("--last <n>", "how many of the newest messages are listed (default 20)", { value: "size" }),
};

export const SERVER = {
  listen: option("--listen <address>", "the address to listen on (default 127.0.0.1)"),
  tenants: option("--tenants <file>", "serve these tenants, each with a token, runs and a budget of its own"),
  totalBudget: option("--total-budget <usd>", "spend at most this many dollars for all runs of the store together, past ones included", {
    value: "dollars",
  }),
  hostName: option("--host-name <name>", "a name of the server besides those of this machine", { list: true }),
  origin: option("--origin <origin>", "a page elsewhere that may ask, such as https://app.example.com", { list: true }),
  onTeamChange: option("--on-team-change <what>", "refuse or continue a run of another version of its team (default refuse)", {
    value: ["refuse", "continue"],
  }),
  logLevel: option("--log-level <level>", "debug, info, warn or error (default info)", { value: ["debug", "info", "warn", "error"] }),
};

const FLEET = {
  journal: option(
    "--journal <url>",
    "the Postgres database of the fleet, such as postgres://user@host/name (default: TROUPE_JOURNAL, which keeps its password from ps)",
  ),
  schema: option("--schema <name>", "the schema of its tables (default troupe)"),
  engine: option(
    "--engine <url>",
    "what delivers the runs: graphile, a queue in that database, or restate://host:8080 (default: TROUPE_ENGINE, else graphile)",
  ),
  concurrency: option("--concurrency <n>", "runs at the same time (default 64)"),
  grace: option("--grace <time>", "", { value: "time" }),
  tries: option("--tries <n>", "refusals until a run that cannot continue is given up (default 20)", { value: "count", max: 1_000_000 }),
  health: option("--health <port>", "answer GET /health on this port of 127.0.0.1: 200, or 503 while it drains", { value: "port" }),
  workspaces: option(
    "--workspaces <url>",
    "the store that moves the folders of runs: file:/shared/dir or s3://bucket/prefix?endpoint=https://host&region=name",
  ),
  folder: option("--folder <dir>", "the folder on this machine that has the folders of runs (default .troupe/workspaces)"),
  team: option("--team <name>", "the team that works on it (default: the team of a known run)"),
  id: option("--id <run>", "the id of the run; a known one continues, and needs no idea (default: a new one)", { value: "name" }),
  answer: option("--answer <text>", "answer a question of the run --id, which continues; JSON for a form"),
  question: option("--question <id>", "the beginning of the id of that question; may be left out where only one waits"),
  follow: option("-f, --follow", "follow the run until it is at rest"),
};

const EXPERIMENT = {
  name: option("--name <name>", "the experiment, where the module exports several"),
  workers: option("-w, --workers <n>", "processes that run cells (default: one less than there are cores)", { value: "count", max: 1_000 }),
  timeLimit: option("--time-limit <time>", "how long one run may take, such as 90s or 10m (default 1h)", { value: "time" }),
  again: option("--again", "runs that failed before run again"),
  reps: option("--reps <n>", "repetitions of each cell (default: those of the experiment); more continue a folder", {
    value: "count",
    max: 1_000_000,
  }),
  cells: option("--cells <list>", "only these cells, such as 0,4,10-19 (default: all)"),
  part: option("--part <nth/of>", "one of several equal parts, such as 3/20, in a folder of its own: see merge"),
  record: option("--record <which>", "runs that keep a record: paid (from the first call that is not free; the default), all or none", {
    value: ["paid", "all", "none"],
  }),
  limits: option(
    "--limits <list>",
    "limits on the calls of all processes, such as concurrency=8,requestsPerMinute=500,tokensPerMinute=90000",
  ),
  acceptChange: option("--accept-change", "continue with a module that was changed: the runs that are there stay"),
  anew: option("--anew", "begin in the first free folder <dir>-2, <dir>-3 ..., where <dir> has another experiment"),
  by: option("--by <columns>", "the columns whose values make a group, with commas between (default: all parameters)"),
  of: option("--of <columns>", "the columns to average, with commas between (default: all measures that are numbers, true or false)"),
  cut: option("--cut", "include the runs that the default limit on rounds cut"),
  csv: option("--csv", "print the table as CSV"),
  kind: option("--kind <kind>", "line, points, bars, histogram or heatmap (default line)", {
    value: ["line", "points", "bars", "histogram", "heatmap"],
  }),
  x: option("--x <column>", "default: the first parameter with several values"),
  y: option("--y <column>", "default: the first measure that is a number; of a heat map the second parameter with several values"),
  value: option("--value <column>", "the color of a heat map (default: the first measure that is a number)"),
  series: option("--series <column>", "a color for each of its values"),
  hold: option("--hold", "with --x round: runs that have ended keep their last values, as states do"),
  runs: option("--runs <n>", "how many runs to repeat at most, spread over the experiment (default: all)", {
    value: "count",
    max: 1_000_000,
  }),
  node: option("--node <file>", "a program of Node to compare with", { list: true }),
  cell: option("--cell <n>", "the cell: the column cell of its rows", { value: "index", required: true }),
  rep: option("--rep <n>", "the repetition (default 0)", { value: "index" }),
};

export const OPTIONS = {
  ...BOUNDS,
  ...COMPANY,
  ...WORKER,
  ...METAGPT,
  ...AGENT,
  ...MODEL,
  ...COMMON,
  ...PROOF,
  ...STORED,
  ...SERVER,
  ...FLEET,
  ...EXPERIMENT,
};
export const ENTRIES: Readonly<Record<string, OptionEntry>> = { ...OPTIONS };

type Entries = typeof OPTIONS;
export type OptionName = keyof Entries;
type ValueOf<E> = E extends { readonly list: true }
  ? readonly string[]
  : E extends { readonly value: readonly (infer Word)[] }
    ? Word
    : E extends { readonly value: infer Format extends keyof Values }
      ? Values[Format]
      : E extends { readonly flags: `${string}<${string}` }
        ? string
        : boolean;

export type Flags = { readonly [Name in OptionName]?: ValueOf<Entries[Name]> | undefined };

export type CompanyOptions = {
  readonly [Name in OptionName as Entries[Name] extends { readonly crews: readonly string[] } ? Name : never]?: Flags[Name];
};
