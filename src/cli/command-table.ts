import * as texts from "./help-texts.ts";
import {
  AS_METAGPT,
  type Commands,
  CREW,
  LIMITS,
  namesOf,
  OF_AGENT,
  OF_WORKER,
  type OptionUse,
  PAID,
  REACH,
  RUN,
  STORED,
  TALK,
} from "./command-spec.ts";
import { BOUNDS, SERVER } from "./options.ts";
import { STORE_COMMANDS } from "./store-commands.ts";

const CONTINUED: readonly OptionUse[] = [
  ...CREW,
  ...OF_WORKER,
  { reuse: "all: what failed gets the answers it had; none: it asks for them again (default all)" },
  { yes: "" },
  ...AS_METAGPT,
  ...OF_AGENT,
  ...PAID,
  ...STORED,
  "talk",
];
const SWITCHES = ["approve", "allowInstall", "codeReview", "runTests"] as const;
const FORK_CHANGES = ["at", "edit", "drop", "add"] as const;
const BEFORE_PAID = { yes: "do not ask before a paid run" };
const HIRE_FORCE = { force: "although the team is not as the run left it, or the run came from elsewhere" };
const WHERE_TESTS_RUN = "where the project's tests run: auto, bubblewrap or none (default: as before)";
const FLEET: readonly OptionUse[] = ["The fleet:", "journal", "schema", "engine", ...TALK];

const NEW_RUNS: Commands = {
  "run [idea...]": {
    text: 'let a company work on an idea; `troupe "idea"` is short for it',
    group: "A new run:",
    isDefault: true,
    args: { idea: "what to build, in quotes; - reads it from standard input" },
    options: ["The idea:", "file", BEFORE_PAID, ...PAID, ...CREW, ...OF_WORKER, ...AS_METAGPT, ...STORED, "talk"],
    load: async () => (await import("./commands/run.ts")).run,
  },
  "demo [id]": {
    text: "play a bundled idea from its script: no key, no cost",
    args: { id: "shopping (default: a red check, its repair and a change), or of the waterfall: 2048, life, todo" },
    options: [...CREW, ...STORED, "talk", { yes: "" }],
    load: async () => (await import("./commands/run.ts")).demo,
  },
  "agent [task...]": {
    text: "let one agent with tools work on a task; it asks before it writes or runs anything",
    args: { task: "what to do, in quotes; - reads it from standard input" },
    options: [
      { file: "read the task from a file", ...BEFORE_PAID },
      ...OF_AGENT,
      {
        out: "the folder it works in, . for this one (default a new one, ./workspace/<name>)",
        force: "work in ./workspace/<name> although it holds files",
        seed: "decides everything that is random",
        sandbox: "where commands and code run: auto, bubblewrap or none (default auto)",
        budget: "dollars it may spend (default 3, for models whose price is known)",
      },
      ...PAID,
      ...STORED,
    ],
    load: async () => (await import("./commands/run.ts")).agent,
  },
  "check [crew]": {
    text: "check a crew before it costs anything: silence, sleepers, circles, models, and the most it can cost; ends with 2 if it has faults",
    args: { crew: "a file such as crew.yaml or crew.mjs (default company.yaml)" },
    options: [
      ...LIMITS,
      ...PAID,
      ...TALK,
      {
        determinism:
          "read a program instead, and find what makes its runs differ: Math.random, clocks, timers; ends with 1 if something does",
        explore:
          "try the orders of the messages, and the answers that the forms allow, without a model: deadlocks, endless circles, lost messages; ends with 1 if there is one",
        store: "with --explore: the file that keeps a run of each finding, for troupe inspect (default: none)",
      },
    ],
    load: async () => (await import("./commands/check.ts")).check,
  },
  "spec [idea...]": {
    text: "write the criteria of an idea with their checks, and nothing else; anybody does the work, and troupe prove judges it",
    args: { idea: "what to build, in quotes; - reads it from standard input" },
    options: [
      "The idea:",
      "file",
      BEFORE_PAID,
      ...PAID,
      ...LIMITS,
      { out: "where the criteria go, into docs (default ./workspace/<name>)", force: "write into a folder that holds files" },
      { in: "write criteria for a change of the project in this folder, into .troupe", documents: "with --in: into docs/ of the project" },
      ...(["seed", "sandbox", "approve", "size", "stack"] as const),
      ...STORED,
    ],
    load: async () => (await import("./commands/run.ts")).run,
  },
  "init [folder]": {
    text: "make a project with a team and its test, which runs and passes at once without a key",
    args: { folder: "a new or empty folder (default: this one)" },
    options: ["js", { name: "the name of its package (default: the name of the folder)" }, ...TALK],
    load: async () => (await import("./commands/init.ts")).init,
  },
  prove: {
    text: "run the criteria, the tests and the other checks of a project, whoever wrote it, without a model; ends with 6 if it is not proven",
    options: [
      { in: "the project (default: this folder)" },
      ...(["criteria", "junit", "sarif", "badge"] as const),
      { sandbox: "where its checks run: auto, bubblewrap or none (default auto)" },
      ...TALK,
    ],
    load: async () => (await import("./commands/prove.ts")).prove,
  },
};

