import type { Command } from "commander";
import { type RunCommand, withStoreOption, withTalk } from "./command-options.ts";
import type { Flags } from "./settings.ts";

const RUNS_EXAMPLES = `
Examples:
  $ troupe runs
  $ troupe runs show mabc1234
  $ troupe runs check mabc1234
  $ troupe runs events mabc1234 --type message --from 0 --json
  $ troupe runs flow mabc1234 --format dot | dot -Tsvg > flow.svg
  $ troupe runs export mabc1234 game.ndjson
  $ troupe runs export mabc1234 --html game.html
  $ troupe runs export mabc1234 --otlp http://localhost:4318
  $ troupe runs import game.ndjson --as game
  $ troupe runs settle mabc1234 --cost 0.01
  $ troupe runs rm mabc1234 --yes
  $ troupe runs forget --user ann --yes
  $ troupe runs gc --older-than 30d --yes

An id may be abbreviated to a beginning that no other run has.`;

const MEMORY_EXAMPLES = `
Examples:
  $ troupe memory
  $ troupe memory search "how we pay for the servers" --role Ann
  $ troupe memory show Ann
  $ troupe memory show Ann m1f3 --json
  $ troupe memory export Ann ann.json
  $ troupe memory import ann.json --as Bob
  $ troupe memory gc --older-than 90d

An id may be abbreviated to a beginning that no other one has. A program keeps memories here with sqliteStore({ path: ".troupe/memory.db" }).`;

// The file of a command is loaded when it runs, so that `--help` and `--version` answer at once.
const listFile = () => import("./commands/runs-ls.ts");
const runsFile = () => import("./commands/runs.ts");
const forgetFile = () => import("./commands/runs-forget.ts");
const showFile = () => import("./commands/runs-show.ts");
const eventsFile = () => import("./commands/runs-events.ts");
const inspectFile = () => import("./commands/inspect.ts");
const otlpFile = () => import("./commands/runs-otlp.ts");
const diffFile = () => import("./commands/runs-diff.ts");
const checkFile = () => import("./commands/runs-check.ts");
const memoryFile = () => import("./commands/memory.ts");
const memoryShowFile = () => import("./commands/memory-show.ts");

const CONFIRMED = ["-y, --yes", "do not ask"] as const;

type Add = (name: string, description: string, options?: { readonly isDefault: boolean }) => Command;

export function addRunsCommands(program: Command, run: RunCommand): void {
  const runs = program.command("runs").description("list, show, compare, check, export, import, settle, forget and remove runs");
  runs.addHelpText("after", RUNS_EXAMPLES).exitOverride().copyInheritedSettings(program);
  const add: Add = (name, description, options) => withTalk(withStoreOption(runs.command(name, options))).description(description);
  addRunsReading(add, run);
  addRunsWriting(add, run);
}

export function addMemoryCommands(program: Command, run: RunCommand): void {
  const memory = program.command("memory").description("list, search, show, export, import and clean up long-term memories");
  memory.addHelpText("after", MEMORY_EXAMPLES).exitOverride().copyInheritedSettings(program);
  const add: Add = (name, description, options) => {
    const command = memory.command(name, options).optionsGroup("The memories:");
    const store = command.option("--store <file>", "the file that keeps memories (default .troupe/memory.db)");
    return withTalk(store.optionsGroup("Options:")).description(description);
  };
  addMemoryReading(add, run);
  addMemoryWriting(add, run);
}

function addRunsReading(add: Add, run: RunCommand): void {
  add("ls [words...]", "list the runs, the newest first", { isDefault: true })
    .usage("[options]")
    .option("-n, --limit <n>", "how many at most (default 30)")
    .option("--after <id>", "go on behind this run, with older ones")
    .action((words: readonly string[], flags: Flags) =>
      run(flags, listFile, (commands, session) => commands.runsLs(session, words, flags)),
    );
  add("show <id>", "show a run: its roles, calls, tools and cost, what was said, what waits").action((id: string, flags: Flags) =>
    run(flags, showFile, (commands, session) => commands.runsShow(session, id, flags)),
  );
  add("events <id>", "print what happened in a run, one line each")
    .option("--from <n>", "begin with this event", "0")
    .option("--type <type>", "only events of one type, such as message or step.ended")
    .action((id: string, flags: Flags) => run(flags, eventsFile, (commands, session) => commands.runsEvents(session, id, flags)));
  add("flow <id>", "draw who spoke to whom in a run")
    .option("--format <format>", "mermaid, dot or json", "mermaid")
    .action((id: string, flags: Flags) => run(flags, eventsFile, (commands, session) => commands.runsFlow(session, id, flags)));
  add("diff <a> <b>", "compare two runs, activation by activation; ends with 1 if they differ").action(
    (a: string, b: string, flags: Flags) => run(flags, diffFile, (commands, session) => commands.runsDiff(session, a, b, flags)),
  );
  add("check <id>", "look for failures of coordination in a run: repeated steps, ping-pong, lost requests; ends with 1 if there are some")
    .option("--all-roles", "judge also roles that asked no model: plain functions that repeat themselves do what their code says")
    .action((id: string, flags: Flags) => run(flags, checkFile, (commands, session) => commands.runsCheck(session, id, flags)));
}

