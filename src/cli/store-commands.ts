import * as texts from "./help-texts.ts";
import { type Commands, type OptionUse, STORED, TALK } from "./command-spec.ts";

const MEMORIES: readonly OptionUse[] = ["The memories:", { store: "the file that keeps memories (default .troupe/memory.db)" }, ...TALK];
const SWEEP: readonly OptionUse[] = [
  "name",
  { out: "the folder of the results (default ./experiments/<name>)" },
  "timeLimit",
  { memory: ["--memory <mb>", "megabytes that a process may take (default 4096)"] },
  ...TALK,
];
const FOLDER = { dir: "the folder of the results" };
const MODULE = { module: "a module that exports an experiment; TypeScript needs Node.js 22.18 or newer, or tsx in NODE_OPTIONS" };

const EXPERIMENTS: Commands = {
  "run <module>": {
    text: "run an experiment, or continue it; ends with 1 if a run failed",
    args: MODULE,
    options: [
      ...SWEEP,
      ...(["workers", "reps", "cells", "part", "again", "anew", "acceptChange", "record"] as const),
      { budget: "dollars that all runs of the folder may spend together (default: no bound)" },
      "limits",
      { seed: "the seed of the experiment (default: its own)" },
    ],
    load: async () => (await import("./commands/experiment.ts")).experimentRun,
  },
  "verify <module>": {
    text: "run an experiment at several concurrencies, in several processes and versions of Node, and compare; ends with 1 at a difference",
    args: MODULE,
    options: [...SWEEP, "runs", { concurrency: ["--concurrency <list>", "numbers of concurrent activations (default 1,2,64)"] }, "node"],
    load: async () => (await import("./commands/experiment.ts")).experimentVerify,
  },
  "replay <module>": {
    text: "run one cell again with its whole record, for troupe inspect and troupe runs show; ends with 1 if its row is another one",
    args: MODULE,
    options: [...SWEEP, "cell", "rep"],
    load: async () => (await import("./commands/experiment.ts")).experimentReplay,
  },
  "merge <out> <parts...>": {
    text: "join the folders of parts of one sweep in a folder; ends with 1 if runs are missing or failed",
    args: { out: "the folder of the results, new or not", parts: "the folders of the parts" },
    options: TALK,
    load: async () => (await import("./commands/experiment-parts.ts")).experimentMerge,
  },
  "status <dir>": {
    text: "show how far an experiment is, also while it runs",
    args: FOLDER,
    options: TALK,
    load: async () => (await import("./commands/experiment.ts")).experimentStatus,
  },
  "table <dir>": {
    text: "show the means of each group of runs, and their standard errors",
    args: FOLDER,
    options: [...TALK, "by", "of", "cut", "csv"],
    load: async () => (await import("./commands/experiment.ts")).experimentTable,
  },
  "plot <dir>": {
    text: "draw the results as a picture; x may be round, for what was collected",
    args: FOLDER,
    options: [
      ...TALK,
      ...(["kind", "x", "y", "value", "series", "hold", "cut"] as const),
      { out: ["-o, --out <file>", "an .svg or an .html file (default <dir>/plot.svg)"] },
    ],
    load: async () => (await import("./commands/experiment.ts")).experimentPlot,
  },
};