const KNOWN_RUNS: Commands = {
  "resume [id]": {
    text: "continue a run where it stopped: nothing that was paid for is paid again",
    group: "Existing runs:",
    args: { id: `${RUN} (default: the newest that is not finished)` },
    options: CONTINUED,
    continues: true,
    load: async () => (await import("./commands/resume.ts")).resume,
  },
  continue: {
    text: "the same as resume without an id: continue the newest run here that is not finished",
    options: CONTINUED,
    continues: true,
    load: async () => (await import("./commands/resume.ts")).resume,
  },
  "answer <id> [question] [text]": {
    text: "answer what a role asked, and continue its run",
    usage: '[options] <id> [question] ["text"]',
    args: {
      id: RUN,
      question: "the beginning of the question's id; may be left out where only one waits",
      text: "the answer, in quotes, or JSON for a form; - reads it from standard input (default: asked for on the terminal)",
    },
    options: CONTINUED,
    continues: true,
    load: async () => (await import("./commands/resume.ts")).answerQuestion,
  },
  "tell <id> [text...]": {
    text: "say something to a run: one that works hears it at its next step, one that has ended continues",
    usage: '[options] <id> "text"',
    args: { id: RUN, text: "what to say, in quotes; - reads it from standard input" },
    options: ["The text:", { file: "read the text from a file" }, "to", ...CONTINUED],
    continues: true,
    load: async () => (await import("./commands/resume.ts")).tell,
  },
  "signal <id> <name> [json]": {
    text: "send a signal: a run that waits for it continues, another keeps it",
    args: { id: RUN, name: "what the role waits for", json: "its value as JSON (default null)" },
    options: ["The signal:", { id: ["--id <id>", "the run records a signal of a known id once (default: a new id)"] }, ...CONTINUED],
    continues: true,
    load: async () => (await import("./commands/resume.ts")).sendSignal,
  },
  "stop <id>": {
    text: "stop a run that another process drives, or take it from the queue; resume or submit continues it",
    args: { id: RUN },
    options: ["The record:", "store", ...FLEET, { grace: "how long to wait for its owner (default 30s)" }],
    load: async () => (await import("./commands/fleet.ts")).stop,
  },
  "hire <id> <role>": {
    text: "hire a role of its crew into a run, finished or not; it starts nothing",
    args: { id: RUN, role: "a role of the crew, or one that it has in reserve" },
    options: [HIRE_FORCE, ...STORED, { as: "the name that it has in the run (default: its own)" }],
    load: async () => (await import("./commands/resume.ts")).hire,
  },
  "retire <id> <name>": {
    text: "retire a role of a run; its unread messages are dead letters",
    args: { id: RUN, name: "a role of the run" },
    options: [HIRE_FORCE, ...STORED],
    load: async () => (await import("./commands/resume.ts")).retire,
  },
  "take <id> <name>": {
    text: "answer yourself what a role would ask its model, until give-back; it starts nothing",
    args: { id: RUN, name: "a role of the run, which a model plays" },
    options: [HIRE_FORCE, ...STORED, { by: "" }],
    load: async () => (await import("./commands/resume.ts")).take,
  },
  "give-back <id> <name>": {
    text: "give a role that was taken back to its model",
    args: { id: RUN, name: "a role that a person has taken" },
    options: [HIRE_FORCE, ...STORED],
    load: async () => (await import("./commands/resume.ts")).giveBack,
  },
  "replay <id>": {
    text: "repeat a run from its record, without a call, and report the first difference; ends with 1 if there is one",
    args: { id: RUN },
    options: STORED,
    load: async () => (await import("./commands/replay.ts")).replay,
  },
  "fork <id>": {
    text: "a new run that shares the past of another, in a folder of its own, and pays only for what is different",
    args: { id: RUN },
    options: [
      "The company:",
      { budget: BOUNDS.budget.later, rounds: BOUNDS.rounds.later },
      "investment",
      "nRound",
      ...SWITCHES,
      "steps",
      { out: "where the project goes (default ./workspace/<name>)", sandbox: WHERE_TESTS_RUN, ...BEFORE_PAID },
      { force: "work in a folder that holds files; fork a run that came from elsewhere" },
      "The fork:",
      ...FORK_CHANGES,
      { seed: "decides everything that is random after the events shared (default: as before)" },
      { reuse: "all: take the run's answers where they fit; none: ask for everything again (default all)" },
      ...PAID,
      ...STORED,
    ],
    examples: texts.FORK_EXAMPLES,
    load: async () => (await import("./commands/fork.ts")).fork,
  },
  "inspect [id]": {
    text: "look at runs in a browser: who said what to whom, why, and what it cost; reads and changes nothing",
    args: { id: `${RUN} (default: the list of all)` },
    options: [...STORED, { port: "listen on this port of 127.0.0.1 (default: a free one)" }],
    load: async () => (await import("./commands/serve.ts")).inspect,
  },
  serve: {
    text: "serve runs over HTTP, with a page: start, watch, answer, steer; ends by Ctrl-C, and its runs continue at the next start",
    options: [
      ...PAID,
      ...CREW,
      "The server:",
      { port: "listen on this port (default 4711); 0: a free one" },
      ...namesOf(SERVER),
      ...STORED,
    ],
    examples: texts.SERVE_EXAMPLES,
    load: async () => (await import("./commands/serve.ts")).serve,
  },
};

