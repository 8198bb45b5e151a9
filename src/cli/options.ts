import type { MicroUsd } from "../model/money.ts";
import type { ModelPrice } from "../model/price.ts";
import { EVENT_TYPES } from "../runtime/record/event-type.ts";
import { AGENT, BOUNDS, COMPANY, METAGPT, MODEL } from "./run-options.ts";

/** What the forms of values are read as. Times are in milliseconds, where 0 is no limit. */
export interface Values {
  readonly name: string;
  readonly dollars: MicroUsd;
  readonly price: ModelPrice;
  readonly count: number;
  readonly index: number;
  readonly most: number;
  readonly seq: number;
  readonly port: number;
  readonly time: number;
  readonly age: number;
}

/** One option. Its entry gives the type of its flag, its help, its check, its completion and its refusals. */
export interface OptionEntry {
  readonly flags: string;
  /** Undefined: hidden, as another name of an option is. */
  readonly text?: string;
  /** The words that it takes, or the form of its value. Default: any text, or no value. */
  readonly value?: readonly string[] | keyof Values;
  /** Words that a shell offers beside files. */
  readonly offered?: readonly string[];
  readonly most?: number;
  /** It may come more than once. */
  readonly list?: true;
  readonly required?: true;
  /** The text of `--no-x`, beside `--x`. */
  readonly not?: string;
  /** Another name of that option. */
  readonly alias?: string;
  /** Its name in a config file. A variable sets it too: see `variableOf`. */
  readonly config?: string;
  /** The crews that have it; it is kept with their runs. */
  readonly crews?: readonly ("software-company" | "waterfall")[];
  /** Its help for a run that continues. Default: as for one that begins. */
  readonly later?: string;
  /** Why it cannot change once a run has begun; "fork": a fork can change it. */
  readonly fixed?: string;
}

const LEVELS = ["debug", "info", "warn", "error"] as const;
const REUSE = ["all", "none"] as const;
const CHANGE = ["refuse", "continue"] as const;

const COMMON = {
  allowUnpriced: { flags: "--allow-unpriced", text: "let --budget stand with a model whose price is not known" },
  json: { flags: "--json", text: "print events as lines of JSON, the result last" },
  quiet: { flags: "-q, --quiet", text: "print the result and nothing else" },
  verbose: { flags: "-v, --verbose", text: "print warnings, and where errors come from" },
  color: { flags: "--no-color", text: "no color" },
  store: { flags: "--store <file>", config: "store", text: "the file that keeps runs (default .troupe/runs.db)" },
  yes: { flags: "-y, --yes", text: "do not ask" },
  file: { flags: "-f, --file <file>", text: "read the idea from a file" },
  reuse: { flags: "--reuse <which>", value: REUSE },
  to: { flags: "--to <role>", text: "the role it is for (default: the roles that watch what a user says)" },
  as: { flags: "--as <name>" },
  determinism: { flags: "--determinism" },
  ping: { flags: "--ping", text: "ask the model for one word, which may cost a fraction of a cent" },
  at: { flags: "--at <seq>", value: "seq", text: "the last event it shares with the run (default: the last one changed, else all)" },
  edit: { flags: "--edit <seq=file>", list: true, text: "a message says what the file says; as JSON where it carries data" },
  drop: { flags: "--drop <seq>", list: true, text: "a message is never delivered" },
  add: { flags: "--add <file>", list: true, text: "say something more, after the events shared" },
  port: { flags: "--port <port>", value: "port" },
} as const;

const STORED = {
  limit: { flags: "-n, --limit <n>", value: "count", most: 10_000 },
  after: { flags: "--after <id>", text: "start after this run, with older ones" },
  from: { flags: "--from <n>", value: "seq", text: "begin with this event (default 0)" },
  type: { flags: "--type <type>", value: EVENT_TYPES, text: "only events of one type, such as message or step.ended" },
  format: { flags: "--format <format>", value: ["mermaid", "dot"], text: "mermaid or dot (default mermaid)" },
  allRoles: {
    flags: "--all-roles",
    text: "judge also roles that asked no model: plain functions that repeat themselves do what their code says",
  },
  otlp: {
    flags: "--otlp <target>",
    text: "write its spans instead, for OpenTelemetry: to a new file, or to a receiver such as http://localhost:4318",
  },
  html: { flags: "--html <file>", text: "write the run and the inspector instead: one page for a browser, which needs no network" },
  content: { flags: "--content", text: "with --otlp: the texts of prompts, answers and tools too" },
  cost: {
    flags: "--cost <dollars>",
    value: "dollars",
    text: "what the bill of the provider has for each of them (default: nothing)",
  },
  user: { flags: "--user <name>", text: "what this person has said, as the runs name them" },
  conversation: { flags: "--conversation <id>", text: "what was said in the run with this id, and in its forks" },
  tenant: { flags: "--tenant <name>", text: "what was said for this tenant of a server" },
  memory: { flags: "--memory <file>", text: "the file that keeps memories (default .troupe/memory.db)" },
  olderThan: { flags: "--older-than <time>", value: "age" },
  role: { flags: "--role <id>", text: "only what one role remembers" },
  run: { flags: "--run <id>", text: "only what was said in one run" },
  last: { flags: "--last <n>", value: "most", text: "how many of the newest messages are listed (default 20)" },
} as const;