const RUNS: Commands = {
  ls: {
    text: "list the runs, the newest first",
    isDefault: true,
    options: [...STORED, { limit: "how many at most (default 30)" }, "after"],
    load: async () => (await import("./commands/runs.ts")).runsLs,
  },
  "show <id>": {
    text: "show a run: its roles, calls, tools and cost, what was said, what waits",
    options: [...STORED, { talk: "show what the roles said to one another, whole" }],
    load: async () => (await import("./commands/runs-show.ts")).runsShow,
  },
  "events <id>": {
    text: "print what happened in a run, one line each",
    options: [...STORED, "from", "type"],
    load: async () => (await import("./commands/runs-events.ts")).runsEvents,
  },
  "flow <id>": {
    text: "draw who spoke to whom in a run",
    options: [...STORED, "format"],
    load: async () => (await import("./commands/runs-events.ts")).runsFlow,
  },
  "diff <a> <b>": {
    text: "compare two runs, activation by activation; ends with 1 if they differ",
    options: STORED,
    load: async () => (await import("./commands/replay.ts")).runsDiff,
  },
  "check <id>": {
    text: "look for failures of coordination in a run: repeated steps, ping-pong, lost requests; ends with 1 if there are some",
    options: [...STORED, "allRoles"],
    load: async () => (await import("./commands/replay.ts")).runsCheck,
  },
  "export <id> [file]": {
    text: "write a run as lines of JSON, to a new file or to standard output",
    options: [...STORED, "otlp", "html", "content"],
    load: async () => (await import("./commands/runs.ts")).runsExport,
  },
  "import <file>": {
    text: "take in a run that was exported, whole or not at all",
    args: { file: "- reads standard input" },
    options: [...STORED, { as: ["--as <id>", "the id it gets here (default: the one it had)"] }],
    load: async () => (await import("./commands/runs.ts")).runsImport,
  },
  "settle <id>": {
    text: "end the wait for calls that a crash cut off and nothing repeats: their worst case counts as spent until then",
    options: [...STORED, "cost"],
    load: async () => (await import("./commands/runs.ts")).runsSettle,
  },
  "rm <ids...>": {
    text: "forget runs; their projects stay",
    options: [...STORED, "yes"],
    load: async () => (await import("./commands/runs.ts")).runsRm,
  },
  forget: {
    text: "erase what a person, a conversation or a tenant has said, in runs and in memories; the runs keep their times and costs",
    options: [...STORED, "user", "conversation", "tenant", "memory", "yes"],
    load: async () => (await import("./commands/runs.ts")).runsForget,
  },
  gc: {
    text: "forget finished runs that are old, and give their room back to the disk",
    options: [...STORED, { olderThan: "that have not moved for this long: 30d, 12h, 0s (default 30d)" }, "yes"],
    load: async () => (await import("./commands/runs.ts")).runsGc,
  },
};

const MEMORY: Commands = {
  ls: {
    text: "list who remembers how much",
    isDefault: true,
    options: MEMORIES,
    load: async () => (await import("./commands/memory.ts")).memoryLs,
  },
  "search <words...>": {
    text: "find what is most like some words; it goes by words, not by meaning, and writes nothing",
    options: [...MEMORIES, "role", { limit: "how many at most (default 10)" }],
    load: async () => (await import("./commands/memory.ts")).memorySearch,
  },
  "show <role> [message]": {
    text: "show what is in a memory, or one message of it",
    options: [...MEMORIES, "run", "last"],
    load: async () => (await import("./commands/memory.ts")).memoryShow,
  },
  "export <role> [file]": {
    text: "write a memory as JSON, to a new file or to standard output",
    options: MEMORIES,
    load: async () => (await import("./commands/memory.ts")).memoryExport,
  },
  "import <file>": {
    text: "take in a memory that was exported, whole or not at all",
    args: { file: "- reads standard input" },
    options: [...MEMORIES, { as: ["--as <role>", "whose memory it becomes here (default: the one it was)"] }, "yes"],
    load: async () => (await import("./commands/memory.ts")).memoryImport,
  },
  "rebuild <role>": {
    text: "make the vectors of hashingEmbedder() again, from the messages and without a network",
    options: [...MEMORIES, "yes"],
    load: async () => (await import("./commands/memory.ts")).memoryRebuild,
  },
  "gc [role]": {
    text: "forget what is old, if --older-than says how old, and give the room back to the disk",
    args: { role: "only what one role remembers" },
    options: [...MEMORIES, { olderThan: "what was said this long ago: 90d, 12h, 0s" }, "yes"],
    load: async () => (await import("./commands/memory.ts")).memoryGc,
  },
};

export const STORE_COMMANDS: Commands = {
  experiment: {
    text: "run experiments of a module, and show what came of them",
    group: "Experiments:",
    examples: texts.EXPERIMENT_EXAMPLES,
    commands: EXPERIMENTS,
  },
  runs: {
    text: "list, show, compare, check, export, import, settle, forget and remove runs",
    examples: texts.RUNS_EXAMPLES,
    commands: RUNS,
  },
  memory: {
    text: "list, search, show, export, import and clean up long-term memories",
    examples: texts.MEMORY_EXAMPLES,
    commands: MEMORY,
  },
};