function addRunsWriting(add: Add, run: RunCommand): void {
  add("export <id> [file]", "write a run as lines of JSON, to a new file or to standard output")
    .option("--otlp <target>", "write its spans instead, for OpenTelemetry: to a new file, or to a receiver such as http://localhost:4318")
    .option("--html <file>", "write the run and the inspector instead: one page for a browser, which needs no network")
    .option("--content", "with --otlp: the texts of prompts, answers and tools too")
    .action((id: string, file: string | undefined, flags: Flags) => {
      const { otlp, html } = flags;
      if (html !== undefined) return run(flags, inspectFile, (commands, session) => commands.runsHtml(session, id, { html, file }, flags));
      if (otlp === undefined) return run(flags, runsFile, (commands, session) => commands.runsExport(session, id, file, flags));
      return run(flags, otlpFile, (commands, session) => commands.runsOtlp(session, id, { otlp, file }, flags));
    });
  add("import", "take in a run that was exported, whole or not at all")
    .argument("<file>", "- reads standard input")
    .option("--as <id>", "the id it gets here (default: the one it had)")
    .action((file: string, flags: Flags) => run(flags, runsFile, (commands, session) => commands.runsImport(session, file, flags)));
  add("settle <id>", "end the wait for calls that a crash cut off and nothing repeats: their worst case counts as spent until then")
    .option("--cost <dollars>", "what the bill of the provider has for each of them (default: nothing)")
    .action((id: string, flags: Flags) => run(flags, runsFile, (commands, session) => commands.runsSettle(session, id, flags)));
  add("rm <ids...>", "forget runs; their projects stay")
    .option(...CONFIRMED)
    .action((ids: readonly string[], flags: Flags) => run(flags, runsFile, (commands, session) => commands.runsRm(session, ids, flags)));
  add("forget", "erase what a person, a conversation or a tenant has said, in runs and in memories; the runs keep their times and costs")
    .option("--user <name>", "what this person has said, as the runs name them")
    .option("--conversation <id>", "what was said in the run with this id, and in its forks")
    .option("--tenant <name>", "what was said for this tenant of a server")
    .option("--memory <file>", "the file that keeps memories (default .troupe/memory.db)")
    .option(...CONFIRMED)
    .action((flags: Flags) => run(flags, forgetFile, (commands, session) => commands.runsForget(session, flags)));
  add("gc", "forget finished runs that are old, and give their room back to the disk")
    .option("--older-than <time>", "that have not moved for so long: 30d, 12h, 0s (default 30d)")
    .option(...CONFIRMED)
    .action((flags: Flags) => run(flags, runsFile, (commands, session) => commands.runsGc(session, flags)));
}

function addMemoryReading(add: Add, run: RunCommand): void {
  add("ls [words...]", "list who remembers how much", { isDefault: true })
    .usage("[options]")
    .action((words: readonly string[], flags: Flags) =>
      run(flags, memoryFile, (commands, session) => commands.memoryLs(session, words, flags)),
    );
  add("search <words...>", "find what is most like some words; it goes by words, not by meaning, and writes nothing")
    .option("--role <id>", "only what one role remembers")
    .option("-n, --limit <n>", "how many at most (default 10)")
    .action((words: readonly string[], flags: Flags) =>
      run(flags, memoryFile, (commands, session) => commands.memorySearch(session, words, flags)),
    );
  add("show <role> [message]", "show what is in a memory, or one message of it")
    .option("--run <id>", "only what was said in one run")
    .option("--last <n>", "how many of the newest messages are listed (default 20)")
    .action((role: string, message: string | undefined, flags: Flags) =>
      run(flags, memoryShowFile, (commands, session) => commands.memoryShow(session, role, message, flags)),
    );
}

function addMemoryWriting(add: Add, run: RunCommand): void {
  add("export <role> [file]", "write a memory as JSON, to a new file or to standard output").action(
    (role: string, file: string | undefined, flags: Flags) =>
      run(flags, memoryFile, (commands, session) => commands.memoryExport(session, role, file, flags)),
  );
  add("import", "take in a memory that was exported, whole or not at all")
    .argument("<file>", "- reads standard input")
    .option("--as <role>", "whose memory it becomes here (default: the one it was)")
    .option(...CONFIRMED)
    .action((file: string, flags: Flags) => run(flags, memoryFile, (commands, session) => commands.memoryImport(session, file, flags)));
  add("rebuild <role>", "make the vectors of hashingEmbedder() again, from the messages and without a network")
    .option(...CONFIRMED)
    .action((role: string, flags: Flags) => run(flags, memoryFile, (commands, session) => commands.memoryRebuild(session, role, flags)));
  add("gc", "forget what is old, if --older-than says how old, and give the room back to the disk")
    .argument("[role]", "only what one role remembers")
    .option("--older-than <time>", "what was said so long ago: 90d, 12h, 0s")
    .option(...CONFIRMED)
    .action((role: string | undefined, flags: Flags) =>
      run(flags, memoryFile, (commands, session) => commands.memoryGc(session, role, flags)),
    );
}