export const SERVER = {
  listen: { flags: "--listen <address>", text: "the address to listen on (default 127.0.0.1)" },
  tenants: { flags: "--tenants <file>", text: "serve these tenants, each with a token, runs and a budget of its own" },
  totalBudget: {
    flags: "--total-budget <usd>",
    value: "dollars",
    text: "spend at most this many dollars for all runs of the store together, past ones included",
  },
  hostName: { flags: "--host-name <name>", list: true, text: "a name of the server besides those of this machine" },
  origin: { flags: "--origin <origin>", list: true, text: "a page elsewhere that may ask, such as https://app.example.com" },
  onTeamChange: {
    flags: "--on-team-change <what>",
    value: CHANGE,
    text: "refuse or continue a run of another version of its team (default refuse)",
  },
  logLevel: { flags: "--log-level <level>", value: LEVELS, text: "debug, info, warn or error (default info)" },
} as const;

const FLEET = {
  journal: {
    flags: "--journal <url>",
    text: "the Postgres database of the fleet, such as postgres://user@host/name (default: TROUPE_JOURNAL, which keeps its password from ps)",
  },
  schema: { flags: "--schema <name>", text: "the schema of its tables (default troupe)" },
  engine: {
    flags: "--engine <url>",
    text: "what delivers the runs: graphile, a queue in that database, or restate://host:8080 (default: TROUPE_ENGINE, else graphile)",
  },
  concurrency: { flags: "--concurrency <n>", text: "runs at the same time (default 64)" },
  grace: { flags: "--grace <time>", value: "time" },
  tries: {
    flags: "--tries <n>",
    value: "count",
    most: 1_000_000,
    text: "refusals until a run that cannot continue is given up (default 20)",
  },
  health: {
    flags: "--health <port>",
    value: "port",
    text: "answer GET /health on this port of 127.0.0.1: 200, or 503 while it drains",
  },
  workspaces: {
    flags: "--workspaces <url>",
    text: "the store that moves the folders of runs: file:/shared/dir or s3://bucket/prefix?endpoint=https://host&region=name",
  },
  folder: { flags: "--folder <dir>", text: "the folder on this machine that has the folders of runs (default .troupe/workspaces)" },
  team: { flags: "--team <name>", text: "the team that works on it (default: the team of a known run)" },
  id: {
    flags: "--id <run>",
    value: "name",
    text: "the id of the run; a known one continues, and needs no idea (default: a new one)",
  },
  answer: { flags: "--answer <text>", text: "answer a question of the run --id, which continues; JSON for a form" },
  question: {
    flags: "--question <id>",
    text: "the beginning of the id of that question; may be left out where only one waits",
  },
  follow: { flags: "-f, --follow", text: "follow the run until it is at rest" },
  worker: { flags: "--worker <id>", text: "only this one, as ps names it (default: all)" },
} as const;

const EXPERIMENT = {
  name: { flags: "--name <name>", text: "the experiment, where the module exports several" },
  workers: {
    flags: "-w, --workers <n>",
    value: "count",
    most: 1_000,
    text: "processes that run cells (default: one less than there are cores)",
  },
  timeLimit: { flags: "--time-limit <time>", value: "time", text: "how long one run may take, such as 90s or 10m (default 1h)" },
  again: { flags: "--again", text: "runs that failed before run again" },
  anew: { flags: "--anew", text: "begin in the first free folder <dir>-2, <dir>-3 ..., where <dir> has another experiment" },
  by: { flags: "--by <columns>", text: "the columns whose values make a group, with commas between (default: all parameters)" },
  of: {
    flags: "--of <columns>",
    text: "the columns to average, with commas between (default: all measures that are numbers, true or false)",
  },
  csv: { flags: "--csv", text: "print the table as CSV" },
  kind: {
    flags: "--kind <kind>",
    value: ["line", "points", "bars", "histogram", "heatmap"],
    text: "line, points, bars, histogram or heatmap (default line)",
  },
  x: { flags: "--x <column>", text: "default: the first parameter with several values" },
  y: {
    flags: "--y <column>",
    text: "default: the first measure that is a number; of a heat map the second parameter with several values",
  },
  value: { flags: "--value <column>", text: "the color of a heat map (default: the first measure that is a number)" },
  series: { flags: "--series <column>", text: "a color for each of its values" },
  hold: { flags: "--hold", text: "with --x round: runs that have ended keep their last values, as states do" },
  runs: {
    flags: "--runs <n>",
    value: "count",
    most: 1_000_000,
    text: "the most runs that are repeated, spread over the experiment (default: all)",
  },
  node: { flags: "--node <file>", list: true, text: "a program of Node to compare with" },
  cell: { flags: "--cell <n>", value: "index", required: true, text: "the cell: the column cell of its rows" },
  rep: { flags: "--rep <n>", value: "index", text: "the repetition (default 0)" },
} as const;

/** Every option of every command, by the name of its flag. */
export const OPTIONS = {
  ...BOUNDS,
  ...COMPANY,
  ...METAGPT,
  ...AGENT,
  ...MODEL,
  ...COMMON,
  ...STORED,
  ...SERVER,
  ...FLEET,
  ...EXPERIMENT,
} as const;
/** The same entries, read without their own types. */
export const ENTRIES: Readonly<Record<string, OptionEntry>> = { ...OPTIONS };

type Entries = typeof OPTIONS;
export type OptionName = keyof Entries;
type ValueOf<E> = E extends { readonly list: true }
  ? readonly string[]
  : E extends { readonly value: readonly (infer Word)[] }
    ? Word
    : E extends { readonly value: infer Form extends keyof Values }
      ? Values[Form]
      : E extends { readonly flags: `${string}<${string}` }
        ? string
        : boolean;

/** The checked values of the command line. */
export type Flags = { readonly [Name in OptionName]?: ValueOf<Entries[Name]> | undefined };

/** The options of the software company, as its runs keep them. */
export type CompanyOptions = {
  readonly [Name in OptionName as Entries[Name] extends { readonly crews: readonly string[] } ? Name : never]?: Flags[Name];
};