const FLEET_COMMANDS: Commands = {
  "worker <module>": {
    text: "take runs from the engine of the fleet and drive them, until it is asked to drain",
    group: "A fleet of workers:",
    args: { module: "a JavaScript file whose exports make the teams" },
    options: [
      ...FLEET,
      "concurrency",
      { grace: "how long steps in flight may take when it drains, such as 90s (default 30s)" },
      "tries",
      { onTeamChange: "refuse or continue a run of another version of its team (default refuse: another worker may have it)" },
      ...(["health", "workspaces", "folder", "logLevel"] as const),
    ],
    examples: texts.WORKER_EXAMPLES,
    load: async () => (await import("./commands/worker.ts")).worker,
  },
  "submit [idea...]": {
    text: "give an idea to the workers, or a known run; prints the id of the run",
    args: { idea: "the idea, in quotes; - reads it from standard input" },
    options: [...FLEET, "team", "file", "id", "answer", "question"],
    load: async () => (await import("./commands/fleet.ts")).submit,
  },
  ps: {
    text: "list what waits and what is driven, and the workers",
    options: [...FLEET, { limit: "how many runs at most (default 30)" }],
    load: async () => (await import("./commands/fleet.ts")).ps,
  },
  "logs <id>": {
    text: "print what happened in a run, one line each",
    args: { id: RUN },
    options: [...FLEET, "follow", "from"],
    load: async () => (await import("./commands/fleet.ts")).logs,
  },
  "bring <id>": {
    text: "write the project of a run into a folder here; the run stays where it is",
    args: { id: RUN },
    options: [...FLEET, { out: "a folder that is missing or empty (default: the id of the run)" }, "workspaces"],
    load: async () => (await import("./commands/fleet.ts")).bring,
  },
  drain: {
    text: "ask workers to give their runs back and to end, and wait until they have",
    options: [
      ...FLEET,
      { worker: ["--worker <id>", "only this one, as ps names it (default: all)"], grace: "how long to wait for them (default 120s)" },
    ],
    load: async () => (await import("./commands/fleet.ts")).drain,
  },
};

export const COMMANDS: Commands = {
  ...NEW_RUNS,
  ...KNOWN_RUNS,
  ...FLEET_COMMANDS,
  ...STORE_COMMANDS,
  doctor: {
    text: "check what a run needs, and say how to mend what is missing",
    group: "The machine:",
    options: [...REACH, ...STORED, "ping", "dialects", "clear", { out: "the folder a project would go to" }],
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  "completion <shell>": {
    text: "print the script that completes this command in a shell",
    args: { shell: "bash, zsh or fish" },
    examples: texts.COMPLETION_EXAMPLES,
  },
};
